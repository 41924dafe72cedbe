"""Process set-up: logging to a terminal or as JSON lines, and no core dumps.

structlog is imported only when logging is set up, since the app is installed without it.
"""

from __future__ import annotations

import logging
import sys
from collections import deque
from typing import TYPE_CHECKING

from tequio_client.names import clean_text

if TYPE_CHECKING:
    from structlog.typing import EventDict, Processor

_VALUE_CHARACTERS = 8_192
_RECENT: deque[str] = deque(maxlen=200)


def configure_logging(*, style: str, level: str = "info") -> None:
    """Set up structlog for the whole process, on standard error; `style` is console or json."""
    import structlog  # noqa: PLC0415 - the app is installed without it

    processors: list[Processor] = [
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
    # Silence the libraries' own logs, also those of loggers that do not propagate.
    logging.getLogger().addHandler(logging.NullHandler())
    logging.lastResort = logging.NullHandler()
    structlog.configure(
        processors=processors,
        wrapper_class=structlog.make_filtering_bound_logger(logging.getLevelName(level.upper())),
        logger_factory=structlog.WriteLoggerFactory(sys.stderr),
    )


def recent_log_lines() -> list[str]:
    """List the last lines that this process logged, oldest first."""
    return list(_RECENT)


def _on_one_line(_: object, __: str, event: EventDict) -> EventDict:
    """Clean the values: foreign text in them could control a terminal or fake a log line."""
    for name, value in event.items():
        if isinstance(value, str) and not value.isprintable():
            event[name] = clean_text(value, _VALUE_CHARACTERS)
    return event


def _remember(_: object, __: str, line: EventDict) -> EventDict:
    _RECENT.append(str(line)[:1_000])
    return line


def disable_core_dumps() -> None:
    """Keep the memory of this process and its children, which holds keys, off the disk."""
    if sys.platform != "win32":
        import resource  # noqa: PLC0415 - not on Windows, where nothing is kept unasked

        _, most = resource.getrlimit(resource.RLIMIT_CORE)
        resource.setrlimit(resource.RLIMIT_CORE, (0, most))
