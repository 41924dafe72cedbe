"""A network with one small run that a test can start in seconds: texts, model, plan, setup.

The model sees only a few tokens a round.
"""

from __future__ import annotations

import json
import random
from dataclasses import dataclass
from typing import TYPE_CHECKING

import trio

if TYPE_CHECKING:
    from pathlib import Path

    from tests.support.real_network import RealNetwork

RUN = "day"
DEADLINE_S = 30
"""The shortest deadline of a round; a round that takes half of it has waited for a member."""
CONFIG: dict[str, object] = {
    "architectures": ["LlamaForCausalLM"],
    "model_type": "llama",
    "vocab_size": 256,
    "hidden_size": 64,
    "intermediate_size": 512,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "num_key_value_heads": 4,
    "max_position_embeddings": 32,
    "tie_word_embeddings": False,
}
WIDE_CONFIG = CONFIG | {"intermediate_size": 4608}
"""Of two million parameters, so that a head has more chunks than are requested from one peer at
once."""
WORDS = ("milpa", "mano", "metate", "masa", "maíz", "camino", "cargo", "pueblo", "tequio", "monte")


@dataclass(frozen=True, slots=True, kw_only=True)
class RunFiles:
    """A model's configuration and an organiser's plan."""

    config: dict[str, object]
    plan: str
    build: tuple[str, ...] = ()
    """More words for `tequio data build`; `{folder}` is the network's."""


def plan(
    *,
    windows: tuple[int, int] = (10, 15),
    train_s: float = 12.0,
    deadline_s: int = DEADLINE_S,
    grace_s: float = 0.5,
    rounds: int = 500,
) -> str:
    """An organiser's plan: few windows (first and most of a round), short phases, no audits."""
    first, most = windows
    return f"""
name = "{RUN}"

[model]
source = "config.json"

[data]
folder = "data"

[inner]
optimiser = "adamw"
steps = 5
lr = 0.0003
adam_lr = 0.0003

[windows]
first = {first}
most = {most}

[audit]
newcomers = 0
others = 0

[rounds]
min_members = 2
warmup_s = 0.5
train_s = {train_s}
train_limit_s = {deadline_s}.0
witness_s = {deadline_s}.0
grace_s = {grace_s}
attest_s = {deadline_s}.0
cooldown_s = {deadline_s}.0
most = {rounds}
"""


SMALL = RunFiles(config=CONFIG, plan=plan())
WIDE = RunFiles(config=WIDE_CONFIG, plan=plan())
MAY_LACK = 6
"""Members that a round of a crowd may start without."""
CROWD_DEADLINE_S = 240
"""Of each phase: all of a crowd share two cores, and no round may be void for that."""


def crowd(peers: int, rounds: int) -> RunFiles:
    """A run with a down link for that many members, as `bench/large_swarm.py` measures it."""
    text = plan(
        windows=(peers, 2 * peers),
        train_s=12.0,
        deadline_s=CROWD_DEADLINE_S,
        grace_s=60.0,
        rounds=rounds,
    )
    rules = text.replace("min_members = 2", f"min_members = {peers - MAY_LACK}")
    return RunFiles(config=WIDE_CONFIG, plan=f"{rules}\n[algorithm]\ndown_k = 64\n")


async def found(network: RealNetwork, script: RunFiles = SMALL) -> str:
    """Start the ledger, open the run and fill the seed's folder; returns the organiser's key."""
    organiser = await begin(network, script)
    await open_run(network)
    return organiser


async def begin(network: RealNetwork, script: RunFiles = SMALL) -> str:
    """Prepare all that a run needs and start the ledger; returns the organiser's key."""
    await trio.to_thread.run_sync(_write_files, network.folder, script)
    data, texts, home = (str(network.folder / name) for name in ("data", "texts", "organiser"))
    own = [word.format(folder=network.folder) for word in script.build]
    await network.command(
        "data", "data", "build", data, "--folder", texts, "--sequence", "32", *own
    )
    organiser = (await network.command("key", "run", "key", "--dir", home)).strip()
    await network.ledger(organiser)
    return organiser


async def open_run(network: RealNetwork) -> None:
    """Open the run on the ledger that `begin` started."""
    plan, home, seed = (str(network.folder / name) for name in ("plan.toml", "organiser", "seed"))
    where = ("--ledger", network.url, "--dir", home, "--seed-dir", seed)
    await network.command("open", "run", "open", plan, *where)


def _write_files(folder: Path, script: RunFiles) -> None:
    """Write the run's files, with the same bytes every time."""
    (folder / "config.json").write_text(json.dumps(script.config))
    (folder / "plan.toml").write_text(script.plan)
    (folder / "texts").mkdir()
    chance = random.Random(7)
    for number in range(80):
        words = " ".join(chance.choices(WORDS, k=400))
        (folder / "texts" / f"{number:03d}.txt").write_text(f"{number} {words}\n", encoding="utf-8")
