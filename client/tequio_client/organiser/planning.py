"""Plans that can work, written and looked at: `tequio run new` and `tequio run check`."""

from __future__ import annotations

import json
import math
import os
import re
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec
from msgspec import UNSET, UnsetType
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from tequio_client.organiser import estimate
from tequio_client.organiser import plan as plans
from tequio_client.organiser import starting_weights as sources
from tequio_client.organiser.estimate import TOKENS_PER_PARAMETER, speed, transfer_s, usual_tflops
from tequio_client.organiser.plan import ExpectPlan, LoraPlan
from tequio_client.organiser.starting_weights import Source
from tequio_shared.errors import UserFacingError

if TYPE_CHECKING:
    from tequio_client.organiser.estimate import Outline, Reckoning
    from tequio_client.organiser.plan import Plan
    from tequio_shared.round.manifest import Manifest

# --- A new plan as the TOML that an organiser reads, changes and opens.

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


# --- The values of a new plan: from the model's size and the peers that are expected.
#
# How they come about, so that whoever disagrees knows with what:
#
# - Inner steps 30 with sparse 2-bit updates, outer step 1.0: SparseLoCo (Sarfi et al. 2025), whose
#   k is left to the ledger, which sends less of each update the more peers train.
# - Learning rate 6e-4 at 125M parameters, falling with the cube root of the size, which is near wha
#   Brown et al. (2020) used from 125M to 6.7B; Muon is scaled to AdamW's steps, so both share it.
#   Weights that were trained already get a third. Adapters get AdamW at 2e-4, as QLoRA trained them
#   at 7B (Dettmers et al. 2023, table 9): a pair's update is the product's, so that making A's and
#   B's orthogonal each by itself, as Muon would, makes the product's of no known size.
# - A round trains for four times as long as its transfer takes on the slowest line expected, so tha
#   a fifth of the time goes to the line, and at least as long as is usual for the size.
# - Tokens of the whole run: 20 for each trained parameter (Hoffmann et al. 2022; for adapters no mo
#   than a habit), 2 for a model that was trained already.
# - Newcomers, whose speed nobody knows, get what a card of a quarter of the expected speed trains i
#   a round, and at least a window for each inner step.

STEPS = 30
RATE, RATE_SIZE = 6e-4, 125e6
MOST_RATE = 3e-3
GOING_ON = 1 / 3
ADAPTER_RATE = 2e-4
GOING_ON_TOKENS = 2
LINE_TIMES = 4
_WINDOW_TOKENS = 4_096
_USUAL_S = ((10e6, 60), (100e6, 300), (1e9, 600))
_LONG_S = 1_200
_DAY_S = 86_400
_LEAST_S = 60
_SLOW = 4
_MOST_PEERS = 256
_FACTOR = 4
_LEAST_ROUNDS, _MOST_ROUNDS = 10, 100_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Preset:
    """What a new plan says beside model and data."""

    inner: plans.InnerPlan
    windows: plans.WindowsPlan
    rounds: plans.RoundsPlan


