"""Sleep is detected and, only on request, prevented."""

from __future__ import annotations

import threading
from contextlib import closing
from typing import TYPE_CHECKING

import pytest

from tequio_client.app.session.linux import SCREEN_SAVER
from tequio_client.app.session.power import MANAGER, KeepAwake, ScreenSaverInhibitor, SleepWatch
from tequio_client.platform.dbus import Bus
from tests.support.private_display import wait_until

if TYPE_CHECKING:
    from pytestqt.qtbot import QtBot

    from tests.support.private_bus import PrivateBus

SERVICE = {"Inhibit": ("u", 4_711), "UnInhibit": ("", None)}


@pytest.mark.parametrize(
    ("member", "value", "expected"),
    [
        ("PrepareForSleep", True, "sleeping"),
        ("PrepareForSleep", False, "woke"),
        ("PrepareForShutdown", True, "ending"),
    ],
)
def test_logind_tells_what_is_about_to_happen(
    private_bus: PrivateBus, qtbot: QtBot, member: str, expected: str, *, value: bool
) -> None:
    private_bus.serve("org.freedesktop.login1")
    watch = SleepWatch(private_bus.address, system="linux")
    with closing(watch), qtbot.waitSignal(getattr(watch, expected), timeout=90_000):
        repeat = threading.Event()

        def repeat_signal() -> None:
            while not repeat.wait(0.05):  # until the watch has begun to listen
                private_bus.signal(
                    MANAGER.name, MANAGER.path, MANAGER.interface, member, ("b", value)
                )

        speaker = threading.Thread(target=repeat_signal)
        speaker.start()
        getattr(watch, expected).connect(repeat.set)
    repeat.set()
    speaker.join()


def test_a_signal_of_another_kind_says_nothing(private_bus: PrivateBus, qtbot: QtBot) -> None:
    private_bus.serve("org.freedesktop.login1")
    watch = SleepWatch(private_bus.address, system="linux")
    received: list[str] = []
    watch.sleeping.connect(lambda: received.append("sleeping"))
    watch.ending.connect(lambda: received.append("ending"))
    stop = threading.Event()

    def send_other_signals() -> None:
        while not stop.wait(0.05):
            for member, value in (("SessionNew", True), ("PrepareForShutdown", False)):
                private_bus.signal(
                    MANAGER.name, MANAGER.path, MANAGER.interface, member, ("b", value)
                )
            private_bus.signal(
                MANAGER.name, MANAGER.path, MANAGER.interface, "PrepareForSleep", ("b", False)
            )

    speaker = threading.Thread(target=send_other_signals)
    with closing(watch), qtbot.waitSignal(watch.woke, timeout=90_000):
        speaker.start()
    stop.set()
    speaker.join()
    assert received == []


@pytest.mark.parametrize(
    ("message", "word", "expected"),
    [(0x218, 4, "sleeping"), (0x218, 18, "woke"), (0x16, 1, "ending")],
)
def test_windows_tells_what_is_about_to_happen(
    qtbot: QtBot, message: int, word: int, expected: str
) -> None:
    watch = SleepWatch(system="win32")
    with closing(watch), qtbot.waitSignal(getattr(watch, expected), timeout=90_000):
        watch.handle_windows_message(message, word)


def test_a_mac_that_slept_is_noticed_and_a_slow_clock_is_not(qtbot: QtBot) -> None:
    wall_ms, steady_s = [1_000_000], [50.0]
    watch = SleepWatch(system="darwin", wall_ms=lambda: wall_ms[0], steady_s=lambda: steady_s[0])
    received: list[str] = []
    watch.woke.connect(lambda: received.append("woke"))
    for wall, steady in ((5_000, 5.0), (9_000, 5.0), (-60_000, 5.0), (605_000, 5.0), (5_000, 5.0)):
        wall_ms[0] += wall
        steady_s[0] += steady
        watch.check_clocks()
    watch.close()
    assert received == ["woke"]


def test_the_computer_is_kept_awake_only_while_that_is_wanted(private_bus: PrivateBus) -> None:
    private_bus.serve(SCREEN_SAVER.name, methods=SERVICE)
    with closing(Bus(private_bus.address, timeout_s=5.0)) as bus:
        awake = KeepAwake(lambda: ScreenSaverInhibitor(bus))
        assert not awake.is_held
        for _ in range(3):
            awake.set_wanted(is_wanted=True)
        wait_until(lambda: awake.is_held)
        awake.set_wanted(is_wanted=False)
        wait_until(lambda: not awake.is_held)
        awake.close()
    assert private_bus.calls(SCREEN_SAVER.name) == ["Inhibit", "UnInhibit"]


def test_closing_lets_the_computer_sleep_again(private_bus: PrivateBus) -> None:
    private_bus.serve(SCREEN_SAVER.name, methods=SERVICE)
    with closing(Bus(private_bus.address, timeout_s=5.0)) as bus:
        awake = KeepAwake(lambda: ScreenSaverInhibitor(bus))
        awake.set_wanted(is_wanted=True)
        wait_until(lambda: awake.is_held)
        awake.close()
    assert private_bus.calls(SCREEN_SAVER.name) == ["Inhibit", "UnInhibit"]


def test_nothing_is_asked_of_anybody_by_default(private_bus: PrivateBus) -> None:
    private_bus.serve(SCREEN_SAVER.name, methods=SERVICE)
    with closing(Bus(private_bus.address)) as bus:
        awake = KeepAwake(lambda: ScreenSaverInhibitor(bus))
        awake.set_wanted(is_wanted=False)
        awake.close()
    assert private_bus.calls(SCREEN_SAVER.name) == []


def test_a_service_that_hangs_holds_nobody_up_and_is_shown(private_bus: PrivateBus) -> None:
    private_bus.serve(SCREEN_SAVER.name, hangs=True)
    with closing(Bus(private_bus.address, timeout_s=0.2)) as bus:
        awake = KeepAwake(lambda: ScreenSaverInhibitor(bus))
        awake.set_wanted(is_wanted=True)
        wait_until(lambda: "no answer" in awake.problem)
        assert not awake.is_held
        awake.close()
