"""The bodies of statements, and the one table from a type's name and version to its body."""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING, TypeAlias

from tequio_shared.statements.checkpoints import CheckpointPublish
from tequio_shared.statements.competitions import (
    CompChallenge,
    CompClose,
    CompDraw,
    CompEnter,
    CompOpen,
    CompResult,
    CompReveal,
    CompSubmit,
    EvalCommit,
    EvalOffer,
    EvalResult,
    EvalSecret,
)
from tequio_shared.statements.connectors import MemberVouch, RoleGrant, RoleRevoke
from tequio_shared.statements.invitations import InviteClose, InviteOpen, InviteRevoke
from tequio_shared.statements.members import KeyRegister, MemberLeave, MemberReady, MemberTeam
from tequio_shared.statements.rounds import (
    HeadAttest,
    HeadMeasure,
    HeadPromote,
    RoundClose,
    RoundOpen,
    RoundRoster,
    RoundVoid,
    RoundWitness,
    WitnessProof,
    WorkCommit,
)
from tequio_shared.statements.runs import (
    NetGenesis,
    RunClose,
    RunFinish,
    RunOpen,
    RunPause,
    RunResume,
)
from tequio_shared.statements.standing import (
    FaultReport,
    StandingAppeal,
    StandingChange,
    StandingRelease,
    StandingUphold,
)

if TYPE_CHECKING:
    from collections.abc import Mapping

Body: TypeAlias = (
    KeyRegister
    | MemberReady
    | MemberLeave
    | NetGenesis
    | RunOpen
    | RunPause
    | RunResume
    | RunFinish
    | RunClose
    | RoundRoster
    | HeadAttest
    | HeadPromote
    | HeadMeasure
    | RoundOpen
    | WorkCommit
    | RoundWitness
    | WitnessProof
    | RoundClose
    | RoundVoid
    | FaultReport
    | StandingChange
    | StandingAppeal
    | StandingRelease
    | StandingUphold
    | InviteOpen
    | InviteClose
    | InviteRevoke
    | RoleGrant
    | RoleRevoke
    | MemberVouch
    | MemberTeam
    | CheckpointPublish
    | CompOpen
    | CompEnter
    | CompSubmit
    | EvalOffer
    | CompClose
    | EvalSecret
    | CompDraw
    | CompReveal
    | EvalCommit
    | EvalResult
    | CompChallenge
    | CompResult
)

VERSION = 1
"""Version of every type so far, the field `v`."""

_ALL: tuple[type[Body], ...] = (
    KeyRegister,
    MemberReady,
    MemberLeave,
    NetGenesis,
    RunOpen,
    RunPause,
    RunResume,
    RunFinish,
    RunClose,
    RoundRoster,
    HeadAttest,
    HeadPromote,
    HeadMeasure,
    RoundOpen,
    WorkCommit,
    RoundWitness,
    WitnessProof,
    RoundClose,
    RoundVoid,
    FaultReport,
    StandingChange,
    StandingAppeal,
    StandingRelease,
    StandingUphold,
    InviteOpen,
    InviteClose,
    InviteRevoke,
    RoleGrant,
    RoleRevoke,
    MemberVouch,
    MemberTeam,
    CheckpointPublish,
    CompOpen,
    CompEnter,
    CompSubmit,
    EvalOffer,
    CompClose,
    EvalSecret,
    CompDraw,
    CompReveal,
    EvalCommit,
    EvalResult,
    CompChallenge,
    CompResult,
)

BODIES: Mapping[tuple[str, int], type[Body]] = MappingProxyType(
    {(body.TYPE, VERSION): body for body in _ALL}
)
"""What this version understands; anything else is refused as `unknown-type`."""
