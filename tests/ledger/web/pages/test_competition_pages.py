"""Competitions as the API and the pages tell them, in each phase, over the ledger's real state."""

from __future__ import annotations

import asyncio
import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qs, urlsplit

import pytest

from tequio_ledger.web.pages import competition_scores, competition_text, text
from tequio_shared.competition.rules import CompetitionOutcome, CompetitionRules
from tequio_shared.ids import from_text, to_text
from tequio_shared.served.competitions import competition_snapshot
from tests.support.ledgers import VirtualClock, make_settings, opened
from tests.support.page_reader import Page, PageReader
from tests.support.sample_competitions import (
    LEVELS,
    LIAR,
    LIED_ABOUT,
    PHASES,
    SampleCompetitions,
    play,
)
from tests.support.sample_ledger import REPO

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tequio_shared.served.competitions import CompetitionSnapshot


KINDS = ("comp.", "eval.")


@dataclass(frozen=True, slots=True)
class CompetitionPages:
    """The competitions of a ledger, and its pages."""

    shown: SampleCompetitions
    reader: PageReader

    def name(self, phase: str) -> str:
        """The competition in that phase."""
        return to_text(self.shown.papers[phase].id)

    def now(self, phase: str, at_ms: int | None = None) -> CompetitionSnapshot:
        time_ms = self.shown.clock() if at_ms is None else at_ms
        return competition_snapshot(self.shown.ledger.state, self.shown.papers[phase].id, time_ms)

    def page(self, phase: str) -> Page:
        return self.reader.get(f"/competitions/{self.name(phase)}")

    def json(self, path: str) -> Any:  # noqa: ANN401 - whatever JSON can be
        """An answer of the API."""
        answer = self.reader.get(path, accept="application/json").answer
        assert answer.status_code == 200, answer.text
        return answer.json()


@pytest.fixture(scope="module")
def contest(tmp_path_factory: pytest.TempPathFactory) -> Iterator[CompetitionPages]:
    """Let two swarms train, compete and be judged, and keep the ledger open."""
    clock = VirtualClock()
    with opened(make_settings(tmp_path_factory.mktemp("contest")), clock) as ledger:
        yield CompetitionPages(asyncio.run(play(ledger, clock)), PageReader(ledger))


# --- the API


def test_competitions_are_listed_page_by_page_with_their_phases(contest: CompetitionPages) -> None:
    whole = contest.json("/v1/competitions")
    assert [one["phase"] for one in whole["competitions"]] == [
        "open", "open", "closed", "drawn", "revealed", "decided"
    ]  # fmt: skip
    assert whole["as_of"]["size"] == contest.shown.ledger.published.size
    first = contest.json("/v1/competitions?limit=4")
    rest = contest.json(f"/v1/competitions?limit=4&after={first['next']}")
    assert first["competitions"] + rest["competitions"] == whole["competitions"]
    assert (whole["next"], rest["next"]) == (None, None)


def test_a_competition_is_told_with_rules_that_hash_to_its_name(contest: CompetitionPages) -> None:
    for phase in PHASES:
        answer = contest.json(f"/v1/competitions/{contest.name(phase)}")
        blob = contest.reader.get(f"/v1/blobs/{answer['competition']}").answer.content
        assert CompetitionRules.parse(blob).name == answer["rules"]["name"]
        assert to_text(CompetitionRules.parse(blob).id) == contest.name(phase)
        assert answer["as_of"]["root"] == to_text(contest.shown.ledger.published.root)


def test_the_answer_follows_the_view_from_entries_to_the_outcome(contest: CompetitionPages) -> None:
    view = contest.shown.view("decided")
    answer = contest.json(f"/v1/competitions/{to_text(view.id)}")
    assert view.draw is not None
    assert [one["entrant"] for one in answer["entrants"]] == list(view.entrants)
    assert {one["entrant"]: one["submission"] for one in answer["entrants"]} == {
        name: to_text(found) for name, found in view.submissions.items()
    }
    assert answer["evaluators"] == [to_text(one) for one in view.draw.evaluators]
    assert answer["beacon"] == to_text(view.draw.beacon)
    assert answer["documents"] == len(view.draw.documents)
    assert (answer["offered"], len(answer["results"])) == (6, 4 * len(LEVELS))
    assert answer["challenges"][0]["document"] == view.draw.documents[7]
    blob = contest.reader.get(f"/v1/blobs/{answer['outcome']}").answer.content
    assert CompetitionOutcome.parse(blob).competition == answer["competition"]


