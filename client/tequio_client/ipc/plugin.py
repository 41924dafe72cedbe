"""Messages between a command and the child that runs a plug-in's code for it, in lines.

The command itself never imports the plug-in: like a volunteer's trainer, the child does, in the
sandbox. One child tries a plug-in, with a line each way (`trainer.plugin_trial`); another one
encodes texts with its tokenizer, with a line each way for each text (`trainer.plugin_tokenizer`).
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

TEXT_BYTES = 16 << 20
"""Longest text that a plug-in's tokenizer is given, in UTF-8."""
TEXT_LINE_BYTES = 8 * TEXT_BYTES
"""Longest line about a text: one byte may be a JSON escape of six, or an id of 32 bits."""


class OpenTokenizer(Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """Load a plug-in's tokenizer, and write its token table."""

    archive: FilePath
    table_out: FilePath


class TokenizerOpened(Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    problem: Text = ""
    """Why it cannot be used; empty: the table is written."""
    separator: Annotated[int, Meta(ge=0)] = 0
    vocab_size: Annotated[int, Meta(ge=0)] = 0


class EncodeText(Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    text: str


class EncodedText(Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    problem: Text = ""
    """Why it has no ids; empty: it has."""
    ids: bytes = b""
    """u32, little-endian."""


decode_open: Callable[[bytes], OpenTokenizer] = ipc.line_decoder(
    OpenTokenizer, TEXT_LINE_BYTES, "a request for a tokenizer"
)
decode_opened: Callable[[bytes], TokenizerOpened] = ipc.line_decoder(
    TokenizerOpened, TEXT_LINE_BYTES, "an opened tokenizer"
)
decode_text: Callable[[bytes], EncodeText] = ipc.line_decoder(
    EncodeText, TEXT_LINE_BYTES, "a text to encode"
)
decode_encoded: Callable[[bytes], EncodedText] = ipc.line_decoder(
    EncodedText, TEXT_LINE_BYTES, "the ids of a text"
)
