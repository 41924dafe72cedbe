"""Whatever a ledger does with some answers, its monitor compares the others and rings for them."""

from __future__ import annotations

import re
import sys
from contextlib import closing
from typing import TYPE_CHECKING

import msgspec
import pytest

from tequio_client.clock import now_ms
from tequio_ledger.monitor.alarms import AlarmKind, Alarms
from tequio_ledger.monitor.remote import UnreachableError, WithheldError
from tequio_ledger.monitor.watch import LATE_S, QUESTIONS
from tequio_shared.ids import Digest, to_text
from tequio_shared.log.policy import Policy
from tests.support.cosigned_ledger import (
    WitnessGroup,
    cosigned,
    register_keys,
    wait_until_published,
)
from tests.support.ledgers import Served
from tests.support.watched_ledger import (
    InterceptedLedger,
    SteadyClock,
    opened,
    other_root,
    rung,
)

if TYPE_CHECKING:
    from pathlib import Path


def test_answers_that_do_not_follow_from_the_log_are_listed(
    tmp_path: Path, remote: InterceptedLedger, alarms: Alarms
) -> None:
    def lie(path: str, raw: bytes) -> bytes:
        if not path.startswith("/v1/peers"):
            return raw
        rich = re.sub(rb'"gflop":0', b'"gflop":7000000', raw, count=1)
        return re.sub(rb'"last_seq":1', b'"last_seq":2', rich, count=1)

    remote.change = lie
    with closing(opened(remote, tmp_path / "m", alarms)) as watch:
        watch.check()
        (alarm,) = rung(tmp_path)
        assert alarm.kind is AlarmKind.DERIVED
        assert any("gflop is 0 by the log, but 7000000 is said" in one for one in alarm.differences)
        remote.change = lambda _path, raw: raw
        watch.check()
        assert len(rung(tmp_path)) == 1


def test_an_answer_that_is_withheld_hides_no_other(
    tmp_path: Path, remote: InterceptedLedger, alarms: Alarms, steady_s: SteadyClock
) -> None:
    first, *_ = (one["key"] for one in remote.ask("/v1/peers")["peers"])
    with closing(opened(remote, tmp_path / "m", alarms, steady_s=steady_s)) as watch:
        remote.withheld = (f"/v1/peers/{first}",)
        assert not watch.check(sys.maxsize)
        assert rung(tmp_path) == []
        remote.change = lambda path, raw: (
            re.sub(rb'"last_seq":1', b'"last_seq":2', raw) if path.startswith("/v1/peers/") else raw
        )
        watch.check(sys.maxsize)
        assert [one.kind for one in rung(tmp_path)] == [AlarmKind.DERIVED]
        steady_s.ahead_s = LATE_S
        watch.check(sys.maxsize)
        away = next(one for one in rung(tmp_path) if one.kind is AlarmKind.AWAY)
        assert first in away.differences[0]


def test_one_wrong_figure_rings_once_while_the_log_grows(
    tmp_path: Path, ledger: Served, remote: InterceptedLedger, alarms: Alarms, steady_s: SteadyClock
) -> None:
    peers = remote.ask("/v1/peers")["peers"]
    first, second, *_ = (one["key"] for one in peers if one["last_seq"] == 1)
    lies = {f"/v1/peers/{first}"}
    remote.change = lambda path, raw: (
        re.sub(rb'"last_seq":1', b'"last_seq":2', raw) if path in lies else raw
    )
    with closing(opened(remote, tmp_path / "m", alarms, steady_s=steady_s)) as watch:
        watch.check(sys.maxsize)
        register_keys(ledger, "later", 2)
        watch.check(sys.maxsize)
        assert len(rung(tmp_path)) == 1
        lies.add(f"/v1/peers/{second}")
        watch.check(sys.maxsize)
        assert len(rung(tmp_path)) == 2, "another one rings, in a log that did not grow"
        lies.clear()
        watch.check(sys.maxsize)
        lies.add(f"/v1/peers/{first}")
        watch.check(sys.maxsize)
    assert len(rung(tmp_path)) == 3, "one that was right again rings again"


