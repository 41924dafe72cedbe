"""Keys and libp2p's peer ids, one for the other."""

from __future__ import annotations

from libp2p.peer.id import ID

from tequio_shared.ids import PeerKey
from tequio_shared.keys import KEY_BYTES

_KEY_PREFIX = bytes.fromhex("002408011220")


def id_of(key: PeerKey) -> ID:
    """The peer id of a key."""
    return ID(_KEY_PREFIX + key)


def key_of(peer: ID) -> PeerKey | None:
    """Take the Ed25519 key out of a peer id; None for the other kinds of libp2p key."""
    raw = peer.to_bytes()
    if len(raw) != len(_KEY_PREFIX) + KEY_BYTES or not raw.startswith(_KEY_PREFIX):
        return None
    return PeerKey(raw[len(_KEY_PREFIX) :])
