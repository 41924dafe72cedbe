"""Desktop services on a real bus that answer truthfully, with lies, with garbage or not at all."""

from __future__ import annotations

import os
import time
from contextlib import closing
from typing import TYPE_CHECKING, Any

import psutil
import pytest

from tequio_client.app.session import linux
from tequio_client.platform.dbus import AbsentError, Bus, NoAnswerError
from tests.support.timing_slack import allowed_s

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from tests.support.private_bus import PrivateBus, Typed

LOGIND = "org.freedesktop.login1"
US = 1_000_000


@pytest.fixture
def bus(private_bus: PrivateBus) -> Iterator[Bus]:
    with closing(Bus(private_bus.address, timeout_s=5.0)) as bus:
        yield bus


@pytest.fixture
def hasty(private_bus: PrivateBus) -> Iterator[Bus]:
    with closing(Bus(private_bus.address, timeout_s=0.2)) as bus:
        yield bus


def test_mutter_tells_milliseconds(private_bus: PrivateBus, bus: Bus) -> None:
    private_bus.serve(linux.MUTTER.name, methods={"GetIdletime": ("t", 83_500)})
    assert linux.MutterIdle(bus).read() == 83.5


def test_the_screen_saver_tells_milliseconds(private_bus: PrivateBus, bus: Bus) -> None:
    private_bus.serve(linux.SCREEN_SAVER.name, methods={"GetSessionIdleTime": ("u", 4_200)})
    assert linux.ScreenSaverIdle(bus).read() == 4.2


def test_an_idle_time_that_no_computer_has_is_not_believed(
    private_bus: PrivateBus, bus: Bus
) -> None:
    private_bus.serve(linux.MUTTER.name, methods={"GetIdletime": ("t", 2**64 - 1)})
    with pytest.raises(NoAnswerError):
        linux.MutterIdle(bus).read()


@pytest.mark.parametrize(
    ("hint", "since_us", "idle_s"),
    [(False, 5 * US, 0.0), (True, 70 * US, 30.0), (True, 0, 0.0), (True, 900 * US, 0.0)],
)
def test_logind_tells_since_when(
    private_bus: PrivateBus, bus: Bus, since_us: int, idle_s: float, *, hint: bool
) -> None:
    properties: dict[str, Typed] = {"IdleHint": ("b", hint), "IdleSinceHint": ("t", since_us)}
    private_bus.serve(LOGIND, properties=properties)
    assert linux.LogindIdle(bus, now_us=lambda: 100 * US).read() == idle_s


@pytest.mark.parametrize("is_locked", [True, False])
def test_the_lock_is_told_by_logind_and_by_the_screen_saver(
    private_bus: PrivateBus, bus: Bus, *, is_locked: bool
) -> None:
    private_bus.serve(LOGIND, properties={"LockedHint": ("b", is_locked)})
    private_bus.serve(linux.GNOME_SAVER.name, methods={"GetActive": ("b", is_locked)})
    assert linux.LogindLock(bus).read() is is_locked
    assert linux.ScreenSaverLock(bus).read() is is_locked


@pytest.mark.parametrize(
    ("front", "kind", "is_other"),
    [
        ("7", "user", True),
        ("7", "greeter", False),
        ("7", "lock-screen", False),
        ("", "user", False),
    ],
)
def test_logind_tells_of_another_user_at_the_seat(
    private_bus: PrivateBus, bus: Bus, front: str, kind: str, *, is_other: bool
) -> None:
    behind: dict[str, Typed] = {
        "Active": ("b", False),
        "Seat": ("(so)", ["seat0", "/org/freedesktop/login1/seat/seat0"]),
        "ActiveSession": ("(so)", [front, f"/org/freedesktop/login1/session/_3{front}"]),
        "Class": ("s", kind),
        "LockedHint": ("b", False),
    }
    private_bus.serve(LOGIND, properties=behind)
    assert linux.LogindOtherUser(bus).read() is is_other
    private_bus.serve(LOGIND, properties=behind | {"Active": ("b", True)})
    assert linux.LogindOtherUser(bus).read() is False
    private_bus.serve(LOGIND, properties=behind | {"LockedHint": ("b", True)})
    assert linux.LogindOtherUser(bus).read() is False


