"""A real run whose volunteers sit behind home routers; runs in the namespace that is the internet.

    HOME_SWARM=FOLDER python -m tests.support.home_swarm GATEWAY SEED NAME=NAMESPACE...

The folder is not an argument: at the end, programs that still run are found by it. SEED and each
NAMESPACE belong to `home_networks`; GATEWAY is the internet's address towards the seed, where the
ledger is reached. Ends when each volunteer has computed two heads, and somebody has connected
through routers; prints who did, as JSON.
"""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path

import trio

from tequio_client.platform.programs import tequio
from tests.support.real_network import RealNetwork, running_network
from tests.support.small_network import found

PATIENCE_S = 240.0


async def main(folder: Path, gateway: str, seed: str, homes: dict[str, str]) -> None:
    async with running_network(folder) as stage:
        stage.ledger_host = "0.0.0.0"  # noqa: S104 - of namespaces that lead nowhere
        await found(stage)
        stage.start("seed", inside(seed, tequio("seed", *options(stage, gateway, "seed"))))
        workers = []
        for name, namespace in homes.items():
            program = (sys.executable, "-m", "tests.support.faulty_worker", str(folder / "never"))
            command = (*program, "worker", *options(stage, gateway, name))
            workers.append(stage.start(name, inside(namespace, command)))

        async def is_done() -> bool:
            await trio.sleep(1)  # logs are long to read
            if any(one.program.status is None for one in workers):
                return False
            heads = (len(list(one.events("head computed"))) for one in workers)
            has_met = any(list(one.events("connected through routers")) for one in workers)
            return has_met and all(count > 1 for count in heads)

        await stage.until("the volunteers met, and computed heads", is_done, PATIENCE_S)
        met = {one.name: list(one.events("connected through routers")) for one in workers}
        places = {name: [event["place"] for event in events] for name, events in met.items()}
        sys.stdout.write(json.dumps(places) + "\n")


def inside(namespace: str, command: tuple[str, ...] | list[str]) -> list[str]:
    return ["ip", "netns", "exec", namespace, *command]


def options(stage: RealNetwork, gateway: str, name: str) -> tuple[str, ...]:
    where = ("--ledger", f"http://{gateway}:{stage.port}", "--listen", "/ip4/0.0.0.0/tcp/0")
    return (*where, "--dir", str(stage.folder / name), "--status", "--log-json")


if __name__ == "__main__":
    named = dict(one.split("=") for one in sys.argv[3:])
    trio.run(main, Path(os.environ["HOME_SWARM"]), sys.argv[1], sys.argv[2], named)
