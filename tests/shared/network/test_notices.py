"""Notices of organisers: to a run, to the whole network, and the reason of a pause."""

from __future__ import annotations

import msgspec
import pytest

from tequio_shared.errors import MalformedError, RefusedError
from tequio_shared.limits import ANNOUNCEMENT_INTERVAL_MS, NOTICE_CHARS
from tequio_shared.network.notices import NetworkNotices
from tequio_shared.network.run import RunView
from tequio_shared.network.run_states import RunState
from tequio_shared.statements.network import NetNotice
from tequio_shared.statements.runs import RunFinish, RunNotice, RunPause, RunResume
from tests.support.memory_swarm import Swarm
from tests.support.tiny_run import tiny_manifest


@pytest.fixture
def swarm() -> Swarm:
    made = Swarm(manifest=tiny_manifest(most=3))
    for at in range(4):
        made.volunteer(f"v{at}")
    return made


def pause(swarm: Swarm) -> None:
    swarm.run_rounds(1)
    swarm.organise(RunPause(reason=1))
    while swarm.view.state is not RunState.PAUSED:
        assert swarm.step()


def texts(view: RunView) -> tuple[str, str, str]:
    """Announcement, reason of a pause, and the reason while it is shown."""
    told = view.notices
    found = (told.announcement, told.pause_reason, view.shown_pause_reason)
    announcement, reason, shown = (one.text if one else "" for one in found)
    return announcement, reason, shown


def test_a_later_announcement_replaces_one_and_an_empty_one_takes_it_back(swarm: Swarm) -> None:
    swarm.organise(RunNotice(about="run", text="Welcome!"))
    swarm.organise(RunNotice(about="run", text="New data on Sunday."))
    assert texts(swarm.view) == ("New data on Sunday.", "", "")
    told = swarm.view.notices.announcement
    assert told is not None
    assert (told.index, told.ts) == (len(swarm.entries) - 1, swarm.now_ms)
    swarm.organise(RunNotice(about="run", text=""))
    assert texts(swarm.replay()) == ("", "", "")


def test_the_reason_of_a_pause_is_shown_until_the_run_resumes(swarm: Swarm) -> None:
    swarm.organise(RunNotice(about="run", text="Welcome!"))
    swarm.organise(RunNotice(about="pause", text="Moving the seeds."))
    assert texts(swarm.view) == ("Welcome!", "Moving the seeds.", "")
    pause(swarm)
    assert texts(swarm.view) == ("Welcome!", "Moving the seeds.", "Moving the seeds.")
    swarm.organise(RunResume(reason=1))
    assert texts(swarm.view) == ("Welcome!", "", "")
    swarm.organise(RunPause(reason=1))
    assert texts(swarm.view)[2] == "", "it was of the pause before"


def test_a_light_view_has_what_it_reads(swarm: Swarm) -> None:
    light = RunView.light(
        swarm.net, swarm.manifest, head=swarm.view.head, next_head=swarm.view.next_head
    )
    swarm.organise(RunNotice(about="run", text="Welcome!"))
    light.apply(len(swarm.entries) - 1, swarm.entries[-1].statement, 0, swarm.blobs.__getitem__)
    assert texts(light)[0] == "Welcome!"


def test_a_run_that_has_ended_is_told_nothing(swarm: Swarm) -> None:
    swarm.organise(RunFinish(reason=1))
    swarm.run()
    assert swarm.view.state is RunState.FINISHED
    with pytest.raises(RefusedError, match="ended"):
        swarm.organise(RunNotice(about="run", text="Thank you!"))


@pytest.mark.parametrize(
    "text", ["", "Hi", "ñ" * NOTICE_CHARS, "日本 ok 👩‍💻", "https://a.example/?q=<b>"]
)
def test_a_line_of_text_can_be_told(text: str) -> None:
    assert msgspec.convert({"about": "run", "text": text}, RunNotice).text == text


@pytest.mark.parametrize(
    "text",
    [
        "x" * (NOTICE_CHARS + 1),
        "two\nlines",
        " before",
        "after ",
        " ",
        "\x1b[2J",
        "a\u202eb",
        "\u2028",
    ],
)
def test_text_that_steers_a_screen_or_is_too_long_is_refused(text: str) -> None:
    with pytest.raises(msgspec.ValidationError):
        msgspec.convert({"about": "run", "text": text}, RunNotice)
    with pytest.raises(msgspec.ValidationError):
        msgspec.convert({"text": text}, NetNotice)


def test_the_address_of_a_chat_stands_beside_an_announcement(swarm: Swarm) -> None:
    swarm.organise(RunNotice(about="run", text="Welcome!"))
    swarm.organise(RunNotice(about="chat", text="https://chat.example"))
    swarm.organise(RunNotice(about="chat", text="https://chat.example:8443/nova/"))
    told = swarm.view.notices
    assert told.chat is not None
    assert told.announcement is not None
    assert (told.chat.text, told.announcement.text) == (
        "https://chat.example:8443/nova/",
        "Welcome!",
    )
    swarm.organise(RunNotice(about="chat", text=""))
    assert told.chat is None


@pytest.mark.parametrize(
    "text",
    [
        "http://chat.example",
        "https://",
        "https://Chat.example",
        "https://a@chat.example",
        "https://chat.example/?q=1",
        "https://chat.example/#a",
        "https://chat.example/a b",
        "https://chät.example",
        "javascript:alert(1)",
        "chat.example",
    ],
)
def test_what_is_no_plain_https_address_is_not_that_of_a_chat(text: str) -> None:
    with pytest.raises(MalformedError, match="https://"):
        msgspec.convert({"about": "chat", "text": text}, RunNotice)


FIRST_MS = 1_764_000_000_000


def network_text(notices: NetworkNotices) -> str:
    return notices.announcement.text if notices.announcement else ""


def test_a_network_has_one_announcement_until_the_next_or_an_empty_one() -> None:
    notices = NetworkNotices()
    notices.apply(7, FIRST_MS, NetNotice(text="Welcome!"))
    later_ms = FIRST_MS + ANNOUNCEMENT_INTERVAL_MS
    notices.apply(9, later_ms, NetNotice(text="The ledger moves on Sunday."))
    assert notices.announcement is not None
    assert (notices.announcement.index, notices.announcement.ts) == (9, later_ms)
    assert network_text(notices) == "The ledger moves on Sunday."
    notices.apply(10, later_ms + 1, NetNotice(text=""))
    assert network_text(notices) == ""


@pytest.mark.parametrize("after_ms", [-FIRST_MS + 1, -1, 0, ANNOUNCEMENT_INTERVAL_MS - 1])
def test_a_network_is_told_nothing_so_soon_again_also_after_taking_back(after_ms: int) -> None:
    notices = NetworkNotices()
    notices.apply(7, FIRST_MS, NetNotice(text="Welcome!"))
    for is_taken_back in (False, True):
        if is_taken_back:
            notices.apply(8, FIRST_MS, NetNotice(text=""))
        with pytest.raises(RefusedError, match=r"wait \d+ min; until then, it can be") as refused:
            notices.apply(9, FIRST_MS + after_ms, NetNotice(text="And this!"))
        assert refused.value.code == "too-early"
        assert network_text(notices) == ("" if is_taken_back else "Welcome!")
