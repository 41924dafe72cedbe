"""Snapshots of a state: the fold over the first entries of a log, as bytes that name it.

Rules. Two readers that folded the same entries encode the same bytes, on any machine: MessagePack
arrays of a class's fields in the order of their declaration, sets sorted, mappings in the order of
their insertion (which is the log's, and decides in some rules), structs as canonical JSON. What is
not the log's has no place in it: times of arrival, documents, and objects that are shared between
parts. The layout is derived from the classes, so no field can be forgotten, and its hash is part
of every snapshot: one of a program with other classes is refused (`OtherLayoutError`), not guessed
at. A snapshot proves nothing by itself. Its SHA-256 must be in a `log.snapshot` under a checkpoint,
and every reader that folds the log from its first entry can tell whether that statement is true.
(docs/protocol.md, 6.9)
"""

from __future__ import annotations

import types
import typing
from collections import Counter, defaultdict, deque
from collections.abc import Callable, Mapping
from dataclasses import MISSING, dataclass, fields, is_dataclass, replace
from enum import Enum
from functools import cache
from typing import TYPE_CHECKING, Annotated, Any

import msgspec

from tequio_shared import encoding, vrf
from tequio_shared.badges import Badges
from tequio_shared.competition.competition import CompetitionsView
from tequio_shared.errors import MalformedError, TequioError
from tequio_shared.head.chain import Head
from tequio_shared.ids import (
    DIGEST_BYTES,
    ContributionId,
    Digest,
    HeadHash,
    NetworkId,
    PeerKey,
    RunId,
    digest_from_text,
    sha256,
)
from tequio_shared.limits import DOCUMENT_BYTES
from tequio_shared.names import NameRegistry
from tequio_shared.network.accounts import RunAccounts
from tequio_shared.network.audits import AuditBook, AuditOutcome
from tequio_shared.network.full_run import FullRunView
from tequio_shared.network.key_links import KeyLinks
from tequio_shared.network.notices import NetworkNotices
from tequio_shared.network.releases import ReleaseHistory
from tequio_shared.network.schedule import SnapshotSchedule
from tequio_shared.network.standing import KeyStatus
from tequio_shared.network.teams import Teams
from tequio_shared.network.tiers import Tiers
from tequio_shared.network_view import AuthorChain
from tequio_shared.round.manifest import Manifest
from tequio_shared.round.round import Commitment, RoundView
from tequio_shared.served.rows import RoundEntry
from tequio_shared.served.state import CompetitionEvent, Resume, State
from tequio_shared.statements import statement as statements
from tequio_shared.statements.network import LogSnapshot
from tequio_shared.statements.runs import HeadMeasure, Sample
from tequio_shared.statements.statement import BODIES, Body, Statement

if TYPE_CHECKING:
    from tequio_shared.network.genesis import Genesis
    from tequio_shared.network.run import Documents

_MAGIC = "tequio snapshot 1"

_QUOTED_CHARS = 200
_Value = Any  # of any field: the layout says which type it has


class OtherLayoutError(MalformedError):
    """A snapshot of a program whose classes have other fields: replay the log instead."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Context:
    """Objects that the parts of a state share, and what a reader adds to the log."""

    state: State
    arrival_ms: Callable[[int], int]
    """Time at which the reader got the entry at an index."""
    manifest: Manifest | None = None
    """Of the run that is being decoded."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Codec:
    """How values of one type are encoded; `wire` is the type that msgspec decodes."""

    text: str
    """The layout in words: it is hashed, so it must differ where the bytes do."""
    wire: _Value
    pack: Callable[[_Value], _Value]
    unpack: Callable[[_Value, _Context], _Value]
    is_plain: bool = False
    """True if values are encoded as they are."""