def test_the_entries_that_an_answer_names_say_so(contest: CompetitionPages) -> None:
    answer = contest.json(f"/v1/competitions/{contest.name('decided')}")
    named = {
        answer["opened_index"]: "comp.open",
        answer["closed_index"]: "comp.close",
        answer["drawn_index"]: "comp.draw",
        answer["revealed_index"]: "comp.reveal",
        answer["outcome_index"]: "comp.result",
        answer["entrants"][0]["index"]: "comp.enter",
        answer["entrants"][0]["submitted_index"]: "comp.submit",
        answer["offers"][0]["index"]: "eval.offer",
        answer["offers"][0]["lot_index"]: "eval.lot",
        answer["commits"][0]["index"]: "eval.commit",
        answer["results"][0]["index"]: "eval.result",
        answer["challenges"][0]["index"]: "comp.challenge",
    }
    for index, kind in named.items():
        assert kind in contest.reader.get(f"/entries/{index}").text, (index, kind)


def test_who_asks_for_another_competition_is_told_that_there_is_none(
    contest: CompetitionPages,
) -> None:
    nobody = to_text(bytes(32))
    for path in (f"/v1/competitions/{nobody}", f"/competitions/{nobody}"):
        assert contest.reader.get(path).answer.status_code == 404
    assert contest.reader.get("/v1/competitions/short").answer.status_code == 400


# --- the pages


def test_the_list_names_every_competition_the_newest_first(contest: CompetitionPages) -> None:
    page = contest.reader.get("/competitions")
    due = [f"/competitions/{contest.name(phase)}" for phase in reversed(PHASES)]
    assert [link for link in page.links() if link in due] == due
    first = r"Shared first: nova and twin-of-nova, at 0\.9\d+ bits per byte \(byte perplexity 1\.9"
    assert re.search(first, page.text)
    assert page.links().count("/competitions") == 1, "in the navigation"


def test_the_first_page_shows_the_competition_that_can_be_entered(
    contest: CompetitionPages,
) -> None:
    links = contest.reader.get("/").links()
    named = {f"/competitions/{contest.name(phase)}": phase for phase in PHASES}
    shown = [named[link] for link in links if link in named]
    assert shown == ["open", "revealed", "drawn"], "the open one, and the newest others"


@pytest.mark.parametrize("phase", PHASES)
def test_a_page_is_whole_in_every_phase(contest: CompetitionPages, phase: str) -> None:
    page = contest.page(phase)
    assert page.answer.status_code == 200
    assert page.doubled_ids() == []
    assert len(page.all("h1")) == 1
    assert page.all("style") == []
    assert not [one for one in page.elements if "style" in one.attributes]
    command = f"tequio verify-competition http://ledger.example/competitions/{contest.name(phase)}"
    assert command in page.text
    own = [link for link in page.links() if link.startswith(("/runs", "/peers", "/entries"))]
    for path in set(own):
        assert contest.reader.get(path).answer.status_code == 200, path


def test_every_statement_is_told_with_its_entry_and_words(contest: CompetitionPages) -> None:
    told = contest.shown.ledger.state.competition_events(contest.shown.papers["decided"].id)
    page = contest.page("decided")
    assert {f"/entries/{one.index}" for one in told} <= set(page.links())
    assert len(told) == len({one.index for one in told}) > 40
    assert {one.body.TYPE for one in told} == {kind for kind in text.TYPES if kind[:5] in KINDS}
    for kind in {one.body.TYPE for one in told}:
        assert text.TYPES[kind] in page.text


def test_what_comes_next_is_said_with_its_date(contest: CompetitionPages) -> None:
    rules = contest.shown.view("open").rules
    page = contest.page("open")
    (count,) = [one for one in page.elements if "data-until" in one.attributes]
    assert count.attributes["data-until"] == str(rules.dates.deadline)
    assert count.text.split()[1] == "d"
    assert "to enter and submit" in page.text
    assert not [one for one in contest.page("decided").elements if "data-until" in one.attributes]


