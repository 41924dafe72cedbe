"""A cell of three computers in one home, found by multicast; runs in the namespace of the internet.

    LAN_PARTY=FOLDER python -m tests.support.lan_party GATEWAY SEED ANA TOWER LAPTOP DESK

The folder is not an argument: at the end, programs that still run are found by it. The others are
namespaces of `home_networks`: a seed and a plain volunteer on the internet, and the computers of
the home, the first of which hosts the cell. GATEWAY is the internet's address towards the seed,
where the ledger is reached. Prints as JSON what happened.
"""

from __future__ import annotations

import json
import os
import re
import signal
import sys
from pathlib import Path

import trio

from tequio_client.ledger.api import LedgerApi
from tequio_client.platform.programs import tequio
from tequio_shared.ids import to_text
from tequio_shared.statements.runs import WorkCommit
from tests.support.history import LogHistory
from tests.support.home_swarm import inside, options
from tests.support.real_network import RealNetwork, RunningProgram, is_registered, running_network
from tests.support.small_network import CONFIG, RunFiles, found, plan

PATIENCE_S = 240.0
LAYERS = {**CONFIG, "num_hidden_layers": 3, "intermediate_size": 2048}
"""A layer for each rank."""
_CODE = re.compile(r"^ +code +(\S+)$", re.MULTILINE)


async def main(folder: Path, gateway: str, seed: str, ana: str, computers: list[str]) -> None:
    async with running_network(folder) as stage, LedgerApi(stage.url) as api:
        stage.ledger_host = "0.0.0.0"  # noqa: S104 - of namespaces that lead nowhere
        await found(stage, RunFiles(config=LAYERS, plan=plan(train_s=5.0)))
        stage.start("seed", inside(seed, tequio("seed", *options(stage, gateway, "seed"))))
        volunteer = tequio("worker", *options(stage, gateway, "ana"), "--device", "cpu")
        owner = stage.start("ana", inside(ana, volunteer))
        cell = ("--guests", "2", "--pipeline", "--device", "cpu", "--yes", "--find-lan-peers")
        words = tequio("cell", "host", *options(stage, gateway, "tower"), *cell)
        tower = stage.start("tower", inside(computers[0], words))
        await stage.until("the host shows its code", lambda: bool(_code(tower)), PATIENCE_S)
        history = LogHistory(api)
        await stage.until("ana is registered", lambda: is_registered(api, owner), 60.0)
        guests = [
            _join(stage, "laptop", computers[1], _code(tower)),
            _join(stage, "desk", computers[2], _code(tower), "--points-to", owner.key),
        ]

        async def has_work(count: int) -> bool:
            await trio.sleep(0.5)
            await history.read()
            return tower.program.status is not None and _work(history, tower) >= count

        await stage.until("the cell contributes", lambda: has_work(2), PATIENCE_S)
        guests[0].send(signal.SIGKILL)
        await guests[0].wait_ended(PATIENCE_S)
        done = _work(history, tower)
        _join(stage, "laptop", computers[1], _code(tower), again="-again")
        await stage.until("it goes on", lambda: has_work(done + 2), PATIENCE_S)
        told = tower.program.log.read_text(errors="replace")
        result = {
            "accepted": tower.status.rounds_trained,
            "before": done,
            "asked": told.count(" join?"),
            "shared": _shares(history, tower, owner),
            "was_away": "is away" in told,
            "lost": len([one for one in tower.events("trainer failed") if one["code"] == "cell"]),
        }
        sys.stdout.write(json.dumps(result) + "\n")


def _join(
    stage: RealNetwork, name: str, namespace: str, code: str, *more: str, again: str = ""
) -> RunningProgram:
    where = ("--dir", str(stage.folder / name), "--device", "cpu", "--yes", "--log-json", *more)
    words = tequio("cell", "join", code, "--find", "120", *where)
    return stage.start(f"{name}{again}", inside(namespace, words))


def _code(host: RunningProgram) -> str:
    if not host.program.log.exists():
        return ""
    shown = _CODE.search(host.program.log.read_text(errors="replace"))
    return shown[1] if shown else ""


def _shares(history: LogHistory, author: RunningProgram, owner: RunningProgram) -> list[int]:
    """The owner's part of each of the author's contributions, in 1/1000."""
    committed = history.all_of(WorkCommit)
    found = (dict(body.parts or ()) for one, body in committed if to_text(one.author) == author.key)
    return [parts.get(owner.key, 0) for parts in found]


def _work(history: LogHistory, program: RunningProgram) -> int:
    """Contributions of the program's key."""
    return len(list(history.statements_by(program.key, WorkCommit)))


if __name__ == "__main__":
    gateway, seed, ana, *computers = sys.argv[1:]
    trio.run(main, Path(os.environ["LAN_PARTY"]), gateway, seed, ana, computers)
