"""What the demo plays: how many, how long, which model."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

SEQUENCE = 128
VOCABULARY = 256
ARCHITECTURE = {
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
PROMPT = "def "
MEASURED_TOKENS = 8_192


@dataclass(frozen=True, slots=True, kw_only=True)
class Script:
    """One performance. Times in seconds."""

    folder: Path
    rounds: int = 32
    peers: int = 4
    train_s: float = 8.0
    inner_steps: int = 20
    held_out_tokens: int = 65_536
    measured_every: int = 4
    """Heads of every so many rounds are measured by drawn volunteers."""
    first_windows: int = 160
    share_percent: int = 100
    """How much of the time the volunteers compute."""

    def plan(self) -> str:
        """The organiser's TOML."""
        return f"""
name = "demo"

[model]
source = "config.json"

[data]
folder = "data"

[algorithm]
outer_lr = 2.0

[inner]
steps = {self.inner_steps}
lr = 0.003
adam_lr = 0.001

[windows]
samples = 1
first = {self.first_windows}

[rounds]
min_members = {self.peers}
warmup_s = 0.5
train_s = {self.train_s}
train_limit_s = {self.train_s * 4}
witness_s = 20.0
grace_s = 1.0
attest_s = 30.0
cooldown_s = 20.0
most = {self.rounds}

[measure]
every = {self.measured_every}
tokens = {MEASURED_TOKENS}
""".lstrip()

    def write(self) -> Path:
        """Write plan and model configuration into the folder; returns the plan's path."""
        self.folder.mkdir(parents=True, exist_ok=True)
        (self.folder / "config.json").write_text(json.dumps(ARCHITECTURE, indent=2))
        path = self.folder / "plan.toml"
        path.write_text(self.plan())
        return path


def quick(folder: Path, peers: int) -> Script:
    """All of it in a minute."""
    return Script(
        folder=folder,
        rounds=5,
        peers=peers,
        train_s=4.0,
        first_windows=80,
        held_out_tokens=16_384,
        measured_every=2,
    )


def with_rounds(script: Script, rounds: int) -> Script:
    """The same with another number of rounds."""
    return replace(script, rounds=rounds)
