"""An evaluator between its own scores and the log: commits, waits for the others, and shows."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tequio_client.checkpoint.export import WEIGHTS_FETCHED
from tequio_client.competition import evaluator, models
from tequio_client.competition.child import MIN_FREE_BYTES, OVERDUE_MS, ChildProgress, ScoringPace
from tequio_client.competition.evaluator import Evaluator, EvaluatorContext, TimeLimit
from tequio_client.ipc.evaluator import EvaluatorLimits
from tequio_client.ledger.http import LedgerRefusedError
from tequio_client.trainer import device
from tequio_client.verify import archive
from tequio_client.verify.reader import LedgerReader
from tequio_client.verify.report import NoProgress
from tequio_client.worker.children import evaluator as children_evaluator
from tequio_shared.competition.rules import Evaluation
from tequio_shared.competition.state import CompetitionPhase
from tequio_shared.errors import RefusedError, UserFacingError
from tequio_shared.ids import digest_from_text, to_text
from tests.support.attack_table import attack
from tests.support.competition_fold import START, CompetitionFold
from tests.support.memory_log import unused_url
from tests.support.synthetic_competition import RESULT, SCORED, folder

if TYPE_CHECKING:
    from pathlib import Path

    from tequio_shared.ids import PeerKey
    from tequio_shared.statements.statement import Body


MODELS = ("alpha", "beta")
SHOWN = (SCORED + RESULT) // 2


class FoldSender:
    """Applies statements to the competition's fold, which checks them as a ledger does."""

    def __init__(self, stage: CompetitionFold, name: str) -> None:
        self.stage, self.name = stage, name
        self.submitted: list[Body] = []

    @property
    def key(self) -> PeerKey:
        """The author of the statements."""
        return self.stage.key(self.name)

    def prove(self, alpha: bytes) -> bytes:
        """Prove with the author's key."""
        return self.stage.signer(self.name).prove(alpha)

    def submit(self, body: Body, *documents: bytes) -> None:
        """Store the documents and apply the statement; a refusal is the ledger's."""
        for one in documents:
            self.stage.paper.put(one)
        try:
            self.stage.post(self.name, body)
        except RefusedError as err:
            raise LedgerRefusedError(err.code, str(err)) from err
        self.submitted.append(body)


class ScoredEvaluator:
    """The first evaluator of a competition, with its scores of both models on disk."""

    def __init__(self, path: Path) -> None:
        self.stage = CompetitionFold().play(CompetitionPhase.REVEALED)
        self.path, self.messages = path, list[str]()
        self.due: list[int | None] = []
        self.name, *self.others = self.stage.scorers
        self.sender = FoldSender(self.stage, self.name)
        paper, key = self.stage.paper, self.sender.key
        for model in MODELS:
            result = paper.result(key, model, folder(model), 9)
            raw = paper.documents.pop(digest_from_text(result.scores))
            evaluator.store_scores(self.place(model), Evaluation.parse(raw))

    def place(self, model: str) -> Path:
        """Where the evaluator keeps what is of a model."""
        return children_evaluator.competition_folder(self.path, self.stage.paper.id) / model

    def step(self) -> bool:
        """Let a program that has just begun take a step; whether it would go on."""
        means = EvaluatorContext(
            folder=self.path,
            device=device.open_device("cpu"),
            progress=NoProgress(),
            report=self.messages.append,
            set_deadline=self.due.append,
            clock=lambda: self.stage.now,
        )
        return Evaluator(LedgerReader(unused_url()), means, self.sender).step(self.stage.view)

    @property
    def words(self) -> list[str]:
        """Types of the submitted statements."""
        return [body.TYPE for body in self.sender.submitted]


@pytest.fixture
def scored(tmp_path: Path) -> ScoredEvaluator:
    return ScoredEvaluator(tmp_path)


def test_it_commits_to_all_and_shows_what_all_have_committed_to(scored: ScoredEvaluator) -> None:
    assert scored.step()
    assert scored.words == ["eval.commit"] * 2
    assert scored.step()
    assert scored.words == ["eval.commit"] * 2, "the others have not committed"
    scored.stage.commit("beta", *scored.others)
    assert scored.step()
    assert scored.words[2:] == ["eval.result"]
    assert list(scored.stage.view.results) == [("beta", scored.sender.key)]
    scored.stage.commit("alpha", *scored.others)
    assert not scored.step()
    assert scored.step() is False
    assert scored.words == ["eval.commit"] * 2 + ["eval.result"] * 2


def test_after_the_date_it_waits_for_nobody(scored: ScoredEvaluator) -> None:
    scored.step()
    scored.stage.at(SCORED)
    assert scored.step()
    assert scored.words == ["eval.commit"] * 2
    scored.stage.at(SCORED + 1)
    assert not scored.step()
    assert scored.words == ["eval.commit"] * 2 + ["eval.result"] * 2


def test_nobody_has_its_documents_before_they_are_shown(scored: ScoredEvaluator) -> None:
    scored.step()
    kept = evaluator.stored_scores(scored.place("alpha"))
    assert kept is not None
    name = digest_from_text(kept.result_statement.scores)
    assert name not in scored.stage.paper.documents
    scored.stage.at(SCORED + 1)
    scored.step()
    assert scored.stage.paper.documents[name] == kept.document


