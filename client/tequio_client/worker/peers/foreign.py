"""Errors of libp2p and of what it stands on, made ours."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

import trio

from tequio_shared.errors import PeerError, TequioError

if TYPE_CHECKING:
    from collections.abc import Iterator

_FOREIGN = ("libp2p", "trio", "noise", "multiaddr", "google.protobuf")


@contextmanager
def foreign_errors(doing: str) -> Iterator[None]:
    """Turn whatever libp2p raises into a PeerError; our own errors pass."""
    try:
        yield
    except TequioError:
        raise
    except trio.TooSlowError as err:
        raise PeerError(f"too slow: {doing}") from err
    except Exception as err:  # libp2p raises KeyError, RuntimeError, groups and its own errors
        raise PeerError(f"{doing}: {str(err) or type(err).__name__}") from err


def is_foreign(err: Exception) -> bool:
    """Whether the error comes from the library."""
    return type(err).__module__.startswith(_FOREIGN)


def shielded(seconds: float) -> trio.CancelScope:
    """A scope that nobody cancels from outside, and that ends after so long."""
    return trio.CancelScope(deadline=trio.current_time() + seconds, shield=True)
