"""Packages are installed by hash, suffice for what the programs import, and are listed."""

from __future__ import annotations

import ast
import importlib.metadata
import json
import os
import re
import subprocess
import sys
import tomllib
from functools import cache
from importlib.metadata import packages_distributions
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from cyclonedx.schema import SchemaVersion
from cyclonedx.validation.json import JsonStrictValidator
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name as canonical

from tequio_client.worker.swarm import libp2p_parts
from tests.support.hidden_packages import HIDE
from tests.support.sbom import EXTRAS, LOCKS, PRODUCTS, TORCH, Locked, entries

if TYPE_CHECKING:
    from collections.abc import Mapping

ROOT = Path(__file__).parent.parent
ALL = ROOT / "requirements.lock"
EVERY_LOCK = (ALL, *sorted(LOCKS.glob("*.lock")))
SCRIPTS = sorted([*(ROOT / "installer").glob("*.sh"), ROOT / ".ci" / "run", ROOT / "Makefile"])
NOT_INSTALLED_WITHOUT_A_HASH = re.compile(
    r"--require-hashes|\$\{BY_HASH\[@\]\}|--no-index|(?<=\s)--editable \.|wheels \"\$source\""
)
CODE: Mapping[str, tuple[str, ...]] = {
    "client": ("tequio_client", "tequio_shared", "tequio_assets"),
    "seed": ("tequio_client.worker", "tequio_shared"),
    "ledger": ("tequio_ledger", "tequio_shared", "tequio_assets"),
}
"""The packages that each product imports when it runs; a seed is a worker without the rest."""

IMPORT_WITH = f"""
import importlib, json, pkgutil, sys
hidden, packages = set(json.loads(sys.argv[1])), sys.argv[2:]
{HIDE}
for name in packages:
    package = importlib.import_module(name)
    for module in pkgutil.walk_packages(package.__path__, f"{{name}}."):
        if not module.name.endswith("__main__") and ".migrations" not in module.name:
            importlib.import_module(module.name)
print(*(name for name in sys.modules if name.partition(".")[0] == "libp2p"))
"""
"""Imports every module of the packages, as if the named top-level packages were not installed."""

EMPTY = {"_distutils_hack", "pkg_resources", "setuptools"}
"""Present in every virtual environment, where a hook imports them at the start."""


@pytest.mark.parametrize("lock", EVERY_LOCK, ids=lambda lock: lock.name)
def test_every_requirement_of_a_lock_is_one_version_and_has_a_hash(lock: Path) -> None:
    locked = entries(lock)
    lines = [line for line in lock.read_text("utf-8").splitlines() if re.match(r"[^\s#]", line)]
    assert len(locked) == len(lines) > 0
    for entry in locked:
        assert re.fullmatch(r"==[^*,]+", str(entry.requirement.specifier)), entry
        assert entry.sha256, entry
        assert entry.requirement.url is None, entry


@pytest.mark.parametrize("product", [*CODE, "build"])
def test_a_product_has_the_versions_and_files_of_the_whole_lock(product: str) -> None:
    tested = {_version(entry): set(entry.sha256) for entry in entries(ALL)}
    for entry in entries(LOCKS / f"{product}.lock"):
        assert tested.get(_version(entry)) == set(entry.sha256), entry


def test_what_each_extra_declares_is_in_the_lock_of_its_product() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    extras = project["optional-dependencies"]
    torch = _by_name(*TORCH)
    for product, names in EXTRAS.items():
        locked = _by_name(LOCKS / f"{product}.lock") | (torch if product == "client" else {})
        for text in [*project["dependencies"], *(one for name in names for one in extras[name])]:
            wanted = Requirement(text)
            found = locked[canonical(wanted.name)]
            assert any(one.requirement.specifier for one in found), text
            for one in found:
                (pinned,) = one.requirement.specifier
                assert wanted.specifier.contains(pinned.version, prereleases=True), text


def test_torch_is_the_declared_version_in_each_build() -> None:
    declared = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
    (wanted,) = (
        Requirement(text)
        for text in declared["project"]["optional-dependencies"]["trainer"]
        if text.startswith("torch")
    )
    for lock in TORCH:
        (torch,) = _by_name(lock)["torch"]
        (pinned,) = torch.requirement.specifier
        assert wanted.specifier.contains(pinned.version)
    assert "torch" not in _by_name(ALL), "pip would fetch it again, in whichever build has a hash"


