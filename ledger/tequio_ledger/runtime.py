"""How the process logs: for eyes on a terminal, or as JSON lines."""

from __future__ import annotations

import asyncio
import enum
import logging
import signal
import sys
import time
from collections.abc import Callable
from typing import TYPE_CHECKING

import structlog

if TYPE_CHECKING:
    from tequio_ledger.config.sources import ProgramSettings

# --- The one place that reads the wall clock; everything else is given a Clock.

Clock = Callable[[], int]
"""Milliseconds since 1970."""


def now_ms() -> int:
    """The wall clock."""
    return time.time_ns() // 1_000_000


# --- SIGTERM and SIGINT, heard however busy the event loop is.
#
# asyncio learns of a signal by its number, a byte in the pipe that wakes its loop. Every request
# writes to the same pipe, and a byte that finds it full is lost: a crowd of listeners could make
# the program deaf. Python's own handlers are called all the same, in the main thread.


def when_asked(end: Callable[[], None]) -> None:
    """Call it in this loop when the process is asked to end; from the main thread."""
    loop = asyncio.get_running_loop()

    def heard(*_: object) -> None:
        loop.call_soon_threadsafe(end)

    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, end)  # wakes a loop that rests, whichever thread hears it
        signal.signal(number, heard)


class Style(enum.Enum):
    """Who reads the log."""

    CONSOLE = "console"
    JSON = "json"


def configure_by(settings: ProgramSettings) -> None:
    """Set structlog up as a program's settings say."""
    configure(Style.JSON if settings.log_json else Style.CONSOLE, settings.log_level)


def configure(style: Style, level: str) -> None:
    """Set structlog up for the whole process, to standard error."""
    processors: list[structlog.typing.Processor] = [
        structlog.contextvars.merge_contextvars,
        structlog.processors.add_log_level,
        structlog.processors.TimeStamper(fmt="iso", utc=True),
    ]
    if style is Style.JSON:
        processors += [structlog.processors.format_exc_info, structlog.processors.JSONRenderer()]
    else:
        processors.append(
            structlog.dev.ConsoleRenderer(
                colors=sys.stderr.isatty(), exception_formatter=structlog.dev.plain_traceback
            )
        )
    structlog.configure(
        processors=processors,
        wrapper_class=structlog.make_filtering_bound_logger(logging.getLevelName(level.upper())),
        logger_factory=structlog.WriteLoggerFactory(sys.stderr),
    )
