"""Time that a round costs a trainer beside training: every step between two trainings.

For a Llama of 124M parameters: loading the head, writing the pseudo-gradient, encoding it,
screening all contributions of the round, and computing the next head. Contributions are random.
Each part is measured in numpy and in the kernels that a model of this size uses, on one thread, in
processor time, which other programs on the computer hardly change.

    python bench/overhead.py [--members N]... [--json FILE] [--document docs/results.md]
"""

from __future__ import annotations

import argparse
import json
import tempfile
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import torch
from loops import screening_cost, table
from loops.machine import machine

from tequio_client.trainer import codecs, engines, model, screen
from tequio_client.trainer.head import HeadFiles, compute_next_head, engine_for
from tequio_shared.head.contribution import RecordShape, k_for_trainers
from tequio_shared.head.head import OuterParams, OuterStep
from tequio_shared.head.layout import WeightLayout

if TYPE_CHECKING:
    from collections.abc import Callable

    from tequio_client.trainer.model import CausalModel
    from tequio_client.trainer.screen import ScreenedCandidate

WIDTH, INNER, LAYERS, VOCABULARY = 768, 2_048, 12, 50_304
MEMBERS = (6, 54)
KINDS = ("numpy", "compiled")


def main() -> None:
    """Measure all parts for each number of members; print, and write to files if asked."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--members", type=int, action="append", help="trainers of a round")
    parser.add_argument("--json", type=Path, help="write the figures to this file")
    parser.add_argument("--document", type=Path, help="write the table into this document")
    options = parser.parse_args()
    torch.set_num_threads(1)
    network = model.build_random(_config(), 1)
    found = [_parts(network, members) for members in options.members or MEMBERS]
    text = _table(found)
    print(text)
    if options.json:
        rows = [{"members": one.members, "k": one.k, **one.seconds} for one in found]
        options.json.write_text(json.dumps({**machine(), "rounds": rows}, indent=1))
    if options.document:
        table.put(options.document, "overhead", text)


@dataclass(frozen=True, slots=True)
class RoundParts:
    """Processor seconds of each part, as `part, kind`."""

    members: int
    k: int
    seconds: dict[str, float] = field(default_factory=dict)

    def measure(self, name: str, part: Callable[[], object]) -> None:
        """Run it in numpy and in kernels; the second time counts, which compiles nothing."""
        least = dict(engines.COMPILED_FROM)
        for kind in KINDS:
            if kind == "numpy":
                engines.COMPILED_FROM.clear()
            try:
                for _ in range(2):
                    begun = time.process_time()
                    part()
                    self.seconds[f"{name}, {kind}"] = time.process_time() - begun
            finally:
                engines.COMPILED_FROM.update(least)


def _parts(network: CausalModel, members: int) -> RoundParts:
    found = RoundParts(members, k_for_trainers(members))
    layout = WeightLayout.of(network.tensors, "flat")
    shape = RecordShape(algorithm="sparseloco", k=found.k, bits=2)
    algorithm = codecs.SparseLoCo(shape=shape, feedback_decay=0.95)
    master = model.master_copy(network, layout)
    delta = np.random.default_rng(0).normal(0, 1e-3, layout.elements).astype(np.float32)
    feedback = codecs.encode(algorithm, layout, delta, None).feedback
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        written = np.memmap(folder / "delta", "<f4", "w+", shape=(layout.elements,))
        found.measure("load the head", lambda: network.load(master, layout))
        found.measure(
            "write the pseudo-gradient", lambda: network.write_delta(master, layout, written)
        )
        found.measure("encode", lambda: codecs.encode(algorithm, layout, delta, feedback))
        made = [
            screening_cost.candidate(folder, slot, layout.chunks, shape) for slot in range(members)
        ]
        witness = screen.WitnessContext(
            layout=layout, steps=20, rng=np.random.default_rng(1), own_delta=delta, own_slot=0
        )
        found.measure("screen the round", lambda: screen.screen(made, witness))
        master.tofile(folder / "weights")
        found.measure("compute the next head", lambda: _advance(folder, layout, shape, made))
    return found


def _advance(
    folder: Path, layout: WeightLayout, shape: RecordShape, made: list[ScreenedCandidate]
) -> None:
    params = OuterParams(
        algorithm="sparseloco", layout="flat", k=shape.k, bits=shape.bits, alpha_q=1 << 20
    )
    expected = made[0].expected
    step = OuterStep(
        run_id=expected.run_id, round=1, parent=expected.base_head, layout=layout, params=params
    )
    compute_next_head(
        step=step,
        contributions=[(one.header, one.payload) for one in made],
        files=HeadFiles(weights_in=folder / "weights", weights_out=folder / "next"),
        engine=engine_for(step),
    )


def _config() -> bytes:
    return json.dumps(
        {
            "architectures": ["LlamaForCausalLM"],
            "model_type": "llama",
            "vocab_size": VOCABULARY,
            "hidden_size": WIDTH,
            "intermediate_size": INNER,
            "num_hidden_layers": LAYERS,
            "num_attention_heads": WIDTH // 64,
            "num_key_value_heads": WIDTH // 64,
            "max_position_embeddings": 1_024,
            "tie_word_embeddings": True,
            "hidden_act": "silu",
        }
    ).encode()


def _table(found: list[RoundParts]) -> str:
    """A row for each part, and columns for each number of members; the last row is the sum."""
    names = list(dict.fromkeys(name.partition(", ")[0] for name in found[0].seconds))
    columns = [f"{one.members} members, {kind}" for one in found for kind in KINDS]
    rows = [
        [name, *(f"{one.seconds[f'{name}, {kind}']:.2f}" for one in found for kind in KINDS)]
        for name in names
    ]
    sums = [
        f"{sum(one.seconds[f'{name}, {kind}'] for name in names):.2f}"
        for one in found
        for kind in KINDS
    ]
    return table.markdown(["part, s of one core", *columns], [*rows, ["all of it", *sums]])


if __name__ == "__main__":
    main()
