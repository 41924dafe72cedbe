"""Encodes texts with a plug-in's tokenizer: a confined child of `tequio data build` and others.

It loads that seam alone, writes the table of what each id stands for, and then answers each line
that has a text with one that has ids. The parent checks the ids against the table (`dataset.
own_tokenizer`), so a child that lies can choose ids, but not what they say.

`try_tokenizer` is the trial of `tequio run check`: texts made here have to come back byte for byte.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from random import Random

import numpy as np

from tequio_client import files, ipc
from tequio_client.ipc import plugin as link
from tequio_client.ipc.plugin import EncodedText, OpenTokenizer, TokenizerOpened
from tequio_client.plugins import archive
from tequio_client.trainer.plugins import loading
from tequio_client.trainer.plugins.api import TokenSplitter
from tequio_client.trainer.plugins.loading import LoadedPlugin, PluginError
from tequio_shared.errors import MalformedError, TequioError
from tequio_shared.round.plugin import Seam
from tequio_shared.round.token_table import TokenTable

_WHY_CHARS = 4_000
_SHOWN_CHARS = 40
_SCRIPTS = ((0x20, 0x250), (0x370, 0x530), (0x900, 0x980), (0x4E00, 0x4F00), (0x1F300, 0x1F650))
"""Ranges of code points of some scripts, and emoji."""
_RANDOM_TEXTS, _RANDOM_CHARS = 20, 200


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenedTokenizer:
    """A plug-in's tokenizer, and its table, which was checked."""

    label: str
    splitter: TokenSplitter
    table: TokenTable
    separator: int

    @classmethod
    def open(cls, loaded: LoadedPlugin) -> OpenedTokenizer:
        """Make the tokenizer; raises PluginError."""
        if loaded.tokenizer is None:
            raise PluginError(f"{loaded.label} has no tokenizer")
        with loading.running(loaded.label):
            made = loaded.tokenizer()
            tokens, separator = list(made.tokens), int(made.separator)
        try:
            table = TokenTable.of(tokens, separator)
        except MalformedError as err:
            raise PluginError(f"{loaded.label}: {err}") from err
        return cls(label=loaded.label, splitter=made, table=table, separator=separator)

    def encode(self, text: str) -> list[int]:
        """Ids of a text that say exactly it; raises PluginError."""
        with loading.running(self.label):
            ids = [int(one) for one in self.splitter.encode(text)]
        if ids and not 0 <= min(ids) <= max(ids) < len(self.table.tokens):
            raise PluginError(f"{self.label}: its tokenizer gave an id that has no token")
        if self.separator in ids or self.table.text(ids) != text.encode():
            raise PluginError(
                f"{self.label}: the tokens of {text[:_SHOWN_CHARS]!r} are not its UTF-8 bytes, or "
                "have the separator among them"
            )
        return ids


def try_tokenizer(loaded: LoadedPlugin) -> None:
    """Encode texts of many scripts, twice and in two orders; raises PluginError."""
    opened = OpenedTokenizer.open(loaded)
    texts = list(_texts())
    first = [opened.encode(text) for text in texts]
    again = [opened.encode(text) for text in reversed(texts)]
    if first != again[::-1]:
        raise PluginError(
            f"{loaded.label}: its tokenizer encoded a text otherwise the second time; it must keep "
            "nothing from one text to the next"
        )
    if OpenedTokenizer.open(loaded).table != opened.table:
        raise PluginError(f"{loaded.label}: its tokenizer had other tokens the second time")


def _texts() -> Iterator[str]:
    """Texts that tokenizers tend to lose: controls, blanks, marks, and every first byte."""
    yield from ("", " ", "\0", "\r\n\t \n\n  x", "a" * 2_000, "e\u0301\u200d\ufeff\ufffd\u2028")
    yield "The milpa's maize, 3.14 % of 1,000: def f(x): return x\n"
    yield "".join(map(chr, range(0x180)))
    yield "\U0001f468\u200d\U0001f469\u200d\U0001f467 \U0010ffff \ue000"
    chance = Random(0)  # noqa: S311 - the same texts every time
    for _ in range(_RANDOM_TEXTS):
        yield "".join(chr(chance.randrange(*chance.choice(_SCRIPTS))) for _ in range(_RANDOM_CHARS))


def main() -> None:
    """Answer lines until the input ends."""
    output = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # what a plug-in prints goes to the log
    lines = sys.stdin.buffer
    asked = link.decode_open(lines.readline(link.TEXT_LINE_BYTES + 1))
    try:
        opened = _opened(asked)
        count = len(opened.table.tokens)
        answer = TokenizerOpened(separator=opened.separator, vocab_size=count)
    except (TequioError, OSError, MemoryError) as err:
        output.write(ipc.encode(TokenizerOpened(problem=str(err)[:_WHY_CHARS])))
        output.flush()
        return
    output.write(ipc.encode(answer))
    output.flush()
    while line := lines.readline(link.TEXT_LINE_BYTES + 1):
        output.write(ipc.encode(_encoded(opened, link.decode_text(line).text)))
        output.flush()


def _opened(asked: OpenTokenizer) -> OpenedTokenizer:
    content = Path(asked.archive).read_bytes()
    own: tuple[Seam, ...] = ("tokenizer",)
    opened = OpenedTokenizer.open(loading.load(content, archive.parse(content).spec, own))
    files.write_for_user(Path(asked.table_out), opened.table.encode())
    return opened


def _encoded(opened: OpenedTokenizer, text: str) -> EncodedText:
    try:
        return EncodedText(ids=np.array(opened.encode(text), "<u4").tobytes())
    except (TequioError, MemoryError) as err:
        return EncodedText(problem=str(err)[:_WHY_CHARS] or "out of memory")
