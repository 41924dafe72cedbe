"""Permission to compute: for the trainer, the evaluator, or neither; never both."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import pytest
import trio
from msgspec.structs import replace as changed

from tequio_client import clock
from tequio_client.ipc.preferences import DeviceChoice
from tequio_client.ipc.snapshot import DesiredState, LendingReason, LendingState
from tequio_client.worker.children.evaluator import EvaluatorProcess
from tequio_client.worker.children.process import ChildProgram
from tequio_client.worker.children.trainer import TrainerProcess
from tequio_client.worker.lending.facts import ENDED, JOINING, TAKEN
from tequio_client.worker.lending.history import OTHERS_LASTING_MS
from tequio_client.worker.lending.lending import UNRESTRICTED, Lending, StoredChoices
from tequio_client.worker.lending.needs import ROUNDS_KEPT
from tequio_client.worker.settings import NetSettings, TrainerSettings, WorkerSettings
from tequio_shared.ids import sha256, to_text
from tequio_shared.round.plugin import PluginSpec
from tests.support.lending_facts import CALM, CHOSEN, GPU, LEND, MACHINE, SESSION
from tests.support.tiny_run import tiny_manifest

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from tequio_client.ipc.facts import AcceleratorFacts
    from tequio_client.worker.lending.facts import LendingFacts
    from tequio_shared.statements.statement import Body


pytestmark = pytest.mark.trio
SCORE_MB = 2_000
PLAYING = changed(SESSION, game="doom")


async def silent(_body: Body, _documents: Sequence[bytes] = ()) -> bool:
    """Say nothing."""
    await trio.lowlevel.checkpoint()
    return False


@dataclass
class LendingSetup:
    """A worker's lending, without anything that runs; facts are the test's."""

    lending: Lending
    evaluator: EvaluatorProcess
    facts: list[LendingFacts]

    @property
    def reason(self) -> LendingReason:
        """Why it is decided so."""
        return self.lending.decision.reason

    def see(self, **changes: object) -> str:
        """Let that be so; who may compute then."""
        self.facts[0] = replace(self.facts[0], **changes)  # type: ignore[arg-type]  # fields by name
        self.lending.update()
        trainer = self.lending.devices[GPU.id].trainer
        who = trainer.child.permission.is_set(), self.evaluator.child.permission.is_set()
        return {(True, False): "trainer", (False, True): "evaluator", (False, False): ""}[who]


def scene_of(
    folder: Path, choices: StoredChoices, by_hand: TrainerSettings | None = None
) -> LendingSetup:
    """`by_hand`: a worker whose limits are on its command line."""
    program = ChildProgram(command=("child",), environment={}, line_bytes=1)
    evaluator = EvaluatorProcess(program, silent, lambda _: None)
    net = NetSettings(ledger="http://ledger.example", folder=folder)
    facts = [CALM]
    settings = WorkerSettings(
        net=net, trainer=by_hand or TrainerSettings(), applies_preferences=by_hand is None
    )
    lending = Lending(
        settings,
        choices,
        evaluator,
        lambda _: TrainerProcess(program),
        lambda name: read(name, facts[0], lending),
    )
    lending.update()
    return LendingSetup(lending, evaluator, facts)


def read(name: str, facts: LendingFacts, lending: Lending) -> LendingFacts:
    """The facts of that device: the test's, or why the device is in no run."""
    device = lending.devices.get(name)
    idle = device.idle_reason if device else None
    return replace(
        facts,
        device=name,
        round=None if idle == TAKEN else facts.round,
        idle_reason=facts.idle_reason or idle,
        plugin=device.plugin if device else None,
    )


@pytest.fixture
async def lent(tmp_path: Path) -> LendingSetup:
    await trio.lowlevel.checkpoint()
    return scene_of(tmp_path, StoredChoices(tmp_path, default=LEND, fixed=CHOSEN))


async def test_the_round_under_way_is_finished_before_anything_is_scored(
    lent: LendingSetup,
) -> None:
    assert lent.see(round=7) == "trainer"
    lent.lending.set_scoring(SCORE_MB)
    assert lent.see() == "trainer"
    assert str(lent.reason) == LendingReason.LENDING
    assert lent.see(round=None) == "evaluator"
    assert lent.reason is LendingReason.JUDGING
    device = lent.lending.devices[GPU.id]
    assert "for a competition" in lent.lending.pause_reason(device), "no round is begun meanwhile"
    lent.lending.set_scoring(None)
    assert lent.see() == "trainer"
    assert not lent.lending.pause_reason(lent.lending.devices[GPU.id])


