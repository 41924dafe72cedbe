"""New plans that can work: `tequio run new` and `tequio run check`.

The values are chosen by these rules:

- The algorithm is that of `bench/learning.py` which came nearest to training in one place
  (docs/results.md): SparseLoCo (Sarfi et al. 2025) with 20 inner steps, 512 entries of two bits in
  each chunk, and twice the mean as the outer step. For more than six peers k is left to the ledger,
  which sends less of each update the more peers train. For weights that were trained already the
  outer step is the mean, for nobody has measured another.
- Muon's learning rate is the one that was best there at ten million parameters, and falls with the
  cube root of the size, as those of Brown et al. (2020) do from 125M to 6.7B; AdamW has a third of
  it. Weights that were trained already get a third of both.
- Learning rates rise over the first 3 % of the rounds and fall over the last 40 %, as there; the
  form is that of Hägele et al. (2024).
- Tokens of the whole run: 20 for each trained parameter (Hoffmann et al. 2022; for adapters no more
  than a habit), 2 for a model that was trained already.
"""

from __future__ import annotations

import json
import math
import os
import re
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

import msgspec
from msgspec import UNSET, UnsetType

from tequio_client import files
from tequio_client.organiser import estimate, estimate_view, model_source
from tequio_client.organiser import plan as plans
from tequio_client.organiser.estimate import (
    TOKENS_PER_PARAMETER,
    peer_speed,
    transfer_s,
)
from tequio_client.organiser.model_source import ModelSourceSpec
from tequio_client.organiser.outline import RunOutline, outline_plan, read_corpus, read_outline
from tequio_client.organiser.plan import ExpectPlan, LoraPlan, ModelPlan, ParentPlan, RunPlan
from tequio_client.organiser.plan_text import render_plan
from tequio_shared.errors import UserFacingError
from tequio_shared.round.manifest import Admission, Manifest
from tequio_shared.wording import plural

STEPS = 20
K: Final = 512
MOST_PEERS_OF_K = 6
"""Most peers for whom k is not left to the ledger."""
OUTER_RATE, CONTINUED_OUTER_RATE = 2.0, 1.0
MAX_RATE, MAX_RATE_PARAMETERS = 3e-3, 10e6
ADAM_SHARE = 1 / 3
WARMUP, ANNEAL = 0.03, 0.4
CONTINUED_RATE_FACTOR = 1 / 3
ADAPTER_RATE = 2e-4
CONTINUED_TOKENS_PER_PARAMETER = 2
CHAT_EPOCHS = 3
TRAIN_TO_TRANSFER = 4
_WINDOW_TOKENS = 4_096
_USUAL_S = ((10e6, 60), (100e6, 300), (1e9, 600))
_LONG_S = 1_200
_DAY_S = 86_400
_LEAST_S = 60
_LAST_ATTEMPTS = 3
"""Attest phases that members may miss before the head of a run's last round is given up."""
_MOST_PEERS = 256
_FACTOR = 4
LEAST_ROUNDS = 10
SIZE_TOLERANCE = 0.15
"""Largest relative deviation of a model from the size that was asked for."""
_WIDTHS = (*range(64, 1_024, 64), *range(1_024, 2_048, 128), *range(2_048, 16_385, 512))
_INNER_UNIT = 64
_DEEPEST = 128
_WIDE, _NARROW = 2_048, 256
_SHARING = 4
_TIED_SHARE = 0.25
_WEIGHT_OF_SIZE = 20.0
_THOUSAND, _MILLION = 1_000, 1_000_000
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._ -]{0,63}")
_CONFIG_ENDING = ".model.json"


