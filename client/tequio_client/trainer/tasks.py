"""What each task means, as calls of this package's other modules."""

from __future__ import annotations

import math
import time
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

import msgspec
import numpy as np
import torch

from tequio_client.ipc import trainer
from tequio_client.trainer import codecs, data, evaluate, inner, prepared, screen
from tequio_client.trainer import head as heads
from tequio_client.trainer.data import TrainingData, held_out_documents
from tequio_client.trainer.head import HeadFiles
from tequio_client.trainer.inner import Plan, Progress
from tequio_shared.errors import TequioError, UserFacingError
from tequio_shared.head import contribution
from tequio_shared.head.contribution import ALGORITHM_CODES, Assignment, Expected, Header
from tequio_shared.head.head import Step
from tequio_shared.ids import HeadHash, RunId, from_text, key_from_text, sha256, to_text
from tequio_shared.limits import SAMPLE_BYTES, SAMPLE_PROMPT_BYTES, SAMPLE_TOKENS
from tequio_shared.round.measures import fit

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from numpy.typing import NDArray

    from tequio_client.trainer.codecs import Encoded
    from tequio_client.trainer.data import Document
    from tequio_client.trainer.prepared import Workshop
    from tequio_client.trainer.task_queue import Activity, Desk, Work

# --- What a head writes: the beginning of a held-out text, and the likeliest token again and
# again.
#
# In binary32, whatever inner steps compute in: the fewer are the places where two devices differ.
# Tokens are written one by one, and before each the trainer may be called away; those that are
# written are not lost.

Spell: TypeAlias = "Callable[[Sequence[int]], str]"
"""Text of token ids."""
_BROKEN = "\ufffd"


def speller(shop: Workshop) -> Spell:
    """Give what spells this run's ids; it lasts for a task, for a vocabulary takes memory."""
    if shop.prepare.tokenizer is None:
        return lambda ids: prepared.text_of(shop, ids)
    tokenizer = prepared.tokenizer(shop.prepare.tokenizer)
    return lambda ids: str(tokenizer.decode(list(ids)))


def beginning(document: Document, spell: Spell) -> list[int]:
    """As many first tokens as fit in bytes of text, without the broken end of a character."""
    ids: list[int] = document.tokens[:SAMPLE_PROMPT_BYTES].tolist()
    while ids and not _is_short_and_whole(spell(ids)):
        ids.pop()
    return ids


def go_on(
    shop: Workshop, start: Sequence[int], written: list[int], check: Callable[[], None]
) -> None:
    """Add tokens to what is written until it is long enough, or the text ends.

    `check` is called before each, and may raise. Raises UserFacingError where no number is.
    """
    shop.model.network.eval()
    separator = shop.corpus.separator
    while len(written) < SAMPLE_TOKENS:
        check()
        token = _next(shop, [separator, *start, *written])
        if token == separator:
            return
        written.append(token)


def parted(start: Sequence[int], written: Sequence[int], spell: Spell) -> tuple[str, str]:
    """Spell the beginning, and what follows, as a statement takes them.

    Both together, where that begins like the first: alone, some tokenizers drop a blank in front.
    """
    prompt, whole = spell(start), spell([*start, *written])
    text = whole[len(prompt) :] if whole.startswith(prompt) else spell(written)
    return fit(prompt, SAMPLE_PROMPT_BYTES), fit(text, SAMPLE_BYTES)


def _next(shop: Workshop, ids: Sequence[int]) -> int:
    """The likeliest token after these."""
    context_bl = torch.tensor([ids[-shop.corpus.sequence :]], device=shop.device.handle)
    with torch.no_grad():
        logits_v = shop.model.logits(context_bl)[0, -1, : shop.corpus.tokenizer.vocab_size]
    if not bool(torch.isfinite(logits_v).all()):
        raise UserFacingError("the head gives numbers that are not finite: it writes nothing")
    return int(logits_v.float().argmax())


def _is_short_and_whole(text: str) -> bool:
    return len(text.encode()) <= SAMPLE_PROMPT_BYTES and not text.endswith(_BROKEN)


_Q16 = 1 << 16
_I32_MOST = 2**31 - 1
_SAMPLE_SEED = 0


class NonFiniteError(TequioError):
    """Training gave infinities or NaN: there is nothing to send."""


