"""Attacks on history by the log's operator, or from the operator's machine or network."""

from __future__ import annotations

import random
import sqlite3
from contextlib import closing
from dataclasses import replace
from typing import TYPE_CHECKING

from tequio_shared.addresses import sign_addresses
from tequio_shared.ids import sha256
from tequio_shared.keys import Signer
from tests.support.memory_log import NET, NOW_MS, LogServer, MemoryLog, chain_of

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tests.support.memory_log import Reply

STORED = {
    "entry": ("log_entry", "leaf"),
    "tile": ("log_tile", "data"),
    "head": ("log_head", "root"),
    "checkpoint": ("log_checkpoint", "note"),
}
ALICE = chain_of(Signer(sha256(b"alice")), 60)
BOB = chain_of(Signer(sha256(b"bob")), 60)
BLOB = b"a document" * 40


def vandalise(folder: Path, what: str, seed: int) -> str:
    """Flip one bit of a stored value, chosen by the seed; returns a description of the bit."""
    table, column = STORED[what]
    chance = random.Random(f"{what} {seed}")
    with closing(sqlite3.connect(folder / "ledger.sqlite")) as database, database:
        rows = database.execute(f"SELECT rowid, {column} FROM {table} ORDER BY rowid").fetchall()  # noqa: S608  # our own names
        if what == "checkpoint":
            rows = rows[-1:]  # older ones are only given out, under their own signature
        row, value = chance.choice(rows)
        changed = bytearray(value)
        at = chance.randrange(len(changed))
        changed[at] ^= 1 << chance.randrange(8)
        database.execute(f"UPDATE {table} SET {column} = ? WHERE rowid = ?", (bytes(changed), row))  # noqa: S608
    return f"bit of byte {at} of {table} {row}"


def seize(folder: Path) -> None:
    """Start a term of the log as a second sequencer would, bypassing the lock of the folder."""
    with closing(sqlite3.connect(folder / "ledger.sqlite", timeout=10)) as database, database:
        database.execute("UPDATE log_head SET term = term + 1")


def log_of(count: int, other: int = 0) -> MemoryLog:
    """A log with `count` entries by Alice, then `other` entries by Bob."""
    log = MemoryLog.founded()
    log.extend(ALICE[:count])
    log.extend(BOB[:other])
    return log


def furnish(server: LogServer) -> None:
    """Add a blob and a seed, so that every API endpoint has something to return."""
    server.blobs[sha256(BLOB)] = BLOB
    server.seeds.append(sign_addresses(Signer(sha256(b"seed")), NET, (), NOW_MS).encode())


def flipping(prefix: str, at: int) -> Callable[[str, str, Reply], Reply]:
    """Flip a bit of each successful answer under a path prefix, `at` bytes from its start."""

    def tamper(_method: str, path: str, reply: Reply) -> Reply:
        if not path.startswith(prefix) or not reply.body or reply.status != 200:
            return reply
        changed = bytearray(reply.body)
        changed[at % len(changed)] ^= 1 << at % 7
        return replace(reply, body=bytes(changed))

    return tamper
