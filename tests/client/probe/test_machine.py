"""Sources that hang or fail silence their own facts and nothing else."""

from __future__ import annotations

import threading
import time
from typing import TYPE_CHECKING

import msgspec

from tequio_client.ipc.facts import (
    AcceleratorFacts,
    ProbeInstructions,
    decode_machine_facts,
    encode,
)
from tequio_client.probe.cpu import MainMemory
from tequio_client.probe.machine import QUIET_REASON, Cards, FactSources, Machine

if TYPE_CHECKING:
    from collections.abc import Callable

    from tequio_client.ipc.facts import MachineFacts, ProbeHealth

TIMEOUT_S = 0.15
CARD = AcceleratorFacts(
    id="cuda:0", name="Card", memory_mb=8_192, free_mb=8_000, load=0.5, driver="1.2"
)


class ScriptedCards:
    """A source of cards whose next answer the test sets."""

    def __init__(self, name: str, answer: Callable[[ProbeInstructions], Cards]) -> None:
        self.name, self.answer = name, answer
        self.closed = 0

    def read(self, watch: ProbeInstructions) -> Cards:
        """Answer as the test wants."""
        return self.answer(watch)

    def close(self) -> None:
        """Count it."""
        self.closed += 1


def machine(*cards: ScriptedCards, on_battery: Callable[[], bool] = lambda: False) -> Machine:
    sources = FactSources(
        cards=cards,
        cpu_name=lambda: "Processor",
        others_cpu=lambda _: 0.25,
        cpu_temperature_c=lambda: 50.0,
        memory=lambda: MainMemory(total_mb=16_000, free_mb=8_000),
        on_battery=on_battery,
        is_saving=lambda: False,
    )
    return Machine(sources, timeout_s=TIMEOUT_S)


def asked(machine: Machine) -> MachineFacts:
    machine.ask()
    machine.wait(1.0)
    return machine.facts()


def health(facts: MachineFacts, name: str, source: str | None = None) -> ProbeHealth:
    return next(one for one in facts.health if one.name == name and source in (None, one.source))


def wait_until(is_so: Callable[[], bool]) -> None:
    deadline_s = time.monotonic() + 20
    while not is_so():
        assert time.monotonic() < deadline_s
        time.sleep(0.01)


def test_everything_that_answers_is_told_and_can_be_read() -> None:
    facts = asked(machine(ScriptedCards("nvml", lambda _: Cards(gpus=(CARD,)))))
    assert facts.gpus == (CARD,)
    assert (facts.cpu_name, facts.others_cpu, facts.on_battery) == ("Processor", 0.25, False)
    assert all(one.ok for one in facts.health)
    assert decode_machine_facts(encode(facts)) == facts


def test_before_the_first_answer_nothing_is_known() -> None:
    facts = machine(ScriptedCards("nvml", lambda _: Cards())).facts()
    assert (facts.gpus, facts.on_battery, facts.others_cpu) == (None, None, None)
    assert not any(one.ok for one in facts.health)


def test_a_driver_that_hangs_is_unknown_and_the_rest_goes_on() -> None:
    let_go = threading.Event()
    played = ScriptedCards("nvml", lambda _: Cards(gpus=(CARD,)))
    whole = machine(played)
    asked(whole)
    played.answer = lambda _: Cards(gpus=(CARD,)) if let_go.wait(60) else Cards()
    whole.ask()
    wait_until(lambda: "no answer for" in health(whole.facts(), "gpu").error)
    facts = asked(whole)
    assert facts.gpus == (
        AcceleratorFacts(id="cuda:0", name="Card", memory_mb=8_192, driver="1.2"),
    )
    assert (facts.others_cpu, facts.on_battery) == (0.25, False)
    let_go.set()
    wait_until(lambda: whole.facts().gpus == (CARD,))


def test_a_driver_that_raises_is_unknown_with_its_own_words() -> None:
    def raises(_: ProbeInstructions) -> Cards:
        raise RuntimeError("GPU is on fire")

    facts = asked(machine(ScriptedCards("nvml", raises)))
    assert facts.gpus is None
    assert health(facts, "gpu").error == "RuntimeError: GPU is on fire"


