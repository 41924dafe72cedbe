"""Lending: the volunteer's choices and the known facts, and the decision that follows from them.

The single owner of choices and facts. It decides once a second and at every change; the rest of the
worker waits for `changed`. The trainer process is stopped here, at once and before anything else: a
game must not wait for whatever the rest of the worker is doing.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TypeVar

import msgspec
import structlog
import trio

from tequio_client import clock, files
from tequio_client.ipc import preferences as link_preferences
from tequio_client.ipc.facts import UNKNOWN_SESSION, SessionFacts
from tequio_client.ipc.preferences import Preferences
from tequio_client.ipc.snapshot import UNDECIDED, Decision, DesiredState, LendingReason
from tequio_client.worker.children.evaluator import EvaluatorProcess
from tequio_client.worker.children.trainer import TrainerProcess
from tequio_client.worker.lending import needs
from tequio_client.worker.lending.facts import (
    CPU,
    IdleReason,
    LendingFacts,
    LocalInstant,
    select_chosen_devices,
    select_lent_devices,
)
from tequio_client.worker.lending.history import (
    LendingHistory,
    observe_rules,
    thread_count,
    update_history,
)
from tequio_client.worker.lending.policy import BY_THE_RULES, decide
from tequio_client.worker.settings import WorkerSettings
from tequio_shared.errors import MalformedError, UserFacingError
from tequio_shared.round.manifest import Manifest
from tequio_shared.statements.network import Role

log = structlog.get_logger(__name__)

PREFERENCES_FILE = "preferences.json"
DESIRED_STATE_FILE = "wish.json"
UNRESTRICTED = Preferences(
    consent=True,
    while_used=True,
    used_share_percent=100,
    pause_for_games=False,
    on_battery=True,
    while_saving_power=True,
    others_cpu_percent=100,
    others_gpu_percent=100,
    month_gb=0,
    on_metered=True,
    disk_gib=1_000_000,
    disk_free_gib=0,
)
"""Preferences of a worker started by hand, whose limits are on the command line."""
_MOST_BYTES = link_preferences.MAX_BYTES + 1
_BITS = 8
_MEGA = 1e6
_GIB = 1 << 30

T = TypeVar("T")


class StoredChoices:
    """Preferences and desired state of one folder, which survive a restart.

    An unreadable file is set aside and reported. The preferences then have no consent: nothing is
    lent on a guess. A file of a newer program is set aside too before it is replaced, because this
    version would lose the settings it does not know.
    """

    def __init__(
        self, folder: Path, *, default: DesiredState, fixed: Preferences | None = None
    ) -> None:
        """Read the files; `default` applies until a file or a command gives another state.

        Preferences that are `fixed` never change, and the file on disk is not touched.
        """
        self._folder = folder
        self.files_set_aside: list[str] = []  # names of unusable files that were set aside
        self._is_fixed = fixed is not None
        self._unsaved: dict[str, bytes] = {}
        found = fixed or self._read(PREFERENCES_FILE, link_preferences.decode)
        if found is not None and found.version > link_preferences.VERSION:
            self._set_aside(PREFERENCES_FILE, f"v{found.version}")
            found = msgspec.structs.replace(found, version=link_preferences.VERSION)
        self.preferences = found or Preferences()
        stored = self._read(DESIRED_STATE_FILE, _decode_state) or default
        # Starting anyway is for now: after a restart, the rules decide.
        self.desired_state = msgspec.structs.replace(stored, anyway=False)

    def set_preferences(self, preferences: Preferences) -> bool:
        """Replace the preferences, unless they are fixed; True if that changed them."""
        if preferences == self.preferences or self._is_fixed:
            return False
        self.preferences = preferences
        self._unsaved[PREFERENCES_FILE] = msgspec.json.encode(preferences)
        self.save()
        return True

    def set_desired_state(self, desired: DesiredState) -> bool:
        """Replace the desired state, unless the present one is newer; True if that was done."""
        if desired.number <= self.desired_state.number:
            return False
        self.desired_state = desired
        self._unsaved[DESIRED_STATE_FILE] = msgspec.json.encode(desired)
        self.save()
        return True

    def save(self) -> None:
        """Write what is not on the disk yet; a failed write is tried again at the next call."""
        # A choice applies at once, written or not: pausing must work on a full disk too.
        for name, content in list(self._unsaved.items()):
            try:
                files.write_for_user(self._folder / name, content)
            except UserFacingError as err:
                log.warning("choices not written yet", file=name, error=str(err))
            else:
                del self._unsaved[name]

    def _read(self, name: str, decode: Callable[[bytes], T]) -> T | None:
        try:
            with (self._folder / name).open("rb") as file:
                return decode(file.read(_MOST_BYTES))
        except FileNotFoundError:
            return None
        except (OSError, MalformedError) as err:
            path = str(self._folder / name)
            log.warning("choices unreadable; set aside", file=path, error=str(err))
            self._set_aside(name, "damaged")
            return None

    def _set_aside(self, name: str, why: str) -> None:
        path = self._folder / name
        aside = path.with_name(f"{name}.{why}")
        try:
            aside.write_bytes(path.read_bytes())
        except OSError as err:
            log.warning("file not set aside", file=str(path), error=str(err))
        self.files_set_aside.append(aside.name)


def _decode_state(content: bytes) -> DesiredState:
    try:
        return msgspec.json.decode(content, type=DesiredState)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as err:
        raise MalformedError(f"not a valid desired state: {err}") from err


@dataclass(frozen=True, slots=True, kw_only=True)
class LendingLimits:
    device: str
    threads: int
    memory_mb: int  # accelerator memory; 0: unlimited
    share_percent: int
    upload_bytes_per_s: float | None
    download_bytes_per_s: float | None
    store_bytes: int


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionReport:
    """Session facts, the controller that sent them, and when, by the steady clock."""

    facts: SessionFacts
    controller: object
    at_ms: int


class Lending:
    def __init__(
        self,
        settings: WorkerSettings,
        choices: StoredChoices,
        trainer: TrainerProcess,
        evaluator: EvaluatorProcess,
        facts: Callable[[], LendingFacts],
    ) -> None:
        """`facts` returns all facts except the choices."""
        self._settings = settings
        self.choices = choices
        self._trainer = trainer
        self._evaluator = evaluator
        self.facts = facts
        self._history = LendingHistory()
        self.changed = trio.Event()
        """Set and replaced when the decision, the preferences or the child that computes change."""
        self._signalled: tuple[Decision, bool, Preferences] | None = None
        self.session_report: SessionReport | None = None
        self.need_mb = 0  # memory that training the run takes, MiB; 0: in no run
        self.score_mb: int | None = None
        """Memory that scoring takes, MiB; None: nothing is to be scored."""
        self.is_judging = False
        """True while the device belongs to the evaluator instead of the trainer."""
        self._last_round: int | None = None  # round to finish before anything is scored
        self.idle_reason: IdleReason | None = None
        """Why the worker is not in the run it should be in; None: it is, or should be in none."""
        self.since_ms = 0  # start of lending, milliseconds since 1970; 0: nothing is lent
        self.decision: Decision = UNDECIDED

    def apply_state(self, desired: DesiredState) -> None:
        if self.choices.set_desired_state(desired):
            if desired.lend:  # pressing Contribute again is also how to retry a broken trainer
                self._trainer.reset()
            self.update()

    def apply_preferences(self, preferences: Preferences) -> None:
        if self.choices.set_preferences(preferences):
            self.update()

    def apply_session_facts(self, facts: SessionFacts, controller: object) -> None:
        """Apply facts of the user's session, which hold while that controller is connected."""
        self.session_report = SessionReport(
            facts=facts, controller=controller, at_ms=clock.steady_ms()
        )
        self.update()

    def drop_controller(self, controller: object) -> None:
        """Treat the session as unknown if this controller was the one that reported it."""
        if self.session_report is not None and self.session_report.controller is controller:
            self.apply_session_facts(UNKNOWN_SESSION, None)

    def set_run(self, manifest: Manifest) -> None:
        """Record the run that was joined, for its memory needs."""
        self.need_mb, self.idle_reason = needs.memory_mb(manifest), None
        self.update()

    def set_idle(self, reason: IdleReason) -> None:
        self.need_mb, self.idle_reason = 0, reason
        self.update()

    def set_scoring(self, score_mb: int | None) -> None:
        """Record the memory needed for the scoring that is due, MiB; None: nothing is due."""
        if score_mb != self.score_mb:
            self.score_mb = score_mb
            self.update()

    def pause_reason(self) -> str:
        """Reason why the run must not compute now; empty: it may."""
        if self.is_judging:
            return "scoring models for a competition"
        return "" if self.decision.may_compute else f"not lending now ({self.decision.reason})"

    def limits(self, for_mb: int | None = None) -> LendingLimits:
        """Limits by choices and decision, for work that needs `for_mb` MiB (None: the run's)."""
        if not self._settings.applies_preferences:
            trainer, net = self._settings.trainer, self._settings.net
            return LendingLimits(
                device=trainer.device,
                threads=trainer.threads,
                memory_mb=trainer.memory_mb,
                share_percent=min(trainer.share_percent, self.decision.share_percent),
                upload_bytes_per_s=net.upload_bytes_per_s,
                download_bytes_per_s=net.download_bytes_per_s,
                store_bytes=net.quota_bytes,
            )
        facts, chosen = self.facts(), self.choices.preferences
        machine = facts.known_machine()
        need_mb = facts.need_mb if for_mb is None else for_mb
        devices = select_lent_devices(select_chosen_devices(machine, chosen), need_mb)
        first = devices[0] if devices else None
        return LendingLimits(
            device=first.gpu.id if first else CPU,
            threads=thread_count(machine.cores, chosen.device(CPU).threads),
            memory_mb=(first.most_mb or 0) if first and not first.is_cpu else 0,
            share_percent=self.decision.share_percent,
            upload_bytes_per_s=_bytes_per_s(chosen.upload_mbit),
            download_bytes_per_s=_bytes_per_s(chosen.download_mbit),
            store_bytes=chosen.disk_gib * _GIB,
        )

    def roles(self) -> tuple[Role, ...]:
        """Roles to offer in a run: the one chosen for the device, if the settings allow it."""
        role = self.choices.preferences.device(self.limits().device).role
        return (role,) if role in self._settings.roles else self._settings.roles

    def update(self) -> None:
        """Decide again, about once a second and at any change; sets `changed` if it differs."""
        facts, now = self.facts(), local_now()
        chosen, desired = self.choices.preferences, self.choices.desired_state
        self._history = update_history(self._history, facts, chosen, desired, now)
        judging = self._judging(facts, now)
        self.is_judging = judging is not None
        self.decision = judging or decide(facts, chosen, desired, self._history, now)
        is_allowed = self.decision.reason in BY_THE_RULES
        self._history = observe_rules(self._history, allow=is_allowed, now=now)
        self._permit()
        # Preferences hold limits, which may change although the decision stays.
        state = self.decision, self.is_judging, chosen
        if state != self._signalled:
            self._signalled = state
            self.changed.set()
            self.changed = trio.Event()

    def _permit(self) -> None:
        """Allow the child process that may compute, after stopping those that may not."""
        # In this order, so that two children never hold the device's memory together.
        may_compute = self.decision.may_compute
        self.since_ms = (self.since_ms or clock.now_ms()) if may_compute else 0
        if not may_compute or self.is_judging:
            self._trainer.child.forbid()
        if not may_compute or not self.is_judging:
            self._evaluator.child.forbid()
        if may_compute:
            (self._evaluator if self.is_judging else self._trainer).child.allow()

    def _judging(self, facts: LendingFacts, now: LocalInstant) -> Decision | None:
        """The decision to score; None: not due, not allowed, or not yet."""
        # Scoring needs no run and no trainer; all other rules apply unchanged. The round under way
        # is finished first, since other members wait for it; no further round is started.
        chosen, desired = self.choices.preferences, self.choices.desired_state
        if self.score_mb is None or desired.finish:
            self._last_round = facts.round
            return None
        asked = replace(facts, need_mb=self.score_mb, idle_reason=None, trainer_problem="")
        found = decide(asked, chosen, desired, self._history, now)
        if not found.may_compute:
            self._last_round = facts.round
            return None
        if facts.round is not None and facts.round == self._last_round:
            return None
        return msgspec.structs.replace(found, reason=LendingReason.JUDGING, values={})


def local_now() -> LocalInstant:
    """The present instant by this computer's clocks."""
    return LocalInstant(ms=clock.now_ms(), steady_ms=clock.steady_ms(), offset_s=clock.utc_offset_s)


def _bytes_per_s(mbit: float | None) -> float | None:
    return None if mbit is None else mbit * _MEGA / _BITS