PARTS: Mapping[str, _Value] = {
    "peers": dict[PeerKey, AuthorChain],
    "links": KeyLinks,
    "standings": KeyStatus,
    "tiers": Tiers,
    "names": NameRegistry,
    "teams": Teams,
    "notices": NetworkNotices,
    "releases": ReleaseHistory,
    "snapshots": SnapshotSchedule,
    "runs": dict[RunId, FullRunView],
    "competitions": CompetitionsView,
    "coordinator_ms": int,
    "opened": dict[RunId, int],
    "resumes": dict[RunId, Resume],
    "types": dict[str, int],
    "asked": dict[PeerKey, int],
    "proofs": dict[PeerKey, int],
    "named": set[Digest],
    "attended": dict[PeerKey, int],
    "badges": Badges,
    "_round_entries": dict[RunId, list[RoundEntry]],
    "_competition_events": dict[Digest, list[CompetitionEvent]],
    "_heads": dict[RunId, int],
    "_pending": dict[RunId, int],
}
"""Attributes of a state that follow from the log, with their types."""

_Supplied = Callable[[_Context, Mapping[str, _Value]], _Value]
_SUPPLIED: Mapping[type, Mapping[str, _Supplied]] = {
    KeyLinks: {
        "registered": lambda context, _: context.state.peers,
        "founders": lambda context, _: context.state.founders,
    },
    KeyStatus: {"links": lambda context, _: context.state.links},
    Tiers: {
        "registered": lambda context, _: context.state.peers,
        "founders": lambda context, _: context.state.founders,
    },
    Teams: {
        "links": lambda context, _: context.state.links,
        "names": lambda context, _: context.state.names,
    },
    RunAccounts: {
        "manifest": lambda context, _: context.manifest,
        "standings": lambda context, _: context.state.standings,
        "tiers": lambda context, _: context.state.tiers,
    },
    AuditBook: {"rules": lambda context, _: context.manifest and context.manifest.audits},
    FullRunView: {
        "net": lambda context, _: context.state.net,
        "check_proof": lambda _context, _: vrf.verify,
        "manifest": lambda context, _: context.manifest,
    },
    RoundView: {
        "net": lambda context, _: context.state.net,
        "check_proof": lambda _context, _: vrf.verify,
        "manifest": lambda context, _: context.manifest,
    },
    Commitment: {"at_ms": lambda context, found: context.arrival_ms(found["index"])},
}
"""Fields that are not encoded, and where their values come from; `found` are the other fields."""
_COMPUTED: Mapping[type, frozenset[str]] = {
    RoundView: frozenset(
        {"orders", "slot_of", "assignment", "chunks", "votes", "_expected", "_verdicts"}
        | {"without_lot", "without_work", "without_report", "without_proof"}
    ),
    RunAccounts: frozenset({"_active", "receivers"}),
    KeyStatus: frozenset({"_queue"}),
}
"""Fields that a constructor computes from the others."""


def layout() -> Digest:
    """Hash of the classes and fields that a snapshot of this program consists of."""
    return sha256(_MAGIC.encode(), describe_layout().encode())


def describe_layout() -> str:
    """Classes, fields and types in words."""
    return _whole().text


def encode(state: State, size: int) -> bytes:
    """Encode the fold over the first `size` entries; O(keys), and O(log n) in the rounds of a run.

    docs/scale.md lists what grows.
    """
    return msgspec.msgpack.encode((_MAGIC, layout(), state.net, size, tuple(_whole().pack(state))))


