"""Signed notes: checkpoints of the log and their cosignatures, in the C2SP formats.

A note is a text ending in a newline, an empty line, and signature lines (c2sp.org/signed-note). A
checkpoint is the note text `origin, size, root` (c2sp.org/tlog-checkpoint); an outside witness
adds a line with a time in it (c2sp.org/tlog-cosignature, cosignature/v1).
"""

from __future__ import annotations

import base64
import binascii
import enum
from collections.abc import Iterable
from dataclasses import dataclass
from typing import NamedTuple

from tequio_shared import keys
from tequio_shared.errors import MalformedError, SignatureInvalidError
from tequio_shared.ids import DIGEST_BYTES, Digest, PeerKey, sha256
from tequio_shared.keys import Signer

NOTE_BYTES = 65_536
NOTE_SIGNATURES = 100
"""Most signature lines that are read; the specification asks for at least 16."""
LOG_SIZE = 2**63 - 1

_KEY_ID_BYTES = 4
_TIME_BYTES = 8
_DASH = "— "
_CHECKPOINT_LINES = 3


class KeyKind(enum.IntEnum):
    """Signature scheme of a note key; the first byte of the key in its text form."""

    LOG = 0x01
    """Ed25519 over the note text."""
    COSIGNER = 0x04
    """Ed25519 over a time and the note text."""


@dataclass(frozen=True, slots=True, kw_only=True)
class VerifierKey:
    """A note key with the name it signs under; raises MalformedError for an invalid name."""

    name: str
    kind: KeyKind
    key: PeerKey

    def __post_init__(self) -> None:
        if not _is_name(self.name):
            raise MalformedError(f"invalid key name {self.name[:60]!r}")

    @classmethod
    def parse(cls, text: str) -> VerifierKey:
        """Read `name+hex(id)+base64(kind + key)`.

        Raises MalformedError, and SignatureInvalidError for a key of small order.
        """
        name, _, rest = text.partition("+")
        raw = from_base64(rest.partition("+")[2])
        if len(raw) != 1 + keys.KEY_BYTES or raw[0] not in _KINDS:
            raise MalformedError(f"unsupported verifier key {text[:120]!r}")
        # Small-order keys verify forged notes, so they are refused here, before anything is signed.
        vkey = cls(name=name, kind=KeyKind(raw[0]), key=keys.check_key(raw[1:]))
        if vkey.text() != text:
            raise MalformedError(f"the key id does not match the key: {text[:120]!r}")
        return vkey

    @property
    def id(self) -> bytes:
        """Four bytes that signature lines carry to name this key."""
        return sha256(self.name.encode(), b"\n", bytes((self.kind,)), self.key)[:_KEY_ID_BYTES]

    def text(self) -> str:
        return f"{self.name}+{self.id.hex()}+{to_base64(bytes((self.kind,)) + self.key)}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Checkpoint:
    """The size and root of a log; raises MalformedError for an impossible pair."""

    origin: str
    size: int
    root: Digest

    def __post_init__(self) -> None:
        if not _is_name(self.origin):
            raise MalformedError(f"invalid origin {self.origin[:60]!r}")
        if not 0 <= self.size <= LOG_SIZE or len(self.root) != DIGEST_BYTES:
            raise MalformedError(f"no tree has size {self.size} and root {self.root.hex()}")

    @classmethod
    def parse(cls, text: str) -> Checkpoint:
        """Read the three lines; extension lines are refused. Raises MalformedError."""
        lines = text.split("\n")
        if len(lines) != _CHECKPOINT_LINES + 1 or lines[-1]:
            raise MalformedError("a checkpoint has three lines")
        size = parse_size(lines[1])
        return cls(origin=lines[0], size=size, root=Digest(from_base64(lines[2])))

    def text(self) -> str:
        return f"{self.origin}\n{self.size}\n{to_base64(self.root)}\n"


