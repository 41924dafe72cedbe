"""The verdicts on a computer, in words."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QT_TRANSLATE_NOOP, QCoreApplication

from tequio_client.app.widgets import figures

if TYPE_CHECKING:
    from tequio_client.app.first_run.checks import Verdict

CONTEXT = "checks"
NAMES = {
    "card": str(QT_TRANSLATE_NOOP("checks", "Graphics card")),
    "driver": str(QT_TRANSLATE_NOOP("checks", "Driver")),
    "disk": str(QT_TRANSLATE_NOOP("checks", "Disk")),
    "network": str(QT_TRANSLATE_NOOP("checks", "Network")),
}
SENTENCES = {
    "asking": str(QT_TRANSLATE_NOOP("checks", "Looking…")),
    "card-unknown": str(
        QT_TRANSLATE_NOOP(
            "checks", "Its probe has not answered. Tequio keeps asking; you can go on."
        )
    ),
    "card-none": str(
        QT_TRANSLATE_NOOP(
            "checks", "None that can train was found. {processor} with {cores} cores can help too."
        )
    ),
    "card-memory": str(QT_TRANSLATE_NOOP("checks", "{card} does not say how much memory it has.")),
    "card-small": str(
        QT_TRANSLATE_NOOP("checks", "{card} has {memory}: too little to train most models.")
    ),
    "card-good": str(
        QT_TRANSLATE_NOOP("checks", "{card} with {memory}, of which at most {usable} are used.")
    ),
    "driver-unknown": str(QT_TRANSLATE_NOOP("checks", "Its probe has not answered yet.")),
    "driver-none": str(QT_TRANSLATE_NOOP("checks", "None is needed for the processor.")),
    "driver-unsaid": str(
        QT_TRANSLATE_NOOP("checks", "It does not say its version. The first start will show it.")
    ),
    "driver-old": str(
        QT_TRANSLATE_NOOP(
            "checks",
            "Version {driver} is too old to train: install {oldest} or newer, then restart.",
        )
    ),
    "driver-good": str(QT_TRANSLATE_NOOP("checks", "Version {driver} can train.")),
    "disk-unknown": str(QT_TRANSLATE_NOOP("checks", "Nobody can tell how much is free.")),
    "disk-good": str(
        QT_TRANSLATE_NOOP(
            "checks",
            "{free} GiB are free. Tequio takes {store} GiB at most, and {stays} stay free.",
        )
    ),
    "disk-tight": str(
        QT_TRANSLATE_NOOP(
            "checks",
            "{free} GiB are free. {stays} stay free, so Tequio has {store} GiB: some runs fit.",
        )
    ),
    "disk-full": str(
        QT_TRANSLATE_NOOP(
            "checks",
            "Only {free} GiB are free and {stays} shall stay free: make room before lending.",
        )
    ),
    "network-away": str(
        QT_TRANSLATE_NOOP(
            "checks", "The ledger does not answer. You can go on; a run can be chosen later."
        )
    ),
    "network-empty": str(
        QT_TRANSLATE_NOOP("checks", "The ledger answers. No run is open now; one will be joined.")
    ),
}


def name(verdict: Verdict) -> str:
    """What it is about."""
    return QCoreApplication.translate(CONTEXT, NAMES[verdict.about])


def sentence(verdict: Verdict) -> str:
    """How it stands."""
    if verdict.code == "network-good":
        runs = int(str(verdict.values["runs"]))
        return QCoreApplication.translate(
            "checks", "The ledger answers, and %n run(s) are open.", "", runs
        )
    shown = {
        key: figures.memory(int(str(value))) if key in ("memory", "usable") else value
        for key, value in verdict.values.items()
    }
    return QCoreApplication.translate(CONTEXT, SENTENCES[verdict.code]).format(**shown)
