"""One fixed seed for every property test: a red run is red again. And who runs which file when."""

from __future__ import annotations

import gc
import os
import sys
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
import structlog
from hypothesis import settings

import tequio_client.worker.swarm.libp2p_parts  # noqa: F401 - before any test imports libp2p

if TYPE_CHECKING:
    from collections.abc import Generator, Iterator

    from xdist.remote import Producer
    from xdist.scheduler import Scheduling

    from tests.support.postgres import Cluster

# Threads of torch would wait for each other by computing: on a busy processor, that takes ten times
# as long as what they compute. Read when torch is loaded, here and in programs that tests start.
os.environ.setdefault("OMP_WAIT_POLICY", "passive")

# The tests start our programs by the hundred: each compiles our modules, unless an earlier one
# may leave what it compiled.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
sys.dont_write_bytecode = False

ROOT = Path(__file__).parents[1]

settings.register_profile("fixed", derandomize=True, deadline=None, database=None)
settings.load_profile("fixed")


def pytest_configure(config: pytest.Config) -> None:
    """Let each of pytest's workers begin with other files: they share what they compile."""
    tests = ROOT / "tests"
    if (worker := getattr(config, "workerinput", None)) and config.args == [str(tests)]:
        files = sorted(map(str, tests.rglob("test_*.py")))
        first = int(worker["workerid"].removeprefix("gw")) * len(files) // worker["workercount"]
        config.args[:] = files[first:] + files[:first]


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Sort the tests as if the files were read in order."""
    items.sort(key=lambda item: item.path.parts)


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """Search for no garbage meanwhile, and leave all tests and their modules out of later searches.

    All that is loaded stays, and the more there is, the longer a search takes.
    """
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.enable()


@pytest.fixture(autouse=True, scope="session")
def _windows_rules() -> Iterator[None]:
    """Let our own code, here and in programs that tests start, use files only as Windows would."""
    from tests.support import windows_rules  # noqa: PLC0415 - the runners need none

    with pytest.MonkeyPatch.context() as patch, windows_rules.windows_rules():
        for name, value in windows_rules.environment().items():
            patch.setenv(name, value)
        yield


@pytest.fixture(autouse=True, scope="session")
def _certificates_are_read_once() -> Iterator[None]:
    """Let the tests' own HTTP clients share what they trust: reading it takes each 20 ms."""
    import httpx  # noqa: PLC0415 - the runners need none

    transports: Any = httpx._transports.default  # noqa: SLF001 - named nowhere else
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(transports, "create_ssl_context", cache(httpx.create_ssl_context))
        yield


@pytest.fixture(autouse=True)
def _log_settings() -> Iterator[None]:
    """Let no command that a test runs in this process decide which lines later tests see."""
    before = structlog.get_config()
    processors = list(before["processors"])
    yield
    structlog.configure(**{**before, "processors": processors})


@pytest.fixture(scope="session")
def cluster() -> Iterator[Cluster]:
    """A real PostgreSQL, started once."""
    from tests.support import postgres  # noqa: PLC0415 - the runners need none

    programs = postgres.binaries()
    if programs is None:
        pytest.skip("PostgreSQL is not installed: `installer/setup.sh tools` brings it")
    with postgres.cluster(programs) as running:
        yield running


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Producer) -> Scheduling:
    from tests.support.file_queue import FileQueue  # noqa: PLC0415 - the runners need no queue

    return FileQueue(config, log)
