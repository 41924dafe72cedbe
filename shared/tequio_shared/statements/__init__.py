"""The bodies of statements, and the one table from a type's name and version to its body."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import TypeAlias

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
from tequio_shared.statements.network import (
    CheckpointPublish,
    FaultReport,
    InviteClose,
    InviteOpen,
    InviteRevoke,
    KeyRegister,
    MemberLeave,
    MemberReady,
    MemberTeam,
    MemberVouch,
    RoleGrant,
    RoleRevoke,
    StandingAppeal,
    StandingChange,
    StandingRelease,
    StandingUphold,
)
from tequio_shared.statements.runs import (
    HeadAttest,
    HeadMeasure,
    HeadPromote,
    NetGenesis,
    RoundClose,
    RoundOpen,
    RoundRoster,
    RoundVoid,
    RoundWitness,
    RunClose,
    RunFinish,
    RunOpen,
    RunPause,
    RunResume,
    WitnessProof,
    WorkCommit,
)

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
"""Version of every statement type so far, the field `v`."""

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
"""Bodies that this version understands; anything else is refused as `unknown-type`."""