def test_a_second_wrong_figure_of_an_answer_rings_too(
    tmp_path: Path, remote: InterceptedLedger, alarms: Alarms, steady_s: SteadyClock
) -> None:
    first = next(one["key"] for one in remote.ask("/v1/peers")["peers"] if one["last_seq"] == 1)
    lies = [(rb'"last_seq":1', b'"last_seq":2')]

    def change(path: str, raw: bytes) -> bytes:
        for true, lie in lies if path == f"/v1/peers/{first}" else ():
            assert re.search(true, raw)
            raw = re.sub(true, lie, raw)
        return raw

    remote.change = change
    with closing(opened(remote, tmp_path / "m", alarms, steady_s=steady_s)) as watch:
        watch.check(sys.maxsize)
        lies.append((rb'"tier":\d', b'"tier":9'))
        watch.check(sys.maxsize)
    (first_alarm, second_alarm) = rung(tmp_path)
    told = {*first_alarm.differences, *second_alarm.differences}
    assert len(told) == 2


def test_large_lies_are_cut_before_they_are_remembered(
    tmp_path: Path, remote: InterceptedLedger, alarms: Alarms, steady_s: SteadyClock
) -> None:
    large = b'"' + b"9" * 1_000_000 + b'"'
    remote.change = lambda path, raw: (
        re.sub(rb'"last_seq":1', b'"last_seq":' + large, raw)
        if path.startswith("/v1/peers/")
        else raw
    )
    with closing(opened(remote, tmp_path / "m", alarms, steady_s=steady_s)) as watch:
        watch.check(sys.maxsize)
    (alarm,) = rung(tmp_path)
    assert max(len(one) for one in alarm.differences) < 1_000


def renamed(raw: bytes, ahead: int, root: Digest | None = None) -> bytes:
    """The answer, as if it was true for more entries, perhaps with a root of our own."""

    def more(found: re.Match[bytes]) -> bytes:
        said = to_text(root).encode() if root else found[2]
        return b'"as_of":{"size":%d,"root":"%s"}' % (int(found[1]) + ahead, said)

    return re.sub(rb'"as_of":\{"size":(\d+),"root":"([^"]+)"\}', more, raw)


def test_answers_about_entries_that_are_never_published_ring(
    tmp_path: Path, remote: InterceptedLedger, alarms: Alarms, steady_s: SteadyClock
) -> None:
    remote.change = steady_s.slowed(lambda _path, raw: renamed(raw, 1_000))
    with closing(opened(remote, tmp_path / "m", alarms, steady_s=steady_s)) as watch:
        assert not watch.check()
        assert rung(tmp_path) == [], "witnesses may be slow"
        steady_s.ahead_s = LATE_S
        watch.check()
        away, derived = rung(tmp_path)
    assert (away.kind, derived.kind) == (AlarmKind.AWAY, AlarmKind.DERIVED)
    assert derived.differences[0].endswith("which are not published")


def test_a_log_that_grows_while_it_is_checked_is_checked_to_the_end(
    tmp_path: Path, remote: InterceptedLedger, alarms: Alarms, steady_s: SteadyClock
) -> None:
    ahead: set[str] = set()

    def change(path: str, raw: bytes) -> bytes:
        if not path.startswith("/v1/peers/") or len(ahead) == 8 or path in ahead:
            return raw
        ahead.add(path)
        return renamed(raw, 1)

    remote.change = steady_s.slowed(change)
    with closing(opened(remote, tmp_path / "m", alarms, steady_s=steady_s)) as watch:
        assert watch.check(sys.maxsize)
    assert len(ahead) == 8
    assert rung(tmp_path) == []


def test_answers_about_another_log_ring_when_it_has_grown_so_far(
    tmp_path: Path, ledger: Served, remote: InterceptedLedger, alarms: Alarms, steady_s: SteadyClock
) -> None:
    remote.change = steady_s.slowed(lambda _path, raw: renamed(raw, 2, other_root(2)))
    with closing(opened(remote, tmp_path / "m", alarms, steady_s=steady_s)) as watch:
        watch.check()
        assert rung(tmp_path) == []
        remote.change = lambda _path, raw: raw
        register_keys(ledger, "up to there", 2)
        watch.check()
        (alarm,) = rung(tmp_path)
        assert "an answer named another root" in alarm.differences[0]
        remote.change = lambda _path, raw: renamed(raw, 0, other_root(0))
        register_keys(ledger, "and beyond", 1)
        watch.check()
        told = [one for alarm in rung(tmp_path) for one in alarm.differences]
        assert any("names another root" in one for one in told)


