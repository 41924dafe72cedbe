"""Whether this installation has all its parts: imports every one and opens every page, unseen."""

from __future__ import annotations

import importlib
import pkgutil
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

import tequio_client.app
from tequio_client.app.application import application
from tequio_client.app.faults import Faults
from tequio_client.app.main import App, Options
from tequio_client.app.pages.table import PAGES

if TYPE_CHECKING:
    from collections.abc import Iterator

OTHERS = (
    "tequio_client.keys.identity",
    "tequio_client.keys.sealing",
    "tequio_client.keys.store",
    "tequio_client.keys.words",
    "mnemonic",
    "keyring",
    "keyring.backends",
)
FORBIDDEN = ("numpy", "torch", "trio", "libp2p", "httpx")


def run() -> int:
    """Say what is wrong on standard error; 0: nothing is."""
    problems = [f"{name}: {why}" for name, why in _missing()]
    problems += [f"{name} was imported" for name in FORBIDDEN if name in sys.modules]
    problems += _unopened()
    for problem in problems:
        sys.stderr.write(f"tequio: selftest: {problem}\n")
    return 1 if problems else 0


def modules() -> list[str]:
    """Every module of the app, and what it imports late."""
    package = tequio_client.app
    found = pkgutil.walk_packages(package.__path__, f"{package.__name__}.")
    return [*(one.name for one in found), *OTHERS]


def _missing() -> Iterator[tuple[str, str]]:
    for name in modules():
        try:
            importlib.import_module(name)
        except Exception as err:  # noqa: BLE001 - whatever it is, it is what we look for
            yield name, f"{type(err).__name__}: {err}"


def _unopened() -> list[str]:
    problems: list[str] = []
    with tempfile.TemporaryDirectory() as place:
        folder, qt, faults = Path(place), application(), Faults()
        faults.reported.connect(lambda line, _: problems.append(line))
        faults.install()
        options = Options(ledger=None, usual_ledger="", folder=folder, settings=folder)
        app = App(qt, options, faults)
        for entry in PAGES:
            try:
                app.presence.open(entry.name)
                qt.processEvents()
            except Exception as err:  # noqa: BLE001 - as above
                problems.append(f"page {entry.name}: {type(err).__name__}: {err}")
        app.close()
        faults.uninstall()
    return problems
