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
    """Unique among the entrants; its author alone submits under it."""
    side: MaybeBytes32Text
    """The run; empty for a model from elsewhere."""


class CompSubmit(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """The entrant submits a model; the last submission before the deadline counts."""

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
    """The coordinator states that the deadline has passed: the log up to here counts."""

    TYPE: ClassVar[str] = "comp.close"
    SCOPE: ClassVar[Scope] = Scope.NETWORK

    competition: Bytes32Text


class EvalSecret(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """An evaluator that offered opens its secret; without it, the evaluator is not drawn."""

    TYPE: ClassVar[str] = "eval.secret"
    SCOPE: ClassVar[Scope] = Scope.NETWORK

    competition: Bytes32Text
    secret: Bytes32Text


class CompDraw(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """The coordinator states that no more secrets count; custodians may reveal their shares."""

    TYPE: ClassVar[str] = "comp.draw"
    SCOPE: ClassVar[Scope] = Scope.NETWORK

    competition: Bytes32Text


class CompReveal(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """A custodian reveals a share; enough shares publish the texts and the draw."""

    TYPE: ClassVar[str] = "comp.reveal"
    SCOPE: ClassVar[Scope] = Scope.NETWORK

    competition: Bytes32Text
    share: ShareText


class EvalCommit(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """A drawn evaluator commits to its scores of one model, before anybody reveals any."""

    TYPE: ClassVar[str] = "eval.commit"
    SCOPE: ClassVar[Scope] = Scope.NETWORK

    competition: Bytes32Text
    entrant: EntrantName
    commit: Bytes32Text
    """SHA-256 of `tequio/v1/scored\\0`, the competition, the author, the name of the `Evaluation`
    and a salt."""


class EvalResult(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """A drawn evaluator reveals the scores of one model that it committed to."""

    TYPE: ClassVar[str] = "eval.result"
    SCOPE: ClassVar[Scope] = Scope.NETWORK

    competition: Bytes32Text
    entrant: EntrantName
    submission: Bytes32Text
    """The scored submission: the one that counts."""
    scores: Bytes32Text
    """SHA-256 of an `Evaluation`, a blob."""
    salt: Bytes32Text
    """Random part of the commitment, so that nobody can guess the scores from it."""
    millibits: Natural
    """Sum over the documents, in thousandths of a bit."""
    size_bytes: Natural
    """UTF-8 bytes of the documents that have text."""


class CompChallenge(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """The author got another number for a document than an evaluator published."""

    TYPE: ClassVar[str] = "comp.challenge"
    SCOPE: ClassVar[Scope] = Scope.NETWORK

    competition: Bytes32Text
    entrant: EntrantName
    evaluator: Bytes32Text
    document: Natural
    """Index in the sealed set."""
    millibits: Natural
    """The author's own number."""


class CompResult(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """Organisers state the outcome, which follows from what is in the log."""

    TYPE: ClassVar[str] = "comp.result"
    SCOPE: ClassVar[Scope] = Scope.NETWORK

    competition: Bytes32Text
    outcome: Bytes32Text
    """SHA-256 of an `Outcome`, a blob."""