def test_the_ranking_is_the_outcomes_and_the_liar_is_named(contest: CompetitionPages) -> None:
    view, page = contest.shown.view("decided"), contest.page("decided")
    assert view.outcome is not None
    assert view.draw is not None
    outcome = CompetitionOutcome.parse(contest.shown.ledger.blobs.read(view.outcome))
    assert [(one.entrant, one.rank) for one in outcome.places] == [
        ("nova", 1), ("twin-of-nova", 1), ("comet", 3), ("lone-wolf", 4)
    ]  # fmt: skip
    for one in outcome.places:
        said = f"{one.entrant}: rank {one.rank}, {one.nanobits_per_byte / 1e9:.4f} bits per byte"
        assert said in page.text
        perplexity = f"{2 ** (one.nanobits_per_byte / 1e9):.4f}"
        assert page.text.count(f"perplexity {perplexity}") >= 4, "in words and on both pictures"
    preview = [
        one.attributes["content"]
        for one in page.all("meta")
        if one.attributes.get("property") == "og:description"
    ]
    assert "Shared first: nova and twin-of-nova" in preview[0]
    assert "bits per byte (byte perplexity 1.9" in preview[0]
    (row,) = [one for one in page.all("tr") if "outlier" in one.text]
    liar = to_text(view.draw.evaluators[LIAR])
    assert LIED_ABOUT in row.text
    assert liar[:10] in row.text
    assert f"{len(view.draw.documents)} texts off" in row.text
    assert row.text.split()[-2] == "1", "its challenge is counted"
    (doubt,) = [row for row in page.all("tr") if "1,234.567" in row.text]
    assert "that tequio verify-competition --rescore scores again, up to half are" in page.text
    assert str(view.challenges[0].document) in doubt.text.split(), "from 0"
    ties = [one for one in page.all("rect") if one.attributes.get("class") == "tied"]
    assert len(ties) == 2, "one for each size: two share the first rank"


def test_each_pair_is_told_from_both_sides(contest: CompetitionPages) -> None:
    page = contest.page("decided")
    (table,) = [one for one in page.all("table") if one.attributes.get("class") == "pairs"]
    said = table.text.split()
    assert said.count("ahead") == said.count("behind") == 5
    assert said.count("difference") == 2


def test_scores_before_the_outcome_rank_nobody(contest: CompetitionPages) -> None:
    page = contest.page("revealed")
    assert "Scores so far" in page.text
    assert "Results: 6 of 16" in page.text
    assert not [one for one in page.elements if one.attributes.get("class") == "rank"]
    assert "outlier" in page.text


def test_a_page_says_when_one_alone_could_read_the_texts(contest: CompetitionPages) -> None:
    alone = contest.page("announced").text
    assert "Its one custodian, an organiser, could read the texts at any time" in alone
    assert "no custodian can read the texts alone" in contest.page("open").text


def test_custodians_of_one_owner_are_one(contest: CompetitionPages) -> None:
    now = contest.now("open")
    owned = [replace(one, owner=now.shares[0].owner) for one in now.shares[:2]]
    told = competition_text.secrecy(replace(now, shares=(*owned, now.shares[2])))
    assert told.tone == "warn"
    assert "2 of the custodians' keys belong to one owner" in told.description
    organised = [replace(one, is_organiser=True) for one in now.shares[:2]]
    told = competition_text.secrecy(replace(now, shares=(*organised, now.shares[2])))
    assert "organisers hold 2" in told.description


def test_entrants_lead_to_their_runs_and_runs_to_their_competitions(
    contest: CompetitionPages,
) -> None:
    page = contest.page("decided")
    for swarm in contest.shown.swarms:
        run = f"/runs/{to_text(swarm.rules.run_id)}"
        assert run in page.links()
        links = contest.reader.get(run).links()
        assert f"/competitions/{contest.name('decided')}" in links
        assert f"/competitions/{contest.name('announced')}" not in links
    root = from_text(contest.shown.swarms[0].submission().weights_root)
    assert f"https://huggingface.co/{REPO}/tree/{root.hex()[:40]}" in page.links()


