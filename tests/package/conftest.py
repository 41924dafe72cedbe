"""A mirror with what `make package` built, and with a version that is newer.

The newer version's app is built from sources that differ in their version alone. Its runtime has
the same files, as where a release changes the app only.
"""

from __future__ import annotations

import os
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tequio_shared.version import BUILD
from tests.package.bare_user import UserSession, user_session
from tests.support.mirrors import NEWER, Mirror, served

if TYPE_CHECKING:
    from collections.abc import Generator, Iterator

ROOT = Path(__file__).parents[2]
BUILT, NEXT = ROOT / "build" / "package", ROOT / "build" / "package-next"
RUNTIMES = [BUILT / name for name in ("tequio-runtime", "tequio-runtime-cpu")]
"""The second one in place of the first where a release is built."""
RUNTIME_FOLDER = next((one for one in RUNTIMES if one.is_dir()), RUNTIMES[0])
APP, RUNTIME = BUILT / "tequio" / "tequio", RUNTIME_FOLDER / "tequio-runtime"
NAMED = '["https://mirror.example/"]'
EVERYTHING_VARIABLE = "TEQUIO_TEST_EVERYTHING"
"""Set where every tool is there: a test that is skipped then fails."""
COPIED = ("client", "shared", "assets", "ledger", "installer", "pyproject.toml", "LICENSE")


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    report = yield
    if report.skipped and os.environ.get(EVERYTHING_VARIABLE):
        reason = report.longrepr[2] if isinstance(report.longrepr, tuple) else ""
        if "empty parameter set" not in reason:  # runtimes for other cards were not built
            report.outcome = "failed"
            report.longrepr = f"{reason}, and {EVERYTHING_VARIABLE} says that nothing may be"
    return report


@dataclass(frozen=True, slots=True)
class ReleaseMirror:
    """A mirror that has the version that was built, and a newer one at request."""

    mirror: Mirror

    def publish_newer(self) -> None:
        _publish(self.mirror, NEWER, newer_app())


def newer_app() -> Path:
    """Build a newer version's app, once, in a checkout that names a mirror."""
    source = NEXT / "source"
    built = source / "build" / "package" / "tequio"
    if not built.is_dir():
        shutil.rmtree(source, ignore_errors=True)
        source.mkdir(parents=True)
        for name in COPIED:
            path = ROOT / name
            (shutil.copytree if path.is_dir() else shutil.copy2)(path, source / name)
        (source / "installer" / "trust").mkdir(exist_ok=True)
        (source / "installer" / "trust" / "mirrors.json").write_text(NAMED)
        (source / ".venv").symlink_to(ROOT / ".venv")
        version = source / "shared" / "tequio_shared" / "version.py"
        version.write_text(version.read_text().replace(f'"{BUILD}"', f'"{NEWER}"'))
        rooms = ("client", "shared", "assets", "ledger")
        environment = os.environ | {"PYTHONPATH": ":".join(str(source / one) for one in rooms)}
        subprocess.run((source / "installer/package/build.sh", "app"), check=True, env=environment)
    return built


@pytest.fixture
def releases(tmp_path: Path) -> Iterator[ReleaseMirror]:
    """A mirror with what was built; packing the runtime takes some minutes the first time."""
    folder = BUILT.with_name("package-mirror")
    for name in ("metadata", "targets", "pending"):  # chunks stay
        shutil.rmtree(folder / name, ignore_errors=True)
    with served(folder) as made:
        made.create(tmp_path / "keys")
        _publish(made, BUILD, BUILT / "tequio")
        yield ReleaseMirror(made)


def _publish(mirror: Mirror, version: str, app: Path) -> None:
    mirror.publish(version, ("app", "", app), ("runtime", "cpu", RUNTIME_FOLDER))


@pytest.fixture
def session(monkeypatch: pytest.MonkeyPatch) -> Iterator[UserSession]:
    """A screen with buses, for the user of a bare system."""
    with user_session(monkeypatch) as made:
        yield made
