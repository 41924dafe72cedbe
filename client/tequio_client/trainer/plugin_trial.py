"""Tries a plug-in as its run will use it, for `tequio run check` and `tequio run open`.

A child of the organiser's command, in the sandbox: it reads one question from its input, writes one
answer to its output, and ends. What is tried: predictions follow from earlier tokens of the same
sample alone; the same samples, weights and seed give the same weights after a few steps; a loader
returns what it has to; the tokens of a text are its bytes. Whether a card agrees with a processor,
and memory from round to round, is for audits to see.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from pathlib import Path

import torch
from torch import Tensor
from torch.nn import functional

from tequio_client import ipc
from tequio_client.ipc import plugin as link
from tequio_client.ipc.plugin import PluginTrial, PluginTrialResult
from tequio_client.plugins import archive
from tequio_client.trainer import model, network_checks, plugin_tokenizer, prepared
from tequio_client.trainer.inner import Optimiser, PluginOptimiser
from tequio_client.trainer.model import CausalModel
from tequio_client.trainer.plugins import loading, networks
from tequio_client.trainer.plugins.loading import LoadedPlugin, PluginError
from tequio_shared.errors import TequioError
from tequio_shared.round.manifest import InnerParams
from tequio_shared.round.plugin import SEAMS

_PROBE = 16  # tokens
_STEPS = 3
_APART = 1e-4
_STAND_IN = (
    b'{"model_type": "llama", "vocab_size": 64, "hidden_size": 16, "intermediate_size": 32, '
    b'"num_hidden_layers": 2, "num_attention_heads": 2, "num_key_value_heads": 2, '
    b'"max_position_embeddings": 32, "tie_word_embeddings": false}'
)
"""Network on which an optimiser is tried if the plug-in has none of its own."""


def main() -> None:
    """Answer one trial on the standard output, which nobody else writes to."""
    output = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # what a plug-in prints goes to the log
    asked = link.decode_trial(sys.stdin.buffer.readline(link.LINE_BYTES + 1))
    output.write(ipc.encode(answer(asked)))
    output.flush()


def answer(asked: PluginTrial) -> PluginTrialResult:
    torch.set_num_threads(1)
    try:
        content = Path(asked.archive).read_bytes()
        loaded = loading.load(content, archive.parse(content).spec, SEAMS)
        with loading.running(loaded.label):
            return _tried(loaded, asked)
    except (TequioError, OSError, MemoryError) as err:
        return PluginTrialResult(problem=str(err)[:4_000])


def _tried(loaded: LoadedPlugin, asked: PluginTrial) -> PluginTrialResult:
    if loaded.tokenizer is not None:
        plugin_tokenizer.try_tokenizer(loaded)
    torch.manual_seed(asked.seed)
    if not loaded.spec.trains:
        return PluginTrialResult()
    if loaded.model is None:
        made = model.build_random(_STAND_IN, asked.seed)
        _try_steps(loaded, made)
        _try_loader(loaded, asked)
        return PluginTrialResult()
    made = networks.build(loaded, asked.config.encode())
    layout = made.layout("tile64" if asked.layout == "tile64" else "flat")
    master = model.master_copy(made, layout)
    _try_network(loaded, made)
    _try_steps(loaded, made)
    _try_loader(loaded, asked)
    if asked.weights_out is not None:
        prepared.write(Path(asked.weights_out), master.astype("<i4", copy=False).data)
    return PluginTrialResult(
        tensors=made.tensors,
        aliases=made.aliases,
        vocabulary=model.vocabulary_size(made),
        context=model.context_length(made),
    )


def _try_network(loaded: LoadedPlugin, made: CausalModel) -> None:
    vocabulary, context = model.vocabulary_size(made), model.context_length(made)
    made.network.eval()
    network_checks.check_causal(made.logits, vocabulary, context)
    ids = _ids(vocabulary, min(context or _PROBE, _PROBE))
    with torch.no_grad():
        together = made.logits(ids)
        alone = torch.cat([made.logits(row[None]) for row in ids])
    if (together - alone).abs().amax() > _APART * together.abs().amax():
        raise PluginError(
            f"{loaded.label}: predictions for a sample depend on the others of its batch, which "
            "differ from card to card; normalise within a sample"
        )


def _try_steps(loaded: LoadedPlugin, made: CausalModel) -> None:
    begun = {name: one.detach().clone() for name, one in made.parameters.items()}
    first, second = (_stepped(loaded, made, begun) for _ in range(2))
    for name, weights in first.items():
        if not torch.isfinite(weights).all():
            raise PluginError(f"{loaded.label}: {name} is infinite or NaN after {_STEPS} steps")
        if not torch.equal(weights, second[name]):
            raise PluginError(
                f"{loaded.label}: the same {_STEPS} steps gave other values of {name} the second "
                "time, so no audit could repeat them; it must keep no state from round to round, "
                "and take chance from torch alone"
            )
    if all(torch.equal(weights, begun[name]) for name, weights in first.items()):
        raise PluginError(f"{loaded.label}: {_STEPS} steps change no weight")


def _stepped(
    loaded: LoadedPlugin, made: CausalModel, begun: Mapping[str, Tensor]
) -> dict[str, Tensor]:
    """Weights after a few steps from those, as in a round; what it changed stays changed."""
    torch.manual_seed(1)
    with torch.no_grad():
        for name, one in made.parameters.items():
            one.copy_(begun[name])
    rules = InnerParams()
    optimiser = (
        PluginOptimiser(made, rules, loaded.optimiser)
        if loaded.optimiser
        else Optimiser(made, rules)
    )
    made.network.train()
    vocabulary = model.vocabulary_size(made)
    ids = _ids(vocabulary, min(model.context_length(made) or _PROBE, _PROBE))
    for _ in range(_STEPS):
        for one in made.parameters.values():
            one.grad = None
        logits = made.logits(ids)
        loss = functional.cross_entropy(logits[:, :-1].flatten(0, 1).float(), ids[:, 1:].flatten())
        loss.backward()  # type: ignore[no-untyped-call]  # torch leaves it untyped
        optimiser.step()
    return {name: one.detach().clone() for name, one in made.parameters.items()}


def _try_loader(loaded: LoadedPlugin, asked: PluginTrial) -> None:
    if loaded.loader is None:
        return
    rows = _ids(asked.vocab_size, asked.sequence + 1)
    found = [
        prepared.checked_samples(loaded.loader(rows.clone(), (7, 8)), rows, asked.vocab_size)
        for _ in range(2)
    ]
    if not torch.equal(*found):
        raise PluginError(
            f"{loaded.label}: its loader returned other samples the second time, so no audit "
            "could repeat a training"
        )


def _ids(vocabulary: int, length: int) -> Tensor:
    generator = torch.Generator().manual_seed(0)
    return torch.randint(vocabulary, (2, length), generator=generator)
