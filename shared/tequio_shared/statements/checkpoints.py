"""Statements about heads that were made public."""

from typing import Annotated, ClassVar

import msgspec

from tequio_shared.fields import Bytes32Text
from tequio_shared.statements.scope import Scope

_NAME = "[A-Za-z0-9][A-Za-z0-9._-]{0,95}"
RepoText = Annotated[str, msgspec.Meta(max_length=193, pattern=rf"\A{_NAME}/{_NAME}\Z")]
RevisionText = Annotated[
    str, msgspec.Meta(min_length=40, max_length=40, pattern=r"\A[0-9a-f]{40}\Z")
]


class CheckpointPublish(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """Organisers put the head of a round on the Hugging Face Hub."""

    TYPE: ClassVar[str] = "checkpoint.publish"
    SCOPE: ClassVar[Scope] = Scope.ROUND

    head: Bytes32Text
    weights_root: Bytes32Text
    repo: RepoText
    """The repository, `user/name`."""
    revision: RevisionText
    """Its commit."""
