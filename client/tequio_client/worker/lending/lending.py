"""Lending: what the volunteer chose, what is known, what the manners make of it, and who is told.

The one owner of choices and facts. It looks once a second and at every news; whoever obeys waits
for `changed`. The trainer is forbidden here, at once and before anything else: whatever the rest of
the worker is at, a game must not wait for it.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, TypeVar

import msgspec
import structlog
import trio

from tequio_client import clock, files
from tequio_client.ipc import preferences as link_preferences
from tequio_client.ipc.facts import NOTHING_OF_SESSION
from tequio_client.ipc.preferences import Preferences
from tequio_client.ipc.snapshot import UNDECIDED, Reason, Wish
from tequio_client.worker.lending import history, needs
from tequio_client.worker.lending.facts import CPU, Moment, chosen_devices, lent_devices
from tequio_client.worker.lending.history import Traces, traced
from tequio_client.worker.lending.policy import decide
from tequio_shared.errors import MalformedError, UserFacingError

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tequio_client.ipc.facts import SessionFacts
    from tequio_client.ipc.snapshot import Decision
    from tequio_client.worker.children.evaluator import EvaluatorProcess
    from tequio_client.worker.children.trainer import TrainerProcess
    from tequio_client.worker.lending.facts import Facts, Outside
    from tequio_client.worker.settings import WorkerSettings
    from tequio_shared.round.manifest import Manifest
    from tequio_shared.statements.network import Role

# --- What the volunteer has chosen and wished, on the disk: the worker does the same after a
# restart.
#
# A file that cannot be read is kept aside and said to be so; nothing is lent on a guess, so what
# then holds has no consent. One of a newer program is kept aside too before it is replaced: what
# this version does not know would be lost. What cannot be written holds all the same, and is
# written as soon as it can be: a pause counts on a full disk too.

log = structlog.get_logger(__name__)

PREFERENCES = "preferences.json"
WISH = "wish.json"
UNMINDED = Preferences(
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
"""Who starts a worker by hand has said what it may take, on the command line."""
_MOST_BYTES = link_preferences.MOST_BYTES + 1

T = TypeVar("T")


class Choices:
    """Preferences and wish of one folder; whoever changes them owns this."""

    def __init__(self, folder: Path, *, wish: Wish, fixed: Preferences | None = None) -> None:
        """Read what is there; `wish` holds until there is another.

        Preferences that are `fixed` hold for good, and those on the disk stay as they are.
        """
        self._folder = folder
        self.kept_aside: list[str] = []
        """Names of files that could not be used and were kept."""
        self._is_fixed = fixed is not None
        self._unsaved: dict[str, bytes] = {}
        found = fixed or self._read(PREFERENCES, link_preferences.decode)
        if found is not None and found.version > link_preferences.VERSION:
            self._keep_aside(PREFERENCES, f"v{found.version}")
            found = msgspec.structs.replace(found, version=link_preferences.VERSION)
        self.preferences = found or Preferences()
        self.wish = self._read(WISH, _decode_wish) or wish

    def choose(self, preferences: Preferences) -> None:
        """Let preferences hold, unless others are fixed."""
        if preferences != self.preferences and not self._is_fixed:
            self.preferences = preferences
            self._unsaved[PREFERENCES] = link_preferences.encode(preferences)
            self.keep()

    def want(self, wish: Wish) -> None:
        """Let a wish hold; one that is not newer changes nothing."""
        if wish.number > self.wish.number:
            self.wish = wish
            self._unsaved[WISH] = msgspec.json.encode(wish)
            self.keep()

    def keep(self) -> None:
        """Write what is not on the disk yet, if that can be."""
        for name, content in list(self._unsaved.items()):
            try:
                files.write_or_explain(self._folder / name, content)
            except UserFacingError as err:
                log.warning("holds, and was not written", file=name, error=str(err))
            else:
                del self._unsaved[name]

    def _read(self, name: str, decode: Callable[[bytes], T]) -> T | None:
        try:
            with (self._folder / name).open("rb") as file:
                return decode(file.read(_MOST_BYTES))
        except FileNotFoundError:
            return None
        except (OSError, MalformedError) as err:
            log.warning("not read; kept aside", file=str(self._folder / name), error=str(err))
            self._keep_aside(name, "damaged")
            return None

    def _keep_aside(self, name: str, why: str) -> None:
        path = self._folder / name
        aside = path.with_name(f"{name}.{why}")
        try:
            aside.write_bytes(path.read_bytes())
        except OSError as err:
            log.warning("not kept aside", file=str(path), error=str(err))
        self.kept_aside.append(aside.name)


def _decode_wish(content: bytes) -> Wish:
    try:
        return msgspec.json.decode(content, type=Wish)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as err:
        raise MalformedError(f"not a wish: {err}") from err


_BITS = 8
_MEGA = 1e6
_GIB = 1 << 30


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """How much of the machine and of the line may be taken."""

    device: str
    threads: int
    memory_mb: int  # of the accelerator; 0: no limit
    share_percent: int
    upload_bytes_per_s: float | None
    download_bytes_per_s: float | None
    store_bytes: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Told:
    """Facts of the session, who told them, and when by the steady clock."""

    facts: SessionFacts
    controller: object
    at_ms: int


class Lending:
    """Decides whether this computer lends."""

    def __init__(
        self,
        settings: WorkerSettings,
        choices: Choices,
        trainer: TrainerProcess,
        evaluator: EvaluatorProcess,
        gather: Callable[[], Facts],
    ) -> None:
        """`gather` gives the facts of everything but the choices."""
        self._settings = settings
        self._choices = choices
        self._trainer = trainer
        self._evaluator = evaluator
        self._gather = gather
        self._traces = Traces()
        self._changed = trio.Event()  # replaced at every change
        self.told: Told | None = None
        self.need_mb = 0
        """Memory that the run's training takes; 0: in no run."""
        self.score_mb: int | None = None
        """Memory that scoring takes; None: nothing is to be scored."""
        self.is_judging = False
        """Whether what is lent is the evaluator's, and not the trainer's."""
        self._promised: int | None = None  # round that is finished before anything is scored
        self.outside: Outside | None = None
        """Why we are in no run that we shall be in; None: we are in one, or shall be in none."""
        self.since_ms = 0
        """When lending began; 0: nothing is lent."""
        self.decision: Decision = UNDECIDED

    # --- choices

    @property
    def preferences(self) -> Preferences:
        """What was chosen."""
        return self._choices.preferences

    @property
    def wish(self) -> Wish:
        """What is wanted by hand."""
        return self._choices.wish

    def want(self, wish: Wish) -> None:
        """Take a wish that is newer."""
        if wish.number > self.wish.number:
            self._choices.want(wish)
            if wish.lend:
                self._trainer.reset()
            self.look()

    def choose(self, preferences: Preferences) -> None:
        """Take preferences."""
        if preferences != self.preferences:
            self._choices.choose(preferences)
            self.look()

    def tell(self, facts: SessionFacts, controller: object) -> None:
        """Take facts of the user's session."""
        self.told = Told(facts=facts, controller=controller, at_ms=clock.steady_ms())
        self.look()

    def hung_up(self, controller: object) -> None:
        """Know nothing more of the session that this controller told of."""
        if self.told is not None and self.told.controller is controller:
            self.told = Told(facts=NOTHING_OF_SESSION, controller=None, at_ms=clock.steady_ms())
            self.look()

    def joined(self, manifest: Manifest) -> None:
        """Know which run it is for."""
        self.need_mb, self.outside = needs.memory_mb(manifest), None
        self.look()

    def stays_out(self, outside: Outside) -> None:
        """Know that there is no run to lend for now, and why."""
        self.need_mb, self.outside = 0, outside
        self.look()

    def judges(self, score_mb: int | None) -> None:
        """Know what memory is needed to score what we were drawn for; None: nothing is due."""
        if score_mb != self.score_mb:
            self.score_mb = score_mb
            self.look()

    # --- what follows

    def changed(self) -> trio.Event:
        """Set at the next change of anything that is to be obeyed or shown."""
        return self._changed

    def announce(self) -> None:
        """Say that there is something new to be shown."""
        self._changed.set()
        self._changed = trio.Event()

    def why_not(self) -> str:
        """Why nothing may be computed now; empty: it may."""
        decision = self.decision
        if self.is_judging:
            return "models are scored for a competition"
        return "" if decision.may_compute else f"nothing is lent now ({decision.reason})"

    def limits(self, for_mb: int | None = None) -> Limits:
        """How much may be taken, by choices and decision, for what takes so much memory.

        None: for training in the run that we are in.
        """
        chosen, trainer = self.preferences, self._settings.trainer
        net = self._settings.net
        if not self._settings.is_minded:
            return Limits(
                device=trainer.device,
                threads=trainer.threads,
                memory_mb=trainer.memory_mb,
                share_percent=min(trainer.share_percent, self.decision.share_percent),
                upload_bytes_per_s=net.upload_bytes_per_s,
                download_bytes_per_s=net.download_bytes_per_s,
                store_bytes=net.quota_bytes,
            )
        facts = self._gather()
        machine = facts.known_machine()
        need_mb = facts.need_mb if for_mb is None else for_mb
        devices = lent_devices(chosen_devices(machine, chosen), need_mb)
        first = devices[0] if devices else None
        device = first.gpu.id if first else CPU
        return Limits(
            device=device,
            threads=history.threads(machine.cores, chosen.device(CPU).threads),
            memory_mb=(first.most_mb or 0) if first and not first.is_cpu else 0,
            share_percent=self.decision.share_percent,
            upload_bytes_per_s=_bytes_per_s(chosen.upload_mbit),
            download_bytes_per_s=_bytes_per_s(chosen.download_mbit),
            store_bytes=chosen.disk_gib * _GIB,
        )

    def roles(self) -> tuple[Role, ...]:
        """What we offer to do in a run."""
        role = self.preferences.device(self.limits().device).role
        return (role,) if role in self._settings.roles else self._settings.roles

    def look(self) -> None:
        """Decide anew, about once a second and at any news; tells whoever obeys of a change."""
        before = self.decision, self.is_judging
        facts = self._gather()
        self.decision = self._decided(facts)
        judging = self._judging(facts)
        self.is_judging = judging is not None
        self.decision = judging or self.decision
        self._permit()
        if before != (self.decision, self.is_judging):
            self.announce()

    def _permit(self) -> None:
        """One child at a time; those that may not compute go first."""
        may_compute = self.decision.may_compute
        self.since_ms = (self.since_ms or clock.now_ms()) if may_compute else 0
        if not may_compute or self.is_judging:
            self._trainer.child.forbid()
        if not may_compute or not self.is_judging:
            self._evaluator.child.forbid()
        if may_compute:
            (self._evaluator if self.is_judging else self._trainer).child.allow()

    def _decided(self, facts: Facts) -> Decision:
        chosen, wish, moment = self.preferences, self.wish, now()
        self._traces = traced(self._traces, facts, chosen, wish, moment)
        return decide(facts, chosen, wish, self._traces, moment)

    def _judging(self, facts: Facts) -> Decision | None:
        """The decision to score; None: it is not due, or may not be, or not yet.

        Scoring needs no run and no trainer; everything else decides as ever. The round that we are
        in when it comes up is finished first, as somebody else waits for our work; no other begins.
        """
        if self.score_mb is None or self.wish.finish:
            self._promised = facts.round
            return None
        asked = replace(facts, need_mb=self.score_mb, outside=None, trainer_problem="")
        found = decide(asked, self.preferences, self.wish, self._traces, now())
        if not found.may_compute:
            self._promised = facts.round
            return None
        if facts.round is not None and facts.round == self._promised:
            return None
        return msgspec.structs.replace(found, reason=Reason.JUDGING, values={})


def now() -> Moment:
    """The moment by this computer's clocks."""
    return Moment(ms=clock.now_ms(), steady_ms=clock.steady_ms(), offset_s=clock.utc_offset_s)


def _bytes_per_s(mbit: float | None) -> float | None:
    return None if mbit is None else mbit * _MEGA / _BITS
