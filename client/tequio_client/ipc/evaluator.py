"""Messages between a worker and the evaluator process that it started, as JSON lines.

The worker first sends `BeginEvaluation`, then `EvaluatorLimits` whenever they change. The child
reports its progress at least once a second. It has no key, so it asks the worker to sign and send
its statements. Documents that go with a statement lie in the child's folder, named by their
SHA-256.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, TypeAlias

import msgspec

from tequio_client import ipc
from tequio_client.ipc.facts import Count, Name
from tequio_shared.ids import Bytes32Text

LINE_BYTES = 1 << 17
MAX_DOCUMENTS = 8
TEXT = 4_096
"""Maximum characters of a message for people."""
NOT_LOGGED = "away"
"""Code of a statement that is not in the log yet: the ledger is unavailable, or another error."""
Text: TypeAlias = Annotated[str, msgspec.Meta(max_length=TEXT)]
Body: TypeAlias = Annotated[str, msgspec.Meta(max_length=16_384)]
Doing: TypeAlias = Annotated[
    str, msgspec.Meta(pattern="^(starting|reading|fetching|scoring|waiting)$")
]
Code: TypeAlias = Annotated[str, msgspec.Meta(max_length=64)]


class EvaluatorLimits(msgspec.Struct, frozen=True, kw_only=True, tag="limit"):
    threads: Annotated[int, msgspec.Meta(ge=1, le=1_024)]
    share_percent: Annotated[int, msgspec.Meta(ge=1, le=100)]


class BeginEvaluation(msgspec.Struct, frozen=True, kw_only=True, tag="begin"):
    """First line: the competition, the key, and the device."""

    competition: Bytes32Text
    key: Bytes32Text
    ledger: Text
    folder: Text
    """The worker's folder; the child writes only below `evaluations`."""
    trust: Annotated[str, msgspec.Meta(max_length=LINE_BYTES // 2)] = ""
    """Content of a policy file; empty: the log's own signature is enough."""
    device: Name
    memory_mb: Count
    """Memory limit of the device; 0: none."""
    limit: EvaluatorLimits


class StatementResult(msgspec.Struct, frozen=True, kw_only=True, tag="said"):
    """Result of the statement of that number."""

    number: Count
    code: Code = ""
    """The ledger's reason for refusing it, or `NOT_LOGGED`; empty: it is in the log."""
    why: Text = ""


ToChild: TypeAlias = BeginEvaluation | EvaluatorLimits | StatementResult


class EvaluationProgress(msgspec.Struct, frozen=True, kw_only=True):
    doing: Doing
    entrant: Name = ""
    """Entrant whose model is being scored."""
    documents: Count = 0
    """Documents of that model that are scored."""
    of_documents: Count = 0
    models: Count = 0
    """Models that are scored completely."""
    of_models: Count = 0
    resident_mb: Count = 0


class EvaluatorHeartbeat(EvaluationProgress, frozen=True, kw_only=True, tag="alive"):
    """Sent at least once a second."""

    device: Name = ""
    fetched_bytes: Count = 0
    """Bytes of models that this process has downloaded: they count in the month's traffic."""


class SubmitStatement(msgspec.Struct, frozen=True, kw_only=True, tag="say"):
    """Sign a statement with the worker's key and send it, its documents first."""

    number: Count
    kind: Name
    """Statement type."""
    body: Body
    """Canonical JSON."""
    documents: Annotated[tuple[Bytes32Text, ...], msgspec.Meta(max_length=MAX_DOCUMENTS)] = ()


class EvaluatorMessage(msgspec.Struct, frozen=True, kw_only=True, tag="told"):
    """A line for people."""

    line: Text


class EvaluationDone(msgspec.Struct, frozen=True, kw_only=True, tag="done"):
    """Last line: nothing is left to do in this competition, or nothing for now."""

    is_over: bool


FromChild: TypeAlias = EvaluatorHeartbeat | SubmitStatement | EvaluatorMessage | EvaluationDone

_DUE = "a message between worker and evaluator"
decode_to_child: Callable[[bytes], ToChild] = ipc.line_decoder(ToChild, LINE_BYTES, _DUE)
decode_from_child: Callable[[bytes], FromChild] = ipc.line_decoder(FromChild, LINE_BYTES, _DUE)


def encode(message: ToChild | FromChild) -> bytes:
    return ipc.encode(message)
