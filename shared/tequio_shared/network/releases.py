"""The releases of the software that organisers name in the log.

Each statement names one version of the signed list that mirrors serve (TUF targets metadata) by the
hash of its file, so that a member can tell whether it is served the same list as everybody else.
The newest statement also has the oldest version that members should run. The newest few are kept: a
client may hold a list that is older than the newest. (docs/protocol.md, releases)
"""

from __future__ import annotations

from dataclasses import dataclass, field

from tequio_shared.errors import RefusedError
from tequio_shared.ids import Digest, digest_from_text
from tequio_shared.statements.network import SoftwareRelease

RELEASES = 16
"""Most releases that are kept."""


@dataclass(frozen=True, slots=True, kw_only=True)
class NamedRelease:
    """One version of the list, as a software.release names it."""

    index: int
    """Log index of the statement."""
    version: str
    minimum: str
    targets: Digest
    targets_version: int


@dataclass(slots=True)
class ReleaseHistory:
    """The newest releases by version of the list, ascending; only `apply` changes them."""

    releases: list[NamedRelease] = field(default_factory=list)

    @property
    def newest(self) -> NamedRelease | None:
        return self.releases[-1] if self.releases else None

    def named(self, targets_version: int) -> NamedRelease | None:
        """Find the release with that version of the list; None: not named, or no longer kept."""
        found = (one for one in self.releases if one.targets_version == targets_version)
        return next(found, None)

    def apply(self, index: int, body: SoftwareRelease) -> None:
        """Apply software.release; raises RefusedError unless it follows the one before."""
        newest, targets = self.newest, digest_from_text(body.targets)
        if newest is not None and body.targets_version < newest.targets_version:
            raise RefusedError(
                "wrong-state",
                f"list {body.targets_version} of releases is older than {newest.targets_version}, "
                f"which entry {newest.index} names",
            )
        if newest is not None and body.targets_version == newest.targets_version:
            # With two hashes for one version, two members could be served different lists.
            if targets != newest.targets:
                raise RefusedError(
                    "wrong-state",
                    f"entry {newest.index} names list {body.targets_version} of releases with "
                    "another hash",
                )
            self.releases.pop()
        made = NamedRelease(
            index=index,
            version=body.version,
            minimum=body.minimum,
            targets=targets,
            targets_version=body.targets_version,
        )
        self.releases.append(made)
        del self.releases[:-RELEASES]