def test_the_build_of_torch_for_the_cpu_is_installed_wherever_pip_is_offered_it(
    tmp_path: Path,
) -> None:
    (torch,) = _by_name(LOCKS / "torch-cpu.lock")["torch"]
    (pinned,) = torch.requirement.specifier
    wheel = tmp_path / f"torch-{pinned.version}-py3-none-any.whl"
    wheel.write_bytes(b"its name is all that is read")
    assert _lock_of_torch(tmp_path) == "torch-cpu.lock"
    wheel.unlink()
    wheel.with_name(wheel.name.replace(pinned.version, "2.13.0")).write_bytes(b"")
    assert _lock_of_torch(tmp_path) == "torch.lock"


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda path: path.name)
def test_nothing_is_installed_without_a_hash(script: Path) -> None:
    text = script.read_text("utf-8").replace("\\\n", " ")
    for line in text.splitlines():
        if re.search(r"(?<!\w)pip\b.*\b(install|wheel|download)\b", line.partition("#")[0]):
            is_wrapper = line.strip().startswith('pip "$scratch/venv" wheel')
            assert is_wrapper or NOT_INSTALLED_WITHOUT_A_HASH.search(line), line
        assert not re.search(r"\b(curl|wget|npm|npx|go install|playwright install)\b", line), line


def test_images_are_named_by_digest_alone() -> None:
    dockerfile = (ROOT / "installer" / "Dockerfile").read_text("utf-8")
    stages = set(re.findall(r"^FROM \S+ AS (\S+)$", dockerfile, re.MULTILINE))
    bases = re.findall(r"^FROM (\S+)", dockerfile, re.MULTILINE)
    assert len(bases) > len(stages) - 1 > 0
    outside = [base for base in bases if base not in stages]
    composed = "".join(
        (ROOT / "installer" / name).read_text("utf-8") for name in ("compose.yaml", "worker.yaml")
    )
    images = re.findall(r"^ *image: (\S+)", composed, re.MULTILINE)
    assert outside
    assert images
    for image in [*outside, *images]:
        assert re.search(r"@(sha256:[0-9a-f]{64}$|\$\{[A-Z]+_DIGEST(:\?[^}]*)?)", image), image
    assert "ARG PYTHON_DIGEST\n" in dockerfile, "no default: a build without it ends"


@pytest.mark.parametrize("product", CODE)
def test_a_product_imports_nothing_that_its_lock_leaves_out(product: str) -> None:
    done = _import_with(_absent_from(product), *CODE[product])
    assert done.returncode == 0, done.stderr[-2000:]


@pytest.mark.parametrize("product", CODE)
def test_an_import_inside_a_function_is_in_the_lock_too(product: str) -> None:
    absent = _absent_from(product)
    folders = {"tequio_client": "client", "tequio_ledger": "ledger", "tequio_shared": "shared"}
    for package in CODE[product]:
        top = package.partition(".")[0]
        if top not in folders:
            continue
        source = ROOT / folders[top] / Path(*package.split("."))
        for file in source.rglob("*.py"):
            assert _imports(file) & absent == set(), file


def test_a_missing_import_is_noticed() -> None:
    done = _import_with({"noise"}, "tequio_client.worker.swarm")
    assert done.returncode != 0
    assert "No module named 'noise'" in done.stderr


def test_the_lock_has_of_libp2p_what_it_imports_and_no_more() -> None:
    """Each declared dependency of libp2p is imported by a module of it that a worker loads."""
    done = _import_with(set(), "tequio_client.worker")
    loaded = [name for name in done.stdout.split() if not _is_left_out(name)]
    library = Path(str(importlib.metadata.distribution("libp2p").locate_file("libp2p")))
    imported: set[str] = set()
    for name in loaded:
        inside = library.joinpath(*name.split(".")[1:])
        file = inside / "__init__.py" if inside.is_dir() else inside.with_suffix(".py")
        if file.exists():
            imported |= _imports(file)
    config = tomllib.loads((ROOT / "installer" / "uv.toml").read_text("utf-8"))
    (libp2p,) = config["dependency-metadata"]
    assert libp2p["version"] == importlib.metadata.version("libp2p")
    declared = {canonical(Requirement(text).name) for text in libp2p["requires-dist"]}
    providers = packages_distributions()
    provided = {canonical(one) for name in imported for one in providers.get(name, ())}
    assert declared - provided == set(), "declared, and never imported"
    required = {canonical(Requirement(text).name) for text in _requires("libp2p")}
    assert provided & required <= declared | _not_loaded_at_once(), "imported, and not declared"


@pytest.mark.parametrize("part", libp2p_parts.PARTS)
def test_a_part_that_is_left_out_is_one_of_the_library_and_not_loaded(part: str) -> None:
    library = Path(str(importlib.metadata.distribution("libp2p").locate_file("libp2p")))
    inside = library.joinpath(*part.split(".")[1:])
    assert inside.is_dir() or inside.with_suffix(".py").exists(), "of another version?"
    loaded = _import_with(set(), "tequio_client.worker").stdout.split()
    assert part in loaded or any(one.startswith(f"{part}.") for one in loaded), "or needless"
    assert getattr(sys.modules.get(part), "__file__", None) is None


