"""Lending: the volunteer's choices and the known facts, and the decisions that follow from them.

The single owner of choices and facts. It decides about each device once a second and at every
change; the rest of the worker waits for `changed`. Trainer processes are stopped here, at once and
before anything else: a game must not wait for whatever the rest of the worker is doing.

A device is decided about from the first time that it is chosen until the worker ends. One that was
switched off or pulled out is not lent; it loses its place in no list, so its run is left in order.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TypeVar
from weakref import WeakValueDictionary

import msgspec
import structlog
import trio

from tequio_client import clock, files
from tequio_client.ipc import preferences as link_preferences
from tequio_client.ipc.facts import SessionFacts
from tequio_client.ipc.preferences import DeviceChoice, Preferences
from tequio_client.ipc.session_rules import find_disturbance
from tequio_client.ipc.snapshot import UNDECIDED, Decision, DesiredState, LendingReason
from tequio_client.plugins.consents import PluginConsent, PluginConsents
from tequio_client.worker.children.evaluator import EvaluatorProcess
from tequio_client.worker.children.process import ChildProcess
from tequio_client.worker.children.trainer import TrainerProcess
from tequio_client.worker.lending import needs
from tequio_client.worker.lending.facts import (
    CPU,
    JOINING,
    IdleReason,
    LendableDevice,
    LendingFacts,
    LocalInstant,
    StepPace,
    preferences_for,
    select_chosen_devices,
    sort_devices,
)
from tequio_client.worker.lending.history import (
    LendingHistory,
    thread_count,
    update_history,
)
from tequio_client.worker.lending.policy import BY_THE_RULES, decide
from tequio_client.worker.settings import WorkerSettings
from tequio_shared import encoding
from tequio_shared.errors import MalformedError, UserFacingError
from tequio_shared.round.documents import TRAINER, WITNESS
from tequio_shared.round.manifest import Manifest
from tequio_shared.round.plugin import PluginSpec
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
ANYWAY_MS = 300_000
"""Time for which the rules alone must allow lending until "anyway" ends."""
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
        found_state = self._read(DESIRED_STATE_FILE, lambda raw: encoding.read(raw, DesiredState))
        # Starting anyway is for now: after a restart, the rules decide.
        self.desired_state = msgspec.structs.replace(found_state or default, anyway=False)

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


@dataclass(frozen=True, slots=True, kw_only=True)
class LendingLimits:
    """Limits of the child process that computes on one device."""

    device: str
    threads: int
    memory_mb: int  # accelerator memory; 0: unlimited
    share_percent: int


@dataclass(frozen=True, slots=True, kw_only=True)
class NetLimits:
    """Limits that all devices share."""

    upload_bytes_per_s: float | None
    download_bytes_per_s: float | None
    may_transfer: bool
    store_bytes: int
    opens_router_port: bool
    finds_lan_peers: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionReport:
    """Session facts, the controller that sent them, and when, by the steady clock."""

    facts: SessionFacts
    controller: object
    at_ms: int


class LentDevice:
    """One device of this computer: its trainer, the decision about it, and the run it is for."""

    def __init__(self, name: str, trainer: TrainerProcess) -> None:
        self.id = name
        self.key = name
        """Key of its choices in the preferences (`AcceleratorFacts.key`)."""
        self.trainer = trainer
        self.step_pace = StepPace()
        self.decision: Decision = UNDECIDED  # like the next two, written by `Lending`
        self.history = LendingHistory()
        self.is_chosen = False
        """True if it is here and switched on."""
        self.run = ""
        """Id of the run that it has, as text: no other device of this worker may train it."""
        self.need_mb = 0  # memory that training the run takes, MiB; 0: in no run
        self.idle_reason: IdleReason | None = JOINING
        """Why it is not in the run it should be in; None: it is, or should be in none."""
        self.last_round: int | None = None  # round to finish before anything is scored
        self.plugin: PluginSpec | None = None  # code of the run that training it needs


class Lending:
    def __init__(
        self,
        settings: WorkerSettings,
        choices: StoredChoices,
        evaluator: EvaluatorProcess,
        make_trainer: Callable[[str], TrainerProcess],
        facts: Callable[[str], LendingFacts],
    ) -> None:
        """`facts` returns all facts except the choices, about the device of that id or about none.

        `make_trainer` describes the trainer of a device that is lent for the first time.
        """
        self._settings = settings
        self.choices = choices
        self._evaluator = evaluator
        self._make_trainer = make_trainer
        self.consents = PluginConsents(settings.net.folder)
        self.facts = facts
        self.devices: dict[str, LentDevice] = {}
        """By id, in the order in which they were first chosen; none is ever removed."""
        self.measuring: dict[str, ChildProcess] = {}
        """Benchmarks that run, by device; owned by the worker."""
        self._locks: WeakValueDictionary[str, trio.Lock] = WeakValueDictionary()
        self.changed = trio.Event()
        """Set and replaced when a decision, the preferences or the child that computes change."""
        self._signalled: object = None
        self.session_report: SessionReport | None = None
        self.score_mb: int | None = None
        """Memory that scoring takes, MiB; None: nothing is to be scored."""
        self.judging: LentDevice | None = None
        """The device that belongs to the evaluator instead of its trainer."""
        self.scorer: LentDevice | None = None
        """The device that the evaluator was last allowed to use; None: none yet."""
        self.idle_reason: IdleReason | None = None
        """Why the worker is not in the swarm, so that no device can be in a run; None: it is."""
        self._allowed_ms: int | None = None
        """Time since which the rules alone allow what was started anyway; None: they do not."""
        self.decision: Decision = UNDECIDED
        """The decision that is shown for the whole computer: that of a device that computes, or
        else that of the first one. But `may_transfer` is that of all that compute, or else of all
        that are lent."""

    def apply_state(self, desired: DesiredState) -> None:
        if self.choices.set_desired_state(desired):
            self._allowed_ms = None
            if desired.lend:  # pressing Contribute again is also how to retry a broken trainer
                for device in self.devices.values():
                    device.trainer.reset()
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
        """Forget the session if this controller was the one that reported it."""
        if self.session_report is not None and self.session_report.controller is controller:
            self.session_report = None
            self.update()

    def set_run(self, device: LentDevice, manifest: Manifest) -> None:
        """Record the run that the device joined, for its needs of memory and disk."""
        device.need_mb, device.idle_reason = needs.memory_mb(manifest), None
        device.trainer.child.work_bytes = needs.work_bytes(manifest)
        device.plugin = manifest.trainer_code if TRAINER in self.roles(device) else None
        self.update()

    def lock(self, name: str) -> trio.Lock:
        """The lock of the device with that id, chosen or not: held while a child computes on it."""
        return self._locks.setdefault(name, trio.Lock())

    def disturbance(self, name: str) -> str:
        """The game, film or exclusive program for which that device, chosen or not, is left alone.

        Empty: none is running.
        """
        facts, chosen = self.facts(name), self.choices.preferences
        session = facts.known_session()
        if session is None:
            return ""
        gpus = facts.known_machine().gpus or ()
        key = next((one.key for one in gpus if one.id == name), name)
        found = find_disturbance(session, preferences_for(chosen, [key]))
        return found[1] if found else ""

    def may_run(self, plugin: PluginSpec) -> bool:
        """True if the volunteer, or the release, has allowed exactly this code."""
        return self.consents.covers(plugin.archive)

    def set_plugin_consent(self, archive: str, label: str, *, is_allowed: bool) -> None:
        """Allow the code with this hash, or take that back; raises UserFacingError."""
        if is_allowed:
            consent = PluginConsent(archive=archive, label=label, at_ms=clock.now_ms())
            self.consents.allow(consent)
        else:
            self.consents.revoke(archive)
        self.update()

    def set_idle(self, reason: IdleReason | None, device: LentDevice | None = None) -> None:
        """Record why a device is in no run; without one, why none can be (None: each can)."""
        if device is None:
            self.idle_reason = reason
        else:
            device.need_mb, device.idle_reason, device.plugin = 0, reason, None
        self.update()

    def set_scoring(self, score_mb: int | None) -> None:
        """Record the memory needed for the scoring that is due, MiB; None: nothing is due."""
        if score_mb != self.score_mb:
            self.score_mb = score_mb
            self.update()

    def pause_reason(self, device: LentDevice) -> str:
        """Reason why the device's run must not compute now; empty: it may."""
        if device is self.judging:
            return "scoring models for a competition"
        decision = device.decision
        if decision.reason is LendingReason.PLUGIN:
            return (
                "this run brings its own code, which needs your consent: tequio plugin allow "
                f"{decision.values['archive']}"
            )
        return "" if decision.may_compute else f"not lending now ({decision.reason})"

    def limits(self, device: LentDevice) -> LendingLimits:
        """Limits of a device, by choices and decision."""
        share_percent = device.decision.share_percent
        if not self._settings.applies_preferences:
            trainer = self._settings.trainer
            return LendingLimits(
                device=trainer.device,
                threads=trainer.threads,
                memory_mb=trainer.memory_mb,
                share_percent=min(trainer.share_percent, share_percent),
            )
        machine, chosen = self.facts(device.id).known_machine(), self.choices.preferences
        devices = select_chosen_devices(machine, chosen) or ()
        found = next((one for one in devices if one.gpu.id == device.id), None)
        threads = thread_count(machine.cores, chosen.device(CPU).threads)
        return LendingLimits(
            device=device.id,
            threads=max(threads // max(len(devices), 1), 1),
            memory_mb=(found.most_mb or 0) if found and not found.is_cpu else 0,
            share_percent=share_percent,
        )

    def net_limits(self) -> NetLimits:
        if not self._settings.applies_preferences:
            net = self._settings.net
            return NetLimits(
                upload_bytes_per_s=net.upload_bytes_per_s,
                download_bytes_per_s=net.download_bytes_per_s,
                may_transfer=True,
                store_bytes=net.quota_bytes,
                opens_router_port=net.opens_router_port,
                finds_lan_peers=net.finds_lan_peers,
            )
        chosen = self.choices.preferences
        return NetLimits(
            upload_bytes_per_s=_bytes_per_s(chosen.upload_mbit),
            download_bytes_per_s=_bytes_per_s(chosen.download_mbit),
            may_transfer=self.decision.may_transfer,
            store_bytes=chosen.disk_gib * _GIB,
            opens_router_port=chosen.opens_router_port,
            finds_lan_peers=chosen.finds_lan_peers,
        )

    def choice(self, device: LentDevice) -> DeviceChoice:
        """The volunteer's choices about a device."""
        return self.choices.preferences.device(device.key)

    def roles(self, device: LentDevice) -> tuple[Role, ...]:
        """Roles to offer in a run: the one chosen for the device, if the settings allow it."""
        role = self.choice(device).role
        return (role,) if role in self._settings.roles else self._settings.roles

    @property
    def is_witness(self) -> bool:
        """True if one of the devices offers to witness; without devices, if the settings do."""
        offered = [self.roles(device) for device in self.devices.values()]
        return any(WITNESS in roles for roles in offered or [self._settings.roles])

    def update(self) -> None:
        """Decide again, about once a second and at any change; sets `changed` if it differs."""
        self.consents.refresh()
        now, chosen, desired = local_now(), self.choices.preferences, self.choices.desired_state
        machine = self.facts("").known_machine()
        lent = self._find_devices(select_chosen_devices(machine, chosen))
        for device in self.devices.values():
            facts = self.facts(device.id)
            device.history = update_history(device.history, facts, chosen, desired, now)
            device.decision = decide(facts, chosen, desired, device.history, now)
        self._end_anyway(now)
        before, self.judging = self.judging, self._find_judging(lent, now)
        if lent:
            computing = [one for one in lent if one.decision.may_compute]
            shown = (self.judging or (computing or lent)[0]).decision
            # A card that waits for another rule must not serve bytes through a game that it skips.
            may_transfer = all(one.decision.may_transfer for one in computing or lent)
            self.decision = msgspec.structs.replace(shown, may_transfer=may_transfer)
        else:
            history = LendingHistory()
            facts = self.facts("")
            history = update_history(history, facts, chosen, desired, now)
            self.decision = decide(facts, chosen, desired, history, now)
        self._permit(before)
        # Preferences hold limits, which may change although the decision stays.
        decisions = {one.id: (one.decision, one.is_chosen) for one in self.devices.values()}
        state = self.decision, decisions, self.judging, chosen
        if state != self._signalled:
            self._signalled = state
            self.changed.set()
            self.changed = trio.Event()

    def _end_anyway(self, now: LocalInstant) -> None:
        """End what was started anyway once the rules alone have allowed it for a while."""
        desired = self.choices.desired_state
        reasons = {one.decision.reason for one in self.devices.values() if one.is_chosen}
        is_overruled = LendingReason.LENDING_ANYWAY in reasons
        if not desired.anyway or is_overruled or reasons.isdisjoint(BY_THE_RULES):
            self._allowed_ms = None
        elif self._allowed_ms is None:
            self._allowed_ms = now.steady_ms
        elif now.steady_ms - self._allowed_ms >= ANYWAY_MS:
            # In the command itself: a device that is chosen later, or a command that goes on with
            # it, must not bring it back.
            self.choices.desired_state = msgspec.structs.replace(desired, anyway=False)

    def _find_devices(self, chosen: tuple[LendableDevice, ...] | None) -> list[LentDevice]:
        """The chosen devices, the most able one first; while unknown, the last known ones."""
        if chosen is None:
            return [one for one in self.devices.values() if one.is_chosen]
        keys = {one.gpu.id: one.gpu.key for one in sort_devices(chosen)}
        for name, key in keys.items():
            if name not in self.devices:
                trainer = self._make_trainer(name)
                trainer.child.device = self.lock(name)
                self.devices[name] = LentDevice(name, trainer)
            self.devices[name].key = key
        for name, device in self.devices.items():
            device.is_chosen = name in keys
        return [self.devices[name] for name in keys]

    def _permit(self, before: LentDevice | None) -> None:
        """Allow the child processes that may compute, after stopping those that may not."""
        for name, child in self.measuring.items():
            if self.disturbance(name):
                child.forbid()
        # In this order, so that two children never hold a device's memory together.
        evaluator = self._evaluator.child
        if self.judging is None or self.judging is not before:
            evaluator.forbid()
        able = [one for one in self.devices.values() if one.decision.may_compute]
        trained = [one for one in able if one is not self.judging]
        for device in self.devices.values():
            if device not in trained:
                device.trainer.child.forbid()
        for device in trained:
            device.trainer.child.allow()
        if self.judging is not None:
            self.scorer = self.judging
            evaluator.device = self.lock(self.judging.id)
            evaluator.allow()

    def _find_judging(self, lent: list[LentDevice], now: LocalInstant) -> LentDevice | None:
        """The device that scores models now, with its decision; None: none does.

        The one that does so already, else one without a run, else the most able one.
        """
        order = sorted(lent, key=lambda one: (one is not self.judging, not one.idle_reason))
        found = None
        for device in order:
            if found is not None:
                device.last_round = self.facts(device.id).round
            elif decision := self._judging(device, now):
                device.decision, found = decision, device
        return found

    def _judging(self, device: LentDevice, now: LocalInstant) -> Decision | None:
        """The decision to score on that device; None: not due, not allowed, or not yet."""
        # Scoring needs no run and no trainer; all other rules apply unchanged. The round under way
        # is finished first, since other members wait for it; no further round is started.
        chosen, desired = self.choices.preferences, self.choices.desired_state
        facts = self.facts(device.id)
        if self.score_mb is None or desired.finish:
            device.last_round = facts.round
            return None
        asked = replace(
            facts, need_mb=self.score_mb, idle_reason=None, trainer_problem="", plugin=None
        )
        found = decide(asked, chosen, desired, device.history, now)
        if not found.may_compute:
            device.last_round = facts.round
            return None
        if facts.round is not None and facts.round == device.last_round:
            return None
        return msgspec.structs.replace(found, reason=LendingReason.JUDGING, values={})


def local_now() -> LocalInstant:
    """The present instant by this computer's clocks."""
    return LocalInstant(ms=clock.now_ms(), steady_ms=clock.steady_ms(), offset_s=clock.utc_offset_s)


def _bytes_per_s(mbit: float | None) -> float | None:
    return None if mbit is None else mbit * _MEGA / _BITS