def decode(
    raw: bytes,
    genesis: Genesis,
    documents: Documents,
    size_of: Callable[[Digest], int | None] = lambda _: None,
    *,
    arrival_ms: Callable[[int], int] = lambda _: 0,
    is_own: bool = False,
) -> tuple[State, int]:
    """Decode a state and the number of entries that it folded; memory is O(len(raw)).

    The caller has checked the hash of the bytes. They may come from a hostile ledger, so what is
    accepted is the encoding of the state that it gives: nothing is in it twice or in another
    order. That takes as long as the rest, and is left out for bytes that are the reader's own.
    Raises OtherLayoutError, MalformedError.
    """
    header = _header(raw)
    if header.net != genesis.network_id:
        raise MalformedError("the snapshot belongs to another network")
    state = State(genesis, documents, size_of)
    whole = _whole()
    try:
        found = msgspec.msgpack.decode(header.state, type=whole.wire)
        whole.unpack(found, _Context(state=state, arrival_ms=arrival_ms))
        is_encoding = is_own or encode(state, header.size) == raw
    # What a class refuses to be made of, too.
    except (TequioError, ValueError, TypeError, LookupError, RecursionError) as err:
        why = str(err)[:_QUOTED_CHARS]  # which may quote all of it
        raise MalformedError(f"the snapshot cannot be read: {why}") from err
    if not is_encoding:
        raise MalformedError("the snapshot is not written as this version of Tequio writes it")
    return state, header.size


class SnapshotComparison:
    """Compares the snapshots that a log names with those of a reader that folds all of it."""

    def __init__(self, state: State) -> None:
        self._state = state
        self.own: dict[int, Digest] = {}
        """Names of this reader's snapshots, by the sizes that are due."""

    def record(self, size: int, store: Callable[[bytes], object] = lambda _: None) -> None:
        """Call this after each entry: if a snapshot is due, it is encoded and passed to `store`."""
        due = self._state.snapshots.due
        if due and due[-1] == size:
            raw = encode(self._state, size)
            self.own = {one: name for one, name in self.own.items() if one in due}
            self.own[size] = sha256(raw)
            store(raw)

    def differs(self, body: LogSnapshot) -> Digest | None:
        """Give the right name of a snapshot that the log names wrongly; else None.

        One of another layout, or of a size before this reader began, cannot be compared.
        """
        own = self.own.get(body.size)
        is_known = own is not None and digest_from_text(body.layout) == layout()
        return own if is_known and own != digest_from_text(body.state) else None


class _Header(msgspec.Struct, array_like=True, forbid_unknown_fields=True):
    magic: str
    layout: bytes
    net: bytes
    size: int
    state: msgspec.Raw


def _header(raw: bytes) -> _Header:
    try:
        header = msgspec.msgpack.decode(raw, type=_Header)
    except (ValueError, RecursionError) as err:
        raise MalformedError(f"not a snapshot: {err}") from err
    if (header.magic, header.layout) != (_MAGIC, layout()):
        raise OtherLayoutError(
            "the snapshot was made by another version of Tequio, whose state has other fields"
        )
    return header


@cache
def _whole() -> _Codec:
    """The codec of a whole state, whose parts are filled in place: they refer to each other."""
    parts = {name: _codec(hint) for name, hint in PARTS.items()}

    def unpack(found: _Value, context: _Context) -> State:
        for (name, one), value in zip(parts.items(), found, strict=True):
            _fill(context.state, name, one.unpack(value, context))
        return context.state

    return _Codec(
        text=f"State({', '.join(f'{name}: {one.text}' for name, one in parts.items())})",
        wire=tuple[tuple(one.wire for one in parts.values())],  # type: ignore[misc] # made here
        pack=lambda state: [one.pack(getattr(state, name)) for name, one in parts.items()],
        unpack=unpack,
    )


def _fill(state: State, name: str, made: _Value) -> None:
    """Set one part, keeping the object that other parts already refer to."""
    kept = getattr(state, name)
    if isinstance(kept, dict | set):
        kept.clear()
        # Not Counter's own update, which adds.
        dict.update(kept, made) if isinstance(kept, dict) else kept.update(made)
    elif is_dataclass(made):
        for one in fields(made):
            setattr(kept, one.name, getattr(made, one.name))
    else:
        setattr(state, name, made)


# --- Codecs by type.

