"""The peer network: connections, streams and gossip; the one package that imports libp2p.

Nothing of libp2p leaves this package: peers are `PeerKey`, addresses are multiaddr text, every
foreign error is a `PeerError`.

py-libp2p 0.8.1 has sharp edges; the rules below keep us off them. The version is asserted,
because several of the fixes replace private names.

* A frame goes out whole or not at all. A write, read or `new_stream` that is cancelled in the
  middle of a Noise frame breaks the whole connection; the frame write is shielded (`patches`).
* A handler must not raise: an error that leaves one takes the host along, or leaves the
  connection listed but dead. Every handler, the library's own too, is guarded (`host`).
* A gossip validator must not raise either, and a message with a key that does not parse ends the
  library's service: `gossip` checks every message before the library does.
* `reset()` from another task does not wake a pending read: every wait here has a deadline.
* After a timeout a stream is out of step. Drop it; never use it again.
* A connection that falls silent is not noticed by the library: `SilenceWatch` closes it.
* The library dials peers that it remembers, dropped ones too; that is switched off.
* The library gives the slot of an inbound connection back when the host ends, not when the
  connection does: after 200 of them it accepts no more. `host` counts in its stead.
* Yamux does not enforce its own receive window, nor any number of streams: a peer that writes
  past it, or opens streams without end, fills our memory. Such a connection is ended (`patches`).
* Lengths are believed before they are checked in the first negotiation; `patches` bounds them.
* A reader that pauses for 20 s loses the stream: read on, hash and write to disk in threads.
* A writer polls a closed window every 10 ms, and each read sends a window update: a
  `PromptStream` waits for an event, and `PeerStream` reads seldom and much.
"""

import tequio_client.worker.swarm.libp2p_parts  # noqa: F401 - before the first import of libp2p
from tequio_client.worker.swarm.peers.gossip import Announcement, TopicFilter
from tequio_client.worker.swarm.peers.network import PeerNetwork
from tequio_client.worker.swarm.peers.patches import CONNECTION_BYTES
from tequio_client.worker.swarm.peers.punched_ports import PunchedPort
from tequio_client.worker.swarm.peers.stream import PeerStream

__all__ = [
    "CONNECTION_BYTES",
    "Announcement",
    "PeerNetwork",
    "PeerStream",
    "PunchedPort",
    "TopicFilter",
]