@pytest.mark.parametrize("what", ["honest", "lying"])
def test_answers_ahead_of_the_witnesses_are_compared_when_these_have_cosigned(
    tmp_path: Path, alarms: Alarms, what: str
) -> None:
    def change(path: str, raw: bytes) -> bytes:
        if what == "honest" or not path.startswith("/v1/peers"):
            return raw
        return re.sub(rb'"last_seq":1', b'"last_seq":2', raw, count=1)

    with WitnessGroup(tmp_path, 1) as ring:
        policy = ring.policy("all")
        with (
            cosigned(ring, policy, "--publish-pause-ms", "1500") as slow,
            InterceptedLedger(slow.url) as to,
        ):
            to.change = change
            trust = Policy.parse(policy.read_bytes())
            register_keys(slow, "shown at once", 2)
            wait_until_published(slow, policy, 3)
            register_keys(slow, "shown later", 2)
            with closing(opened(to, tmp_path / "m", alarms, trust, clock=now_ms)) as watch:
                watch.check()
                assert watch.mirror.size == 5
    assert [one.kind for one in rung(tmp_path)] == ([AlarmKind.DERIVED] if what == "lying" else [])


def lie(path: str, raw: bytes) -> bytes:
    """Change a figure of every key."""
    if not path.startswith("/v1/peers/"):
        return raw
    return re.sub(rb'"last_seq":1', b'"last_seq":2', raw)


def some_keys(remote: InterceptedLedger, count: int) -> list[str]:
    return [one["key"] for one in remote.ask("/v1/peers?limit=250")["peers"]][:count]


def test_an_answer_that_stays_at_an_older_size_hides_no_other(
    tmp_path: Path, ledger: Served, remote: InterceptedLedger, alarms: Alarms, steady_s: SteadyClock
) -> None:
    paths = [
        f"/v1/peers/{key}{page}"
        for key in some_keys(remote, 7)
        for page in ("", "/rounds?limit=250")
    ]
    old = {path: msgspec.json.encode(remote.ask(path)) for path in paths}
    register_keys(ledger, "after the old answers", 2)
    remote.change = lambda path, raw: old.get(path) or lie(path, raw)
    with closing(opened(remote, tmp_path / "m", alarms, steady_s=steady_s)) as watch:
        for _ in range(6):  # a check ends after three of them in a row
            assert not watch.check()
        assert {one.kind for one in rung(tmp_path)} == {AlarmKind.DERIVED}
        steady_s.ahead_s = LATE_S
        watch.check()
        away = next(one for one in rung(tmp_path) if one.kind is AlarmKind.AWAY)
        assert set(old) <= set(re.findall(r"/v1/peers/[^ ,]+", away.differences[0]))
        remote.change = lambda _path, raw: raw
        assert watch.check(sys.maxsize), "they count as soon as they are right"


def test_wrong_figures_ring_though_the_ledger_stops_answering(
    tmp_path: Path, remote: InterceptedLedger, alarms: Alarms
) -> None:
    *_, last = some_keys(remote, 3)

    def change(path: str, raw: bytes) -> bytes:
        if path == f"/v1/peers/{last}":
            raise UnreachableError(path)
        return lie(path, raw)

    remote.change = change
    with closing(opened(remote, tmp_path / "m", alarms)) as watch:
        assert not watch.check()
        assert [one.kind for one in rung(tmp_path)] == [AlarmKind.DERIVED]


def test_an_answer_with_another_status_hides_no_other(
    tmp_path: Path, remote: InterceptedLedger, alarms: Alarms
) -> None:
    (first,) = some_keys(remote, 1)

    def change(path: str, raw: bytes) -> bytes:
        if path == f"/v1/peers/{first}":
            raise WithheldError(path, 503)
        return lie(path, raw)

    remote.change = change
    with closing(opened(remote, tmp_path / "m", alarms)) as watch:
        assert not watch.check()
        assert [one.kind for one in rung(tmp_path)] == [AlarmKind.DERIVED]


def test_more_withheld_answers_than_a_check_compares_hide_no_other(
    tmp_path: Path, remote: InterceptedLedger, alarms: Alarms, steady_s: SteadyClock
) -> None:
    remote.withheld = tuple(f"/v1/peers/{key}" for key in some_keys(remote, QUESTIONS + 10))
    remote.change = lie
    with closing(opened(remote, tmp_path / "m", alarms, steady_s=steady_s)) as watch:
        for _ in range(5):  # two answers are withheld of each key
            assert not watch.check()
        assert {one.kind for one in rung(tmp_path)} == {AlarmKind.DERIVED}
        steady_s.ahead_s = LATE_S
        watch.check()
        assert {one.kind for one in rung(tmp_path)} == {AlarmKind.DERIVED, AlarmKind.AWAY}
