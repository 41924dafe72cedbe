"""The workflows of continuous integration are valid, pinned, and allowed no more than they need."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
import yaml

from tests.package.conftest import EVERYTHING_VARIABLE

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = Path(__file__).parent.parent
WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))
WRITES = {("release.yml", "publish")}
"""The only jobs that may change anything outside their own machine."""
LONGEST_MIN = 120
PATHS = re.compile(r"(?<![\w./-])(?:installer|tests|shared|\.ci)/[\w./-]*\w")

each = pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.name)


@cache
def workflow(path: Path) -> dict[Any, Any]:
    parsed: dict[Any, Any] = yaml.safe_load(path.read_text("utf-8"))
    return parsed


def jobs(path: Path) -> Iterator[tuple[str, dict[str, Any]]]:
    yield from workflow(path)["jobs"].items()


def test_there_is_one_workflow_for_changes_and_one_for_releases() -> None:
    assert [path.name for path in WORKFLOWS] == ["check.yml", "release.yml"]


@each
def test_every_action_is_pinned_to_a_commit_and_names_its_version(path: Path) -> None:
    lines = re.findall(r"uses: (.+)$", path.read_text("utf-8"), re.MULTILINE)
    assert lines
    for line in lines:
        assert re.fullmatch(r"[\w-]+/[\w-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+", line), line


def test_one_action_is_one_version_everywhere() -> None:
    found: dict[str, set[str]] = {}
    for path in WORKFLOWS:
        for name, rest in re.findall(
            r"uses: ([\w/-]+)@(.+)$", path.read_text("utf-8"), re.MULTILINE
        ):
            found.setdefault(name, set()).add(rest)
    assert all(len(versions) == 1 for versions in found.values()), found


@each
def test_a_job_may_read_the_repository_and_nothing_else(path: Path) -> None:
    assert workflow(path)["permissions"] == {"contents": "read"}
    for name, job in jobs(path):
        assert ("permissions" in job) == ((path.name, name) in WRITES), name
        for step in job["steps"]:
            if step.get("uses", "").startswith("actions/checkout@"):
                assert step["with"]["persist-credentials"] is False, name


@each
def test_every_job_ends_and_older_runs_of_a_branch_do_too(path: Path) -> None:
    assert workflow(path)["concurrency"]["group"].endswith("${{ github.ref }}")
    for name, job in jobs(path):
        assert 0 < job["timeout-minutes"] <= LONGEST_MIN, name
        assert re.fullmatch(
            r"(ubuntu|windows|macos)-\d\S*|\$\{\{ matrix\.runner \}\}", job["runs-on"]
        )


@each
def test_every_file_that_a_step_names_exists(path: Path) -> None:
    steps = [step for _, job in jobs(path) for step in job["steps"]]
    named = {name for step in steps for name in PATHS.findall(step.get("run", ""))}
    assert named
    assert {name for name in named if not (ROOT / name).exists()} == set()


@each
def test_no_text_of_a_stranger_is_pasted_into_a_script(path: Path) -> None:
    """A branch or a title may hold shell code: values reach scripts as variables."""
    for _, job in jobs(path):
        for step in job["steps"]:
            assert "${{" not in step.get("run", ""), step


def test_a_draft_follows_two_equal_builds_on_each_system() -> None:
    release = dict(jobs(ROOT / ".github" / "workflows" / "release.yml"))
    assert release["publish"]["needs"] == "compare"
    assert release["compare"]["needs"] == "build"
    built, compared = release["build"]["strategy"], release["compare"]["strategy"]
    assert built["matrix"]["system"] == compared["matrix"]["system"]
    assert len(built["matrix"]["build"]) == 2
    (tag,) = workflow(ROOT / ".github" / "workflows" / "release.yml")[True]["push"]["tags"]
    assert tag.startswith("v"), "YAML reads the key `on` as true"


def test_what_a_maintainer_publishes_is_what_was_built_twice_and_compared() -> None:
    """The folders that docs/releasing.md adds are parts of the workflow's build."""
    release = workflow(ROOT / ".github" / "workflows" / "release.yml")
    systems = release["jobs"]["build"]["strategy"]["matrix"]["include"]
    parts = {one["system"]: one["parts"].split() for one in systems}
    guide = (ROOT / "docs" / "releasing.md").read_text("utf-8")
    (added,) = re.findall(r"`tequio release add releases/ ([^`]+)`, of the folders", guide)
    assert set(re.findall(r"build/package/tequio\S*", added)) == {
        f"build/package/{'tequio' if part == 'app' else f'tequio-{part}'}"
        for part in parts["linux"]
        if part != "installers"
    }
    assert f'`make package ARGS="{" ".join(parts["linux"])}"` on Linux' in guide
    assert parts["windows"] == parts["macos"] == ["app", "runtime", "installers"], "`make package`"