@dataclass(slots=True, kw_only=True)
class Bench:
    """The tools of one task: what is prepared, who may interrupt, who hears of progress."""

    shop: Workshop
    desk: Desk
    task: Work
    report: Callable[[trainer.Report], None]
    activity: Activity
    begun: float = field(default_factory=time.perf_counter)

    def check(self) -> None:
        """Go on only while the task is in force; obey new limits. Raises ReplacedError."""
        prepare = self.desk.check(self.task, self.shop.prepare)
        if prepare.command != self.shop.prepare.command:
            self.shop = self.shop.under(prepare)
            self.report(self.shop.ready(prepare))
            self.desk.settle(prepare)

    @property
    def seconds(self) -> float:
        """Time since the task was taken up."""
        return time.perf_counter() - self.begun


def do(bench: Bench) -> trainer.Answer:
    """Do the bench's task and give its report.

    Raises ReplacedError when the task is taken back, another TequioError or OSError when it
    cannot be done.
    """
    task = bench.task
    if isinstance(task, trainer.Train):
        return train(task, bench)
    if isinstance(task, trainer.Screen):
        return screened(task, bench)
    if isinstance(task, trainer.Advance):
        return advance(task, bench)
    if isinstance(task, trainer.Continue):
        return continued(task, bench)
    return measured(task, bench)


def train(task: trainer.Train, bench: Bench) -> trainer.Trained:
    """Inner steps, then the contribution's bytes."""
    shop, rules = bench.shop, bench.shop.manifest
    bench.activity.begin(task.command, "training")
    training = TrainingData.open(
        shop.corpus,
        [(shard.index, Path(shard.path)) for shard in task.shards],
        seed=rules.windows.seed,
        window_samples=rules.windows.samples,
    )
    master = shop.master(task.weights)
    shop.model.load(master, shop.layout)
    # Dropout, where a model has it, is the only chance in training: the same for a re-run.
    torch.manual_seed(int.from_bytes(sha256(task.head.encode(), task.trainer.encode())[:7], "big"))
    plan = Plan.of(task.windows, rules.inner.steps)
    watch = _Watch(task=task, bench=bench)
    done = inner.train(shop.model, training, plan, rules.inner, shop.device, watch)
    bench.activity.doing = "encoding"
    encoded = _encoded(task, shop, master)
    return _trained(task, bench, done, encoded)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Watch:
    """Stops training when another task is in force, when asked to finish, or when it is late."""

    task: trainer.Train
    bench: Bench

    def check(self) -> None:
        self.bench.check()

    def is_enough(self, progress: Progress) -> bool:
        activity = self.bench.activity
        activity.step, activity.steps = progress.step, progress.steps
        activity.tokens = progress.tokens
        self._pause(progress)
        return self._must_end()

    def _must_end(self) -> bool:
        self.check()
        is_late = 0 < self.task.stop_after_ms <= self.bench.seconds * 1e3
        return is_late or self.bench.desk.is_finished(self.task)

    def _pause(self, progress: Progress) -> None:
        """Sleep so that computing takes its share of the time; look up ten times a second."""
        begun, step_s = time.perf_counter(), progress.seconds / progress.step
        while not self._must_end():
            idle_s = step_s * (100 / self.bench.shop.prepare.share_percent - 1)
            left_s = idle_s - (time.perf_counter() - begun)
            if left_s <= 0:
                return
            time.sleep(min(left_s, 0.1))


def _encoded(task: trainer.Train, shop: Workshop, master: NDArray[np.int32]) -> Encoded:
    with data.complete(Path(task.delta_out)) as part:
        delta = data.zeros(part, shop.layout.elements)
        if not shop.model.write_delta(master, shop.layout, delta):
            raise NonFiniteError("training gave numbers that are not finite; nothing is sent")
        encoded = codecs.encode(
            shop.algorithm(task.k),
            shop.layout,
            delta,
            _feedback(task, shop),
            shop.device.handle,
        )
    if encoded.feedback is not None:
        data.write(Path(task.feedback_out), encoded.feedback.astype("<u2", copy=False).data)
    data.write(Path(task.payload_out), encoded.payload)
    return encoded


def _feedback(task: trainer.Train, shop: Workshop) -> NDArray[np.uint16] | None:
    if task.feedback_in is None:
        return None
    try:
        return data.mapped(Path(task.feedback_in), np.dtype("<u2"), shop.layout.elements)
    except (OSError, ValueError) as err:
        raise UserFacingError(f"cannot use the error feedback: {err}") from err