def choose_defaults(
    outline: RunOutline, expect: ExpectPlan, *, tokens: int | None = None, days: float = 0
) -> RunPlan:
    """Fill in the outlined plan for a run of that many tokens, or else of that many days.

    With neither, the run has the usual number of tokens. Raises UserFacingError for too few of
    either.
    """
    bare, is_fresh = outline.manifest, outline.source.is_fresh
    size, sequence = bare.model.parameters, bare.model.sequence
    still = bare.frozen.parameters if bare.frozen else 0
    is_measured = is_fresh and not still
    algorithm = plans.AlgorithmPlan(
        k=K if is_measured and expect.peers <= MOST_PEERS_OF_K else 0,
        outer_lr=OUTER_RATE if is_measured else CONTINUED_OUTER_RATE,
    )
    # Adapters get AdamW at 2e-4, as in QLoRA at 7B (Dettmers et al. 2023, table 9). The update of a
    # pair is that of the product B A: if Muon made those of A and B orthogonal, each by itself, the
    # size of the product's would be unknown.
    rate = ADAPTER_RATE if still else _rate(size, is_fresh=is_fresh)
    inner = plans.InnerPlan(
        optimiser="adamw" if still else "muon",
        steps=STEPS,
        lr=rate,
        adam_lr=rate if still else _rounded(rate * ADAM_SHARE),
        warmup=WARMUP,
        anneal=ANNEAL,
    )
    # The size of a contribution follows from the algorithm, and the times from that size.
    manifest = msgspec.structs.replace(bare, algorithm=plans.manifest_algorithm(algorithm, inner))
    line_s = transfer_s(manifest, expect, expect.peers)
    # Training takes four times as long as the transfer, so a fifth of the time is transfer.
    train_s = _tens(min(max(_usual_s(size + still), TRAIN_TO_TRANSFER * line_s), _DAY_S / 3))
    witness_s = _tens(min(max(3 * line_s, _LEAST_S), _DAY_S))
    pace = peer_speed(outline, expect)
    samples = max(_WINDOW_TOKENS // sequence, 1)
    # Nobody knows a newcomer's speed. A slower one hands in what it has when the time is over.
    usual = int(pace * train_s / (samples * sequence))
    round_tokens = max(expect.peers * pace * train_s, 1)
    if days:
        rounds = _rounds_in(days, train_s + line_s)
    elif tokens:
        rounds = _rounds_of(tokens, round_tokens)
    else:
        rounds = max(math.ceil(_usual_tokens(outline) / round_tokens), LEAST_ROUNDS)
    return msgspec.structs.replace(
        outline.plan,
        model=_with_targets(outline),
        algorithm=algorithm,
        inner=inner,
        windows=plans.WindowsPlan(samples=samples, first=min(max(usual, STEPS), 100_000)),
        rounds=plans.RoundsPlan(
            min_members=max(expect.peers // 2, 2),
            most_members=_most_members(manifest, expect, min(train_s / 2, witness_s)),
            train_s=train_s,
            train_limit_s=3 * train_s,
            witness_s=witness_s,
            attest_s=_tens(min(max(2 * line_s, _LEAST_S), _DAY_S)),
            cooldown_s=_tens(min(max(2 * line_s, _LEAST_S) * _LAST_ATTEMPTS, _DAY_S)),
            most=rounds,
        ),
    )


def _rounds_in(days: float, round_s: float) -> int:
    rounds = int(days * _DAY_S / round_s)
    if rounds < LEAST_ROUNDS:
        least = math.ceil(1000 * LEAST_ROUNDS * round_s / _DAY_S) / 1000
        raise _too_short(f"{days:g} days", rounds, f"{least:g} days")
    return rounds


def _rounds_of(tokens: int, round_tokens: float) -> int:
    rounds = math.ceil(tokens / round_tokens)
    if rounds < LEAST_ROUNDS:
        least = math.ceil(LEAST_ROUNDS * round_tokens / _THOUSAND) * _THOUSAND / _MILLION
        raise _too_short(f"{tokens:,} tokens", rounds, f"{least:g}M")
    return rounds


def _too_short(length: str, rounds: int, least: str) -> UserFacingError:
    return UserFacingError(
        f"{length} are {plural(rounds, 'round')}, and a run has at least {LEAST_ROUNDS}: give "
        f"{least} or more"
    )


def _usual_tokens(outline: RunOutline) -> int:
    corpus, manifest = outline.corpus, outline.manifest
    if corpus.has_masks:
        return CHAT_EPOCHS * corpus.samples * corpus.sequence
    is_few = not outline.source.is_fresh and not manifest.frozen
    per_parameter = CONTINUED_TOKENS_PER_PARAMETER if is_few else TOKENS_PER_PARAMETER
    return manifest.model.parameters * per_parameter


def _with_targets(outline: RunOutline) -> ModelPlan:
    """The plan's model, with the targets that its network has."""
    base, source = outline.manifest.frozen, outline.plan.model
    if base is None or isinstance(source.lora, UnsetType):
        return source
    lora = msgspec.structs.replace(source.lora, targets=base.targets)
    return msgspec.structs.replace(source, lora=lora)


def _usual_s(size: int) -> int:
    return next((seconds for most, seconds in _USUAL_S if size < most), _LONG_S)


def _rate(size: int, *, is_fresh: bool) -> float:
    rate = MAX_RATE * min(MAX_RATE_PARAMETERS / size, 1) ** (1 / 3)
    return _rounded(rate * (1 if is_fresh else CONTINUED_RATE_FACTOR))


def _rounded(rate: float) -> float:
    return float(f"{rate:.1e}")


def _most_members(manifest: Manifest, expect: ExpectPlan, most_s: float) -> int:
    # Up to four times the peers expected, if the transfer takes no longer than `most_s`.
    most = expect.peers
    while most < min(_FACTOR * expect.peers, _MOST_PEERS):
        if transfer_s(manifest, expect, most + 1) > most_s:
            break
        most += 1
    return most


def _tens(seconds: float) -> float:
    return float(math.ceil(seconds / 10) * 10)


@dataclass(frozen=True, slots=True, kw_only=True)
class LlamaShape:
    """Dimensions of a Llama model, in the proportions of published models of its size.

    Heads of 64, of 128 from a width of 2,048 on, of 32 below a width of 256. Inner width 8/3 of the
    width. From a width of 2,048 on, four query heads share one key. Width over depth rises from 32
    to 128 with the width. Embedding and output are one tensor where two would be more than a
    quarter of all weights.
    """

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
        """Number of parameters; a tied table counts once."""
        narrow = self.keys * self.head
        layer = self.width * (2 * self.width + 2 * narrow + 3 * self.inner + 2)
        tables = 1 if self.is_tied else 2
        return tables * self.vocabulary * self.width + self.layers * layer + self.width

    def config(self, sequence: int) -> dict[str, object]:
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


def nearest_shape(parameters: int, vocabulary: int) -> LlamaShape:
    """Choose a shape of about that size; raises UserFacingError if there is none.

    The nearest in size wins; among near ones, the one with the usual depth.
    """
    shapes = [_of_width(width, parameters, vocabulary) for width in _WIDTHS]
    best = min(shapes, key=lambda one: _distance(one, parameters))
    if abs(best.parameters - parameters) > SIZE_TOLERANCE * parameters:
        raise UserFacingError(
            f"no model with a vocabulary of {vocabulary:,} has about {parameters:,} parameters: "
            f"the nearest has {best.parameters / _MILLION:,.1f}M; give that with --parameters, or "
            "build the data with another --tokenizer"
        )
    return best


def _of_width(width: int, parameters: int, vocabulary: int) -> LlamaShape:
    head = 32 if width < _NARROW else 64 if width < _WIDE else 128
    heads = width // head
    shape = LlamaShape(
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


def _distance(shape: LlamaShape, parameters: int) -> float:
    usual = min(max(shape.width / 20, 32.0), 128.0)
    depth = abs(math.log(shape.width / shape.layers / usual))
    return _WEIGHT_OF_SIZE * abs(math.log(shape.parameters / parameters)) + depth


@dataclass(frozen=True, slots=True, kw_only=True)
class NewPlanOptions:
    """Choices of the organiser for a new run: a size, or a model to continue training."""

    name: str | None
    data: Path
    parameters: int
    """Size of a new model; 0 if `source` is given."""
    source: str
    revision: str
    tokens: int | None
    expect: ExpectPlan
    days: float = 0
    """Length of the run in place of its tokens; 0 if these count."""
    admission: Admission | UnsetType = UNSET
    parent: ParentPlan | None = None
    """Head of another run to start from, in place of a size or a `source`."""
    lora: LoraPlan | None = None
    """Adapters; the model is frozen then. None: the model itself is trained."""
    plugin: Path | None = None
    """The run's own code: a folder or an archive."""


def write_new_plan(path: Path, options: NewPlanOptions) -> None:
    """Write a plan, and next to it the configuration of a new model.

    Prints the estimate. Nothing is written if the run cannot work; raises UserFacingError.
    """
    outline = outline_new_plan(path, options)
    estimate_view.print_estimate(outline, estimate.estimate_run(outline, options.expect))
    save_plan(path, outline)


def outline_new_plan(path: Path, options: NewPlanOptions) -> RunOutline:
    """Choose all values of a plan to be written to `path`; raises UserFacingError."""
    bare = outline_choices(path, options)
    plan = choose_defaults(bare, options.expect, tokens=options.tokens, days=options.days)
    return outline_plan(plan, path, bare.source)


def outline_choices(path: Path, options: NewPlanOptions) -> RunOutline:
    """Outline what the organiser chose, before anything else is chosen; raises UserFacingError."""
    check_free(path)
    source = (
        _fresh(_config_beside(path), options) if options.parameters else find_model(path, options)
    )
    draft = plans.RunPlan(
        name=run_name(path, options.name),
        model=source.plan,
        data=plans.DataPlan(folder=_path_from(path.parent, options.data)),
        plugin=plans.PluginPlan(
            source=_path_from(path.parent, options.plugin) if options.plugin else ""
        ),
        admission=options.admission,
        expect=options.expect,
    )
    return outline_plan(draft, path, source)


def run_name(path: Path, name: str | None) -> str:
    """Name of a run whose plan is at `path`; raises UserFacingError."""
    found = name or path.stem
    if not _NAME.fullmatch(found):
        raise UserFacingError(
            f"invalid run name {found!r}: use letters, digits, spaces and ._- only; give --name"
        )
    return found


def check_free(path: Path) -> None:
    """Raise UserFacingError if a plan at `path` would replace a file."""
    for file in (path, _config_beside(path)):
        if file.exists():
            raise UserFacingError(f"{file} exists already: choose another name, or remove it")


def save_plan(path: Path, outline: RunOutline) -> None:
    """Write the plan, and the configuration of a new model; raises UserFacingError."""
    text = render_plan(outline)
    # The configuration of a plug-in's model is the organiser's own file.
    is_fresh = outline.source.plan.source == _config_beside(path).name
    try:
        if is_fresh:
            _save(_config_beside(path), outline.source.config)
        _save(path, text.encode())
    except BaseException:  # Ctrl-C too leaves nothing
        files.delete(path)
        if is_fresh:
            files.delete(_config_beside(path))
        raise


def check_plan(path: Path) -> None:
    """Print the estimate of a plan; raises UserFacingError if the run cannot work."""
    found = read_outline(path)
    expect = found.plan.expect
    known = ExpectPlan() if isinstance(expect, UnsetType) else expect
    estimate_view.print_estimate(found, estimate.estimate_run(found, known))


def _config_beside(path: Path) -> Path:
    return path.with_name(path.stem + _CONFIG_ENDING)


def _fresh(config: Path, options: NewPlanOptions) -> ModelSourceSpec:
    corpus = read_corpus(options.data)
    shape = nearest_shape(options.parameters, corpus.tokenizer.vocab_size)
    content = json.dumps(shape.config(corpus.sequence), indent=2).encode() + b"\n"
    plan = plans.ModelPlan(source=config.name)
    return ModelSourceSpec(plan=plan, config=content, is_fresh=True, folder=None)


def find_model(path: Path, options: NewPlanOptions) -> ModelSourceSpec:
    """Find the model that the run continues; raises UserFacingError."""
    if options.parent is not None:
        return model_source.find_source(plans.ModelPlan(parent=options.parent), path.parent)
    # A repository is pinned to its present commit: everyone must mean the same bits.
    folder = Path(options.source)
    lora = options.lora or UNSET
    if folder.is_dir() or (options.plugin and folder.is_file()):
        plan = plans.ModelPlan(source=_path_from(path.parent, folder), lora=lora)
    else:
        commit = model_source.resolve_commit(options.source, options.revision)
        plan = plans.ModelPlan(source=options.source, revision=commit, lora=lora)
    return model_source.find_source(plan, path.parent)


def _path_from(folder: Path, path: Path) -> str:
    if path.is_absolute():
        return str(path)
    try:
        return Path(os.path.relpath(path, folder)).as_posix()
    except ValueError:  # on another drive of Windows
        return str(path.resolve())


def _save(path: Path, content: bytes) -> None:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
    except OSError as err:
        raise UserFacingError(f"cannot write {path}: {err.strerror}") from err