KINDS = ("amd64.deb", "x86_64.rpm", "linux-x86_64.tar.xz", "Setup.exe", "arm64.dmg")


@pytest.mark.parametrize("missing", ["", *KINDS])
def test_a_draft_has_one_installer_of_each_kind(missing: str, tmp_path: Path) -> None:
    for system, kinds in {"linux": KINDS[:3], "windows": KINDS[3:4], "macos": KINDS[4:]}.items():
        made = tmp_path / f"{system}-first"
        (made / "package" / "installers").mkdir(parents=True)
        for name in {*kinds} - {missing}:
            (made / "package" / "installers" / name).write_text(name)
        (made / "package" / "tequio").mkdir()
        command = ("tar", "-C", made, "-cf", made / "package.tar", "package")
        subprocess.run(command, check=True)
    (tmp_path / "linux-first" / "release").mkdir()
    (tmp_path / "linux-first" / "release" / "tequio.whl").write_text("wheel")
    done = run_step("publish", "Gather", tmp_path)
    if missing:
        kind = missing.partition(".")[2]
        assert (done.returncode, done.stderr) == (1, f"one .{kind} is needed, and there are 0\n")
    else:
        assert (done.returncode, done.stderr) == (0, "")
        drafted = {path.name for path in (tmp_path / "release").iterdir()}
        assert drafted == {*KINDS, "tequio.whl", "SHA256SUMS"}
        assert len((tmp_path / "subjects").read_text().splitlines()) == len(KINDS) + 1 + 3


def test_no_release_is_built_that_trusts_no_mirror(tmp_path: Path) -> None:
    trust = tmp_path / "installer" / "trust"
    trust.mkdir(parents=True)
    for name in ("root.json", "mirrors.json"):
        done = run_step("version", "What packages trust is there", tmp_path)
        assert done.returncode == 1
        assert done.stderr.startswith(f"no installer/trust/{name}: ")
        (trust / name).touch()
    done = run_step("version", "What packages trust is there", tmp_path)
    assert (done.returncode, done.stderr) == (0, "")


def run_step(job: str, name: str, folder: Path) -> subprocess.CompletedProcess[str]:
    """Run a step of the release in a folder, as GitHub runs it."""
    release = dict(jobs(ROOT / ".github" / "workflows" / "release.yml"))
    (step,) = (one for one in release[job]["steps"] if one.get("name") == name)
    command = ("bash", "-e", "-c", step["run"])
    return subprocess.run(command, cwd=folder, check=False, capture_output=True, text=True)


@each
def test_windows_has_what_compiles_its_installer(path: Path) -> None:
    for _, job in jobs(path):
        steps = [step.get("run", "") for step in job["steps"]]
        packed = [at for at, run in enumerate(steps) if "package/build.sh" in run]
        bringing = [at for at, run in enumerate(steps) if "choco install nsis" in run]
        assert [at for at in packed if not any(one < at for one in bringing)] == []


@each
def test_torch_comes_from_the_index_that_the_repository_names(path: Path) -> None:
    assert workflow(path)["env"] == {"PIP_EXTRA_INDEX_URL": "${{ vars.TORCH_INDEX }}"}


@each
def test_packages_are_tested_as_root_on_linux_with_nothing_skipped(path: Path) -> None:
    steps = [step for _, job in jobs(path) for step in job["steps"]]
    tested = [step for step in steps if "-m package tests/package" in step.get("run", "")]
    on_linux = [step for step in tested if "ystem == 'linux'" in step["if"].lower()]
    elsewhere = [step for step in tested if "ystem != 'linux'" in step["if"].lower()]
    assert len(on_linux) == len(elsewhere) == 1
    assert on_linux[0]["run"].startswith("sudo env ")
    assert f"{EVERYTHING_VARIABLE}=1 pytest" in on_linux[0]["run"]
    assert any("setup.sh missing package |" in step.get("run", "") for step in steps)


@pytest.mark.parametrize(
    "command",
    [("actionlint",), ("zizmor", "--offline", "--quiet", "--no-progress", ".github")],
    ids=lambda command: command[0],
)
def test_an_outside_program_finds_nothing_wrong(command: tuple[str, ...]) -> None:
    beside = Path(sys.executable).with_name(command[0])
    program = str(beside) if beside.exists() else shutil.which(command[0])
    if program is None:
        assert not os.environ.get(EVERYTHING_VARIABLE), f"{command[0]} is missing"
        pytest.skip(f"{command[0]} is not installed")
    done = subprocess.run(
        (program, *command[1:]), cwd=ROOT, check=False, capture_output=True, text=True, timeout=120
    )
    assert done.returncode == 0, done.stdout + done.stderr