def _trained(
    task: trainer.Train, bench: Bench, done: Progress, encoded: Encoded
) -> trainer.Trained:
    shape, tokens = bench.shop.shape(task.k), bench.shop.manifest.windows.tokens
    header = Header(
        algorithm=ALGORITHM_CODES[shape.algorithm],
        bits=shape.bits,
        k=shape.k,
        inner_steps=done.step,
        chunk_count=bench.shop.layout.chunks,
        round=task.round,
        window_first=task.windows[0][0],
        window_count=done.windows,
        tokens=done.windows * tokens,
        run_id=RunId(from_text(task.run)),
        base_head=HeadHash(from_text(task.head)),
        trainer=key_from_text(task.trainer),
        payload_root=encoded.payload_root,
        feedback_root=encoded.feedback_root,
        claimed_loss_first_q16=_q16(done.loss_first),
        claimed_loss_last_q16=_q16(done.loss_last),
    ).pack()
    return trainer.Trained(
        command=task.command,
        round=task.round,
        header=to_text(header),
        contribution=to_text(contribution.contribution_id(header)),
        payload_root=to_text(encoded.payload_root),
        payload_bytes=len(encoded.payload),
        windows=done.windows,
        steps=done.step,
        tokens=done.windows * tokens,
        train_seconds=done.seconds,
        seconds=bench.seconds,
        loss_first=done.loss_first,
        loss_last=done.loss_last,
        warnings=encoded.warnings,
    )


def _q16(loss: float) -> int:
    return min(int(loss * _Q16), _I32_MOST) if math.isfinite(loss) else _I32_MOST


def screened(task: trainer.Screen, bench: Bench) -> trainer.Screened:
    """Take a witness's measures of every candidate."""
    bench.activity.begin(task.command, "screening")
    witness = _witness(task, bench.shop)
    candidates = [_candidate(one, task, bench.shop) for one in task.candidates]
    found = screen.screen(candidates, witness)
    verdicts = tuple(
        trainer.Verdict(
            slot=one.slot,
            contribution=to_text(one.contribution),
            reason=one.reason,
            norm_ratio=one.norm_ratio,
            cosine=one.cosine,
            overlap=one.overlap,
            agreement=one.agreement,
        )
        for one in found
    )
    return trainer.Screened(
        command=task.command, round=task.round, verdicts=verdicts, seconds=bench.seconds
    )


def _witness(task: trainer.Screen, shop: Workshop) -> screen.Witness:
    return screen.Witness(
        layout=shop.layout,
        steps=shop.manifest.inner.steps,
        chance=np.random.default_rng(),  # what we look at is nobody else's to know
        past=[
            (from_text(one.header, contribution.HEADER_BYTES), Path(one.payload))
            for one in task.past
        ],
        own_delta=None if task.own_delta is None else _own_delta(task.own_delta, shop),
        own_slot=task.own_slot,
        overlap_most=screen.PAIR_OVERLAP_MOST if shop.manifest.frozen else screen.OVERLAP_MOST,
    )


def _own_delta(path: str, shop: Workshop) -> NDArray[np.float32]:
    try:
        return data.mapped(Path(path), np.dtype("<f4"), shop.layout.elements)
    except (OSError, ValueError) as err:
        raise UserFacingError(f"cannot use our own pseudo-gradient: {err}") from err


def _candidate(one: trainer.Candidate, task: trainer.Screen, shop: Workshop) -> screen.Candidate:
    assigned = Assignment(first=one.windows[0][0], count=sum(count for _, count in one.windows))
    return screen.Candidate(
        slot=one.slot,
        header=from_text(one.header, contribution.HEADER_BYTES),
        payload=Path(one.payload),
        expected=Expected(
            shape=shop.shape(task.k),
            chunks=shop.layout.chunks,
            run_id=RunId(from_text(task.run)),
            round=task.round,
            base_head=HeadHash(from_text(task.head)),
            assigned={key_from_text(one.trainer): assigned},
            window_tokens=shop.manifest.windows.tokens,
            max_inner_steps=shop.manifest.algorithm.max_inner_steps,
        ),
    )


