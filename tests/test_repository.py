"""The repository keeps its own promises: light programs, pure shared code, honest pages."""

from __future__ import annotations

import ast
import json
import re
import subprocess
import sys
import tomllib
from functools import cache
from importlib.metadata import packages_distributions
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from markdown_it import MarkdownIt
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name as canonical

from tequio_shared.version import BUILD

if TYPE_CHECKING:
    from collections.abc import Mapping

ROOT = Path(__file__).parent.parent
PAGES = sorted(
    page
    for folder in (ROOT, *(ROOT / name for name in ("docs", "bench", "installer", "tests")))
    for page in (folder.glob("*.md") if folder == ROOT else folder.rglob("*.md"))
)
BENCHES = sorted((ROOT / "bench").glob("*.py"))
FOLDERS = ("client", "ledger", "shared", "assets", "installer", "tests", "bench", "docs", ".ci")
SKIPPED = {"__pycache__", "results"}

IMPORT_ALL = """
import importlib, pkgutil, sys
late = "__main__", ".trainer.hub_models", ".trainer.conversation", ".trainer.onnx_graph"
package = importlib.import_module(sys.argv[1])
for module in pkgutil.walk_packages(package.__path__, package.__name__ + "."):
    if not module.name.endswith(late) and ".migrations" not in module.name:
        importlib.import_module(module.name)
"""
"""Imports every module of one package, less those that are loaded when they are called for.

Migrations run inside alembic only; `hub_models` is for models other than our Llama and
`conversation` for `tequio chat`, and both bring all that transformers loads.
"""

PRINT_HELP = """
import contextlib, io, json, pathlib, runpy, sys
OURS = {"loops", "ledgers", "tests"}
helps, path = {}, sys.path[1:]
for script in map(pathlib.Path, sys.argv[1:]):
    sys.argv, sys.path[:] = [str(script), "--help"], [str(script.parent), *path]
    with contextlib.redirect_stdout(io.StringIO()) as written:
        try:
            runpy.run_path(str(script), run_name="__main__")
        except SystemExit as end:
            helps[script.name] = written.getvalue() if not end.code else f"exit status {end.code}"
        except Exception as err:
            helps[script.name] = repr(err)
    for name in [name for name in sys.modules if name.split(".")[0] in OURS]:
        del sys.modules[name]
print(json.dumps(helps))
"""
"""Prints the help of scripts, all in one process: most of the time goes into imports."""

PRINT_LOADED = IMPORT_ALL + 'print(*{name.partition(".")[0] for name in sys.modules})'

PRINT_HELD = (
    IMPORT_ALL
    + """
for name, module in list(sys.modules.items()):
    if name.startswith(sys.argv[1]):
        print(*{value.__name__ for value in vars(module).values() if type(value) is type(sys)})
"""
)
"""Prints the modules that the package's own modules hold by name."""

FORBIDDEN = {
    "tequio_client.worker": {"torch", "transformers", "PySide6", "sqlalchemy"},
    "tequio_client.trainer": {
        "trio", "libp2p", "httpx", "nacl", "keyring", "sqlalchemy", "PySide6",
    },
    "tequio_client.ipc": {"trio", "libp2p", "torch", "numpy", "httpx", "nacl", "sqlalchemy"},
    "tequio_client.dataset": {"torch", "PySide6", "sqlalchemy"},
    "tequio_ledger": {"torch", "transformers", "PySide6", "libp2p"},
    "tequio_shared": {"trio", "anyio", "torch", "libp2p", "httpx", "sqlalchemy", "PySide6"},
}  # fmt: skip

TOUCHES_THE_WORLD = {
    "os", "io", "pathlib", "socket", "subprocess", "threading", "asyncio", "time", "random",
    "secrets", "logging", "tempfile", "shutil",
}  # fmt: skip

EXTRAS: dict[str, tuple[str, ...]] = {
    "shared": (),
    "assets": (),
    "ledger": ("ledger",),
    "client/tequio": ("worker",),
    "client/tequio_client": ("app", "worker", "trainer", "gguf", "s3"),
    "client/tequio_client/app": ("app",),
    "client/tequio_client/worker": ("worker", "otlp"),
    "client/tequio_client/trainer": ("trainer", "private"),
    "tests": ("dev",),
    "bench": ("dev",),
    "docs": ("docs",),
}
"""The extras with which each folder has to run; a folder inside another has its own."""
OURS = {
    "tequio",
    "tequio_shared",
    "tequio_client",
    "tequio_ledger",
    "tequio_assets",
    "tests",
    "bench",
}

LOCUST = {"locustfile.py": {"gevent", "locust"}}
"""Imports of a script that has an environment of its own: installer/locks/load.lock."""

