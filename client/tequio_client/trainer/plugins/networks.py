"""Networks of plug-ins: built from a configuration, and compared with what a run can train."""

from __future__ import annotations

import json
from collections.abc import Sequence
from types import MappingProxyType
from typing import Any

import torch
from torch import nn

from tequio_client.trainer import model, network_checks
from tequio_client.trainer.model import CausalModel, PlainNetwork
from tequio_client.trainer.model_config import PLUGIN_KIND, check_sizes
from tequio_client.trainer.plugins import loading
from tequio_client.trainer.plugins.loading import LoadedPlugin, PluginError
from tequio_shared.errors import UserFacingError

_MOST_TOKENS = 1 << 22
_MOST_CONTEXT = 1 << 20
_MOST_LAYERS = 1 << 16


def build(plugin: LoadedPlugin, config: bytes) -> CausalModel:
    """Build the network of a configuration; raises UserFacingError."""
    fields, sizes = _read_config(config)
    if plugin.model is None:
        raise PluginError(f"{plugin.label} has no model")
    with loading.running(plugin.label):
        network = plugin.model(MappingProxyType(fields))
    if not isinstance(network, nn.Module):
        raise PluginError(f"{plugin.label} made a {type(network).__name__} instead of a network")
    made = model.of_network(network, sizes)
    network_checks.check_network(network, made.parameters)
    wrong = next((n for n, one in made.parameters.items() if one.dtype != torch.float32), None)
    if wrong is not None or not made.parameters:
        raise PluginError(f"{plugin.label}: {wrong or 'the network'} has no float32 parameters")
    still = next((n for n, one in made.parameters.items() if not one.requires_grad), None)
    if still is not None:
        raise PluginError(f"{plugin.label}: {still} is not trained; a run trains all parameters")
    return made


def build_from_manifest(
    plugin: LoadedPlugin,
    config: bytes,
    tensors: Sequence[tuple[str, Sequence[int]]],
    aliases: Sequence[tuple[str, str]],
) -> CausalModel:
    """Build a network that has exactly these tensors; raises UserFacingError."""
    made = build(plugin, config)
    if made.tensors != tensors or made.aliases != aliases:
        raise PluginError(f"the tensors of {plugin.label} differ from the manifest's")
    return made


def _read_config(config: bytes) -> tuple[dict[str, Any], PlainNetwork]:  # JSON of any model
    try:
        fields = json.loads(config)
    except (ValueError, RecursionError) as err:
        raise UserFacingError(f"the model's configuration is not valid JSON: {err}") from err
    if not isinstance(fields, dict) or fields.get("model_type") != PLUGIN_KIND:
        raise UserFacingError(
            f'the configuration of a plug-in\'s model needs "model_type": "{PLUGIN_KIND}"'
        )
    check_sizes(fields, _MOST_LAYERS)
    vocabulary = _size(fields, "vocab_size", 1, _MOST_TOKENS)
    context = _size(fields, "max_position_embeddings", 0, _MOST_CONTEXT)
    return fields, PlainNetwork(vocabulary=vocabulary, context=context)


def _size(fields: dict[str, Any], name: str, least: int, most: int) -> int:  # as above
    found = fields.get(name, 0)
    if type(found) is not int or not least <= found <= most:
        raise UserFacingError(
            f"the configuration's {name} is {found!r}: expected a whole number from {least} to "
            f"{most:,}"
        )
    return found
