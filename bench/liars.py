"""The price of liars in a run: what the audits cost that convict them, and what their work does.

Seven honest trainers, alone and beside the five liars of `bench/attacked_demo.py`. The log of each
run is played by the product's rules without training (`loops/attacked_log.py`); then the accepted
contributions of its rounds are trained in this process, with the demo's plan and learning rates and
a smaller model. What differs between the two runs is also trained by itself:

- *audits*: members that audit train nothing in that round if their share leaves no time;
- *shares*: windows of each member, which grow only as its work is repeated;
- *liars*: their contributions, accepted until they are convicted.

    python bench/liars.py [--seeds 1 2] [--most WINDOWS] [--logs] [--write] [--json FILE]

`--most` bounds every share, as where many volunteers have one machine. `--logs` only plays the
logs, in seconds; training takes minutes for each seed. `--write` puts the tables into
docs/auditing.md.
"""

from __future__ import annotations

import argparse
import json
import tempfile
from dataclasses import replace
from pathlib import Path
from statistics import mean
from typing import TYPE_CHECKING

import msgspec
import torch
from loops import repository, table
from loops.attacked_log import AttackedLog, play_log
from loops.demo_plan import FIRST, STEPS, write_plan
from loops.local_swarm import LocalRun, LocalSwarm, build_library_data
from loops.machine import machine
from tests.support import trainer_attacks
from tests.support.trainer_attacks import ATTACKS, Situation

from tequio_client.organiser.opening import prepare_run
from tequio_client.trainer.inner import StepPlan
from tequio_shared.head.contribution import ContributionHeader, RecordShape, k_for_trainers

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

HONEST = tuple(f"honest {at}" for at in range(1, 8))
LIARS = ("half_work", "copy", "replay", "closed", "accuser")
"""Attacks of `tests/support/trainer_attacks.py`; the copies move 45 % of their entries."""
SPEED = 6.4
"""Windows per second of each machine: eight times the first share in a round."""
HELD_OUT_TOKENS, SEQUENCE = 32_768, 64
MOVED = 0.45
"""Share of its entries that a copy moves: with fewer, screening refuses it."""
DOCUMENT = repository.ROOT / "docs" / "auditing.md"
Rounds = list[tuple[dict[str, int], int]]
"""Of each round: windows of each contribution by its author, and k."""
Contribution = tuple[ContributionHeader, bytes]
Logs = dict[int, tuple[AttackedLog, AttackedLog]]
"""By seed: of the honest alone, and of all."""


LOG_COLUMNS = (
    "seed",
    "windows alone",
    "with liars",
    "audits alone",
    "with liars",
    "convicted after rounds",
    "honest suspected",
    "points kept by liars, of honest",
)
COLUMNS = ("differs", "windows of the honest", "from alone", "bits per byte", "from alone")


