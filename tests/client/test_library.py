"""`import tequio` against a real ledger: the examples run, and what is answered is checked."""

from __future__ import annotations

import re
import shutil
from contextlib import contextmanager
from dataclasses import replace
from http.server import BaseHTTPRequestHandler
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

import httpx
import msgspec
import pytest

import tequio
from tequio_shared.ids import Digest
from tests.support.competition_site import served_competitions
from tests.support.cosigned_ledger import register_keys
from tests.support.http_servers import serving
from tests.support.ledgers import UNLIMITED, served
from tests.support.sample_ledger import ASTRAY, TASKS
from tests.support.sample_site import served_site

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from tests.support.sample_site import Site

PAGE = Path(__file__).parents[2] / "docs" / "reference" / "python.md"
CODE = re.compile(r"```python\n(.*?)```", re.DOTALL)


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    with served_site(tmp_path_factory.mktemp("site")) as running:
        yield running


@pytest.fixture
def network(site: Site) -> tequio.Network:
    return tequio.Network(site.url)


def test_every_example_of_the_documentation_runs(
    site: Site, capsys: pytest.CaptureFixture[str]
) -> None:
    examples = CODE.findall(PAGE.read_text("utf-8"))
    assert len(examples) >= 6
    names: dict[str, object] = {}
    for code in examples:
        exec(code.replace("https://ledger.example", site.url), names)  # noqa: S102 - our own page
    printed = capsys.readouterr().out
    assert "nova-350m" in printed
    assert "bits per byte, perplexity" in printed
    assert "round.close" in printed
    assert "run.open" in printed
    assert "Everything holds." in printed


def test_a_run_is_found_by_its_name_or_the_beginning_of_its_id(
    network: tequio.Network, site: Site
) -> None:
    for name in ("nova-350m", site.run, site.run[:12]):
        assert network.run(name).id == site.run
    with pytest.raises(tequio.UserFacingError, match="no run 'nova'; known runs: nova-350m"):
        network.run("nova")


def test_rounds_come_whole_or_in_part_and_each_end_is_proven(network: tequio.Network) -> None:
    run = network.run("nova-350m")
    rounds = run.rounds()
    assert [one.round for one in rounds] == list(range(1, run.round + 1))
    assert run.rounds(after=3, limit=4) == rounds[3:7]
    void = next(one for one in rounds if one.outcome == "void")
    assert run.prove(void.round).type == "round.void"
    assert run.prove(1).type == "round.close"
    with pytest.raises(tequio.UserFacingError, match="has not ended"):
        run.prove(run.round)
    with pytest.raises(tequio.UserFacingError, match="round 0 of nova-350m has not ended"):
        run.prove(0)
    with pytest.raises(tequio.UserFacingError, match="round 999 of nova-350m has not ended"):
        run.prove(999)


def test_heads_are_measured_by_their_members(network: tequio.Network, site: Site) -> None:
    heads = network.run("nova-350m").heads()
    assert [one.round for one in heads] == sorted({one.round for one in heads})
    assert network.run("nova-350m").heads(after=heads[0].round, limit=2) == heads[1:3]
    last = heads[-1]
    assert last.bits_per_byte < heads[0].bits_per_byte
    assert last.prompt.startswith("Once upon a time")
    assert len(last.measures) == 3
    assert {one.peer for one in last.measures} <= set(site.peers)
    middle = sorted(one.bits_per_byte for one in last.measures)[1]
    assert last.bits_per_byte == middle
    assert network.entry(last.measures[0].entry).type == "head.measure"


def test_heads_have_the_answers_of_their_members_to_the_tasks_of_the_run(
    network: tequio.Network,
) -> None:
    for head in network.run("nova-350m").heads():
        assert [(one.name, one.chance) for one in head.tasks] == [("words", 0.25), ("pairs", 0.5)]
        assert [one.file for one in head.tasks] == [task.file for task in TASKS]
        for one in head.tasks:
            assert (one.members, one.close) == (3, 3)
            assert one.outliers == (head.round == ASTRAY)
            assert 50 < one.right < one.right_normed < one.asked