async def test_no_round_after_that_one_is_begun_either(lent: LendingSetup) -> None:
    lent.see(round=7)
    lent.lending.set_scoring(SCORE_MB)
    assert lent.see(round=8) == "evaluator"


async def test_a_new_limit_is_applied_though_the_decision_stays(tmp_path: Path) -> None:
    lending = scene_of(tmp_path, StoredChoices(tmp_path, default=LEND)).lending
    lending.apply_preferences(CHOSEN)
    before, waiting = lending.decision, lending.changed
    lending.apply_preferences(changed(CHOSEN, upload_mbit=8.0))
    assert lending.decision == before
    assert lending.net_limits().upload_bytes_per_s == 1e6
    assert waiting.is_set()
    assert not lending.changed.is_set()


async def test_before_consent_nothing_large_is_transferred(tmp_path: Path) -> None:
    lending = scene_of(tmp_path, StoredChoices(tmp_path, default=LEND)).lending
    lending.apply_preferences(CHOSEN)
    assert lending.net_limits().may_transfer
    lending.apply_preferences(changed(CHOSEN, consent=False))
    assert not lending.net_limits().may_transfer


async def test_scoring_needs_no_run(lent: LendingSetup) -> None:
    assert lent.see(round=None, idle_reason=ENDED, need_mb=0) == ""
    lent.lending.set_scoring(SCORE_MB)
    assert lent.see() == "evaluator"
    assert lent.lending.decision.state is LendingState.LENDING
    assert lent.lending.judging is lent.lending.devices[GPU.id]


async def test_a_game_ends_scoring_as_it_ends_training(lent: LendingSetup) -> None:
    lent.see(round=None)
    lent.lending.set_scoring(SCORE_MB)
    assert lent.see() == "evaluator"
    assert lent.see(session=PLAYING) == ""
    assert lent.reason is LendingReason.GAME


async def test_a_round_that_began_while_nothing_could_be_scored_is_finished(
    lent: LendingSetup,
) -> None:
    lent.see(round=None)
    lent.lending.set_scoring(100_000)  # more than any device here has
    assert lent.see(round=9) == "trainer"
    lent.lending.set_scoring(SCORE_MB)
    assert lent.see() == "trainer"
    assert lent.see(round=None) == "evaluator"


@pytest.mark.parametrize(
    "card", [changed(GPU, temperature_c=95.0), changed(GPU, load=0.9, others_load=0.9)]
)
async def test_heat_and_other_programs_end_scoring_on_a_card_too_small_for_its_run(
    lent: LendingSetup, monkeypatch: pytest.MonkeyPatch, card: AcceleratorFacts
) -> None:
    now_ms = [5_000_000]
    monkeypatch.setattr(clock, "steady_ms", lambda: now_ms[0])
    lent.lending.set_scoring(SCORE_MB)
    assert lent.see(round=None, need_mb=100_000) == "evaluator"
    assert lent.see(is_computing=True) == "evaluator"
    lent.see(machine=changed(MACHINE, gpus=(card,)))
    now_ms[0] += OTHERS_LASTING_MS
    assert lent.see() == ""


async def test_who_wants_to_finish_and_rest_is_not_asked_to_score(lent: LendingSetup) -> None:
    lent.see(round=7)
    lent.lending.apply_state(DesiredState(number=2, lend=True, finish=True))
    lent.lending.set_scoring(SCORE_MB)
    assert lent.see() == "trainer"
    assert lent.see(round=None) == ""


async def test_a_session_is_forgotten_once_the_controller_that_reported_it_is_gone(
    lent: LendingSetup,
) -> None:
    app, another = object(), object()
    lent.lending.apply_session_facts(SESSION, app)
    lent.lending.drop_controller(another)
    assert lent.lending.session_report is not None
    lent.lending.drop_controller(app)
    assert lent.lending.session_report is None


async def test_a_trainer_that_was_given_up_is_tried_again_on_the_command_to_lend(
    lent: LendingSetup,
) -> None:
    trainer = lent.lending.devices[GPU.id].trainer
    trainer.failure = "it failed five times"
    lent.lending.apply_state(DesiredState(number=2, lend=False))
    assert trainer.failure
    lent.lending.apply_state(DesiredState(number=3, lend=True))
    assert trainer.failure is None