@dataclass(frozen=True, slots=True, kw_only=True)
class NoteSignature:
    """A verified signature: its key, and for cosigners its time (seconds since 1970)."""

    key: VerifierKey
    time_s: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Note:
    """A note's text and the signatures by known keys; all of these verified."""

    text: str
    signatures: tuple[NoteSignature, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class SignedCheckpoint:
    """A checkpoint that its log signed, and the cosignatures of known witnesses under it."""

    checkpoint: Checkpoint
    cosignatures: tuple[NoteSignature, ...]


def sign_checkpoint(checkpoint: Checkpoint, signer: Signer) -> bytes:
    """Sign as the log; the key's name is the origin. Returns a complete note."""
    text = checkpoint.text()
    vkey = VerifierKey(name=checkpoint.origin, kind=KeyKind.LOG, key=signer.key)
    return f"{text}\n{_line(vkey, signer.sign(text.encode()))}".encode()


def cosignature_line(checkpoint: Checkpoint, name: str, signer: Signer, time_s: int) -> str:
    """Cosign a checkpoint at a time (seconds since 1970); returns one line, for `add_lines`."""
    vkey = VerifierKey(name=name, kind=KeyKind.COSIGNER, key=signer.key)
    signature = signer.sign(_cosigned(time_s, checkpoint.text()))
    return _line(vkey, time_s.to_bytes(_TIME_BYTES, "big") + signature)


def add_lines(note: bytes, lines: Iterable[str]) -> bytes:
    """Append signature lines to a note.

    Raises MalformedError for a line that is not a signature line: a stranger may have sent it.
    """
    added = tuple(lines)
    for line in added:
        if not line.endswith("\n"):  # `_parse_line` refuses any other line break
            raise MalformedError(f"not one line: {line[:120]!r}")
        _parse_line(line[:-1])
    return note + "".join(added).encode()


def note_text(raw: bytes) -> str:
    """Return the text of a note without verifying any signature; raises MalformedError."""
    return _split(raw)[0]


def filter_signatures(raw: bytes, signers: Iterable[VerifierKey]) -> bytes:
    """Return the note with at most one line for each of these keys; raises MalformedError."""
    text, lines = _split(raw)
    wanted = {(vkey.name, vkey.id) for vkey in signers}
    kept: dict[tuple[str, bytes], str] = {}
    for line in lines:
        parsed = _parse_line(line)
        if (parsed.name, parsed.key_id) in wanted:
            kept.setdefault((parsed.name, parsed.key_id), f"{line}\n")
    return f"{text}\n{''.join(kept.values())}".encode()


def signature_lines(raw: bytes) -> list[str]:
    """Read signature lines that come without a text, for `add_lines`; raises MalformedError."""
    text = _utf8(raw, "signature lines")
    if len(raw) > NOTE_BYTES or not text.endswith("\n"):
        raise MalformedError(f"not signature lines: {text[:120]!r}")
    lines = text[:-1].split("\n")
    for line in lines:
        _parse_line(line)
    return [line + "\n" for line in lines]


def open_note(raw: bytes, known: Iterable[VerifierKey]) -> Note:
    """Read a note and verify every signature of a known key; other lines are skipped.

    Raises MalformedError, and SignatureInvalidError if no known key signed or if one known
    signature fails. One failure refuses the whole note: skipping it would let a party in the
    middle choose which of a log's keys appear to have signed.
    """
    text, lines = _split(raw)
    by_id = {(vkey.name, vkey.id): vkey for vkey in known}
    found: dict[VerifierKey, NoteSignature] = {}
    for line in map(_parse_line, lines):
        vkey = by_id.get((line.name, line.key_id))
        # The first line of a key counts: a second one could only be a copy or a forgery.
        if vkey is not None and vkey not in found:
            found[vkey] = _verify(vkey, line.payload, text)
    if not found:
        raise SignatureInvalidError("no known key signed the note")
    return Note(text=text, signatures=tuple(found.values()))


def open_checkpoint(
    raw: bytes, log: VerifierKey, witnesses: Iterable[VerifierKey] = ()
) -> SignedCheckpoint:
    """Read a checkpoint that must carry the log's signature, under the log's name as origin.

    Raises as `open_note` does. The caller's policy decides how many cosignatures are enough.
    """
    note = open_note(raw, (log, *witnesses))
    checkpoint = Checkpoint.parse(note.text)
    if checkpoint.origin != log.name:
        raise SignatureInvalidError(f"checkpoint of {checkpoint.origin}, not of {log.name}")
    if all(signature.key != log for signature in note.signatures):
        raise SignatureInvalidError(f"{log.name} did not sign the checkpoint")
    cosignatures = tuple(s for s in note.signatures if s.key.kind is KeyKind.COSIGNER)
    return SignedCheckpoint(checkpoint=checkpoint, cosignatures=cosignatures)


def parse_size(text: str) -> int:
    """Read a tree size: decimal, below 2^63, no leading zero; raises MalformedError."""
    if not 1 <= len(text) <= len(str(LOG_SIZE)) or not (text.isascii() and text.isdigit()):
        raise MalformedError(f"not a tree size: {text[:60]!r}")
    if (text[0] == "0" and text != "0") or int(text) > LOG_SIZE:
        raise MalformedError(f"tree size {text!r} has a leading zero or is 2^63 or more")
    return int(text)


def to_base64(value: bytes) -> str:
    """Write standard base64 with padding (RFC 4648, section 4)."""
    return base64.b64encode(value).decode("ascii")


def from_base64(text: str) -> bytes:
    """Read the one spelling of standard base64; raises MalformedError."""
    try:
        value = base64.b64decode(text, validate=True)
    except (binascii.Error, ValueError) as err:
        raise MalformedError(f"invalid base64 {text[:120]!r}") from err
    # Spare bits in the last character would give one signature several spellings.
    if to_base64(value) != text:
        raise MalformedError(f"base64 in a non-canonical spelling: {text[:120]!r}")
    return value


class _Line(NamedTuple):
    name: str
    key_id: bytes
    payload: bytes


_KINDS = frozenset(KeyKind)


def _split(raw: bytes) -> tuple[str, list[str]]:
    """Split at the last empty line: the text itself may contain others."""
    if len(raw) > NOTE_BYTES:
        raise MalformedError(f"note of {len(raw)} bytes")
    note = _utf8(raw, "a note")
    if any(char < " " and char != "\n" for char in note):
        raise MalformedError("control character in a note")
    text, empty, signatures = note.rpartition("\n\n")
    if not empty or not signatures.endswith("\n"):
        raise MalformedError("a note is text, an empty line, signature lines")
    lines = signatures[:-1].split("\n")
    if len(lines) > NOTE_SIGNATURES:
        raise MalformedError(f"note with {len(lines)} signatures")
    return text + "\n", lines


def _utf8(raw: bytes, what: str) -> str:
    try:
        return raw.decode()
    except UnicodeDecodeError as err:
        raise MalformedError(f"{what} must be UTF-8") from err


def _parse_line(line: str) -> _Line:
    parts = line.removeprefix(_DASH).split(" ")
    if not line.startswith(_DASH) or len(parts) != 2 or not _is_name(parts[0]):  # noqa: PLR2004  # name, base64
        raise MalformedError(f"not a signature line: {line[:120]!r}")
    raw = from_base64(parts[1])
    if len(raw) <= _KEY_ID_BYTES:
        raise MalformedError(f"signature line without a signature: {line[:120]!r}")
    return _Line(parts[0], raw[:_KEY_ID_BYTES], raw[_KEY_ID_BYTES:])


def _verify(vkey: VerifierKey, payload: bytes, text: str) -> NoteSignature:
    if vkey.kind is KeyKind.LOG:
        keys.verify(vkey.key, payload, text.encode())
        return NoteSignature(key=vkey, time_s=None)
    time_s = int.from_bytes(payload[:_TIME_BYTES], "big")
    if not 0 < time_s <= LOG_SIZE:  # c2sp.org/tlog-cosignature: no cosigner omits its time
        raise SignatureInvalidError(f"{vkey.name} cosigned at no time: {time_s}")
    keys.verify(vkey.key, payload[_TIME_BYTES:], _cosigned(time_s, text))
    return NoteSignature(key=vkey, time_s=time_s)


def _cosigned(time_s: int, text: str) -> bytes:
    return f"cosignature/v1\ntime {time_s}\n{text}".encode()


def _line(vkey: VerifierKey, payload: bytes) -> str:
    return f"{_DASH}{vkey.name} {to_base64(vkey.id + payload)}\n"


def _is_name(name: str) -> bool:
    """Tell if a name fits: anything of UTF-8 but spaces, control characters and the plus sign."""
    return bool(name) and not any(
        char < " " or char == "+" or char.isspace() or "\ud800" <= char <= "\udfff" for char in name
    )
