"""How the client's programs log: events with fields, for eyes on a terminal or as JSON lines."""

from __future__ import annotations

import logging
import sys
from collections import deque

import structlog

from tequio_client.foreign_text import cleaned

_VALUE_CHARACTERS = 8_192
_RECENT: deque[str] = deque(maxlen=200)


def configure(*, style: str, level: str = "info") -> None:
    """Set structlog up for the whole process, to standard error; `style` is console or json."""
    processors: list[structlog.typing.Processor] = [
        structlog.contextvars.merge_contextvars,
        structlog.processors.add_log_level,
        structlog.processors.TimeStamper(fmt="iso", utc=True),
        _on_one_line,
    ]
    if style == "json":
        processors += [structlog.processors.format_exc_info, structlog.processors.JSONRenderer()]
    else:
        processors.append(structlog.dev.ConsoleRenderer(colors=sys.stderr.isatty()))
    processors.append(_remember)
    # Libraries' own logs are not ours, not even those of a library that hands nothing upward.
    logging.getLogger().addHandler(logging.NullHandler())
    logging.lastResort = logging.NullHandler()
    structlog.configure(
        processors=processors,
        wrapper_class=structlog.make_filtering_bound_logger(logging.getLevelName(level.upper())),
        logger_factory=structlog.WriteLoggerFactory(sys.stderr),
    )


def recent() -> list[str]:
    """The last lines that this process logged, the oldest first."""
    return list(_RECENT)


def _on_one_line(
    _: object, __: str, event: structlog.typing.EventDict
) -> structlog.typing.EventDict:
    """What others said is among the values: it may steer no terminal and begin no line."""
    for name, value in event.items():
        if isinstance(value, str) and not value.isprintable():
            event[name] = cleaned(value, _VALUE_CHARACTERS)
    return event


def _remember(_: object, __: str, line: structlog.typing.EventDict) -> structlog.typing.EventDict:
    _RECENT.append(str(line)[:1_000])
    return line