UNENCRYPTED = {"http://127.0.0.1:8600", "http://point-at-infinity.org/ssss/"}
"""Links to a program on the reader's own computer, and to a site that has nothing else."""

MACHINE_WORDS = re.compile(
    r"pypi\.org|pythonhosted|download\.pytorch|deb\.debian|--(extra-)?index-url|find-links"
    r"|/work/(main|shared)|/root/|/home/\w|/Users/\w|/opt/(pypi|wheels)|/tmp/\w+/"
)


@pytest.mark.parametrize("package", FORBIDDEN)
def test_a_program_never_loads_what_it_must_not_hold(package: str) -> None:
    assert _child(PRINT_LOADED, package) & FORBIDDEN[package] == set()


def test_shared_code_does_no_input_or_output() -> None:
    assert _child(PRINT_HELD, "tequio_shared") & TOUCHES_THE_WORLD == set()


@pytest.mark.parametrize("folder", EXTRAS)
def test_every_import_is_declared_in_the_extra_that_needs_it(folder: str) -> None:
    inner = [other for other in EXTRAS if other.startswith(f"{folder}/")]
    sources = [
        source
        for source in sorted((ROOT / folder).rglob("*.py"))
        if not any((ROOT / other) in source.parents for other in inner)
    ]
    assert sources, "no such folder: EXTRAS has to follow the tree"
    declared = set().union(*(_declared(extra) for extra in ("", *EXTRAS[folder])))
    siblings = {path.stem for path in (ROOT / folder).iterdir()}  # scripts import those beside them
    undeclared = {
        f"{source.relative_to(ROOT)}: {name}"
        for source in sources
        for name in _imported(source) - sys.stdlib_module_names - OURS - siblings
        if not declared & _providers(name) and name not in LOCUST.get(source.name, ())
    }
    assert undeclared == set()


@pytest.mark.parametrize("name", ["README.md", "CONTRIBUTING.md"])
def test_every_make_command_a_page_names_is_a_target(name: str) -> None:
    targets = set(re.findall(r"^([a-z-]+):", _text(ROOT / "Makefile"), re.MULTILINE))
    named = set(re.findall(r"(?:^|`)make ([a-z-]+)", _text(ROOT / name), re.MULTILINE))
    assert named
    assert named - targets == set()


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_every_link_in_a_page_leads_to_a_file_and_heading_of_the_repository(page: Path) -> None:
    missing = []
    for link in _links(page):
        path, _, heading = link.partition("#")
        end = (page.parent / path).resolve() if path else page
        is_there = end.exists() and end.is_relative_to(ROOT)
        if not is_there or (heading and heading not in _headings(end)):
            missing.append(link)
    assert missing == []


def test_links_to_other_sites_are_whole_and_encrypted() -> None:
    links = {link for page in PAGES for link in _outside_links(page)}
    assert links
    whole = re.compile(r"https://[a-z0-9.-]+\.[a-z]{2,}(/[\w./~@:%#?=&+,-]*)?|mailto:\S+@\S+")
    assert {link for link in links if not whole.fullmatch(link)} <= UNENCRYPTED


@pytest.mark.parametrize("script", BENCHES, ids=lambda script: script.stem)
def test_every_bench_can_write_its_numbers_as_json(script: Path) -> None:
    assert "--json" in _bench_help()[script.name]


def test_every_file_of_the_map_exists() -> None:
    roots = {
        "shared": ROOT / "shared" / "tequio_shared",
        "client": ROOT / "client" / "tequio_client",
        "ledger": ROOT / "ledger" / "tequio_ledger",
    }
    page = (ROOT / "docs" / "design.md").read_text()
    rows = page.partition("| question | file |")[2].partition("\n\n")[0]
    missing, prefix, named = [], "shared", 0
    for quoted in re.findall(r"`([^`]+)`", rows):
        package, found, path = quoted.rpartition(": ")
        prefix = package if found else prefix
        if path.endswith((".py", "/")):
            named += 1
            if not (roots[prefix] / path).exists():
                missing.append(f"{prefix}: {path}")
    assert missing == []
    assert named > 50


def test_every_decision_is_in_the_index() -> None:
    folder = ROOT / "docs" / "decisions"
    index = _text(folder / "README.md")
    notes = {note.name for note in folder.glob("[0-9]*.md")}
    assert {name for name in notes if f"({name})" not in index} == set()