def test_without_a_session_of_logind_there_is_no_other_user(
    private_bus: PrivateBus, bus: Bus
) -> None:
    assert linux.LogindOtherUser(bus).read() is False
    private_bus.serve(LOGIND)
    assert linux.LogindOtherUser(bus).read() is False


def test_a_logind_that_hangs_does_not_tell_of_another_user(
    private_bus: PrivateBus, hasty: Bus
) -> None:
    private_bus.serve(LOGIND, hangs=True)
    with pytest.raises(NoAnswerError):
        linux.LogindOtherUser(hasty).read()


@pytest.mark.parametrize(("said", "is_metered"), [(1, True), (2, False), (3, True), (4, False)])
def test_the_network_is_metered_or_guessed_to_be(
    private_bus: PrivateBus, bus: Bus, said: int, *, is_metered: bool
) -> None:
    private_bus.serve(linux.NETWORK_MANAGER.name, properties={"Metered": ("u", said)})
    assert linux.NetworkManagerMetered(bus).read() is is_metered


@pytest.mark.parametrize("said", [0, 99])
def test_a_network_that_nobody_knows_is_unknown(
    private_bus: PrivateBus, bus: Bus, said: int
) -> None:
    private_bus.serve(linux.NETWORK_MANAGER.name, properties={"Metered": ("u", said)})
    with pytest.raises(NoAnswerError, match="does not know"):
        linux.NetworkManagerMetered(bus).read()


def test_game_mode_names_the_game(private_bus: PrivateBus, bus: Bus) -> None:
    game = psutil.Process(os.getpid()).name()
    private_bus.serve(
        linux.GAME_MODE.name,
        properties={"ClientCount": ("i", 1)},
        methods={"ListGames": ("a(io)", [[os.getpid(), "/com/feralinteractive/GameMode/1"]])},
    )
    assert linux.GameModeProbe(bus).read() == game


def test_a_game_of_another_container_has_no_name_and_is_a_game(
    private_bus: PrivateBus, bus: Bus
) -> None:
    private_bus.serve(
        linux.GAME_MODE.name,
        properties={"ClientCount": ("i", 1)},
        methods={"ListGames": ("a(io)", [[2**31 - 1, "/a"]])},
    )
    assert linux.GameModeProbe(bus).read() == "?"


def test_game_mode_without_clients_has_no_game(private_bus: PrivateBus, bus: Bus) -> None:
    private_bus.serve(linux.GAME_MODE.name, properties={"ClientCount": ("i", 0)})
    assert linux.GameModeProbe(bus).read() == ""


def test_whoever_keeps_gnome_awake_is_named_unless_it_is_ourselves(
    private_bus: PrivateBus, bus: Bus
) -> None:
    methods: dict[str, Typed] = {
        "IsInhibited": ("b", True),
        "GetInhibitors": ("ao", ["/org/gnome/SessionManager/Inhibitor7"]),
        "GetFlags": ("u", 12),
        "GetAppId": ("s", "org.gnome.Totem"),
    }
    private_bus.serve(linux.GNOME_SESSION.name, methods=methods)
    assert linux.GnomeInhibitor(bus, ours=("Tequio",)).read() == "org.gnome.Totem"
    assert linux.GnomeInhibitor(bus, ours=("org.gnome.Totem",)).read() == ""
    private_bus.serve(linux.GNOME_SESSION.name, methods=methods | {"GetFlags": ("u", 4)})
    assert linux.GnomeInhibitor(bus, ours=()).read() == ""
    private_bus.serve(linux.GNOME_SESSION.name, methods={"IsInhibited": ("b", False)})
    assert linux.GnomeInhibitor(bus, ours=()).read() == ""


def test_whoever_keeps_kde_awake_is_named_unless_it_is_ourselves(
    private_bus: PrivateBus, bus: Bus
) -> None:
    methods: dict[str, Typed] = {
        "HasInhibition": ("b", True),
        "ListInhibitions": ("a(ss)", [["Tequio", "lends"], ["mpv", "plays a film"]]),
    }
    private_bus.serve(linux.KDE_POWER.name, methods=methods)
    assert linux.KdeInhibitor(bus, ours=("Tequio",)).read() == "mpv"
    assert linux.KdeInhibitor(bus, ours=("Tequio", "mpv")).read() == ""