async def test_a_device_that_left_a_run_no_longer_needs_consent_to_its_code(
    lent: LendingSetup,
) -> None:
    device = lent.lending.devices[GPU.id]
    code = PluginSpec(
        name="another-muon",
        version="1.0",
        archive=to_text(sha256(b"archive")),
        size_bytes=1,
        provides=("optimiser",),
    )
    lent.lending.set_run(device, changed(tiny_manifest(), plugin=code))
    assert str(device.decision.reason) == LendingReason.PLUGIN
    assert code.archive in lent.lending.pause_reason(device)
    lent.lending.set_idle(JOINING, device)
    assert str(device.decision.reason) == LendingReason.LENDING
    assert not lent.lending.pause_reason(device)


async def test_a_worker_started_by_hand_gets_the_least_of_its_share_and_the_decided_one(
    tmp_path: Path,
) -> None:
    by_hand = TrainerSettings(share_percent=30)
    for decided, share in ((100, 30), (20, 20)):
        device = DeviceChoice(id=GPU.key, share_percent=decided)
        fixed = changed(UNRESTRICTED, devices=(device,))
        choices = StoredChoices(tmp_path, default=LEND, fixed=fixed)
        lending = scene_of(tmp_path, choices, by_hand).lending
        assert lending.limits(lending.devices[GPU.id]).share_percent == share


# --- several devices

SECOND = changed(GPU, id="cuda:1", name="RTX 3060", serial="GPU-second", memory_mb=8_192)
BOTH = changed(MACHINE, gpus=(GPU, SECOND))
SPARE = DeviceChoice(id=SECOND.serial, while_used=True)


@pytest.fixture
async def two(tmp_path: Path) -> LendingSetup:
    """Two cards, each in a run; the second is lent also while the computer is used."""
    await trio.lowlevel.checkpoint()
    choices = StoredChoices(tmp_path, default=LEND, fixed=changed(CHOSEN, devices=(SPARE,)))
    made = scene_of(tmp_path, choices)
    made.see(machine=BOTH)
    for device in made.lending.devices.values():
        made.lending.set_idle(None, device)
    return made


def allowed(lending: Lending) -> set[str]:
    """Ids of the devices whose trainers may compute."""
    devices = lending.devices.items()
    return {name for name, one in devices if one.trainer.child.permission.is_set()}


async def test_each_device_has_a_trainer_and_a_decision_of_its_own(two: LendingSetup) -> None:
    assert allowed(two.lending) == {"cuda:0", "cuda:1"}
    warm = changed(BOTH, gpus=(changed(GPU, temperature_c=91.0), SECOND))
    two.see(machine=warm)
    assert allowed(two.lending) == {"cuda:1"}
    assert two.lending.devices["cuda:0"].decision.reason is LendingReason.HOT
    assert two.reason is LendingReason.LENDING, "the computer lends"


async def test_a_trainers_working_files_may_take_what_the_run_of_its_device_needs(
    two: LendingSetup,
) -> None:
    manifest = tiny_manifest()
    first, second = two.lending.devices.values()
    two.lending.set_run(first, manifest)
    training, advance, audit = 2 * (ROUNDS_KEPT + 1) + 1, 3, 4
    files = 2 * (training + advance + audit)  # an unfinished one beside each
    stopped = audit  # those of an audit that was stopped, while the trainer maps them
    largest = max(manifest.weights_bytes, manifest.aux_bytes)
    assert first.trainer.child.work_bytes >= (files + stopped) * largest
    assert second.trainer.child.work_bytes == 0


async def test_a_game_suspends_all_but_the_card_that_is_lent_during_games(
    two: LendingSetup,
) -> None:
    two.see(session=changed(PLAYING, idle_s=0.0))
    assert allowed(two.lending) == {"cuda:1"}
    assert two.lending.devices["cuda:0"].decision.reason is LendingReason.GAME
    decision = two.lending.devices["cuda:1"].decision
    assert (decision.share_percent, decision.values) == (100, {"fact": "spare"})
    busy = changed(BOTH, gpus=(GPU, changed(SECOND, others_load=0.7)))
    two.see(machine=busy)
    assert allowed(two.lending) == set(), "the game uses that card too"