def test_the_checklist_of_a_release_names_every_file_that_has_the_version() -> None:
    step = _text(ROOT / "docs" / "releasing.md").partition("\n2. ")[2].partition("\n3. ")[0]
    assigned = re.compile(rf'(?<!=)[:=] *"?{re.escape(BUILD)}"?,?$', re.MULTILINE)
    files = {file.relative_to(ROOT) for file in _files() if assigned.search(_text(file))}
    named = {file.as_posix() for file in files if not {"docs", "tests"} & set(file.parts)}
    assert "shared/tequio_shared/version.py" in named
    assert {name for name in named if f"`{name}`" not in step} == set()


def test_no_program_ends_inside_an_except_star() -> None:
    """Before Python 3.11.4 that wraps SystemExit in a group: people see a traceback."""
    found = []
    for source in (*(ROOT / "client").rglob("*.py"), *(ROOT / "ledger").rglob("*.py")):
        text = _text(source)
        if "except*" in text:
            stars = (node for node in ast.walk(ast.parse(text)) if isinstance(node, ast.TryStar))
            calls = (
                call.func
                for star in stars
                for handler in star.handlers
                for call in ast.walk(handler)
                if isinstance(call, ast.Call)
            )
            found += [f"{source}: {ast.unparse(f)}" for f in calls if "exit" in ast.unparse(f)]
    assert found == []


def test_no_file_names_a_registry_or_a_place_on_one_machine() -> None:
    found = [
        f"{file.relative_to(ROOT)}: {match.group()}"
        for file in _files()
        for match in MACHINE_WORDS.finditer(_text(file))
    ]
    assert found == []


def _imported(source: Path) -> set[str]:
    """The top-level packages that a file imports, at its head or anywhere else."""
    names: set[str] = set()
    for node in ast.walk(ast.parse(source.read_text("utf-8"))):
        if isinstance(node, ast.Import):
            names |= {alias.name.partition(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            names.add(node.module.partition(".")[0])
    return names


def _providers(package: str) -> set[str]:
    """The distributions that bring a top-level package, or one of that name."""
    return {canonical(one) for one in _distributions().get(package, [package])}


@cache
def _distributions() -> Mapping[str, list[str]]:
    return packages_distributions()


def _declared(extra: str) -> set[str]:
    """The distributions of an extra and of those that it includes; of no extra: the base."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    found: set[str] = set()
    for text in project["optional-dependencies"][extra] if extra else project["dependencies"]:
        wanted = Requirement(text)
        if wanted.name == project["name"]:
            found = found.union(*(_declared(one) for one in wanted.extras))
        else:
            found.add(canonical(wanted.name))
    return found


@cache
def _bench_help() -> dict[str, str]:
    command = [sys.executable, "-c", PRINT_HELP, *map(str, BENCHES)]
    done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=120)
    helps: dict[str, str] = json.loads(done.stdout)
    return helps


def _child(code: str, package: str) -> set[str]:
    command = [sys.executable, "-c", code, package]
    shown = subprocess.run(command, capture_output=True, text=True, check=False, timeout=120)
    assert shown.returncode == 0, shown.stderr
    return set(shown.stdout.split())


def _files() -> list[Path]:
    """Every text file that ships, but this one, which must name the words."""
    inside = [file for folder in FOLDERS for file in (ROOT / folder).rglob("*")]
    top = [file for file in ROOT.iterdir() if file.name != ".git"]
    return [file for file in (*top, *inside) if file.is_file() and _is_ours(file)]


def _is_ours(file: Path) -> bool:
    return file != Path(__file__) and not SKIPPED & set(file.relative_to(ROOT).parts)


def _text(file: Path) -> str:
    return file.read_text("utf-8", errors="replace")


@cache
def _targets(page: Path) -> list[str]:
    """Targets of a page's links, as a reader of Markdown finds them: none in code."""
    inline = [token for token in MarkdownIt().enable("table").parse(_text(page)) if token.children]
    links = [link for token in inline for link in token.children or () if link.type == "link_open"]
    return [str(link.attrs["href"]) for link in links]


def _links(page: Path) -> list[str]:
    return [link for link in _targets(page) if not _leads_outside(link)]


def _outside_links(page: Path) -> list[str]:
    return [link for link in _targets(page) if _leads_outside(link)]


@cache
def _headings(page: Path) -> set[str]:
    """Names of a page's headings, as hosts of repositories make them."""
    tokens = MarkdownIt().parse(_text(page))
    found: list[str] = []
    for opening, inline in pairwise(tokens):
        if opening.type == "heading_open":
            text = "".join(child.content for child in inline.children or ())
            name = re.sub(r"[^\w\- ]", "", text.lower()).replace(" ", "-")
            repeated = sum(name == one.rpartition("-")[0] or name == one for one in found)
            found.append(f"{name}-{repeated}" if repeated else name)
    return set(found)


def _leads_outside(link: str) -> bool:
    return bool(re.match(r"[a-z]+:", link))
