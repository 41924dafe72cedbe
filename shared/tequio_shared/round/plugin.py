"""A run's own code: the plug-in that a manifest names by the hash of its archive.

A manifest names code, it never contains any. The archive is a blob like the model's configuration:
the ledger and every member can serve it, and its name is its SHA-256. Only trainers load it, and
what encodes texts for a chat, after their owner has consented to exactly these bytes
(docs/plugins.md). A head is computed from a manifest and contributions alone, so no verdict, point
or head depends on the code.
"""

from __future__ import annotations

from typing import Annotated, Literal, TypeAlias, get_args

from msgspec import Meta, Struct

from tequio_shared.ids import Bytes32Text

PLUGIN_BYTES = 1 << 20
"""Largest archive of a plug-in: code that a person can read, and one piece to fetch."""
Seam: TypeAlias = Literal["loader", "model", "optimiser", "tokenizer"]
"""Place at which a plug-in's code replaces that of the release."""
SEAMS: tuple[Seam, ...] = get_args(Seam)
TRAINER_SEAMS: tuple[Seam, ...] = ("loader", "model", "optimiser")
"""Seams that trainers call; shards hold ids, so training takes no tokenizer."""
PluginName = Annotated[str, Meta(pattern=r"\A[a-z][a-z0-9]*(_[a-z0-9]+)*\Z", max_length=64)]
"""Name of a Python package."""
PluginVersion = Annotated[str, Meta(pattern=r"\A[0-9][0-9A-Za-z.+-]*\Z", max_length=32)]


class PluginSpec(Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """A plug-in: `archive` is the SHA-256 of its file, `provides` ascends without repetitions."""

    name: PluginName
    version: PluginVersion
    archive: Bytes32Text
    size_bytes: Annotated[int, Meta(ge=1, le=PLUGIN_BYTES)]
    provides: Annotated[tuple[Seam, ...], Meta(min_length=1, max_length=len(SEAMS))]

    @property
    def label(self) -> str:
        """Name and version, for people."""
        return f"{self.name} {self.version}"

    @property
    def trains(self) -> bool:
        """True if trainers call this code."""
        return any(seam in TRAINER_SEAMS for seam in self.provides)

    def fault(self, algorithm: str, *, has_base: bool) -> str:
        """Name the fault of a manifest with this plug-in; empty without one."""
        faults = {
            "must ascend without repetitions": list(self.provides) != sorted(set(self.provides)),
            "has optimiser, and distro takes no inner steps": "optimiser" in self.provides
            and algorithm == "distro",
            "has model, which cannot be combined with a frozen base": "model" in self.provides
            and has_base,
        }
        found = next((why for why, is_broken in faults.items() if is_broken), "")
        return f"plugin.provides {found}" if found else ""
