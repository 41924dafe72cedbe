"""A member of a private group on disk: texts, a tiny model, and requests to train."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from tequio_client.ipc.private import InnerSteps, LocalTraining, PrivacyRules
from tequio_client.trainer import first_head

if TYPE_CHECKING:
    from pathlib import Path

    from numpy.typing import NDArray

CONFIG = json.dumps(
    {
        "model_type": "llama",
        "vocab_size": 256,
        "hidden_size": 32,
        "intermediate_size": 48,
        "num_hidden_layers": 1,
        "num_attention_heads": 2,
        "tie_word_embeddings": True,
    }
).encode()
WORDS = ("maize", "beans", "squash", "village", "bridge", "school", "harvest", "water")


def rules(*, noise: float = 1.0, clip: float = 1.0, most: float = 0.0) -> PrivacyRules:
    return PrivacyRules(
        clip_e6=round(clip * 10**6),
        noise_e6=round(noise * 10**6),
        delta_e12=10**7,
        epsilon_e6=round(most * 10**6),
    )


@dataclass(frozen=True, kw_only=True)
class PrivateMember:
    folder: Path
    elements: int

    @classmethod
    def create(cls, folder: Path, documents: int = 64) -> PrivateMember:
        """Write a model and that many short documents."""
        head = first_head.random_head(CONFIG, seed=5, layout="flat")
        (folder / "config.json").write_bytes(CONFIG)
        head.write(folder / "head.weights")
        (folder / "texts").mkdir()
        for name in ("state", "out"):
            (folder / name).mkdir(mode=0o700)
        for number in range(documents):
            chosen = [WORDS[(number * 5 + at * at) % len(WORDS)] for at in range(4 + number % 9)]
            text = f"{number}: " + " ".join(chosen) + "."
            (folder / "texts" / f"{number:04d}.txt").write_text(text, "utf-8")
        return cls(folder=folder, elements=head.layout.elements)

    def request(self, command: int, **changes: Any) -> LocalTraining:  # noqa: ANN401 - any field
        fields: dict[str, Any] = {
            "command": command,
            "round": command,
            "config": str(self.folder / "config.json"),
            "weights": str(self.folder / "head.weights"),
            "data": str(self.folder / "texts"),
            "state": str(self.folder / "state"),
            "delta_out": str(self.out(command)),
            "sequence": 32,
            "steps": 4,
            "batch": 8,
            "device": "cpu",
            "inner": InnerSteps(optimiser="adamw"),
        }
        return LocalTraining(**fields | changes)

    def out(self, command: int) -> Path:
        return self.folder / "out" / f"{command}.delta"

    def delta(self, command: int) -> NDArray[np.int32]:
        return np.fromfile(self.out(command), "<i4")

    def advance(self, command: int) -> None:
        """Move the head by the whole delta of a request."""
        path = self.folder / "head.weights"
        (np.fromfile(path, "<i4") + self.delta(command)).astype("<i4").tofile(path)
