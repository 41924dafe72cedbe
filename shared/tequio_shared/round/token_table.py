"""Token table: the bytes that each id of a plug-in's tokenizer stands for.

Code of a plug-in chooses the ids of a text; their text is a matter of this table alone, a file of
the run. So ids become text, and the bytes of held-out text are counted, without running the code:
nobody has to take the organiser's word for the size that bits per byte are relative to.

A table is, for each id in order, the number of its bytes (u8) and these bytes. A token of no bytes
marks structure: the separator is one, and no text gives it.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from tequio_shared.errors import MalformedError
from tequio_shared.limits import BLOB_BYTES

TOKEN_BYTES = 255
"""Longest token."""


@dataclass(frozen=True, kw_only=True)
class TokenTable:
    """The bytes of each id."""

    tokens: tuple[bytes, ...]

    @classmethod
    def of(cls, tokens: Sequence[object], separator: int) -> TokenTable:
        """Check the tokens that code of a plug-in has; raises MalformedError."""
        found: list[bytes] = []
        for number, one in enumerate(tokens):
            if not isinstance(one, bytes) or len(one) > TOKEN_BYTES:
                raise MalformedError(
                    f"token {number} is {one!r:.40}: expected at most {TOKEN_BYTES} bytes"
                )
            found.append(one)
        table = cls(tokens=tuple(found))
        if sum(map(len, table.tokens)) + len(table.tokens) > BLOB_BYTES:
            raise MalformedError(f"the token table has more than {BLOB_BYTES:,} bytes")
        table.check_separator(separator)
        return table

    @classmethod
    def parse(cls, raw: bytes, vocab_size: int) -> TokenTable:
        """Read the table of a run with that many ids; raises MalformedError."""
        found: list[bytes] = []
        at = 0
        while at < len(raw) and len(found) <= vocab_size:
            end = at + 1 + raw[at]
            found.append(raw[at + 1 : end])
            at = end
        if len(found) != vocab_size or at != len(raw):
            raise MalformedError(f"the token table does not have exactly {vocab_size} tokens")
        return cls(tokens=tuple(found))

    def check_separator(self, separator: int) -> None:
        """Raise MalformedError unless that id is there, and stands for no bytes."""
        if not 0 <= separator < len(self.tokens) or self.tokens[separator]:
            raise MalformedError(
                f"the separator {separator} must be an id below {len(self.tokens)} whose token is "
                "empty, so that no text gives it"
            )

    def encode(self) -> bytes:
        return b"".join(bytes((len(one),)) + one for one in self.tokens)

    def text(self, ids: Iterable[int]) -> bytes:
        """Text of ids; raises IndexError for an unknown one."""
        return b"".join([self.tokens[one] for one in ids])

    def count_bytes(self, ids: NDArray[np.integer]) -> int:
        """Size of the text of ids."""
        return int(self._sizes[ids].sum())

    @cached_property
    def _sizes(self) -> NDArray[np.int64]:
        return np.array([len(one) for one in self.tokens], np.int64)
