"""Statements of the network and its runs: what exists and in which state it is."""

from typing import Annotated, ClassVar

import msgspec

from tequio_shared.fields import Bytes32Text, BytesText, ReasonCode
from tequio_shared.statements.scope import Scope


class NetGenesis(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """Entry 0: the document whose SHA-256 is the network id."""

    TYPE: ClassVar[str] = "net.genesis"
    SCOPE: ClassVar[Scope] = Scope.NETWORK

    doc: Annotated[BytesText, msgspec.Meta(min_length=2)]


class RunOpen(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """A run exists: its manifest, whose SHA-256 is the run id, and the head it starts from."""

    TYPE: ClassVar[str] = "run.open"
    SCOPE: ClassVar[Scope] = Scope.RUN

    manifest: Bytes32Text
    head: Bytes32Text


class RunPause(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """No round of the run opens until it is resumed."""

    TYPE: ClassVar[str] = "run.pause"
    SCOPE: ClassVar[Scope] = Scope.RUN

    reason: ReasonCode


class RunResume(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """Rounds of a paused run open again."""

    TYPE: ClassVar[str] = "run.resume"
    SCOPE: ClassVar[Scope] = Scope.RUN

    reason: ReasonCode


class RunFinish(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """An organiser ends the run: after the round that is under way no other one opens."""

    TYPE: ClassVar[str] = "run.finish"
    SCOPE: ClassVar[Scope] = Scope.RUN

    reason: ReasonCode


class RunClose(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """The coordinator's word that the run has ended; its head stays as it is."""

    TYPE: ClassVar[str] = "run.close"
    SCOPE: ClassVar[Scope] = Scope.RUN

    reason: ReasonCode
