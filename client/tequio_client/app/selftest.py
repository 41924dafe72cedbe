"""The self-test of an installation: modules, typeface, languages, all pages, and the worker.

A release's app has to pass it on this computer before it is used (`releases/install.py`).
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QCoreApplication
from PySide6.QtGui import QFontDatabase

from tequio_client.app.application import make_application
from tequio_client.app.errors import ErrorHooks
from tequio_client.app.language import LANGUAGES, Language
from tequio_client.app.main import App, AppOptions
from tequio_client.app.pages import PAGES
from tequio_client.app.theme import style
from tequio_client.platform import programs
from tequio_client.platform.import_check import import_problems

if TYPE_CHECKING:
    from PySide6.QtWidgets import QApplication

LATE_IMPORTS = (
    "tequio_client.keys.identity",
    "tequio_client.keys.backup",
    "mnemonic",
    "keyring",
    "keyring.backends",
)
FORBIDDEN_IMPORTS = ("numpy", "torch", "trio", "libp2p", "httpx")
COUNTED = ("RoundCard", "%Ln peer(s)")
"""Context and source of a text with plural forms."""
OF_QT = ("QPlatformTheme", "Cancel")
"""A text of Qt's dialogs."""
WORKER_S = 300
"""Longest self-test of the worker, which takes a few seconds of the processor."""


def run_selftest() -> int:
    """Return 1 on problems, which go to stderr."""
    problems = list(import_problems(("tequio_client.app",), *LATE_IMPORTS))
    problems += [f"{name} was imported" for name in FORBIDDEN_IMPORTS if name in sys.modules]
    qt = make_application()
    problems += _page_problems(qt)
    problems += _language_problems(qt)
    problems += _worker_problems()
    for problem in problems:
        sys.stderr.write(f"tequio: selftest: {problem}\n")
    return 1 if problems else 0


def _page_problems(qt: QApplication) -> list[str]:
    problems: list[str] = []
    with tempfile.TemporaryDirectory() as place:
        folder, faults = Path(place), ErrorHooks()
        faults.reported.connect(lambda line, _: problems.append(line))
        faults.install()
        options = AppOptions(ledger=None, folder=folder, settings=folder)
        app = App(qt, options, faults)
        for entry in PAGES:
            try:
                app.presence.open(entry.name)
                qt.processEvents()
            except Exception as err:  # noqa: BLE001 - whatever it is, it is what we look for
                problems.append(f"page {entry.name}: {type(err).__name__}: {err}")
        app.close()
        faults.uninstall()
    return problems


def _language_problems(qt: QApplication) -> Iterator[str]:
    if style.FAMILY not in QFontDatabase.families():
        yield f"the typeface {style.FAMILY} is missing"
    language = Language(qt, "en")
    for code in LANGUAGES:
        try:
            language.choose(code)
        except FileNotFoundError as err:
            yield str(err)
            continue
        if QCoreApplication.translate(*COUNTED, "", 2) in ("", "2 peer(s)"):
            yield f"language {code}: no plural of {COUNTED[1]}"
        if code != "en" and QCoreApplication.translate(*OF_QT) == OF_QT[1]:
            yield f"language {code}: Qt's own texts are missing"


def _worker_problems() -> list[str]:
    command = programs.module("tequio_client.worker.selftest")
    try:
        done = subprocess.run(  # noqa: S603 - a program of this installation
            command, capture_output=True, text=True, check=False, timeout=WORKER_S
        )
    except (OSError, subprocess.TimeoutExpired) as err:
        return [f"worker: {err}"]
    said = done.stderr.strip() or f"exit status {done.returncode}"
    return [f"worker: {line}" for line in said.splitlines()] if done.returncode else []
