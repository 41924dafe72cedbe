"""The peer-to-peer side of a worker: who is connected, what is announced, and how trees travel.

From the bottom up: `limits`, `peers` (libp2p), `blob_server` (the protocol and its serving side),
`streams` (its client side), `sources`, `transfer`; beside them `membership` and
`checkpoint_gossip`.
"""
