"""The text of a new plan: TOML with a comment at each value."""

from __future__ import annotations

import json

from msgspec import UnsetType

from tequio_client.organiser.estimate import usual_tflops
from tequio_client.organiser.model_source import ModelSourceSpec
from tequio_client.organiser.outline import RunOutline
from tequio_client.organiser.plan import ExpectPlan, LoraPlan, RunPlan
from tequio_shared.round.manifest import Admission

_COLUMN = 30
_MARK = " ## "
"""Separates a line's value from its comment, which is aligned at `_COLUMN`."""
_TEXT = """\
# A run of Tequio. Check it with `tequio run check`, open it with `tequio run open`.
# Once the run is open, nothing here can be changed: the run's id is the hash of these rules.

name = {name}
description = {description} ## what the run is for: volunteers read it before they join
licence = {licence} ## of the trained weights: an SPDX name such as "Apache-2.0"

[model]
{source}

[data]
folder = {data} ## written by `tequio data build`
{plugin}
[algorithm] ## how contributions become the next head
name = "sparseloco" ## or diloco: all in 8 bits, 25 times the bytes; distro: signs of each step
k = {algorithm.k} ## entries sent of each 4,096; 0: fewer, the more peers train
bits = 2 ## bits of each entry, in addition to its position
outer_lr = {algorithm.outer_lr:.1f} ## 1.0 applies the mean of the accepted updates unchanged
weight_decay = 0.0 ## decay of the head per round

[inner] ## what each trainer does in a round, the same for all
optimiser = "{inner.optimiser}" ## {why_optimiser}
state_bits = 32 ## of the optimiser's state; 8 takes less memory, and is rounded a little
steps = {inner.steps} ## steps between two exchanges; more steps mean fewer bytes, and are coarser
lr = {inner.lr:g} ## {why_rate}
adam_lr = {inner.adam_lr:g} ## learning rate of the parameters that AdamW trains
feedback = 0.95 ## share of what an update leaves out that is kept for the next one
clip = 1.0 ## largest norm of a step's gradient
warmup = {inner.warmup:g} ## share of the rounds over which learning rates rise
anneal = {inner.anneal:g} ## share of the rounds, at the end, over which they fall to a tenth

[windows] ## the unit of assigned work
samples = {windows.samples} ## samples of {sequence:,} tokens each, as in the data
first = {windows.first} ## windows of a newcomer: the expected card does them in train_s

[rounds] ## in seconds: train_s is the target, the others are limits
min_members = {rounds.min_members} ## a round waits for this many members
most_members = {rounds.most_members} ## each further member adds traffic for all
train_s = {rounds.train_s:g} ## four times the transfer, and at least the usual time for this size
train_limit_s = {rounds.train_limit_s:g} ## until the first speeds are known
witness_s = {rounds.witness_s:g} ## three times the transfer on the slowest connection
attest_s = {rounds.attest_s:g} ## to fetch the rest, compute the head and agree on it
cooldown_s = {rounds.cooldown_s:g}
most = {rounds.most} ## number of rounds after which the run ends

{off}[admission] ## who trains, everybody if left out; data and heads stay public
{off}trainer_tier = {admits.trainer_tier} ## 0 anybody, 1 vouched for, 2 invited (tequio run invite)
{off}witness_tier = {admits.witness_tier} ## the same for members that check the work of others
# owner_slots = 4 ## places that one owner may have in a round
# owner_seats = 1 ## places of one owner with the duty to witness

[expect] ## not part of the run; `run check` and `run open` check the plan against it
peers = {expect.peers}
upload_mbit = {expect.upload_mbit:g} ## upload speed of the slowest connection that should train
vram_gib = {expect.vram_gib:g} ## memory of the smallest card; all but 2 GiB, at most 80 %, are lent
disk_gib = {expect.disk_gib:g} ## disk space that a volunteer lends
tflops = {tflops:g} ## {why_tflops}
cell = {expect.cell} ## such computers of each peer, in a cell (docs/cells.md); 1: no cell
"""
_BITS_OF_FILES = 16
_EXAMPLE = Admission(witness_tier=1)