def test_members_come_in_the_order_of_registration(network: tequio.Network, site: Site) -> None:
    peers = list(network.peers())
    assert set(site.peers[:6]) <= {one.key for one in peers}
    indices = [one.registered_index for one in peers]
    assert indices == sorted(indices)
    assert network.peer(site.peers[0]).name
    with pytest.raises(tequio.LedgerRefusedError):
        network.peer(site.run)


def test_what_is_not_there_is_an_error_of_this_library(network: tequio.Network) -> None:
    with pytest.raises(tequio.UserFacingError, match="invalid key 'typo'"):
        network.peer("typo")
    size = network.checkpoint().size
    for index in (-1, size, 1 << 62):
        with pytest.raises(tequio.UserFacingError, match=f"no entry {index} in a log of {size} en"):
            network.entry(index)
    with pytest.raises(tequio.UserFacingError, match="no competition"):
        network.competition("nothing")
    with pytest.raises(tequio.UserFacingError, match="is not the address of a ledger"):
        tequio.Network("ledger").runs()
    with pytest.raises(tequio.LedgerUnavailableError):
        tequio.Network("http://127.0.0.1:9").runs()


@contextmanager
def between(url: str, change: Callable[[str, bytes], bytes]) -> Iterator[str]:
    """Serve what a ledger answers, changed."""

    class ChangingHandler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            answer = httpx.get(url + self.path, headers={"accept-encoding": "identity"})
            body = change(self.path, answer.content)
            self.send_response(answer.status_code)
            self.send_header("content-length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            """Stay silent."""

    with serving(ChangingHandler) as changing:
        yield changing


def changed(part: str, edit: Callable[[Any], None]) -> Callable[[str, bytes], bytes]:
    """Edit the JSON of answers whose path contains a text."""

    def change(path: str, raw: bytes) -> bytes:
        if part not in path:
            return raw
        answer = msgspec.json.decode(raw)
        edit(answer)
        return msgspec.json.encode(answer)

    return change


def lower(answer: Any) -> None:  # noqa: ANN401 - JSON
    answer["heads"][0]["measures"][0]["millibits"] -= 1


def invent(answer: Any) -> None:  # noqa: ANN401 - JSON
    answer["heads"][-1]["sample"]["text"] = " another ending"


def other_log(answer: Any) -> None:  # noqa: ANN401 - JSON
    answer["runs"][0]["as_of"]["root"] = "A" * 43


def other_root(answer: Any) -> None:  # noqa: ANN401 - JSON
    answer["as_of"]["root"] = "A" * 43


def more(answer: Any) -> None:  # noqa: ANN401 - JSON
    answer["rounds"][0]["accepted"] += 1


def unmeasured(answer: Any) -> None:  # noqa: ANN401 - JSON
    answer["heads"][0]["measures"] = []


def turned(answer: Any) -> None:  # noqa: ANN401 - JSON
    answer["rounds" if "rounds" in answer else "heads"].reverse()


def old(answer: Any) -> None:  # noqa: ANN401 - JSON
    answer["heads"][0]["round"] = 3


def one_too_many(answer: Any) -> None:  # noqa: ANN401 - JSON
    last = answer["heads"][-1]
    answer["heads"].append(last | {"round": last["round"] + 1})


def skipping(answer: Any) -> None:  # noqa: ANN401 - JSON
    answer["next"] = answer["heads"][-1]["round"] + 1


@pytest.mark.parametrize(
    ("part", "edit", "read", "said"),
    [
        ("/measures", lower, lambda run: run.heads(), "is not the measure"),
        ("/measures", invent, lambda run: run.heads(), "another text"),
        ("/v1/runs?", other_log, lambda run: run, "the proof leads to"),
        ("/rounds?", more, lambda run: run.prove(1), "does not end round 1 as reported"),
        ("/rounds?", turned, lambda run: run.rounds(), "the rounds do not ascend"),
        ("/measures", unmeasured, lambda run: run.heads(), "nobody measured the head of round"),
        ("/measures", turned, lambda run: run.heads(), "the heads do not ascend"),
        ("/measures", old, lambda run: run.heads(after=3), "do not ascend: 3 comes after 3"),
        ("/measures", one_too_many, lambda run: run.heads(limit=2), "3 heads came where at most 2"),
        ("/measures", skipping, lambda run: run.heads(), "continue after"),
    ],
    ids=[
        "measure",
        "sample",
        "log",
        "round",
        "order of rounds",
        "no measure",
        "order of heads",
        "old head",
        "too many heads",
        "skipped heads",
    ],
)
def test_a_ledger_that_reports_something_else_than_its_log_is_found_out(
    site: Site,
    part: str,
    edit: Callable[[Any], None],
    read: Callable[[tequio.Run], object],
    said: str,
) -> None:
    with between(site.url, changed(part, edit)) as url, pytest.raises(tequio.PeerError, match=said):
        read(tequio.Network(url).run("nova-350m"))


def first_page_again() -> Callable[[str, bytes], bytes]:
    """Answer every request for members with the first page, as if there were more."""
    pages: list[Any] = []

    def change(path: str, raw: bytes) -> bytes:
        if "/v1/peers?" not in path:
            return raw
        pages.append(msgspec.json.decode(raw))
        return msgspec.json.encode(pages[0] | {"next": pages[0]["peers"][-1]["key"]})

    return change


def turn_members(answer: Any) -> None:  # noqa: ANN401 - JSON
    answer["peers"].reverse()


def skip_members(answer: Any) -> None:  # noqa: ANN401 - JSON
    answer["next"] = answer["peers"][0]["key"]


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (first_page_again(), "the members do not ascend"),
        (changed("/v1/peers?", turn_members), "the members do not ascend"),
        (changed("/v1/peers?", skip_members), "the members after '' continue after"),
    ],
    ids=["again", "turned", "skipped"],
)
def test_members_in_another_order_are_found_out(
    site: Site, change: Callable[[str, bytes], bytes], said: str
) -> None:
    with between(site.url, change) as url, pytest.raises(tequio.PeerError, match=said):
        list(islice(tequio.Network(url).peers(), 1_000))


def test_a_checkpoint_that_does_not_extend_the_last_one_is_refused(
    site: Site,
) -> None:
    network = tequio.Network(site.url)
    newest = network.checkpoint()
    for fork in (
        replace(newest, size=newest.size + 1),
        replace(newest, root=Digest(bytes(32))),
    ):
        network._newest = fork  # noqa: SLF001 - as if the ledger had shown it
        with pytest.raises(tequio.TequioError):
            network.checkpoint()


def test_competitions_have_their_rules_and_entrants(tmp_path: Path) -> None:
    with served_competitions(tmp_path) as contests:
        network = tequio.Network(contests.url)
        lines = network.competitions()
        assert len(lines) > 3
        for line in lines:
            found = network.competition(line.competition)
            assert (found.competition, len(found.entrants)) == (line.competition, line.entrants)
        assert network.competition(lines[0].name).competition == lines[0].competition
        forked = changed("/v1/competitions?", other_root)
        with (
            between(contests.url, forked) as url,
            pytest.raises(tequio.PeerError, match="the proof leads to"),
        ):
            tequio.Network(url).competitions()


def test_another_network_at_the_same_address_is_refused(site: Site, tmp_path: Path) -> None:
    with served(tmp_path) as other:
        network = tequio.Network(site.url)
        assert len(network.id) == 43
        network.url = other.url
        for call in (network.runs, network.verify):
            with pytest.raises(tequio.PeerError, match="another network"):
                call()


def test_what_is_verified_continues_what_was_seen_and_is_continued(tmp_path: Path) -> None:
    with served(tmp_path / "one"):
        pass  # the log has its first entries, which both forks begin with
    shutil.copytree(tmp_path / "one", tmp_path / "other")
    with (
        served(tmp_path / "one", *UNLIMITED) as one,
        served(tmp_path / "other", *UNLIMITED) as other,
    ):
        register_keys(one, "one", 2)
        register_keys(other, "other", 3)
        assert tequio.Network(other.url).verify().exit_code == 0
        network = tequio.Network(one.url)
        network.checkpoint()
        network.url = other.url
        report = network.verify()
        assert [one.what for one in report.findings] == ["older checkpoint"]
        assert report.exit_code == 2
        network = tequio.Network(one.url)
        assert network.verify().exit_code == 0
        network.url = other.url
        with pytest.raises(tequio.PeerError, match="the proof leads to"):
            network.checkpoint()
