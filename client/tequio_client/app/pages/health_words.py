"""What each probe is for, and what to do when it does not answer."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QT_TRANSLATE_NOOP, QCoreApplication

if TYPE_CHECKING:
    from tequio_client.link.facts import Fact

NAMES = {
    "idle": str(QT_TRANSLATE_NOOP("health", "Time without input")),
    "lock": str(QT_TRANSLATE_NOOP("health", "Screen lock")),
    "fullscreen": str(QT_TRANSLATE_NOOP("health", "Fullscreen programs")),
    "game": str(QT_TRANSLATE_NOOP("health", "Game mode")),
    "programs": str(QT_TRANSLATE_NOOP("health", "Programs that run")),
    "metered": str(QT_TRANSLATE_NOOP("health", "Metered network")),
    "gpu": str(QT_TRANSLATE_NOOP("health", "Graphics cards")),
    "cpu": str(QT_TRANSLATE_NOOP("health", "Processor load")),
    "cpu-temperature": str(QT_TRANSLATE_NOOP("health", "Processor temperature")),
    "memory": str(QT_TRANSLATE_NOOP("health", "Main memory")),
    "battery": str(QT_TRANSLATE_NOOP("health", "Battery")),
    "power-saver": str(QT_TRANSLATE_NOOP("health", "Power saving")),
}
REMEDIES = {
    "idle": str(
        QT_TRANSLATE_NOOP(
            "health",
            "Without it, lending waits until the computer is locked. Lock it when you leave, or "
            "allow lending while you use it in Settings, When to lend.",
        )
    ),
    "lock": str(
        QT_TRANSLATE_NOOP(
            "health", "Without it, only the time without input tells that you are away."
        )
    ),
    "fullscreen": str(
        QT_TRANSLATE_NOOP(
            "health",
            "Without it, lending waits until the computer is locked, unless you switch off "
            "pausing for games in Settings, When to lend.",
        )
    ),
    "game": str(
        QT_TRANSLATE_NOOP(
            "health",
            "Games are still known by their launchers and by filling the screen. To have it, "
            "install GameMode.",
        )
    ),
    "programs": str(
        QT_TRANSLATE_NOOP(
            "health",
            "Without it, your exclusive programs and games cannot be seen. Empty that list and "
            "switch off pausing for games in Settings, When to lend, or start Tequio again.",
        )
    ),
    "metered": str(
        QT_TRANSLATE_NOOP(
            "health",
            "Without it, large transfers wait. Allow metered networks in Settings, Network, if "
            "yours costs nothing.",
        )
    ),
    "gpu": str(
        QT_TRANSLATE_NOOP(
            "health",
            "If such a card is in this computer, install or update its driver, then start the "
            "computer again.",
        )
    ),
    "cpu-temperature": str(
        QT_TRANSLATE_NOOP(
            "health", "Lending goes on; only the processor's temperature goal cannot be kept."
        )
    ),
    "battery": str(
        QT_TRANSLATE_NOOP(
            "health", "If this computer has no battery, allow it in Settings, When to lend."
        )
    ),
    "power-saver": str(
        QT_TRANSLATE_NOOP(
            "health",
            "If you never save power, allow lending while power is saved in Settings, When to "
            "lend.",
        )
    ),
}
OTHERWISE = str(
    QT_TRANSLATE_NOOP(
        "health", "Start Tequio again. If that does not help, copy the diagnostics and report it."
    )
)


def name(fact: Fact) -> str:
    """What the probe looks at."""
    known = NAMES.get(fact.name)
    return QCoreApplication.translate("health", known) if known else fact.name


def remedy(fact: Fact) -> str:
    """What to do when it does not answer."""
    return QCoreApplication.translate("health", REMEDIES.get(fact.name, OTHERWISE))
