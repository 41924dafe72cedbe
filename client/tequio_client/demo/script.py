"""The demo's parameters: number of volunteers, durations, model."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from tequio_client.dataset import sources

SEQUENCE = 128
VOCABULARY = 256
ARCHITECTURE: dict[str, object] = {
    "architectures": ["LlamaForCausalLM"],
    "model_type": "llama",
    "vocab_size": VOCABULARY,
    "hidden_size": 128,
    "intermediate_size": 480,
    "num_hidden_layers": 4,
    "num_attention_heads": 4,
    "num_key_value_heads": 4,
    "max_position_embeddings": SEQUENCE,
    "tie_word_embeddings": False,
    "rms_norm_eps": 1e-5,
    "rope_theta": 10000.0,
    "initializer_range": 0.02,
    "hidden_act": "silu",
    "attention_bias": False,
    "mlp_bias": False,
}
"""A Llama of about a million parameters over raw bytes."""
_DENSE = {"name": "diloco", "k": 4096, "bits": 8, "outer_lr": 0.7, "momentum": 0.6}
FAST = {"lr": 0.006, "adam_lr": 0.004, "momentum": 0.8}
SLOW = {"lr": 0.003, "adam_lr": 0.001}
"""Inner steps: for a whole demo, and for one of a few rounds, whose loss should fall in each."""
ALGORITHMS: Mapping[str, Mapping[str, Mapping[str, object]]] = {
    "sparseloco": {"algorithm": {"outer_lr": 2.0}},
    "sparseloco-down": {"algorithm": {"outer_lr": 2.0, "down_k": 512}},
    "diloco": {"algorithm": _DENSE},
    "distro": {"algorithm": {"name": "distro"}, "inner": {"steps": 1}},
}
"""Outer steps that a demo can train with: what a plan with each one says in its tables."""
ANNEAL = 0.4
"""Share of the rounds, at the end, over which learning rates fall to a tenth."""
PROMPT = "def "
MEASURED_TOKENS = 8_192
VOLUNTEERS = 2
"""Of each swarm."""
EVALUATORS = 3
CUSTODIANS, NEEDED = 3, 2
_SEALED, _DRAWN = 64, 40
_SHORTEST, _LONGEST = 400, 3_000  # bytes of a sealed document
_TRAINED_MOST = 600
_EVERY = 2  # of the library's files, one is kept from the swarms


@dataclass(frozen=True, slots=True, kw_only=True)
class DemoScript:
    """One performance. Times in seconds."""

    folder: Path
    rounds: int = 32
    peers: int = 4
    train_s: float = 8.0
    inner_steps: int = 20
    rates: Mapping[str, float] = field(default_factory=lambda: SLOW)
    held_out_tokens: int = 65_536
    measured_every: int = 4
    """Interval, in rounds, at which drawn volunteers measure the head."""
    first_windows: int = 160
    share_percent: int = 100
    """Share of the time that the volunteers compute, percent."""
    algorithm: str = "sparseloco"
    """One of `ALGORITHMS`."""
    late_after: int = 0
    """Rounds after which one more volunteer joins; 0: never."""
    device: str = "cpu"
    """Device of the volunteers, as `tequio worker --device` names it."""
    config: Mapping[str, object] = field(default_factory=lambda: ARCHITECTURE)
    sequence: int = SEQUENCE
    """Tokens of a sample."""

    def plan(self) -> str:
        outer = ALGORITHMS[self.algorithm]
        return _run_plan(
            "demo",
            algorithm=outer["algorithm"],
            inner={
                "steps": self.inner_steps,
                **self.rates,
                "anneal": ANNEAL,
                **outer.get("inner", {}),
            },
            windows={"first": self.first_windows},
            rounds=_durations(self.peers, self.train_s, self.rounds),
            measure={"every": self.measured_every, "tokens": MEASURED_TOKENS},
        )

    def write(self) -> Path:
        """Write plan and model configuration into the folder; returns the plan's path."""
        self.folder.mkdir(parents=True, exist_ok=True)
        (self.folder / "config.json").write_text(json.dumps(self.config, indent=2), "utf-8")
        path = self.folder / "plan.toml"
        path.write_text(self.plan(), "utf-8")
        return path


def quick_script(folder: Path, peers: int) -> DemoScript:
    return DemoScript(
        folder=folder,
        rounds=5,
        peers=peers,
        train_s=4.0,
        first_windows=80,
        held_out_tokens=16_384,
        measured_every=2,
    )


