"""The border to libp2p: its peer ids become keys, and its errors become ours."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

import trio
from libp2p.peer.id import ID

from tequio_shared.errors import PeerError, TequioError
from tequio_shared.ids import PeerKey
from tequio_shared.keys import KEY_BYTES

if TYPE_CHECKING:
    from collections.abc import Iterator

_KEY_PREFIX = bytes.fromhex("002408011220")
_FOREIGN = ("libp2p", "trio", "noise", "multiaddr", "google.protobuf")


def id_of(key: PeerKey) -> ID:
    return ID(_KEY_PREFIX + key)


def key_of(peer: ID) -> PeerKey | None:
    """Take the Ed25519 key out of a peer id; None for the other kinds of libp2p key."""
    raw = peer.to_bytes()
    if len(raw) != len(_KEY_PREFIX) + KEY_BYTES or not raw.startswith(_KEY_PREFIX):
        return None
    return PeerKey(raw[len(_KEY_PREFIX) :])


@contextmanager
def foreign_errors(doing: str) -> Iterator[None]:
    """Turn every error of libp2p into a PeerError; our own errors pass."""
    try:
        yield
    except TequioError:
        raise
    except trio.TooSlowError as err:
        raise PeerError(f"too slow: {doing}") from err
    except Exception as err:  # libp2p raises KeyError, RuntimeError, groups and its own errors
        raise PeerError(f"{doing}: {str(err) or type(err).__name__}") from err


def is_foreign(err: Exception) -> bool:
    return type(err).__module__.startswith(_FOREIGN)


def shielded(seconds: float) -> trio.CancelScope:
    """A scope that no outer cancellation ends, and that ends itself after `seconds`."""
    return trio.CancelScope(deadline=trio.current_time() + seconds, shield=True)