READERS: dict[str, tuple[Callable[[Bus], Any], str]] = {
    "mutter": (linux.MutterIdle, linux.MUTTER.name),
    "saver-idle": (linux.ScreenSaverIdle, linux.SCREEN_SAVER.name),
    "logind-idle": (linux.LogindIdle, LOGIND),
    "logind-lock": (linux.LogindLock, LOGIND),
    "saver-lock": (linux.ScreenSaverLock, linux.GNOME_SAVER.name),
    "network": (linux.NetworkManagerMetered, linux.NETWORK_MANAGER.name),
    "game": (linux.GameModeProbe, linux.GAME_MODE.name),
    "gnome": (lambda bus: linux.GnomeInhibitor(bus, ours=()), linux.GNOME_SESSION.name),
    "kde": (lambda bus: linux.KdeInhibitor(bus, ours=()), linux.KDE_POWER.name),
}
ALL = pytest.mark.parametrize(("make", "name"), READERS.values(), ids=READERS)


@ALL
def test_a_service_that_is_not_there_is_absent(
    bus: Bus, make: Callable[[Bus], Any], name: str
) -> None:
    with pytest.raises(AbsentError):
        make(bus).read()


@ALL
def test_a_service_that_hangs_is_unknown_after_its_time_out(
    private_bus: PrivateBus, hasty: Bus, make: Callable[[Bus], Any], name: str
) -> None:
    private_bus.serve(name, hangs=True)
    begun_s = time.monotonic()
    with pytest.raises(NoAnswerError, match=r"no answer in 0\.2 s"):
        make(hasty).read()
    assert time.monotonic() - begun_s < allowed_s(5)


@ALL
def test_a_service_that_answers_with_another_type_is_unknown(
    private_bus: PrivateBus, bus: Bus, make: Callable[[Bus], Any], name: str
) -> None:
    wrong: Typed = ("as", ["what", "is", "this"])
    members = ("GetIdletime", "GetSessionIdleTime", "GetActive", "IsInhibited", "HasInhibition")
    known = ("IdleHint", "IdleSinceHint", "LockedHint", "Metered", "ClientCount")
    private_bus.serve(
        name, methods=dict.fromkeys(members, wrong), properties=dict.fromkeys(known, wrong)
    )
    with pytest.raises(NoAnswerError, match="instead of"):
        make(bus).read()


def test_a_number_where_yes_or_no_is_due_is_not_taken(private_bus: PrivateBus, bus: Bus) -> None:
    private_bus.serve(LOGIND, properties={"LockedHint": ("u", 1)})
    with pytest.raises(NoAnswerError, match="instead of bool"):
        linux.LogindLock(bus).read()
    private_bus.serve(linux.NETWORK_MANAGER.name, properties={"Metered": ("b", True)})
    with pytest.raises(NoAnswerError, match="instead of int"):
        linux.NetworkManagerMetered(bus).read()


def test_after_a_time_out_the_late_answer_is_not_taken_for_the_next(
    private_bus: PrivateBus, hasty: Bus
) -> None:
    idle = linux.MutterIdle(hasty)
    private_bus.serve(linux.MUTTER.name, hangs=True)
    with pytest.raises(NoAnswerError):
        idle.read()
    private_bus.serve(linux.MUTTER.name, methods={"GetIdletime": ("t", 1_000)})
    assert idle.read() == 1.0


def test_asking_starts_no_service(private_bus: PrivateBus, bus: Bus) -> None:
    with pytest.raises(AbsentError, match=r"NameHasNoOwner|ServiceUnknown"):
        linux.GameModeProbe(bus).read()


def test_without_a_bus_everything_is_absent() -> None:
    with pytest.raises(AbsentError, match="no unix:path"):
        linux.MutterIdle(Bus("unix:path=/nonexistent/bus")).read()
