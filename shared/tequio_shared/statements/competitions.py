"""Statements of a competition: opened, entered, closed, drawn, revealed, scored, decided."""

from typing import Annotated

import msgspec

from tequio_shared.ids import Bytes32Text, MaybeBytes32Text, Natural, VrfProofText
from tequio_shared.sealed_set import ShareText
from tequio_shared.statements import NetworkBody

EntrantName = Annotated[
    str, msgspec.Meta(min_length=1, max_length=32, pattern=r"\A[a-z0-9][a-z0-9-]*\Z")
]


class CompetitionBody(NetworkBody, frozen=True, kw_only=True):
    """A body about a competition."""

    competition: Bytes32Text
    """SHA-256 of its rules, a blob."""


class CompOpen(CompetitionBody, frozen=True, kw_only=True):
    """Organisers open a competition."""

    TYPE = "comp.open"


class CompEnter(CompetitionBody, frozen=True, kw_only=True):
    """The author enters, for a run or for a model that was trained elsewhere."""

    TYPE = "comp.enter"

    entrant: EntrantName
    """Unique among the entrants; its author alone submits under it."""
    side: MaybeBytes32Text
    """The run; empty for a model from elsewhere."""


class CompSubmit(CompetitionBody, frozen=True, kw_only=True):
    """The entrant submits a model; the last submission before the deadline counts."""

    TYPE = "comp.submit"

    entrant: EntrantName
    submission: Bytes32Text
    """SHA-256 of a `Submission`, a blob."""


class EvalOffer(CompetitionBody, frozen=True, kw_only=True):
    """The author offers to evaluate."""

    TYPE = "eval.offer"


class CompClose(CompetitionBody, frozen=True, kw_only=True):
    """The coordinator states that the deadline has passed: the log up to here counts."""

    TYPE = "comp.close"

    vrf: VrfProofText
    """Proof of the seed of the lots (`competition.draw.seed_input`)."""


class EvalLot(CompetitionBody, frozen=True, kw_only=True):
    """A key that offered draws its lot; without one it does not evaluate."""

    TYPE = "eval.lot"

    vrf: VrfProofText
    """Proof of the lot (`competition.draw.lot_input`)."""


class CompDraw(CompetitionBody, frozen=True, kw_only=True):
    """The coordinator states that no more lots count; custodians may reveal their shares."""

    TYPE = "comp.draw"

    vrf: VrfProofText
    """Proof of the coordinator's part in the beacon (`competition.draw.draw_input`)."""


class CompReveal(CompetitionBody, frozen=True, kw_only=True):
    """A custodian reveals a share; enough shares publish the texts and the draw."""

    TYPE = "comp.reveal"

    share: ShareText


class EvalCommit(CompetitionBody, frozen=True, kw_only=True):
    """A drawn evaluator commits to its scores of one model, before anybody reveals any."""

    TYPE = "eval.commit"

    entrant: EntrantName
    commit: Bytes32Text
    """SHA-256 of `tequio/v1/scored\\0`, the competition, the author, the name of the `Evaluation`
    and a salt."""


class EvalResult(CompetitionBody, frozen=True, kw_only=True):
    """A drawn evaluator reveals the scores of one model that it committed to."""

    TYPE = "eval.result"

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


class CompChallenge(CompetitionBody, frozen=True, kw_only=True):
    """The author got another number for a document than an evaluator published."""

    TYPE = "comp.challenge"

    entrant: EntrantName
    evaluator: Bytes32Text
    document: Natural
    """Index in the sealed set."""
    millibits: Natural
    """The author's own number."""


class CompResult(CompetitionBody, frozen=True, kw_only=True):
    """Organisers state the outcome, which follows from what is in the log."""

    TYPE = "comp.result"

    outcome: Bytes32Text
    """SHA-256 of an `Outcome`, a blob."""
