"""Messages between an organiser's command and the child that tries a plug-in: a line each way.

The command itself never imports the plug-in: like a volunteer's trainer, the child does, in the
sandbox (`trainer.plugin_trial`).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated

from msgspec import Meta, Struct

from tequio_client import ipc

LINE_BYTES = 16 << 20
"""Longest line: a network of 65,536 tensors is 8 MiB of names and shapes."""
FilePath = Annotated[str, Meta(min_length=1, max_length=4_096)]
Text = Annotated[str, Meta(max_length=65_536)]


class PluginTrial(Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """Load a plug-in, try each of its seams, and outline its model."""

    archive: FilePath
    config: Text
    """The configuration of the run's model, which the plug-in builds if it has that seam."""
    layout: Annotated[str, Meta(pattern="^(flat|tile64)$")] = "flat"
    seed: Annotated[int, Meta(ge=0, le=1 << 53)] = 0
    sequence: Annotated[int, Meta(ge=2, le=1 << 20)] = 2
    vocab_size: Annotated[int, Meta(ge=1, le=1 << 32)] = 256
    """Of the data."""
    weights_out: FilePath | None = None
    """File for the master copy of the seeded weights; None: none is written."""


class PluginTrialResult(Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """`tensors` and `aliases` as a manifest lists them; none without the seam `model`."""

    problem: Text = ""
    """Why the plug-in cannot be used; empty: it can."""
    tensors: tuple[tuple[str, tuple[int, ...]], ...] = ()
    aliases: tuple[tuple[str, str], ...] = ()
    vocabulary: int = 0
    context: int = 0


decode_trial: Callable[[bytes], PluginTrial] = ipc.line_decoder(
    PluginTrial, LINE_BYTES, "a plug-in's trial"
)
decode_result: Callable[[bytes], PluginTrialResult] = ipc.line_decoder(
    PluginTrialResult, LINE_BYTES, "the result of a plug-in's trial"
)