def main() -> None:
    """Play the logs, train what they accepted, and print the tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, nargs="+", default=[1, 2], help="default: 1 2")
    parser.add_argument("--most", type=int, help="largest share (default: the plan's)")
    parser.add_argument("--logs", action="store_true", help="play the logs only")
    parser.add_argument("--write", action="store_true", help="put the tables into the document")
    parser.add_argument("--json", type=Path, help="write the figures to this file")
    options = parser.parse_args()
    torch.set_num_threads(1)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        build_library_data(folder / "data", SEQUENCE)
        logs = {seed: _play(write_plan(folder, seed), seed, options.most) for seed in options.seeds}
        content = table.markdown(LOG_COLUMNS, [_log_row(seed, *one) for seed, one in logs.items()])
        bits = {} if options.logs else _train(folder, logs)
    columns = COLUMNS if bits else COLUMNS[:3]
    content += "\n\n" + table.markdown(columns, _rows(logs, bits))
    print(content)
    if options.write:
        table.put(DOCUMENT, "price of liars", content)
    if options.json:
        named = {f"{name}, seed {seed}": one for (seed, name), one in bits.items()}
        options.json.write_text(json.dumps({**machine(), "bits_per_byte": named}))


def _play(plan: Path, seed: int, most: int | None) -> tuple[AttackedLog, AttackedLog]:
    """The logs of the honest alone, and of all."""
    manifest = prepare_run(plan).manifest
    if most is not None:
        windows = msgspec.structs.replace(manifest.windows, most=most)
        manifest = msgspec.structs.replace(manifest, windows=windows)
    return (
        play_log(manifest, HONEST, (), speed=SPEED, seed=seed),
        play_log(manifest, HONEST, LIARS, speed=SPEED, seed=seed),
    )


def _log_row(seed: int, alone: AttackedLog, attacked: AttackedLog) -> list[str]:
    after = [f"{name} {attacked.convicted.get(name, 'never')}" for name in LIARS]
    honest = mean(attacked.points[name] for name in HONEST)
    blamed = (alone.suspected | attacked.suspected | attacked.convicted.keys()) - set(LIARS)
    return [
        str(seed),
        f"{alone.windows(HONEST):,}",
        f"{attacked.windows(HONEST):,}",
        str(alone.audits),
        str(attacked.audits),
        ", ".join(after),
        str(len(blamed)),
        f"{max(attacked.points[name] for name in LIARS) / honest:.2f}",
    ]


def _scenarios(alone: AttackedLog, attacked: AttackedLog) -> dict[str, Rounds]:
    """Rounds to train: each as windows by author, and k."""
    pairs = list(zip(alone.rounds, attacked.rounds, strict=True))
    shares = [_shares(alone), _shares(attacked)]

    def honest(log: int, busy: int) -> list[dict[str, int]]:
        """Shares of one log, of members that do not audit in the other."""
        return [
            {name: shares[log][at][name] for name in HONEST if name in pair[busy].accepted}
            for at, pair in enumerate(pairs)
        ]

    lies = [{one: now.accepted[one] for one in LIARS if one in now.accepted} for _, now in pairs]
    rows = {
        "alone": honest(0, 0),
        "audits": honest(0, 1),
        "shares": honest(1, 0),
        "liars": [own | other for own, other in zip(honest(0, 0), lies, strict=True)],
        "all": [own | other for own, other in zip(honest(1, 1), lies, strict=True)],
    }
    return {
        name: [(one, k_for_trainers(len(one))) for one in rounds] for name, rounds in rows.items()
    }


def _shares(log: AttackedLog) -> list[dict[str, int]]:
    """Windows of each honest member in each round: in one that it audits, those it had before."""
    last, found = dict.fromkeys(HONEST, FIRST), []
    for one in log.rounds:
        last |= {name: one.accepted[name] for name in HONEST if name in one.accepted}
        found.append(dict(last))
    return found


def _train(folder: Path, logs: Logs) -> dict[tuple[int, str], float]:
    """Bits per byte of the last head, by seed and scenario."""
    bits = {}
    for seed, pair in logs.items():
        for name, rounds in _scenarios(*pair).items():
            run = LocalRun(write_plan(folder, seed), len(HONEST) + len(LIARS))
            swarm = _AttackedSwarm(run)
            for number, (shares, k) in enumerate(rounds, 1):
                swarm.play(number, shares, k)
            run.model.load(swarm.weights, run.layout)
            bits[seed, name] = run.bits_per_byte(run.held_out(HELD_OUT_TOKENS))
            print(f"seed {seed}, {name}: {bits[seed, name]:.4f} bits per byte", flush=True)
    return bits


def _rows(logs: Logs, bits: Mapping[tuple[int, str], float]) -> list[list[str]]:
    """A row for each scenario; a cell has a figure for each seed."""
    played = {seed: _scenarios(*pair) for seed, pair in logs.items()}
    rows = []
    for name in next(iter(played.values())):
        counts = [_windows(played[seed][name]) for seed in logs]
        alone = [_windows(played[seed]["alone"]) for seed in logs]
        cells = [
            [f"{one:,}" for one in counts],
            [f"{one / base - 1:+.0%}" for one, base in zip(counts, alone, strict=True)],
        ]
        if bits:
            above = [bits[seed, name] / bits[seed, "alone"] - 1 for seed in logs]
            cells += [
                [f"{bits[seed, name]:.3f}" for seed in logs],
                [f"{one:+.1%}" for one in above],
            ]
        rows.append([name, *(" / ".join(cell) for cell in cells)])
    return rows


def _windows(rounds: Rounds) -> int:
    """Windows of the honest in all rounds."""
    return sum(shares.get(name, 0) for shares, _ in rounds for name in HONEST)


class _AttackedSwarm(LocalSwarm):
    """Trainers some of which send something else than they trained."""

    def __init__(self, run: LocalRun) -> None:
        super().__init__(run)
        self._windows = 0
        self._own: dict[tuple[str, int], bytes] = {}  # last honest payload, by author and k
        self._last: dict[int, bytes] = {}  # an honest trainer's last payload, by k

    def play(self, number: int, shares: Mapping[str, int], k: int) -> None:
        """Compute the head after a round in which these authors train their shares."""
        made: list[Contribution] = []
        for name, count in shares.items():  # the honest ones first
            plan = StepPlan.from_ranges([(self._windows, count)], STEPS)
            self._windows += count
            made.append(self._contribution(number, name, plan, k, made))
        self.apply(number, made, k)
        self._last[k] = made[number % sum(name in HONEST for name in shares)][1]

    def _contribution(
        self, number: int, name: str, plan: StepPlan, k: int, others: Sequence[Contribution]
    ) -> Contribution:
        at = (*HONEST, *LIARS).index(name)
        if name in HONEST:
            return self.contribute(number, at, plan, k)
        done = plan
        if name == "half_work":
            half = plan.steps // 2
            done = StepPlan(windows=plan.windows[: plan.windows_done(half)], steps=half)
        header, payload = self.contribute(number, at, done, k)
        rules = self.run.manifest.algorithm
        situation = Situation(
            shape=RecordShape(algorithm=rules.name, k=k, bits=rules.bits),
            payload=payload,
            seed=number,
            last=self._own.get((name, k)),
            foreign=others[number % len(others)][1],
            foreign_last=self._last.get(k),
        )
        self._own[name, k] = payload
        attack = trainer_attacks.copy(MOVED) if name == "copy" else ATTACKS[name]
        claimed = len(plan.windows) * header.tokens // header.window_count
        return replace(header, tokens=claimed), attack(situation)


if __name__ == "__main__":
    main()