_PLAIN = (int, str, bytes, bool)
_BYTES32 = Annotated[bytes, msgspec.Meta(min_length=DIGEST_BYTES, max_length=DIGEST_BYTES)]
_OF_32_BYTES = (ContributionId, Digest, HeadHash, NetworkId, PeerKey, RunId)
_NAMES = {
    "AuditOutcome": AuditOutcome,
    "Head": Head,
    "HeadMeasure": HeadMeasure,
    "Manifest": Manifest,
    "RoundView": RoundView,
    "Sample": Sample,
    "Statement": Statement,
}
"""Names that some modules import for annotations only."""


@cache
def _codec(hint: _Value) -> _Codec:
    """Find the codec of a type as it is annotated."""
    if hint == Body:
        return _body()
    if isinstance(hint, typing.NewType):
        inner = _codec(hint.__supertype__)
        return replace(inner, wire=_BYTES32) if hint in _OF_32_BYTES else inner
    origin: _Value = typing.get_origin(hint)
    if origin in (types.UnionType, typing.Union):
        return _optional(hint)
    return _class(hint) if origin is None else _container(hint, origin)


def _class(hint: _Value) -> _Codec:
    if hint in _PLAIN:
        return _Codec(
            text=hint.__name__,
            wire=hint,
            pack=lambda value: value,
            unpack=lambda value, _: value,
            is_plain=True,
        )
    if hint is Statement:
        return _Codec(
            text="Statement",
            wire=bytes,
            pack=lambda value: value.raw,
            unpack=lambda raw, _: statements.parse(raw),
        )
    if issubclass(hint, Enum):
        return _Codec(
            text=f"{hint.__name__}[{', '.join(str(one.value) for one in hint)}]",
            wire=type(next(iter(hint)).value),
            pack=lambda value: value.value,
            unpack=lambda value, _: hint(value),
        )
    if issubclass(hint, msgspec.Struct):
        return _struct(hint)
    return _run() if hint is FullRunView else _fields(hint)


def _struct(hint: type[msgspec.Struct]) -> _Codec:
    return _Codec(
        text=_names(hint),
        wire=bytes,
        pack=encoding.encode,
        unpack=lambda raw, _: encoding.decode(raw, hint, DOCUMENT_BYTES),
    )


def _names(hint: type[msgspec.Struct]) -> str:
    # Names alone: how a type is spelt differs from one version of Python to the next.
    return f"{hint.__name__}({', '.join(one.name for one in msgspec.structs.fields(hint))})"


def _body() -> _Codec:
    def unpack(value: _Value, _: _Context) -> Body:
        name, raw = value
        return encoding.decode(raw, BODIES[name, statements.VERSION], DOCUMENT_BYTES)

    return _Codec(
        text=f"Body[{', '.join(map(_names, BODIES.values()))}]",
        wire=tuple[str, bytes],
        pack=lambda value: (value.TYPE, encoding.encode(value)),
        unpack=unpack,
    )


def _optional(hint: _Value) -> _Codec:
    (inner,) = (one for one in typing.get_args(hint) if one is not types.NoneType)
    one = _codec(inner)
    return _Codec(
        text=f"{one.text} | None",
        wire=one.wire | None,
        pack=lambda value: None if value is None else one.pack(value),
        unpack=lambda value, context: None if value is None else one.unpack(value, context),
        is_plain=one.is_plain,
    )


def _container(hint: _Value, origin: _Value) -> _Codec:
    args = typing.get_args(hint)
    if issubclass(origin, Mapping):
        return _mapping(_codec(args[0]), _codec(int if origin is Counter else args[1]))
    if origin is tuple and args[-1] is not Ellipsis:
        return _row([_codec(one) for one in args])
    item = _codec(args[0])
    made = origin if origin in (tuple, list, set, frozenset, deque) else tuple
    is_set = made in (set, frozenset)
    as_is = item.is_plain

    def pack(value: _Value) -> list[_Value]:
        packed: list[_Value] = list(value) if as_is else [item.pack(one) for one in value]
        return sorted(packed) if is_set else packed

    def unpack(value: _Value, context: _Context) -> _Value:
        return made(value if as_is else [item.unpack(one, context) for one in value])

    return _Codec(
        text=f"{made.__name__}[{item.text}]",
        wire=list[item.wire],  # type: ignore[name-defined] # made here
        pack=pack,
        unpack=unpack,
    )


