"""Estimates of a planned run: what it requires of volunteers, and what cannot work.

Everything follows from the outline, before weights exist. The transfer of a round is that of
`worker.lending.needs`: every member fetches every contribution, so on average each member sends its
own contribution once to every other member. A trainer's speed is `RATED_SHARE_BP` of its card's
rated speed, divided by 6 FLOP for each parameter and token (Kaplan et al. 2020), 4 for each frozen
parameter, and at most `MAX_TOKENS_PER_S`. A cell has the speed of its cards together, less what
the ranks of a pipeline rest, as if its network were no limit.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from tequio_client.ipc.cell import CellNeed, cell_of_size, smallest_cell
from tequio_client.ipc.cell_division import why_no_guests
from tequio_client.ipc.preferences import usable_memory_mb
from tequio_client.organiser.outline import RunOutline
from tequio_client.organiser.plan import ExpectPlan
from tequio_client.worker.lending.needs import (
    MEMORY_BASE_MB,
    MICRO_BATCHES,
    RoundPace,
    cell_needs,
    contribution_bytes,
    estimate,
    memory_mb,
    min_memory_mb,
)
from tequio_shared.errors import UserFacingError
from tequio_shared.head import layout
from tequio_shared.head.layout import FrozenBase
from tequio_shared.limits import MEASURED_HEADS
from tequio_shared.round.manifest import Manifest
from tequio_shared.round.points import BASIS_POINTS, RATED_SHARE_BP, flop_per_token
from tequio_shared.wording import plural, short_count, size_text

MAX_TOKENS_PER_S = 200_000.0
"""Tokens per second: a small model does not fill a card."""
USEFUL_EPOCHS = 4
"""Passes over the data beyond which little more is learnt (Muennighoff et al. 2023)."""
TOKENS_PER_PARAMETER = 20
"""Tokens for each parameter that make the best use of compute (Hoffmann et al. 2022)."""
_TFLOPS = ((4, 4.0), (6, 6.0), (8, 10.0), (12, 14.0), (16, 22.0), (24, 45.0))
"""Card memory, GiB, and the 16-bit speed of common cards with that memory, TFLOP/s."""
_MOST_TFLOPS = 90.0
_FITTING = 0.85
_FAR = 4
"""Factor by which a run may miss the best number of tokens without a warning."""
_GIB = 1 << 30
"""Files and traffic are in decimal units, as in the app; memory and disk limits in binary ones."""
_MIB_OF_GIB = 1 << 10
_BITS = 8
_MBIT = 1e6
_TERA = 1e12
_DAY_S, _HOUR_S, _MINUTE_S = 86_400, 3_600, 60
_SECOND_MS = 1_000


@dataclass(frozen=True, slots=True, kw_only=True)
class EstimateRow:
    label: str
    value: str
    note: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Estimate:
    """The table, each fault of the plan with its remedy, and what is allowed but unwise."""

    rows: tuple[EstimateRow, ...]
    round_s: float
    round_tokens: int
    passes: float
    """Over the data, in the whole run."""
    faults: tuple[str, ...]
    warnings: tuple[str, ...] = ()

    def check(self) -> None:
        """Raise UserFacingError where something cannot work."""
        if self.faults:
            raise UserFacingError("this run cannot work: " + "; ".join(self.faults))


def tokens_per_s(parameters: int, expect: ExpectPlan, frozen: int = 0) -> float:
    """Tokens per second that the expected card trains."""
    tflops = expect.tflops or usual_tflops(expect.vram_gib)
    filled = RATED_SHARE_BP / BASIS_POINTS * tflops * _TERA / flop_per_token(parameters, frozen)
    return min(filled, MAX_TOKENS_PER_S)


def usual_tflops(vram_gib: float) -> float:
    """Usual 16-bit speed of cards with that memory, TFLOP/s."""
    return next((one for gib, one in _TFLOPS if vram_gib <= gib), _MOST_TFLOPS)


def transfer_s(manifest: Manifest, expect: ExpectPlan, members: int) -> float:
    """Seconds that the contributions of a round take on the slowest connection."""
    sent = (members - 1) * contribution_bytes(manifest, members)
    return sent * _BITS / (expect.upload_mbit * _MBIT)


def expected_cell(outline: RunOutline, expect: ExpectPlan) -> CellNeed | None:
    """Need of the cells that are expected; None: each peer is one card, or no cell can train."""
    needs = cell_needs(outline.manifest, outline.source.config)
    return cell_of_size(needs, expect.cell, lent_mb(expect))


def peer_speed(outline: RunOutline, expect: ExpectPlan) -> float:
    """Tokens per second that each expected peer trains: a card, or a cell of them."""
    manifest, cell = outline.manifest, expected_cell(outline, expect)
    still = manifest.frozen.parameters if manifest.frozen else 0
    card = tokens_per_s(manifest.model.parameters, expect, still)
    ranks = expect.cell
    is_pipeline = cell is not None and cell.division == "pipeline"
    # Each of its ranks rests for P - 1 micro-batches beside those of a pass.
    number = MICRO_BATCHES * ranks
    return card * ranks * (number / (number + ranks - 1) if is_pipeline else 1)


def lent_mb(expect: ExpectPlan) -> int:
    return usable_memory_mb(round(expect.vram_gib * _MIB_OF_GIB))


def estimate_run(outline: RunOutline, expect: ExpectPlan) -> Estimate:
    """Compare the outline with the volunteers expected."""
    facts = _Facts(outline, expect)
    return Estimate(
        rows=tuple(_rows(facts)),
        round_s=facts.round_s,
        round_tokens=facts.round_tokens,
        passes=facts.passes,
        faults=(*_machine_faults(facts), *_time_faults(facts)),
        warnings=tuple(_warnings(facts)),
    )


class _Facts:
    def __init__(self, outline: RunOutline, expect: ExpectPlan) -> None:
        self.expect, self.manifest = expect, outline.manifest
        manifest, rounds = outline.manifest, outline.manifest.rounds
        self.members = min(expect.peers, rounds.most_members)
        self.transfer_s = transfer_s(manifest, expect, self.members)
        self.round_s = rounds.train / _SECOND_MS + self.transfer_s
        self.cells = cell_needs(manifest, outline.source.config)
        self.cell = expected_cell(outline, expect)
        self.speed = peer_speed(outline, expect)
        self.first_s = manifest.windows.first * manifest.windows.tokens / self.speed
        self.round_tokens = round(self.members * self.speed * rounds.train / _SECOND_MS)
        self.tokens = self.round_tokens * rounds.most
        pace = RoundPace(
            members=self.members,
            length_ms=round(self.round_s * _SECOND_MS),
            tokens=self.round_tokens,
        )
        self.needs, self.last_needs = (
            estimate(manifest, outline.corpus, one, store_bytes=expect.disk_gib * _GIB)
            for one in (pace, replace(pace, closed=rounds.most))
        )
        self.is_unmeasured = bool(outline.plan.measure.every and not outline.corpus.held_out)
        self.data_tokens = sum(shard.tokens for shard in outline.corpus.train)
        self.passes = self.tokens / self.data_tokens
        self.task_tokens = _task_tokens(outline)
        # Predictions take a third of the operations of training, in 32 bits rather than 16.
        self.tasks_s = self.task_tokens / self.speed


def _rows(facts: _Facts) -> Iterator[EstimateRow]:
    manifest, expect, found = facts.manifest, facts.expect, facts.needs
    model, most = manifest.model, manifest.rounds.most
    sent = contribution_bytes(manifest, facts.members)
    head = manifest.weights_bytes + manifest.aux_bytes
    if manifest.frozen is not None:
        yield _base_row(manifest, manifest.frozen)
    yield EstimateRow(
        label="adapters" if manifest.frozen else "model",
        value=f"{short_count(model.parameters)} parameters",
        note=f"{len(model.tensors)} tensors, {size_text(head)} a head",
    )
    if manifest.own_code is not None:
        spec = manifest.own_code
        yield EstimateRow(
            label="plug-in",
            value=spec.label,
            note=f"brings {', '.join(spec.provides)}; "
            + (
                f"volunteers have to allow {spec.archive[:10]}"
                if spec.trains
                else "volunteers do not run it"
            ),
        )
    yield EstimateRow(
        label="card memory",
        value=f"{memory_mb(manifest) / _MIB_OF_GIB:.1f} GiB",
        note=f"{min_memory_mb(manifest) / _MIB_OF_GIB:.1f} GiB with one sample at a time; "
        f"{lent_mb(expect) / _MIB_OF_GIB:.1f} of {expect.vram_gib:g} GiB are lent",
    )
    if facts.cell is not None:
        yield EstimateRow(
            label="of a cell",
            value=f"{facts.cell.memory_mb / _MIB_OF_GIB:.1f} GiB",
            note=f"on each of {_members(facts.cell)}: {facts.cell.command}",
        )
    yield EstimateRow(
        label="disk",
        value=size_text(found.disk_bytes),
        note=f"{size_text(found.first_bytes)} are fetched to join; "
        f"{size_text(found.day_disk_bytes)} are used after a day, if the limit allows it",
    )
    yield EstimateRow(
        label="contribution",
        value=size_text(sent),
        note=f"{4 * model.parameters / sent:,.0f} times smaller than the update in 32 bits",
    )
    yield EstimateRow(
        label="transfer per round",
        value=size_text((facts.members - 1) * sent),
        note=f"up and down; {duration_text(facts.transfer_s)} at {expect.upload_mbit:g} Mbit/s",
    )
    if manifest.algorithm.down_k:
        yield EstimateRow(
            label="step of a head",
            value=size_text(manifest.step_bytes),
            note="fetched instead by members without witness duty",
        )
    yield EstimateRow(
        label="round",
        value=duration_text(facts.round_s),
        note=f"{facts.transfer_s / facts.round_s:.0%} of it transfer, "
        f"{size_text(found.hourly_up_bytes)} up and {size_text(found.hourly_down_bytes)} down per "
        "hour",
    )
    yield EstimateRow(
        label="newcomer's windows",
        value=duration_text(facts.first_s),
        note=f"{manifest.windows.first} windows of {manifest.windows.tokens:,} tokens, "
        f"{facts.speed:,.0f} tokens/s",
    )
    if facts.task_tokens:
        answered = manifest.measures.answered
        yield EstimateRow(
            label="tasks",
            value=duration_text(facts.tasks_s),
            note=f"about {facts.task_tokens:,} tokens for each measured head: "
            f"{sum(one.questions for one in answered):,} questions of "
            f"{', '.join(one.name for one in answered)}",
        )
    yield EstimateRow(
        label="tokens",
        value=short_count(facts.tokens),
        note=f"{facts.round_tokens:,} per round; {facts.tokens / model.parameters:,.1f} per "
        f"parameter, {facts.passes:,.1f} passes over the data",
    )
    yield EstimateRow(
        label="run",
        value=duration_text(facts.round_s * most),
        note=f"{most:,} rounds with {facts.members} peers",
    )
    # In the first download of a run's last member is the data that is fetched once.
    hours, last = facts.round_s * most / _HOUR_S, facts.last_needs
    sent_bytes = last.hourly_up_bytes * hours + last.first_bytes - found.first_bytes
    yield EstimateRow(
        label="cost",
        value=f"{facts.members * expect.cell * hours:,.0f} card-hours",
        note=f"of {'cells of ' * (expect.cell > 1)}cards with {expect.vram_gib:g} GiB; each sends "
        f"{size_text(round(sent_bytes))} and receives "
        f"{size_text(last.first_bytes + round(last.hourly_down_bytes * hours))}",
    )


def _task_tokens(outline: RunOutline) -> int:
    """Tokens that the answers of one head take, about: each choice has its context again."""
    held_out = outline.corpus.held_out
    if not outline.tasks or not held_out:
        return 0
    width = sum(one.text_bytes for one in held_out) / sum(one.tokens for one in held_out)
    texts = (
        len(context.encode()) + len(continuation.encode())
        for one in outline.tasks
        for question in one.task.questions
        for context, continuation in question.requests
    )
    return round(sum(min(size / width, outline.corpus.sequence) for size in texts))


def _base_row(manifest: Manifest, base: FrozenBase) -> EstimateRow:
    held = layout.held_bytes(base, manifest.model.tensors)
    return EstimateRow(
        label="frozen base",
        value=f"{short_count(base.parameters)} parameters",
        note=f"{size_text(base.size_bytes)}, fetched once and never sent back; "
        + (f"{held / _GIB:.2f} GiB in memory, in 4 bits; " if base.is_in_4_bits else "")
        + f"adapters of rank {base.rank}, alpha {base.alpha}, for {', '.join(base.targets)}",
    )


def _warnings(facts: _Facts) -> Iterator[str]:
    waiting = facts.expect.peers - facts.members
    if waiting:
        yield (
            f"{facts.expect.peers:,} peers are expected, and a round has at most "
            f"{facts.members:,} members, so {waiting:,} would wait for a place: raise "
            "rounds.most_members, or expect fewer peers"
        )
    if facts.passes > USEFUL_EPOCHS:
        yield (
            f"the run passes {facts.passes:,.1f} times over its data, and beyond {USEFUL_EPOCHS} "
            "passes little more is learnt: use more data, or fewer rounds (rounds.most, which "
            "`run new` takes from --tokens)"
        )
    if facts.is_unmeasured:
        yield (
            "the data has no held-out text, so members measure no head, and nobody sees how good "
            "the model is: build it with held-out text (tequio data build --held-out)"
        )
    taken_s = MEASURED_HEADS * facts.manifest.measures.every * facts.round_s
    if facts.tasks_s > taken_s / 2:
        yield (
            f"drawn members need {duration_text(facts.tasks_s)} to answer the tasks for a head, "
            f"beside their other work, and answers are taken for {duration_text(taken_s)}: draw "
            "fewer questions (tequio data tasks --questions), or raise measure.every"
        )
    per_parameter = facts.tokens / facts.manifest.model.parameters
    if not facts.manifest.frozen and per_parameter < TOKENS_PER_PARAMETER / _FAR:
        # More rounds alone would only be more passes over the same data.
        more = "more data and rounds" if facts.passes > USEFUL_EPOCHS else "more rounds"
        yield (
            f"the run sees {per_parameter:,.1f} tokens for each parameter, and about "
            f"{TOKENS_PER_PARAMETER} make the best use of the computing: use a smaller model, or "
            f"{more} (rounds.most)"
        )


def _machine_faults(facts: _Facts) -> Iterator[str]:
    manifest, expect = facts.manifest, facts.expect
    needed, least, lent = "one sample", min_memory_mb(manifest), lent_mb(expect)
    if facts.cell is not None:
        needed, least = f"each of {_members(facts.cell)}", facts.cell.memory_mb
    elif expect.cell > 1:
        yield f"{why_no_guests(manifest)}: set cell = 1 under [expect]"
    if least > lent:
        yield (
            f"{needed} needs {least / _MIB_OF_GIB:.1f} GiB of card memory, and "
            f"{lent / _MIB_OF_GIB:.1f} of {expect.vram_gib:g} GiB are lent: use {_fitting(facts)} "
            f"or shorter samples, or expect cards with {_card_for(least)} GiB"
            + _cells_instead(facts.cells, lent)
        )
    disk_bytes, lent_bytes = facts.needs.disk_bytes, expect.disk_gib * _GIB
    if disk_bytes > lent_bytes:
        yield (
            f"it needs {size_text(disk_bytes)} of disk space, and {size_text(lent_bytes)} are lent "
            f"(disk_gib = {expect.disk_gib:g}): use a smaller model or smaller shards (tequio data "
            "build --shard-mib), or expect more"
        )


def _members(cell: CellNeed) -> str:
    return cell.members.replace("such ", "")


def _cells_instead(needs: Sequence[CellNeed], lent: int) -> str:
    found = smallest_cell(needs, lent)
    if found is None:
        return ""
    return (
        f", or cells of {found.members}, each of which needs "
        f"{found.memory_mb / _MIB_OF_GIB:.1f} GiB (--cell {found.ranks}, or "
        f"cell = {found.ranks} under [expect])"
    )


def _time_faults(facts: _Facts) -> Iterator[str]:
    manifest, expect = facts.manifest, facts.expect
    witness_s = manifest.rounds.witness / _SECOND_MS
    if facts.transfer_s > witness_s:
        yield (
            f"{facts.members} peers need {duration_text(facts.transfer_s)} at "
            f"{expect.upload_mbit:g} Mbit/s for a round's contributions, and witnesses wait "
            f"{duration_text(witness_s)}: set rounds.witness_s to "
            f"{math.ceil(2 * facts.transfer_s)} or more, expect fewer peers, use a smaller k or "
            "model, or expect faster connections"
        )
    rounds = manifest.rounds
    if expect.peers < rounds.min_members:
        yield (
            f"a round needs {rounds.min_members} members, and {expect.peers} are expected: set "
            f"rounds.min_members to {max(expect.peers // 2, 2)}"
        )
    limit_s = rounds.train_limit / _SECOND_MS
    if facts.first_s > limit_s:
        fitting = int(limit_s / 2 * facts.speed / manifest.windows.tokens)
        yield (
            f"a newcomer's {plural(manifest.windows.first, 'window takes', 'windows take')} "
            f"{duration_text(facts.first_s)}, "
            f"and the limit is {duration_text(limit_s)}: "
            + (
                f"set windows.first to {fitting} or less"
                if fitting
                else "set windows.samples to 1, increase rounds.train_limit_s, or use a smaller "
                "model"
            )
        )


def _fitting(facts: _Facts) -> str:
    # With a smaller model, memory for samples shrinks less than memory for weights: hence _FITTING.
    if facts.manifest.frozen:
        is_wide = not facts.manifest.frozen.is_in_4_bits
        return "a smaller base, lora.bits = 4" if is_wide else "a smaller base"
    least = min_memory_mb(facts.manifest) - MEMORY_BASE_MB
    lent = max(lent_mb(facts.expect) - MEMORY_BASE_MB, 0)
    millions = int(_FITTING * facts.manifest.model.parameters * lent / least) // 1_000_000
    return f"about {millions:,}M parameters" if millions else "a smaller model"


def _card_for(least_mb: int) -> int:
    """Smallest card of which `least_mb` are lent, GiB."""
    gib = 1
    while usable_memory_mb(gib * _MIB_OF_GIB) < least_mb:
        gib += 1
    return gib


def duration_text(seconds: float) -> str:
    """Write a duration in the unit that suits it."""
    if seconds < _MINUTE_S:
        return f"{seconds:.0f} s" if seconds >= 1 else f"{seconds:.2f} s"
    if seconds < _HOUR_S:
        return f"{seconds / _MINUTE_S:.0f} min"
    if seconds < 2 * _DAY_S:
        return f"{seconds / _HOUR_S:.1f} h"
    return f"{seconds / _DAY_S:.0f} days"