async def test_a_game_has_the_connection_unless_the_card_lent_during_games_computes(
    two: LendingSetup,
) -> None:
    two.see(session=changed(PLAYING, idle_s=0.0))
    assert two.lending.net_limits().may_transfer
    two.see(machine=changed(BOTH, gpus=(GPU, changed(SECOND, temperature_c=91.0))))
    assert not two.lending.net_limits().may_transfer
    largest = changed(SECOND, temperature_c=91.0, memory_mb=24_576)
    two.see(machine=changed(BOTH, gpus=(GPU, largest)))
    assert two.reason is LendingReason.HOT, "the first card is the one that skips the game"
    assert not two.lending.net_limits().may_transfer


async def test_an_exclusive_program_suspends_every_card(tmp_path: Path) -> None:
    fixed = changed(CHOSEN, devices=(SPARE,), exclusive=("blender",))
    made = scene_of(tmp_path, StoredChoices(tmp_path, default=LEND, fixed=fixed))
    made.see(machine=BOTH)
    assert allowed(made.lending) == {"cuda:0", "cuda:1"}
    made.see(session=changed(SESSION, programs=("blender",)))
    assert allowed(made.lending) == set()


async def test_a_card_that_is_switched_off_is_stopped_and_the_other_goes_on(
    tmp_path: Path,
) -> None:
    made = scene_of(tmp_path, StoredChoices(tmp_path, default=LEND))
    made.lending.apply_preferences(CHOSEN)
    made.see(machine=BOTH)
    off = changed(CHOSEN, devices=(DeviceChoice(id=SECOND.serial, use=False),))
    made.lending.apply_preferences(off)
    assert allowed(made.lending) == {"cuda:0"}
    decision = made.lending.devices["cuda:1"].decision
    assert (decision.reason, decision.values) == (LendingReason.BY_HAND, {"fact": "device"})
    swapped = changed(BOTH, gpus=(changed(SECOND, id="cuda:0"), changed(GPU, id="cuda:1")))
    made.see(machine=swapped)
    assert allowed(made.lending) == {"cuda:1"}, "the choice is about the card, not its place"


async def test_scoring_takes_a_card_without_a_run_and_leaves_the_other_training(
    two: LendingSetup,
) -> None:
    device = two.lending.devices["cuda:1"]
    two.lending.set_idle(TAKEN, device)
    assert allowed(two.lending) == {"cuda:0"}
    two.lending.set_scoring(SCORE_MB)
    assert two.lending.judging is device
    assert allowed(two.lending) == {"cuda:0"}
    assert two.evaluator.child.permission.is_set()
    assert two.evaluator.child.device is device.trainer.child.device, "never both on one card"


async def test_scoring_that_moves_to_another_card_ends_on_the_first_one(
    two: LendingSetup,
) -> None:
    first, second = two.lending.devices.values()
    two.lending.set_idle(TAKEN, second)
    two.lending.set_scoring(SCORE_MB)
    before = two.evaluator.child.permission
    hot = changed(BOTH, gpus=(GPU, changed(SECOND, temperature_c=91.0)))
    assert two.see(machine=hot, round=8) == "evaluator"
    assert two.lending.judging is first
    assert two.evaluator.child.device is first.trainer.child.device
    assert two.evaluator.child.permission is not before, "withdrawn, which ends the old child"


async def test_threads_are_shared_out(two: LendingSetup) -> None:
    limits = [two.lending.limits(one) for one in two.lending.devices.values()]
    assert [(one.device, one.threads) for one in limits] == [("cuda:0", 7), ("cuda:1", 7)]


async def test_a_game_disturbs_no_device_that_is_lent_while_the_user_is_there(
    tmp_path: Path,
) -> None:
    await trio.lowlevel.checkpoint()
    spare = changed(CHOSEN, devices=(DeviceChoice(id=GPU.key, while_used=True),))
    lent = scene_of(tmp_path, StoredChoices(tmp_path, default=LEND, fixed=spare))
    lent.see(session=PLAYING)
    assert lent.lending.disturbance("cpu") == "doom"
    assert lent.lending.disturbance(GPU.id) == ""
    lent.see(session=None)
    assert lent.lending.disturbance("cpu") == "", "a worker without an app knows no games"