@pytest.mark.parametrize("lost", ["salt", "evaluation.json"])
def test_what_was_lost_after_the_commitment_is_said_and_never_made_up(
    scored: ScoredEvaluator, lost: str
) -> None:
    scored.step()
    (scored.place("alpha") / lost).unlink()
    scored.stage.at(SCORED + 1)
    assert scored.step()
    assert scored.words[2:] == ["eval.result"]
    message = "Paper 2026: the scores of alpha that we committed to are not in the folder"
    assert scored.messages.count(message) == 1
    scored.stage.at(SHOWN + 1)
    assert not scored.step()
    assert "not shown: alpha" in scored.messages[-1]


def test_who_comes_too_late_to_commit_says_what_is_not_scored(scored: ScoredEvaluator) -> None:
    scored.stage.at(SCORED + 1)
    assert not scored.step()
    assert not scored.sender.submitted
    assert "not scored: alpha, beta" in scored.messages[-1]


def test_scores_that_are_kept_again_keep_their_salt(scored: ScoredEvaluator) -> None:
    before = evaluator.stored_scores(scored.place("alpha"))
    assert before is not None
    again = evaluator.store_scores(scored.place("alpha"), before.evaluation)
    assert again == before
    assert again.commit_statement.commit == to_text(before.commit)
    other = evaluator.stored_scores(scored.place("beta"))
    assert other is not None
    assert other.salt != before.salt


class PowerCutError(BaseException):
    """Ends a program at once, as a power cut does."""


def begun(
    scored: ScoredEvaluator, monkeypatch: pytest.MonkeyPatch, ends: BaseException
) -> list[str]:
    """Names of the models whose weights are requested; each request raises `ends`."""
    asked: list[str] = []

    def had(_submission: object, to: Path, *_: object) -> Path:
        asked.append(to.name)
        raise ends

    monkeypatch.setattr(archive, "fetch_drawn_texts", lambda *_: [])
    monkeypatch.setattr(models, "fetch_model", had)
    for model in MODELS:
        (scored.place(model) / "evaluation.json").unlink()
    return asked


@attack("C10", layer="cli", ends="the next process starts with the other models")
def test_a_model_that_ends_the_program_comes_after_the_others(
    scored: ScoredEvaluator, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = begun(scored, monkeypatch, PowerCutError())
    for _ in range(4):
        with pytest.raises(PowerCutError):
            scored.step()
    assert asked == ["alpha", "beta"] * 2


@attack("C10", layer="cli", ends="it gets its share of the time, and no more while others wait")
def test_a_model_has_no_more_than_its_part_of_the_time(
    scored: ScoredEvaluator, monkeypatch: pytest.MonkeyPatch
) -> None:
    beta = evaluator.stored_scores(scored.place("beta"))
    assert beta is not None
    begun(scored, monkeypatch, UserFacingError("no weights"))
    now, last = scored.stage.now, START + SCORED
    scored.step()
    assert scored.due == [now + (last - now) // 2, None] * 2
    evaluator.store_scores(scored.place("beta"), beta.evaluation)
    scored.due.clear()
    scored.step()
    assert scored.due == [last, None], "nobody else waits"


def test_work_ends_with_its_time() -> None:
    now = START
    limit = TimeLimit(NoProgress(), START + 5, lambda: now)
    with limit.work("documents", 9) as tick:
        now = START + 5
        tick(1)
        now = START + 6
        with pytest.raises(UserFacingError, match="its time ended at"):
            tick(1)


def child_progress(cache: Path) -> ChildProgress:
    pace = ScoringPace(EvaluatorLimits(threads=1, share_percent=100))
    return ChildProgress(pace, lambda: 0, cache)


def test_a_child_tells_how_much_it_fetched_itself(tmp_path: Path) -> None:
    (tmp_path / "blobs").mkdir()
    (tmp_path / "blobs" / "earlier").write_bytes(bytes(500))
    progress = child_progress(tmp_path)
    assert progress.heartbeat(0).fetched_bytes == 0
    fetched = tmp_path / "blobs" / "a.incomplete"
    fetched.write_bytes(bytes(30))
    assert progress.heartbeat(0).fetched_bytes == 30
    complete = fetched.rename(fetched.with_suffix(""))
    (tmp_path / "snapshot").symlink_to(complete)
    assert progress.heartbeat(0).fetched_bytes == 30
    with progress.work(WEIGHTS_FETCHED, 1_000) as tick:
        tick(200)  # there already
        tick(300)
        tick(500)
    assert progress.heartbeat(0).fetched_bytes == 830
    complete.unlink()
    assert progress.heartbeat(0).fetched_bytes == 830


@attack("C10", layer="cli", ends="the process ends itself, and the next one starts with the others")
def test_a_child_ends_at_a_model_that_hangs_or_takes_all_memory(tmp_path: Path) -> None:
    progress = child_progress(tmp_path)
    small, plenty = 100 << 20, 4 * MIN_FREE_BYTES
    assert not progress.end_reason(START, plenty, 0), "no model is at hand"
    progress.set_deadline(START)
    assert not progress.end_reason(START + OVERDUE_MS, plenty, plenty)
    assert "its part of the time" in progress.end_reason(START + OVERDUE_MS + 1, plenty, plenty)
    assert "all memory" in progress.end_reason(START, plenty, MIN_FREE_BYTES - 1)
    assert not progress.end_reason(START, small, small), "others took it"
    progress.set_deadline(None)
    assert not progress.end_reason(START + 2 * OVERDUE_MS, plenty, plenty)
