"""How the process logs: for eyes on a terminal, or as JSON lines."""

from __future__ import annotations

import enum
import logging
import sys
from typing import TYPE_CHECKING

import structlog

if TYPE_CHECKING:
    from tequio_ledger.config.sources import ProgramSettings


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
