"""Process set-up: logging to a terminal or as JSON lines, no core dumps, one process per folder.

structlog and filelock are imported only when they are used: not every extra has them, and the app
starts without them.
"""

from __future__ import annotations

import logging
import os
import stat
import sys
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from tequio_client.names import clean_text
from tequio_shared.errors import UserFacingError

if TYPE_CHECKING:
    from structlog.typing import EventDict, Processor


NETWORK_FILE = "network"
"""File in a worker's folder with the id of the network that the folder belongs to."""
_VALUE_CHARACTERS = 8_192
_RECENT: deque[str] = deque(maxlen=200)


_TIME_FORMATS = {"console": "%Y-%m-%d %H:%M:%SZ", "json": "iso"}


def configure_logging(*, style: str, level: str = "info") -> None:
    """Set up structlog for the whole process, on standard error; `style` is console or json."""
    import structlog  # noqa: PLC0415 - see the top

    processors: list[Processor] = [
        structlog.contextvars.merge_contextvars,
        structlog.processors.add_log_level,
        structlog.processors.TimeStamper(fmt=_TIME_FORMATS[style], utc=True),
        _on_one_line,
    ]
    if style == "json":
        processors += [structlog.processors.format_exc_info, structlog.processors.JSONRenderer()]
    else:
        processors.append(
            structlog.dev.ConsoleRenderer(
                colors=sys.stderr.isatty(),
                pad_level=False,
                # Without local variables: of one failed step they were 5,000 lines.
                exception_formatter=structlog.dev.plain_traceback,
            )
        )
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


@contextmanager
def locked(folder: Path) -> Iterator[None]:
    """Lock the folder for this process; raises UserFacingError when another one has it."""
    from filelock import FileLock, Timeout  # noqa: PLC0415 - see the top

    lock = FileLock(folder / "lock", timeout=0)
    try:
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        _check_ours(folder)
        lock.acquire()
    except Timeout as err:
        raise UserFacingError(
            f"another process uses the folder {folder}: stop it, or choose another folder"
        ) from err
    except OSError as err:
        raise UserFacingError(
            f"cannot use the folder {folder} ({err.strerror or err}): make it writable, free "
            "some space, or choose another"
        ) from err
    try:
        yield
    finally:
        lock.release()


def _check_ours(folder: Path) -> None:
    """Refuse a folder in which others could replace the key, or the code that the trainer loads.

    In a sticky folder (usually a mount point) each user's files stay their own, except from the
    folder's owner, who must be this user or root.
    """
    if sys.platform == "win32":
        return
    found = folder.stat()
    mode, is_shared = found.st_mode, found.st_mode & (stat.S_IWGRP | stat.S_IWOTH)
    if is_shared and mode & stat.S_ISVTX and found.st_uid not in (0, os.geteuid()):
        raise UserFacingError(
            f"the folder {folder} belongs to another user, who could replace its files: "
            "choose one of your own"
        )
    if is_shared and not mode & stat.S_ISVTX:
        raise UserFacingError(
            f"others can write to the folder {folder} (mode {stat.S_IMODE(mode):o}): "
            f"run chmod go-w {folder}"
        )