def test_the_page_opens_the_competition_in_the_app_while_it_can_be_entered(
    contest: CompetitionPages,
) -> None:
    found = {
        phase: [one for one in contest.page(phase).links() if one.startswith("tequio:")]
        for phase in PHASES
    }
    (link,) = found.pop("open")
    fields = parse_qs(urlsplit(link).query, strict_parsing=True)
    assert fields == {"id": [contest.name("open")], "ledger": ["http://ledger.example"]}
    assert not any(found.values())


def test_every_swarm_has_a_curve_of_its_own(contest: CompetitionPages) -> None:
    page = contest.page("open")
    looks = [one.attributes["class"] for one in page.all("path") if "swarm look" in str(one)]
    assert looks.count("swarm look-0") == looks.count("swarm look-1") == 3, "two sizes, a legend"
    assert "medians of the measurements by drawn members" in page.text
    assert re.search(r"comet, round 8: 1\.\d{4} bits per byte", page.text)


def test_an_entry_leads_to_the_competition(contest: CompetitionPages) -> None:
    index = contest.json("/v1/competitions")["competitions"][0]["opened_index"]
    page = contest.reader.get(f"/entries/{index}")
    assert f"/competitions/{contest.name('announced')}" in page.links()
    found = contest.reader.get("/search?q=prose")
    assert f"/competitions/{contest.name('drawn')}" in found.links()


def test_a_competition_without_enough_shares_says_what_it_lacks(contest: CompetitionPages) -> None:
    assert "1 of the 2 shares needed are revealed" in contest.page("drawn").text


def test_texts_that_nobody_shows_are_said_to_be_missing(contest: CompetitionPages) -> None:
    late = contest.now("drawn").rules.dates.scored + 1
    now = contest.now("drawn", late)
    assert now.void == "1 of the 2 shares needed are revealed, and the time for it is over"
    assert competition_text.mark(now, late) is competition_text.STUCK
    assert competition_text.next_date(now, late) is None


def test_a_competition_whose_texts_nobody_opened_ends_on_every_page(
    contest: CompetitionPages,
) -> None:
    clock, name = contest.shown.clock, contest.now("drawn").rules.name
    overdue_ms = contest.now("drawn").rules.dates.scored + 1 - clock()
    assert name in contest.reader.get("/").text
    clock.pass_ms(overdue_ms)
    try:
        asked = "?by=ended"  # else a print of a moment ago is given out, by another clock
        page = contest.reader.get(f"/competitions/{contest.name('drawn')}{asked}").text
        why = "1 of the 2 shares needed are revealed"
        assert "Ended without texts" in page
        assert f"No ranking: {why}, and the time for it is over" in page
        assert "No ranking so far" not in page
        assert "6 offers were made, and nobody was drawn." in page
        listed = contest.json("/v1/competitions")["competitions"]
        assert [one["phase"] for one in listed if one["void"].startswith(why)] == ["drawn"]
        assert contest.json(f"/v1/competitions/{contest.name('drawn')}")["void"].startswith(why)
        assert name not in contest.reader.get(f"/{asked}").text, "the overview has what goes on"
    finally:
        clock.pass_ms(-overdue_ms)


def test_who_committed_and_who_showed_is_told_for_each_entrant(contest: CompetitionPages) -> None:
    page = contest.page("revealed").text
    assert "Commitments and scores" in page
    dates = contest.now("revealed").rules.dates
    for at_ms, counts in {
        contest.shown.clock(): {"revealed": 6, "committed": 7, "due": 3},
        dates.scored + 1: {"revealed": 6, "committed": 7, "silent": 3},
        dates.reveal_until + 1: {"revealed": 6, "withheld": 7, "silent": 3},
    }.items():
        progress = competition_scores.progress(contest.now("revealed", at_ms), at_ms)
        assert counts == {word: progress.count(word) for word in counts}
        assert sum(counts.values()) == 4 * len(LEVELS)


def test_each_date_has_its_word_until_the_result_is_stated(contest: CompetitionPages) -> None:
    dates = contest.now("revealed").rules.dates
    words = []
    for at_ms in (dates.scored, dates.scored + 1, dates.reveal_until + 1, dates.result + 1):
        now = contest.now("revealed", at_ms)
        words.append(competition_text.mark(now, at_ms).word)
    assert words == [
        "Scoring",
        "Revealing scores",
        "Open to challenge",
        "Awaiting the result",
    ]