def test_one_driver_of_two_is_enough_for_its_own_cards() -> None:
    def raises(_: ProbeInstructions) -> Cards:
        raise OSError("no")

    facts = asked(
        machine(
            ScriptedCards("nvml", raises), ScriptedCards("sysfs", lambda _: Cards(gpus=(CARD,)))
        )
    )
    assert facts.gpus == (CARD,)
    assert not health(facts, "gpu", "nvml").ok


def test_a_card_is_not_listed_by_a_source_that_lacks_its_serial() -> None:
    """Else it would be lent before its driver answers, although its owner switched it off."""
    known = msgspec.structs.replace(CARD, serial="GPU-1", others_load=None)
    let_go = threading.Event()
    driver = ScriptedCards("nvml", lambda _: Cards(gpus=(known,)) if let_go.wait(60) else Cards())
    other = msgspec.structs.replace(CARD, id="cuda:1", name="Other")
    loads = Cards(completing=(msgspec.structs.replace(CARD, others_load=0.25), other))
    whole = machine(driver, ScriptedCards("pdh", lambda _: loads))
    whole.ask()
    wait_until(lambda: health(whole.facts(), "gpu", "pdh").ok)
    assert whole.facts().gpus is None
    assert not any(one.source == "driver" for one in whole.facts().health)
    let_go.set()
    wait_until(lambda: whole.facts().gpus is not None)
    facts = whole.facts()
    assert facts.gpus == (msgspec.structs.replace(known, others_load=0.25),)
    assert health(facts, "gpu", "driver").error == "no driver answers for Other"


def test_a_card_without_a_driver_is_not_the_same_as_no_card() -> None:
    driver = ScriptedCards("nvml", lambda _: Cards())
    whole = machine(driver, ScriptedCards("pdh", lambda _: Cards(completing=(CARD,))))
    for is_quiet in (False, True):
        whole.watch = ProbeInstructions(is_quiet=is_quiet)
        facts = asked(whole)
        assert facts.gpus is None, "else the processor would take its place"
        assert health(facts, "gpu", "driver").error == "no driver answers for Card"


def test_a_machine_without_accelerators_says_so() -> None:
    assert asked(machine(ScriptedCards("nvml", lambda _: Cards()))).gpus == ()


def test_a_quiet_probe_lets_go_of_the_cards() -> None:
    played = ScriptedCards("nvml", lambda _: Cards(gpus=(CARD,)))
    whole = machine(played)
    asked(whole)
    whole.watch = ProbeInstructions(is_quiet=True)
    facts = asked(whole)
    assert played.closed == 1
    assert facts.gpus == (
        AcceleratorFacts(id="cuda:0", name="Card", memory_mb=8_192, driver="1.2"),
    )
    assert health(facts, "gpu").error == QUIET_REASON


def test_a_probe_that_begins_quiet_reads_the_cards_once() -> None:
    readings = iter([Cards(gpus=(CARD,))])  # a second one would raise
    played = ScriptedCards("nvml", lambda _: next(readings))
    whole = machine(played)
    whole.watch = ProbeInstructions(is_quiet=True)
    for _ in range(3):
        gpus = asked(whole).gpus
        assert gpus is not None
        assert [gpu.id for gpu in gpus] == [CARD.id], "else the processor would take its place"
    assert played.closed == 2


def test_numbers_that_no_card_has_do_not_cost_the_whole_line() -> None:
    wild = AcceleratorFacts(
        id="cuda:0", name="Card", load=7.0, watts=float("inf"), memory_mb=1 << 60
    )
    facts = asked(machine(ScriptedCards("nvml", lambda _: Cards(gpus=(wild,)))))
    assert decode_machine_facts(encode(facts)).gpus == (AcceleratorFacts(id="cuda:0", name="Card"),)


def test_a_battery_that_fails_is_unknown() -> None:
    def fails() -> bool:
        raise OSError("gone")

    facts = asked(machine(on_battery=fails))
    assert facts.on_battery is None
    assert "gone" in health(facts, "battery").error