def advance(task: trainer.Advance, bench: Bench) -> trainer.Advanced:
    """Compute the next head."""
    bench.activity.begin(task.command, "advancing")
    shop = bench.shop
    step = Step(
        run_id=RunId(from_text(task.run)),
        round=task.round,
        parent=HeadHash(from_text(task.parent)),
        layout=shop.layout,
        params=shop.manifest.outer_params(task.round, task.k),
    )
    members = [
        (from_text(one.header, contribution.HEADER_BYTES), Path(one.payload))
        for one in task.contributions
    ]
    new = heads.advance_files(
        step=step,
        contributions=members,
        files=HeadFiles(
            weights_in=Path(task.weights),
            weights_out=Path(task.weights_out),
            aux_in=Path(task.aux) if task.aux else None,
            aux_out=Path(task.aux_out) if task.aux_out else None,
        ),
        engine=heads.engine_for(step, shop.device.label),
        threads=shop.prepare.threads,
    )
    return _advanced(task, bench, members, new)


def _advanced(
    task: trainer.Advance, bench: Bench, members: list[tuple[bytes, Path]], new: heads.Advanced
) -> trainer.Advanced:
    kept = sorted(contribution.contribution_id(members[at][0]) for at in new.kept)
    return trainer.Advanced(
        command=task.command,
        round=task.round,
        head=to_text(new.head),
        weights_root=to_text(new.weights_root),
        aux_root=to_text(new.aux_root),
        set_root=to_text(new.set_root),
        kept=tuple(map(to_text, kept)),
        seconds=bench.seconds,
    )


def measured(task: trainer.Evaluate, bench: Bench) -> trainer.Evaluated:
    """Bits per byte of a head, and what it writes; raises NonFiniteError."""
    bench.activity.begin(task.command, "evaluating")
    shop = bench.shop
    shop.model.load(shop.master(task.weights), shop.layout)
    left = islice(_documents(task, shop), task.first_document, None)
    documents = evaluate.first_documents(left, task.max_tokens)
    score = evaluate.score(
        shop.model,
        documents,
        separator=shop.corpus.separator,
        sequence=shop.corpus.sequence,
        device=shop.device,
        check=bench.check,
        tally=shop.begun.tally(msgspec.structs.replace(task, command=1), len(documents)),
    )
    if score.millibits is None:
        raise NonFiniteError(f"the head of round {task.round} gives numbers that are not finite")
    return trainer.Evaluated(
        command=task.command,
        round=task.round,
        bits_per_byte=score.bits_per_byte,
        millibits=score.millibits,
        perplexity=score.perplexity,
        documents=score.documents,
        tokens=score.tokens,
        text_bytes=score.text_bytes,
        sample=_sample(task, bench) if task.sample_tokens else "",
        seconds=bench.seconds,
    )


def continued(task: trainer.Continue, bench: Bench) -> trainer.Continued:
    """Go on from the beginning of a document; raises NonFiniteError, UserFacingError."""
    bench.activity.begin(task.command, "evaluating")
    shop = bench.shop
    document = next(islice(_documents(task, shop), task.document, None), None)
    if document is None:
        raise UserFacingError(f"the held-out shards have no document {task.document}")
    shop.model.load(shop.master(task.weights), shop.layout)
    spell = speller(shop)
    start = beginning(document, spell)
    written = shop.begun.written(msgspec.structs.replace(task, command=1))
    go_on(shop, start, written, bench.check)
    prompt, text = parted(start, written, spell)
    return trainer.Continued(
        command=task.command, round=task.round, prompt=prompt, text=text, seconds=bench.seconds
    )


def _documents(task: trainer.Evaluate | trainer.Continue, shop: Workshop) -> Iterator[Document]:
    for shard in task.shards:
        if shard.index >= len(shop.corpus.held_out):
            raise UserFacingError(f"the data has no held-out shard {shard.index}")
        entry = shop.corpus.held_out[shard.index]
        yield from held_out_documents(
            Path(shard.path), entry, shop.corpus.token_bytes, shop.corpus.tokenizer.vocab_size
        )


def _sample(task: trainer.Evaluate, bench: Bench) -> str:
    shop = bench.shop
    ids = evaluate.generate(
        shop.model,
        prepared.prompt_ids(shop, task.prompt),
        tokens=task.sample_tokens,
        sequence=shop.corpus.sequence,
        seed=_SAMPLE_SEED,
        device=shop.device,
        check=bench.check,
    )
    return prepared.text_of(shop, ids)