def _row(items: list[_Codec]) -> _Codec:
    """A tuple of fixed length."""
    return _Codec(
        text=f"tuple[{', '.join(one.text for one in items)}]",
        wire=tuple[tuple(one.wire for one in items)],  # type: ignore[misc] # made here
        pack=lambda value: tuple(one.pack(each) for one, each in zip(items, value, strict=True)),
        unpack=lambda value, context: tuple(
            one.unpack(each, context) for one, each in zip(items, value, strict=True)
        ),
    )


def _mapping(key: _Codec, item: _Codec) -> _Codec:
    """A list of pairs: MessagePack's maps have no order that a decoder must keep."""
    pair = _row([key, item])
    return _Codec(
        text=f"dict[{key.text}, {item.text}]",
        wire=list[pair.wire],  # type: ignore[name-defined] # made here
        pack=lambda value: [(key.pack(name), item.pack(one)) for name, one in value.items()],
        unpack=lambda value, context: {
            key.unpack(name, context): item.unpack(one, context) for name, one in value
        },
    )


def _run() -> _Codec:
    """A run, after its manifest: many of its parts refer to that."""
    inner = _fields(FullRunView)

    def unpack(value: _Value, context: _Context) -> _Value:
        raw, view = value
        return inner.unpack(view, replace(context, manifest=Manifest.parse(raw)))

    return _Codec(
        text=f"manifest, {inner.text}",
        wire=tuple[bytes, inner.wire],  # type: ignore[name-defined] # made here
        pack=lambda view: (view.manifest.encode(), inner.pack(view)),
        unpack=unpack,
    )


def _fields(hint: _Value) -> _Codec:
    """A dataclass: the fields that are neither supplied nor computed."""
    supplied, computed = _SUPPLIED.get(hint, {}), _COMPUTED.get(hint, frozenset[str]())
    hints = typing.get_type_hints(hint, localns=_NAMES)
    kept = {
        one.name: _codec(hints[one.name])
        for one in fields(hint)
        if one.name not in supplied and one.name not in computed
    }
    # A dict with a default for missing keys, and a deque with a bound, are made by the field.
    factories = {
        one.name: one.default_factory
        for one in fields(hint)
        if one.default_factory is not MISSING
        and isinstance(one.default_factory(), defaultdict | deque)
    }
    later = [one.name for one in fields(hint) if one.name in kept and not one.init]

    def pack(value: _Value) -> list[_Value]:
        return [
            getattr(value, name) if one.is_plain else one.pack(getattr(value, name))
            for name, one in kept.items()
        ]

    def unpack(value: _Value, context: _Context) -> _Value:
        found = {
            name: part if one.is_plain else one.unpack(part, context)
            for (name, one), part in zip(kept.items(), value, strict=True)
        }
        for name, factory in factories.items():
            found[name] = _into(factory(), found[name])
        set_later = {name: found.pop(name) for name in later}
        made = hint(**found, **{name: supply(context, found) for name, supply in supplied.items()})
        for name, part in set_later.items():
            setattr(made, name, part)
        return made

    return _Codec(
        text=f"{hint.__name__}({', '.join(f'{name}: {one.text}' for name, one in kept.items())})",
        wire=tuple[tuple(one.wire for one in kept.values())],  # type: ignore[misc] # made here
        pack=pack,
        unpack=unpack,
    )


def _into(made: _Value, found: _Value) -> _Value:
    made.update(found) if isinstance(made, dict) else made.extend(found)
    return made
