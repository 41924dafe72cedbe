"""The peer-to-peer side of a worker: connections, announcements, and the transfer of trees.

From the bottom up: `limits`, `peers` (libp2p), `blob_server` (the protocol and its serving side),
`streams` (its client side), `sources`, `transfer`; beside them `membership` and
`checkpoint_gossip`.
"""
