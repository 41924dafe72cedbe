"""The demo's plan for a smaller model, as an organiser's file."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from tequio_client.demo.script import ARCHITECTURE, DemoScript

if TYPE_CHECKING:
    from pathlib import Path

ROUNDS, TRAIN_S, STEPS, FIRST = 60, 20.0, 8, 16
FEWEST = 5
"""Members with whom a round begins."""
SMALLER = {
    "hidden_size": 64,
    "intermediate_size": 240,
    "num_hidden_layers": 1,
    "num_attention_heads": 2,
    "num_key_value_heads": 2,
}


def write_plan(folder: Path, seed: int) -> Path:
    """Write the plan and the model's configuration, with this seed for model and windows."""
    script = DemoScript(
        folder=folder,
        rounds=ROUNDS,
        peers=FEWEST,
        train_s=TRAIN_S,
        inner_steps=STEPS,
        first_windows=FIRST,
    )
    path = folder / f"{seed}.toml"
    text = script.plan()
    for title in ("model", "windows"):
        text = text.replace(f"[{title}]\n", f"[{title}]\nseed = {seed}\n")
    path.write_text(text)
    (folder / "config.json").write_text(json.dumps({**ARCHITECTURE, **SMALLER}))
    return path