def render_plan(outline: RunOutline) -> str:
    """Render the plan as TOML with comments; `plan.read` parses it back."""
    plan = outline.plan
    expect = plan.expect if isinstance(plan.expect, ExpectPlan) else ExpectPlan()
    text = _TEXT.format(
        name=_quoted(plan.name),
        description=_quoted(plan.description),
        licence=_quoted(plan.licence),
        source=_source(plan, outline.source),
        data=_quoted(plan.data.folder),
        plugin=_plugin(plan),
        algorithm=plan.algorithm,
        inner=plan.inner,
        windows=plan.windows,
        rounds=plan.rounds,
        off="# " if isinstance(plan.admission, UnsetType) else "",
        admits=_EXAMPLE if isinstance(plan.admission, UnsetType) else plan.admission,
        expect=expect,
        sequence=outline.corpus.sequence,
        why_rate=_why_rate(outline),
        why_optimiser="usual for adapters; or muon for their matrices"
        if plan.inner.optimiser == "adamw"
        else "for matrices, AdamW for the rest; or adamw for all",
        tflops=expect.tflops or usual_tflops(expect.vram_gib),
        why_tflops="16-bit speed of that card"
        if expect.tflops
        else "usual 16-bit speed of cards with that memory; an estimate",
    )
    return "".join(f"{_aligned(line)}\n" for line in text.splitlines())


def _plugin(plan: RunPlan) -> str:
    if not plan.plugin.source:
        return ""
    source = f"source = {_quoted(plan.plugin.source)}"
    return f"\n[plugin]{_MARK}code that volunteers allow before they train\n{source}\n"


def _source(plan: RunPlan, found: ModelSourceSpec) -> str:
    if found.parent is not None:
        parent = found.parent.parent
        return (
            f"parent.ledger = {_quoted(found.parent.ledger)}{_MARK}the ledger of the run that this "
            f"one continues\nparent.run = {_quoted(parent.run)}{_MARK}{found.parent.manifest.name}"
            f"\nparent.round = {parent.round}{_MARK}the head of this round is the first head"
        )
    source = f"source = {_quoted(plan.model.source)}"
    if found.is_fresh:
        return f"{source}{_MARK}the network\nseed = 0{_MARK}seed of the first weights"
    rules = plan.model.lora
    is_frozen = isinstance(rules, LoraPlan)
    text = source + _MARK
    text += "frozen" if is_frozen else "the first weights, rounded to the nearest 2^-24"
    if plan.model.revision:
        text += f"\nrevision = {_quoted(plan.model.revision)}{_MARK}commit, so the bits are fixed"
    return text + (_lora(rules) if isinstance(rules, LoraPlan) else "")


def _lora(rules: LoraPlan) -> str:
    targets = ", ".join(map(_quoted, rules.targets or ()))
    return (
        f"\nlora.rank = {rules.rank}{_MARK}adapters of this rank are trained"
        f"\nlora.alpha = {rules.alpha or 2 * rules.rank}{_MARK}adapters are scaled by alpha / rank"
        f"\nlora.targets = [{targets}]{_MARK}matrices that have an adapter"
        f"\nlora.bits = {rules.bits}{_MARK}"
        + (
            "each number of these matrices in memory, NF4"
            if rules.bits < _BITS_OF_FILES
            else "as in the files; 4 holds these matrices in a quarter of the memory"
        )
    )


def _why_rate(outline: RunOutline) -> str:
    why = "a third of the rate for fresh weights"
    if outline.manifest.frozen:
        why = "as in QLoRA for adapters of 7B models"
    elif outline.source.is_fresh:
        why = "3e-3 up to 10M parameters, falling with the cube root of the size"
    parent = outline.source.parent
    return f"{why}; it was {parent.manifest.inner.lr_e9 / 1e9:g}" if parent else why


def _aligned(line: str) -> str:
    value, mark, comment = line.rpartition(_MARK)
    return f"{value:<{_COLUMN}} # {comment}" if mark else line


def _quoted(text: str) -> str:
    # JSON's escapes are valid in TOML; the delete character is the only one that JSON leaves alone.
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")
