"""The bodies of statements, by subject; `statement` wraps and signs them.

Every body names its type, and the fields `run` and `round` that a statement of that type carries.
"""

import enum
from typing import ClassVar

from msgspec import Struct


class Scope(enum.Enum):
    """The subject of a statement: of `run` and `round` it must carry exactly these fields."""

    NETWORK = "network"
    RUN = "run"
    ROUND = "round"


class NetworkBody(Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """A body about the network: its statement has neither `run` nor `round`."""

    TYPE: ClassVar[str]
    SCOPE: ClassVar[Scope] = Scope.NETWORK


class RunBody(Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """A body about a run: its statement has `run`, but not `round`."""

    TYPE: ClassVar[str]
    SCOPE: ClassVar[Scope] = Scope.RUN


class RoundBody(Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """A body about a round: its statement has both `run` and `round`."""

    TYPE: ClassVar[str]
    SCOPE: ClassVar[Scope] = Scope.ROUND