def _run_plan(name: str, **own: Mapping[str, object]) -> str:
    """Make a run's plan in TOML: the tables of every demo, extended by `own`."""
    tables: dict[str, Mapping[str, object]] = {
        "model": {"source": "config.json"},
        "data": {"folder": "data"},
        "inner": {"adam_lr": 0.001},
        "windows": {"samples": 1},
    }
    for title, fields in own.items():
        tables[title] = {**tables.get(title, {}), **fields}
    return to_toml({"name": name}, tables)


def _durations(members: int, train_s: float, rounds: int) -> dict[str, object]:
    return {
        "min_members": members,
        "warmup_s": 0.5,
        "train_s": train_s,
        "train_limit_s": train_s * 4,
        "witness_s": 20.0,
        "grace_s": 1.0,
        "attest_s": 30.0,
        "cooldown_s": 20.0,
        "most": rounds,
    }


def to_toml(first: Mapping[str, object], tables: Mapping[str, Mapping[str, object]]) -> str:
    """Render fields, then tables of fields: numbers, texts of plain letters, lists of these."""
    # JSON's are TOML's too.
    lines = [f"{name} = {json.dumps(value)}" for name, value in first.items()]
    for title, fields in tables.items():
        lines += ["", f"[{title}]"]
        lines += [f"{name} = {json.dumps(value)}" for name, value in fields.items()]
    return "\n".join(lines) + "\n"


@dataclass(frozen=True, slots=True, kw_only=True)
class DemoSwarm:
    """One side: the same model, data and budget as the other, and its own settings."""

    name: str
    outer_lr: float
    optimiser: str
    lr: float


SWARMS = (
    DemoSwarm(name="maize", outer_lr=2.0, optimiser="muon", lr=0.003),
    DemoSwarm(name="bean", outer_lr=1.0, optimiser="adamw", lr=0.001),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class CompetitionScript:
    """One performance; times in seconds, the competition's dates all stretched by `pace`."""

    folder: Path
    pace: float = 1.0
    rounds: int = 6
    windows: int = 80
    train_s: float = 4.0
    deadline_s: float = 150.0
    draw_s: float = 20.0
    scored_s: float = 90.0
    result_s: float = 20.0

    @property
    def tokens(self) -> int:
        return self.rounds * VOLUNTEERS * self.windows * SEQUENCE

    def write(self) -> None:
        """Write texts, the model's configuration, and a plan for each swarm."""
        self.folder.mkdir(parents=True, exist_ok=True)
        (self.folder / "config.json").write_text(json.dumps(ARCHITECTURE, indent=2), "utf-8")
        for swarm in SWARMS:
            (self.folder / f"{swarm.name}.toml").write_text(self._run_plan(swarm), "utf-8")
        _write_texts(self.folder)

    def competition_plan(self, custodians: tuple[str, ...]) -> str:
        lengths_s = {
            "opens": 0.0,
            "deadline": self.deadline_s,
            "draw": self.draw_s,
            "scored": self.scored_s,
            "result": self.result_s,
        }
        tables: dict[str, dict[str, object]] = {
            "dates": {name: f"{one * self.pace:.0f}s" for name, one in lengths_s.items()},
            "budget": {"tokens": self.tokens},
            "scoring": {
                "window": SEQUENCE,
                "stride": SEQUENCE // 2,
                "documents": _DRAWN,
                "evaluators": EVALUATORS,
            },
        }
        return to_toml({"name": "Milpa", "custodians": custodians}, tables)

    def _run_plan(self, swarm: DemoSwarm) -> str:
        return _run_plan(
            swarm.name,
            algorithm={"outer_lr": swarm.outer_lr},
            inner={"optimiser": swarm.optimiser, "steps": 20, "lr": swarm.lr},
            windows={"first": self.windows, "most": self.windows},
            rounds=_durations(VOLUNTEERS, self.train_s, self.rounds),
        )


def _write_texts(folder: Path) -> None:
    """Part the library's sources: most are to train on, some short ones to be sealed."""
    places = {name: folder / "texts" / name for name in ("train", "sealed")}
    for place in places.values():
        place.mkdir(parents=True)
    counts = dict.fromkeys(places, 0)
    most = {"train": _TRAINED_MOST, "sealed": _SEALED}
    for at, text in enumerate(_library()):
        is_fit = _SHORTEST <= len(text.encode()) <= _LONGEST
        kind = "sealed" if is_fit and at % _EVERY == 0 else "train"
        if counts[kind] < most[kind]:
            counts[kind] += 1
            (places[kind] / f"{counts[kind]:04}.txt").write_bytes(text.encode())


def _library() -> Iterator[str]:
    library = sources.standard_library_files()
    seen = set[str]()
    for at in range(len(library)):
        text = library.text(at)
        if text.strip() and text.strip() not in seen:
            seen.add(text.strip())
            yield text
