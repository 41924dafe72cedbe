"""`make sbom`: what is installed for each product, as a CycloneDX list; and the locks, parsed.

A component is a package that the product's lock wants on this platform, as it is installed here:
version, licence, what it needs. Its hashes are those that the lock accepts for it, of every
platform's files. The same packages and locks give the same bytes: the serial number is a hash of
the content, and the time that of SOURCE_DATE_EPOCH, or none.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import sys
import uuid
from dataclasses import dataclass
from datetime import UTC, datetime
from importlib.metadata import Distribution, PackageNotFoundError, distribution
from pathlib import Path
from typing import TYPE_CHECKING

from cyclonedx.contrib.license.factories import LicenseFactory
from cyclonedx.model import ExternalReference, ExternalReferenceType, HashAlgorithm, HashType, XsUri
from cyclonedx.model.bom import Bom
from cyclonedx.model.component import Component, ComponentType
from cyclonedx.output.json import JsonV1Dot6
from packageurl import PackageURL
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name as canonical

from tequio_shared.version import BUILD

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

ROOT = Path(__file__).parent.parent.parent
LOCKS = ROOT / "installer" / "locks"
TORCH = (LOCKS / "torch.lock", LOCKS / "torch-cpu.lock")
PRODUCTS: Mapping[str, tuple[Path, ...]] = {
    "client": (LOCKS / "client.lock", *TORCH),
    "ledger": (LOCKS / "ledger.lock",),
}
EXTRAS: Mapping[str, tuple[str, ...]] = {
    "client": ("app", "worker", "trainer", "gguf", "otlp", "private"),
    "seed": ("worker", "otlp"),
    "ledger": ("ledger",),
}
"""The extras that installer/lock.sh locks for each product."""
LONGEST_LICENCE = 100
"""Longer ones are the licence's whole text."""
_ENTRY = re.compile(r"^([a-z].*?)((?: \\\n +--hash=\S+)*)$", re.MULTILINE)


@dataclass(frozen=True, slots=True, kw_only=True)
class Locked:
    """One entry of a lock: exactly one version, and every SHA-256 that a file of it may have."""

    requirement: Requirement
    sha256: tuple[str, ...]

    @property
    def name(self) -> str:
        return canonical(self.requirement.name)

    @property
    def is_wanted_here(self) -> bool:
        return self.requirement.marker is None or self.requirement.marker.evaluate()


def entries(lock: Path) -> list[Locked]:
    """Every entry of a lock, for all platforms."""
    return [
        Locked(
            requirement=Requirement(head),
            sha256=tuple(re.findall(r"--hash=sha256:([0-9a-f]{64})\b", hashes)),
        )
        for head, hashes in _ENTRY.findall(lock.read_text("utf-8"))
    ]


def bom_of(product: str) -> Bom:
    """The packages of a product; PackageNotFoundError if one that it needs is not installed."""
    locked: dict[str, list[str]] = {}
    for entry in (entry for lock in PRODUCTS[product] for entry in entries(lock)):
        if entry.is_wanted_here and not _is_of_another_build(entry):
            locked.setdefault(entry.name, []).extend(entry.sha256)
    found = {name: distribution(name) for name in sorted(locked)}
    components = {name: _component(found[name], locked[name]) for name in found}
    root = Component(
        name=f"tequio-{product}",
        version=BUILD,
        type=ComponentType.APPLICATION,
        bom_ref=f"tequio-{product}",
        licenses=[LicenseFactory().make_from_string("Apache-2.0")],
    )
    bom = Bom(components=components.values())
    bom.metadata.component = root
    direct = _needs(distribution("tequio"), "", *EXTRAS[product])
    bom.register_dependency(root, _present(direct, components))
    for name, one in found.items():
        bom.register_dependency(components[name], _present(_needs(one, ""), components))
    bom.metadata.tools.components.clear()  # the library's own version is none of the content
    epoch = os.environ.get("SOURCE_DATE_EPOCH")
    if epoch is not None:
        bom.metadata.timestamp = datetime.fromtimestamp(int(epoch), UTC)
    return bom


def text_of(bom: Bom) -> str:
    """The list as JSON; the serial number follows from everything else but the time."""
    listed = json.loads(JsonV1Dot6(bom).output_as_string())
    del listed["serialNumber"]
    time = listed["metadata"].pop("timestamp")
    digest = hashlib.sha256(json.dumps(listed, sort_keys=True).encode()).digest()
    listed["serialNumber"] = uuid.UUID(bytes=digest[:16], version=4).urn
    if "SOURCE_DATE_EPOCH" in os.environ:
        listed["metadata"]["timestamp"] = time
    return json.dumps(listed, indent=2, sort_keys=True)


def main(folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    for product in PRODUCTS:
        try:
            text = text_of(bom_of(product))
        except PackageNotFoundError as err:
            sys.exit(f"{err.name} is in the lock of {product} and not installed; run `make setup`")
        (folder / f"{product}.cdx.json").write_text(f"{text}\n", "utf-8")


def _is_of_another_build(entry: Locked) -> bool:
    """True for torch's other build, and for what only the build for CUDA needs."""
    if entry.name not in {one.name for lock in TORCH for one in entries(lock)}:
        return False
    torch = distribution("torch")
    if entry.name == "torch":
        return str(entry.requirement.specifier) != f"=={torch.version}"
    return "+cpu" in torch.version


def _component(one: Distribution, sha256: Iterable[str]) -> Component:
    name = canonical(one.name)
    purl = PackageURL("pypi", name=name, version=one.version)
    accepted = [HashType(alg=HashAlgorithm.SHA_256, content=digest) for digest in sorted(sha256)]
    licence = one.metadata["License-Expression"] or one.metadata["License"] or ""
    is_name = 0 < len(licence) < LONGEST_LICENCE
    return Component(
        name=name,
        version=one.version,
        type=ComponentType.LIBRARY,
        bom_ref=str(purl),
        purl=purl,
        description=one.metadata["Summary"] or None,
        licenses=[LicenseFactory().make_from_string(licence)] if is_name else (),
        external_references=[
            ExternalReference(
                type=ExternalReferenceType.DISTRIBUTION,
                url=XsUri(str(purl)),
                comment="any one of these files",
                hashes=accepted,
            )
        ],
    )


def _needs(one: Distribution, *extras: str) -> set[str]:
    wanted = (Requirement(text) for text in one.requires or ())
    return {
        canonical(need.name)
        for need in wanted
        if need.marker is None or any(need.marker.evaluate({"extra": extra}) for extra in extras)
    }


def _present(names: Iterable[str], components: Mapping[str, Component]) -> list[Component]:
    """The components of these names; a lock leaves out parts of libp2p on purpose."""
    return [components[name] for name in sorted(names) if name in components]


if __name__ == "__main__":
    main(Path(sys.argv[1]))