@pytest.mark.parametrize("product", PRODUCTS)
def test_the_list_of_a_product_is_valid_and_complete(product: str, sboms: Path) -> None:
    text = (sboms / f"{product}.cdx.json").read_text("utf-8")
    assert JsonStrictValidator(SchemaVersion.V1_6).validate_str(text) is None
    bom: dict[str, Any] = json.loads(text)
    listed = {one["name"]: one for one in bom["components"]}
    wanted = {entry.name for entry in entries(LOCKS / f"{product}.lock") if entry.is_wanted_here}
    assert wanted <= listed.keys()
    assert listed.keys() - wanted <= _by_name(*TORCH).keys()
    assert ("torch" in listed) == (product == "client")
    for name, one in listed.items():
        assert one["version"] == importlib.metadata.version(name)
        (files,) = one["externalReferences"]
        assert files["hashes"], name
    refs = {one["ref"] for one in bom["dependencies"]}
    assert refs == {
        bom["metadata"]["component"]["bom-ref"],
        *(one["bom-ref"] for one in listed.values()),
    }
    assert sum(bool(one.get("licenses")) for one in listed.values()) > len(listed) // 2


def test_the_same_packages_give_the_same_list(sboms: Path, tmp_path: Path) -> None:
    _write_sboms(tmp_path)
    for product in PRODUCTS:
        name = f"{product}.cdx.json"
        assert (tmp_path / name).read_bytes() == (sboms / name).read_bytes()
    _write_sboms(tmp_path, SOURCE_DATE_EPOCH="1700000000")
    for product in PRODUCTS:
        dated = json.loads((tmp_path / f"{product}.cdx.json").read_text("utf-8"))
        assert dated["metadata"].pop("timestamp").startswith("2023-11-14T22:13:20")
        assert dated == json.loads((sboms / f"{product}.cdx.json").read_text("utf-8"))


@pytest.fixture(scope="module")
def sboms(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("sbom")
    _write_sboms(folder)
    return folder


def _write_sboms(folder: Path, **variables: str) -> None:
    command = [sys.executable, "-m", "tests.support.sbom", str(folder)]
    inherited = {name: text for name, text in os.environ.items() if name != "SOURCE_DATE_EPOCH"}
    subprocess.run(command, check=True, cwd=ROOT, env=inherited | variables, timeout=120)


def _version(entry: Locked) -> str:
    return f"{entry.name}{entry.requirement.specifier}"


def _by_name(*locks: Path) -> dict[str, list[Locked]]:
    found: dict[str, list[Locked]] = {}
    for entry in (entry for lock in locks for entry in entries(lock)):
        found.setdefault(entry.name, []).append(entry)
    return found


def _lock_of_torch(offered: Path) -> str:
    """The lock that is chosen where pip finds torch in this folder only."""
    env = os.environ | {"PIP_NO_INDEX": "1", "PIP_FIND_LINKS": str(offered)}
    env["PIP_CONFIG_FILE"] = os.devnull
    command = [str(ROOT / "installer" / "torch.sh"), sys.executable]
    done = subprocess.run(command, check=True, capture_output=True, text=True, env=env, timeout=120)
    return Path(done.stdout.strip()).name


@cache
def _absent_from(product: str) -> frozenset[str]:
    """The top-level packages that are installed here and not where the product is."""
    locked = set(_by_name(LOCKS / f"{product}.lock"))
    if product == "client":
        locked |= _by_name(*TORCH).keys()
    absent = {
        name
        for name, owners in packages_distributions().items()
        if not {canonical(one) for one in owners} & locked and not name.startswith("tequio")
    }
    return frozenset(absent - EMPTY)


@cache
def _import_run(hidden: frozenset[str], *packages: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-c", IMPORT_WITH, json.dumps(sorted(hidden)), *packages]
    return subprocess.run(command, check=False, capture_output=True, text=True, timeout=300)


def _import_with(
    hidden: frozenset[str] | set[str], *packages: str
) -> subprocess.CompletedProcess[str]:
    return _import_run(frozenset(hidden), *packages)


def _imports(file: Path) -> set[str]:
    """The top-level packages that a file imports when it runs, also inside its functions."""
    found: set[str] = set()
    skipped: set[ast.AST] = set()
    for node in ast.walk(ast.parse(file.read_text("utf-8"))):
        if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.dump(node.test):
            skipped.update(inner for one in node.body for inner in ast.walk(one))
        if node in skipped:
            continue
        if isinstance(node, ast.Import):
            found |= {one.name.partition(".")[0] for one in node.names}
        elif isinstance(node, ast.ImportFrom) and not node.level and node.module:
            found.add(node.module.partition(".")[0])
    return found - sys.stdlib_module_names


def _is_left_out(module: str) -> bool:
    return any(module == part or module.startswith(f"{part}.") for part in libp2p_parts.PARTS)


def _requires(name: str) -> list[str]:
    return [
        text
        for text in importlib.metadata.requires(name) or ()
        if (marker := Requirement(text).marker) is None or marker.evaluate({"extra": ""})
    ]


def _not_loaded_at_once() -> set[str]:
    """Imported inside functions of modules that we load, for parts that we leave out."""
    return {"trio-websocket"}
