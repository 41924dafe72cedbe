"""Statements of a competition: opened, entered, closed, drawn, revealed, scored, decided."""

from typing import Annotated, ClassVar

import msgspec

from tequio_shared.ids import Bytes32Text, MaybeBytes32Text, Natural
from tequio_shared.sealed_set import ShareText
from tequio_shared.statements.envelope import Scope

EntrantName = Annotated[
    str, msgspec.Meta(min_length=1, max_length=32, pattern=r"\A[a-z0-9][a-z0-9-]*\Z")
]


class CompOpen(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """Organisers open a competition."""

    TYPE: ClassVar[str] = "comp.open"
    SCOPE: ClassVar[Scope] = Scope.NETWORK

    competition: Bytes32Text
    """SHA-256 of its rules, a blob; the competition's name in what follows."""


class CompEnter(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """The author enters, for a run or for a model that was trained elsewhere."""

    TYPE: ClassVar[str] = "comp.enter"
    SCOPE: ClassVar[Scope] = Scope.NETWORK

    competition: Bytes32Text
    entrant: EntrantName
    """Unlike that of any other entrant; its author alone submits under it."""
    side: MaybeBytes32Text
    """The run; nothing: a model from elsewhere."""


class CompSubmit(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """The entrant submits a model; its last word before the deadline counts."""

    TYPE: ClassVar[str] = "comp.submit"
    SCOPE: ClassVar[Scope] = Scope.NETWORK

    competition: Bytes32Text
    entrant: EntrantName
    submission: Bytes32Text
    """SHA-256 of a `Submission`, a blob."""


class EvalOffer(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """The author offers to evaluate, and commits to a secret for the draw."""

    TYPE: ClassVar[str] = "eval.offer"
    SCOPE: ClassVar[Scope] = Scope.NETWORK

    competition: Bytes32Text
    commit: Bytes32Text
    """SHA-256 of `tequio/v1/eval\\0`, the competition, the author and the secret."""


class CompClose(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """The coordinator says that the deadline is over: what the log has up to here counts."""

    TYPE: ClassVar[str] = "comp.close"
    SCOPE: ClassVar[Scope] = Scope.NETWORK

    competition: Bytes32Text


class EvalSecret(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """Who offered to evaluate opens the secret; who does not is not drawn."""

    TYPE: ClassVar[str] = "eval.secret"
    SCOPE: ClassVar[Scope] = Scope.NETWORK

    competition: Bytes32Text
    secret: Bytes32Text


class CompDraw(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """The coordinator says that no secret counts any more; the shares may be shown."""

    TYPE: ClassVar[str] = "comp.draw"
    SCOPE: ClassVar[Scope] = Scope.NETWORK

    competition: Bytes32Text


class CompReveal(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """A custodian shows a share; with enough of them the texts, and the draw, are everybody's."""

    TYPE: ClassVar[str] = "comp.reveal"
    SCOPE: ClassVar[Scope] = Scope.NETWORK

    competition: Bytes32Text
    share: ShareText


class EvalCommit(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """A drawn evaluator commits to its scores of one entrant's model, before anybody shows any."""

    TYPE: ClassVar[str] = "eval.commit"
    SCOPE: ClassVar[Scope] = Scope.NETWORK

    competition: Bytes32Text
    entrant: EntrantName
    commit: Bytes32Text
    """SHA-256 of `tequio/v1/scored\\0`, the competition, the author, the name of the `Evaluation`
    and a salt."""


class EvalResult(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """A drawn evaluator shows the scores of one entrant's model that it committed to."""

    TYPE: ClassVar[str] = "eval.result"
    SCOPE: ClassVar[Scope] = Scope.NETWORK

    competition: Bytes32Text
    entrant: EntrantName
    submission: Bytes32Text
    """What was scored; the one that counts."""
    scores: Bytes32Text
    """SHA-256 of an `Evaluation`, a blob."""
    salt: Bytes32Text
    """What the commitment has beside the scores, so that nobody could try which they are."""
    millibits: Natural
    """Sum over the documents."""
    size_bytes: Natural
    """Of the documents that have text."""


class CompChallenge(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """The author got another number for a document than an evaluator said."""

    TYPE: ClassVar[str] = "comp.challenge"
    SCOPE: ClassVar[Scope] = Scope.NETWORK

    competition: Bytes32Text
    entrant: EntrantName
    evaluator: Bytes32Text
    document: Natural
    """Its place in the sealed set."""
    millibits: Natural
    """What the author got."""


class CompResult(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """Organisers state the outcome, which follows from what is in the log."""

    TYPE: ClassVar[str] = "comp.result"
    SCOPE: ClassVar[Scope] = Scope.NETWORK

    competition: Bytes32Text
    outcome: Bytes32Text
    """SHA-256 of an `Outcome`, a blob."""