def preset(outline: Outline, expect: plans.ExpectPlan, tokens: int | None) -> Preset:
    """Choose the values; `tokens` are those of the whole run, if somebody wants so many."""
    manifest, is_fresh = outline.manifest, outline.source.is_fresh
    size, sequence = manifest.model.parameters, manifest.model.sequence
    still = manifest.frozen.parameters if manifest.frozen else 0
    line_s = transfer_s(manifest, expect, expect.peers)
    train_s = _tens(min(max(_usual_s(size + still), LINE_TIMES * line_s), _DAY_S / 3))
    pace = speed(size, expect, still)
    samples = max(_WINDOW_TOKENS // sequence, 1)
    slow = int(pace / _SLOW * train_s / (samples * sequence))
    is_few = not is_fresh and not still
    wanted = tokens or size * (GOING_ON_TOKENS if is_few else TOKENS_PER_PARAMETER)
    rounds = math.ceil(wanted / max(expect.peers * pace * train_s, 1))
    rate = ADAPTER_RATE if still else _rate(size, is_fresh=is_fresh)
    return Preset(
        inner=plans.InnerPlan(
            optimiser="adamw" if still else "muon", steps=STEPS, lr=rate, adam_lr=rate
        ),
        windows=plans.WindowsPlan(samples=samples, first=min(max(slow, STEPS), 100_000)),
        rounds=plans.RoundsPlan(
            min_members=max(expect.peers // 2, 2),
            most_members=_most_members(manifest, expect, train_s),
            train_s=train_s,
            train_limit_s=3 * train_s,
            witness_s=_tens(min(max(3 * line_s, _LEAST_S), _DAY_S)),
            attest_s=_tens(min(max(2 * line_s, _LEAST_S), _DAY_S)),
            cooldown_s=_LEAST_S,
            most=min(max(rounds, _LEAST_ROUNDS), _MOST_ROUNDS),
        ),
    )


def filled(plan: Plan, chosen: Preset) -> Plan:
    """The plan with these values."""
    return msgspec.structs.replace(
        plan, inner=chosen.inner, windows=chosen.windows, rounds=chosen.rounds
    )


def _usual_s(size: int) -> int:
    return next((seconds for most, seconds in _USUAL_S if size < most), _LONG_S)


def _rate(size: int, *, is_fresh: bool) -> float:
    rate = min(RATE * (RATE_SIZE / size) ** (1 / 3), MOST_RATE) * (1 if is_fresh else GOING_ON)
    return float(f"{rate:.1e}")


def _most_members(manifest: Manifest, expect: plans.ExpectPlan, train_s: float) -> int:
    """Up to four times the peers, as long as their contributions get through while they train."""
    most = expect.peers
    while most < min(_FACTOR * expect.peers, _MOST_PEERS):
        if transfer_s(manifest, expect, most + 1) > train_s / 2:
            break
        most += 1
    return most


def _tens(seconds: float) -> float:
    return float(math.ceil(seconds / 10) * 10)


# --- The shape of a fresh Llama with about so many parameters.
#
# Rules, as published models of those sizes have them. Heads of 64, of 128 from a width of 2,048
# on and of 32 below one of 256. An inner width of 8/3 of the width. Four query heads share one
# key from a width of 2,048 on. Width over depth rises from 32 to 128 with the width. Embedding
# and output are one tensor where two would be more than a quarter of all weights. Among the
# shapes that this leaves, the nearest in size wins, and of near ones the one with the usual
# depth.

TOLERANCE = 0.15
"""How far a model may be from the size that was asked for."""
_WIDTHS = (*range(64, 1_024, 64), *range(1_024, 2_048, 128), *range(2_048, 16_385, 512))
_INNER_UNIT = 64
_DEEPEST = 128
_WIDE, _NARROW = 2_048, 256
_SHARING = 4
_TIED_SHARE = 0.25
_WEIGHT_OF_SIZE = 20.0
_MILLION = 1_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Shape:
    """What decides how many parameters a Llama has."""

    vocabulary: int
    width: int
    inner: int
    head: int
    heads: int
    keys: int
    layers: int
    is_tied: bool

    @property
    def parameters(self) -> int:
        """All of them, a tied table once."""
        narrow = self.keys * self.head
        layer = self.width * (2 * self.width + 2 * narrow + 3 * self.inner + 2)
        tables = 1 if self.is_tied else 2
        return tables * self.vocabulary * self.width + self.layers * layer + self.width

    def config(self, sequence: int) -> dict[str, object]:
        """The configuration, as Hugging Face has it."""
        return {
            "architectures": ["LlamaForCausalLM"],
            "model_type": "llama",
            "vocab_size": self.vocabulary,
            "hidden_size": self.width,
            "intermediate_size": self.inner,
            "num_hidden_layers": self.layers,
            "num_attention_heads": self.heads,
            "num_key_value_heads": self.keys,
            "head_dim": self.head,
            "tie_word_embeddings": self.is_tied,
            "max_position_embeddings": sequence,
            "initializer_range": 0.02,
            "rms_norm_eps": 1e-5,
            "rope_theta": 10_000.0,
        }


def nearest(parameters: int, vocabulary: int) -> Shape:
    """Choose a shape of about that size; raises UserFacingError where none comes near."""
    shapes = [_of_width(width, parameters, vocabulary) for width in _WIDTHS]
    best = min(shapes, key=lambda one: _distance(one, parameters))
    if abs(best.parameters - parameters) > TOLERANCE * parameters:
        raise UserFacingError(
            f"no model with a vocabulary of {vocabulary:,} comes near {parameters:,} parameters: "
            f"the nearest has {best.parameters / _MILLION:,.1f}M; ask for that many with "
            "--parameters, or build the data with another --tokenizer"
        )
    return best


def _of_width(width: int, parameters: int, vocabulary: int) -> Shape:
    """The one of that width whose depth fits best."""
    head = 32 if width < _NARROW else 64 if width < _WIDE else 128
    heads = width // head
    shape = Shape(
        vocabulary=vocabulary,
        width=width,
        inner=max(round(8 * width / 3 / _INNER_UNIT), 1) * _INNER_UNIT,
        head=head,
        heads=heads,
        keys=heads // _SHARING if width >= _WIDE else heads,
        layers=1,
        is_tied=2 * vocabulary * width > _TIED_SHARE * parameters,
    )
    layer = replace(shape, layers=2).parameters - shape.parameters
    layers = 1 + round((parameters - shape.parameters) / layer)
    return replace(shape, layers=min(max(layers, 1), _DEEPEST))


def _distance(shape: Shape, parameters: int) -> float:
    usual = min(max(shape.width / 20, 32.0), 128.0)
    depth = abs(math.log(shape.width / shape.layers / usual))
    return _WEIGHT_OF_SIZE * abs(math.log(shape.parameters / parameters)) + depth


_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._ -]{0,63}")
_CONFIG_ENDING = ".model.json"


@dataclass(frozen=True, slots=True, kw_only=True)
class Wish:
    """What the organiser says of a new run: a size, or a model to go on from."""

    name: str | None
    data: Path
    parameters: int
    """Of fresh weights; 0: none are wanted."""
    source: str
    revision: str
    tokens: int | None
    expect: plans.ExpectPlan
    lora_rank: int = 0
    """Of adapters beside the model, which is frozen then; 0: none are wanted."""


def new(path: Path, wish: Wish) -> None:
    """Write a plan, and for fresh weights the model's configuration beside it.

    Prints what it takes. Nothing is written where it cannot work; raises UserFacingError.
    """
    name = wish.name or path.stem
    if not _NAME.fullmatch(name):
        raise UserFacingError(
            f"{name!r} is no name of a run: letters, digits, spaces and ._- only; give --name"
        )
    config = path.with_name(path.stem + _CONFIG_ENDING)
    for file in (path, config):
        if file.exists():
            raise UserFacingError(f"{file} is there already: take another name, or remove it")
    source = _fresh(config, wish) if wish.parameters else _found(path, wish)
    data = plans.DataPlan(folder=_seen_from(path.parent, wish.data))
    draft = plans.Plan(name=name, model=source.plan, data=data, expect=wish.expect)
    bare = estimate.of_plan(draft, path, source)
    plan = filled(draft, preset(bare, wish.expect, wish.tokens))
    final = estimate.of_plan(plan, path, source)
    _show(final, estimate.reckon(final, wish.expect))
    text = write(plan, sequence=final.corpus.sequence, is_fresh=source.is_fresh)
    if source.is_fresh:
        _save(config, source.config)
    _save(path, text.encode())


def check(path: Path) -> None:
    """Print what the plan at `path` takes; raises UserFacingError where it cannot work."""
    found = estimate.read(path)
    expect = found.plan.expect
    known = plans.ExpectPlan() if isinstance(expect, UnsetType) else expect
    _show(found, estimate.reckon(found, known))


def _fresh(config: Path, wish: Wish) -> Source:
    corpus = estimate.data(wish.data)
    shape = nearest(wish.parameters, corpus.tokenizer.vocab_size)
    content = json.dumps(shape.config(corpus.sequence), indent=2).encode() + b"\n"
    plan = plans.ModelPlan(source=config.name)
    return Source(plan=plan, config=content, is_fresh=True, folder=None)


def _found(path: Path, wish: Wish) -> Source:
    """A folder as seen from the plan; of a repository the commit that it has now."""
    folder = Path(wish.source)
    lora = plans.LoraPlan(rank=wish.lora_rank) if wish.lora_rank else UNSET
    if folder.is_dir():
        plan = plans.ModelPlan(source=_seen_from(path.parent, folder), lora=lora)
    else:
        commit = sources.commit_of(wish.source, wish.revision)
        plan = plans.ModelPlan(source=wish.source, revision=commit, lora=lora)
    return sources.find(plan, path.parent)


def _seen_from(folder: Path, path: Path) -> str:
    """A path as a plan in that folder names it."""
    if path.is_absolute():
        return str(path)
    return Path(os.path.relpath(path, folder)).as_posix()


def _show(found: Outline, reckoned: Reckoning) -> None:
    """Print the table; raises UserFacingError where it cannot work."""
    table = Table("what", "it takes", "how so", title=escape(found.manifest.name))
    for row in reckoned.rows:
        table.add_row(row.what, row.value, row.note)
    Console().print(table)
    reckoned.check()


def _save(path: Path, content: bytes) -> None:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
    except OSError as err:
        raise UserFacingError(f"cannot write {path}: {err.strerror}") from err
