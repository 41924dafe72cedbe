"""Scoring one entrant's model on the drawn documents, so that a crash costs one document at most.

Each document's score is a line in a journal as soon as it is there. What a journal holds is not
scored again; a line that a crash cut short is.
"""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import dataclass
from importlib import metadata
from typing import TYPE_CHECKING

import msgspec

from tequio_client import files
from tequio_client.names import clean_text
from tequio_client.trainer import device, likelihood
from tequio_shared.competition.rules import Environment, Evaluation
from tequio_shared.errors import UserFacingError
from tequio_shared.ids import sha256, to_text
from tequio_shared.scoring import DocumentScore

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from pathlib import Path

    from tequio_client.trainer.device import ComputeDevice
    from tequio_client.trainer.likelihood import ScoredModel
    from tequio_client.verify.progress import WorkProgress
    from tequio_shared.competition.rules import Scoring
    from tequio_shared.ids import Digest, PeerKey


_WORDS = 128
_WHY = 300
_MIB = 1 << 20


@dataclass(frozen=True, slots=True, kw_only=True)
class ScoringTask:
    """One entrant's model to be scored, by whom and for which competition."""

    competition: Digest
    entrant: str
    submission: Digest
    evaluator: PeerKey
    model: Path
    texts: Sequence[bytes]
    scoring: Scoring


def evaluate_entrant(
    task: ScoringTask,
    journal: Path,
    chosen: ComputeDevice,
    progress: WorkProgress,
    after_batch: Callable[[int], None] = lambda _tokens: None,
) -> Evaluation:
    """Score what the journal does not have yet, which is paced by `after_batch`.

    Raises UserFacingError.
    """
    done = read_journal(journal, task.texts)
    if len(done) < len(task.texts):
        with _blamed(task):
            scored = likelihood.open_model(task.model, tokenizer=None, prefix=None)
            means = likelihood.ScoringDevice(device=chosen, on_tokens=after_batch)
            with progress.work(f"documents of {task.entrant}", len(task.texts)) as tick:
                tick(len(done))
                _score(task, scored, journal, means, tick)
        done = read_journal(journal, task.texts)
    return Evaluation(
        competition=to_text(task.competition),
        entrant=task.entrant,
        submission=to_text(task.submission),
        evaluator=to_text(task.evaluator),
        environment=environment(chosen),
        documents=done,
    )


def read_journal(journal: Path, texts: Sequence[bytes]) -> tuple[DocumentScore, ...]:
    """The scores in a journal that are of these texts, from the first on."""
    try:
        lines = journal.read_bytes().split(b"\n")
    except FileNotFoundError:
        return ()
    found: list[DocumentScore] = []
    for line, text in zip(lines, texts, strict=False):
        try:
            one = msgspec.json.decode(line, type=DocumentScore)
        except (msgspec.MsgspecError, ValueError):
            break
        if one.document != to_text(sha256(text)):
            break
        found.append(one)
    return tuple(found)


def environment(chosen: ComputeDevice) -> Environment:
    """On what is scored here."""
    return Environment(
        program=f"tequio {metadata.version('tequio')}",
        torch=metadata.version("torch")[:_WORDS],
        device=clean_text(chosen.name, _WORDS).encode("ascii", "replace").decode(),
        threads=device.thread_count(),
    )


@contextmanager
def _blamed(task: ScoringTask) -> Iterator[None]:
    """Whatever a model makes libraries raise is its own fault; raises UserFacingError."""
    try:
        yield
    except (MemoryError, *device.FORWARD_ERRORS) as err:
        why = " ".join(str(err).split())[:_WHY]
        raise UserFacingError(
            f"the model of {task.entrant} computes nothing: {type(err).__name__}: {why}"
        ) from err


def _score(
    task: ScoringTask,
    scored: ScoredModel,
    journal: Path,
    means: likelihood.ScoringDevice,
    tick: Callable[[int], None],
) -> None:
    first = len(read_journal(journal, task.texts))
    left = task.texts[first:]
    rules = scored.scoring_rules(task.scoring.window, task.scoring.stride)
    journal.parent.mkdir(parents=True, exist_ok=True)
    _cut(journal, first)
    try:
        with journal.open("ab") as file:
            found = likelihood.score_documents(scored, map(_text, left), rules, means)
            for raw, one in zip(left, found, strict=True):
                named = msgspec.structs.replace(one, document=to_text(sha256(raw)))
                file.write(msgspec.json.encode(named) + b"\n")
                files.sync(file)
                tick(1)
    except OSError as err:
        raise UserFacingError(f"cannot write {journal}: {err.strerror}") from err


def _text(raw: bytes) -> str:
    """Decode a text; one that is not UTF-8 is empty, for every evaluator."""
    try:
        return raw.decode()
    except UnicodeDecodeError:
        return ""


def _cut(journal: Path, lines: int) -> None:
    """Leave the first lines alone, whole."""
    if journal.exists():
        kept = journal.read_bytes().split(b"\n")[:lines]
        journal.write_bytes(b"".join(line + b"\n" for line in kept))
