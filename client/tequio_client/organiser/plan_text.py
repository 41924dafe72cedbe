"""A new plan as the TOML that an organiser reads, changes and opens."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from tequio_client.organiser.plan import ExpectPlan, LoraPlan
from tequio_client.organiser.reckoning import usual_tflops

if TYPE_CHECKING:
    from tequio_client.organiser.plan import Plan

_COLUMN = 30
_MARK = " ## "
"""Stands before what is said of a line's value."""
_TEXT = """\
# A run of Tequio. Look at it with `tequio run check`, open it with `tequio run open`.
# Once it is open nothing of this can change: whoever holds the run's id holds these rules.

name = {name}

[model]
{source}

[data]
folder = {data} ## what `tequio data build` made

[algorithm] ## how contributions become the next head
name = "sparseloco" ## or diloco: all of the update in 8 bits, some 25 times the bytes
k = 0 ## entries of 4,096 that are sent; 0: fewer, the more peers train
bits = 2 ## of each entry, beside its place
outer_lr = 1.0 ## 1.0 takes the mean of the accepted updates as it is
weight_decay = 0.0 ## of the head, in each round

[inner] ## what each trainer does in a round, the same for all
optimiser = "{inner.optimiser}" ## {why_optimiser}
steps = {inner.steps} ## between two exchanges; more is fewer bytes, and coarser
lr = {inner.lr:g} ## {why_rate}
adam_lr = {inner.adam_lr:g} ## of what AdamW moves
feedback = 0.95 ## what an update leaves out is sent later; so much of it is kept
clip = 1.0 ## norm of a step's gradient

[windows] ## the unit of assigned work
samples = {windows.samples} ## of {sequence:,} tokens each, as the data was cut
first = {windows.first} ## for newcomers: a card four times slower ends them in train_s

[rounds] ## seconds: train_s is the aim, the others are the longest
min_members = {rounds.min_members} ## a round waits for so many
most_members = {rounds.most_members} ## each more costs everybody's line
train_s = {rounds.train_s:g} ## four times the transfer, and at least what is usual
train_limit_s = {rounds.train_limit_s:g} ## until the first speeds are known
witness_s = {rounds.witness_s:g} ## three times the transfer on the slowest line
attest_s = {rounds.attest_s:g} ## to fetch the rest, compute the head and agree on it
cooldown_s = {rounds.cooldown_s:g}
most = {rounds.most} ## rounds after which the run ends

# [admission] ## whom rosters take; everybody if left out
# trainer_tier = 0 ## 0 anybody, 1 vouched for, 2 invited (tequio run invite)
# witness_tier = 1
# owner_slots = 4 ## places that one owner may hold in a round
# owner_seats = 1 ## of them with the duty to witness

[expect] ## no part of the run, but what `run check` and `run open` hold it against
peers = {expect.peers}
upload_mbit = {expect.upload_mbit:g} ## of the slowest line that shall be able to train
vram_gib = {expect.vram_gib:g} ## of the smallest card; all but 2 GiB, at most 80 %, are lent
disk_gib = {expect.disk_gib:g} ## that a volunteer lends
tflops = {tflops:g} ## {why_tflops}
"""


def write(plan: Plan, *, sequence: int, is_fresh: bool) -> str:
    """The plan with comments; `plan.read` reads back what it says."""
    expect = plan.expect if isinstance(plan.expect, ExpectPlan) else ExpectPlan()
    text = _TEXT.format(
        name=_quoted(plan.name),
        source=_source(plan, is_fresh=is_fresh),
        data=_quoted(plan.data.folder),
        inner=plan.inner,
        windows=plan.windows,
        rounds=plan.rounds,
        expect=expect,
        sequence=sequence,
        why_rate=_why_rate(plan, is_fresh=is_fresh),
        why_optimiser="what adapters are trained with everywhere; or muon for their matrices"
        if plan.inner.optimiser == "adamw"
        else "for matrices, AdamW for the rest; or adamw for all",
        tflops=expect.tflops or usual_tflops(expect.vram_gib),
        why_tflops="what that card gives in 16 bits"
        if expect.tflops
        else "what cards of that memory usually give; a guess",
    )
    return "".join(f"{_aligned(line)}\n" for line in text.splitlines())


def _source(plan: Plan, *, is_fresh: bool) -> str:
    source = f"source = {_quoted(plan.model.source)}"
    if is_fresh:
        return f"{source}{_MARK}the network\nseed = 0{_MARK}of the weights it starts from"
    rules = plan.model.lora
    is_frozen = isinstance(rules, LoraPlan)
    said = source + _MARK
    said += "stays as it is" if is_frozen else "goes on from these weights, to the nearest 2^-24"
    if plan.model.revision:
        said += f"\nrevision = {_quoted(plan.model.revision)}{_MARK}so that all mean the same bits"
    return said + (_lora(rules) if isinstance(rules, LoraPlan) else "")


def _lora(rules: LoraPlan) -> str:
    targets = ", ".join(map(_quoted, rules.sorted_targets))
    return (
        f"\nlora.rank = {rules.rank}{_MARK}adapters are trained, of so many rows and columns"
        f"\nlora.alpha = {rules.alpha or 2 * rules.rank}{_MARK}what they add counts alpha / rank "
        f"times\nlora.targets = [{targets}]{_MARK}the matrices beside which they stand"
    )


def _why_rate(plan: Plan, *, is_fresh: bool) -> str:
    if isinstance(plan.model.lora, LoraPlan):
        return "what adapters of 7B models were trained with (QLoRA)"
    if is_fresh:
        return "6e-4 at 125M parameters, less by the cube root of the size"
    return "a third of what fresh weights get"


def _aligned(line: str) -> str:
    value, mark, comment = line.rpartition(_MARK)
    return f"{value:<{_COLUMN}} # {comment}" if mark else line


def _quoted(text: str) -> str:
    """A TOML string: JSON's escapes are among TOML's."""
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")
