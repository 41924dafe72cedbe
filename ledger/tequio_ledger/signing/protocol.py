"""What the ledger and the process with the log's key say to each other: JSON, one line each way."""

from msgspec import Struct

LINE_BYTES = 16_384
"""Longest line; a proof has 63 hashes at most."""


class Hello(Struct, frozen=True, forbid_unknown_fields=True, tag="hello"):
    """The question who it is, and what it signed last."""


class Sign(Struct, frozen=True, forbid_unknown_fields=True, kw_only=True, tag="sign"):
    """Sign this; `old` is the size that the proof begins at, hashes are base64."""

    origin: str
    size: int
    root: str
    old: int
    proof: tuple[str, ...] = ()


Question = Hello | Sign


class Here(Struct, frozen=True, forbid_unknown_fields=True, kw_only=True, tag="here"):
    """The public key, base64, and the size that was signed last."""

    key: str
    size: int


class Signed(Struct, frozen=True, forbid_unknown_fields=True, kw_only=True, tag="signed"):
    """The signed note."""

    note: str


class Other(Struct, frozen=True, forbid_unknown_fields=True, kw_only=True, tag="other"):
    """Another size was signed last: prove from there."""

    size: int


class Refused(Struct, frozen=True, forbid_unknown_fields=True, kw_only=True, tag="refused"):
    """No, and why; `is_fork` when it would have been a second history."""

    reason: str
    is_fork: bool


Answer = Here | Signed | Other | Refused
