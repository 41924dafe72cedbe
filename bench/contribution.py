"""The size of a contribution: its bytes against the same update as fp32, for every k.

Real contributions of the demo's model are encoded (a random pseudo-gradient; sizes do not depend on
its values) and counted in full, with the header. The claim: at least 146 times fewer bytes at k 64
with 2 bits (Covenant-72B reports 146x, arXiv 2603.08163).

    python bench/contribution.py [--json FILE]
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from loops.flat import network
from loops.machine import machine

from tequio_client.demo.script import ARCHITECTURE
from tequio_client.trainer import codecs
from tequio_shared.head.contribution import HEADER_BYTES
from tequio_shared.round.manifest import Algorithm

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from tequio_shared.head.layout import WeightLayout


CLAIM_K, BITS, LEAST_RATIO = 64, 2, 146.0


def main() -> None:
    """Encode one contribution for every k and print the sizes."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", type=Path, help="write the figures to this file")
    options = parser.parse_args()
    layout = network(ARCHITECTURE).layout("flat")
    delta = np.random.default_rng(0).normal(0, 1e-3, layout.elements).astype(np.float32)
    rows = [_row(layout, delta, k) for k in (16, 32, 64, 128, 256)]
    result = {
        **machine(),
        "parameters": layout.parameters,
        "fp32_bytes": 4 * layout.parameters,
        "rows": rows,
        "least_ratio_at_k64": LEAST_RATIO,
    }
    print(json.dumps(result, indent=1))
    if options.json:
        options.json.write_text(json.dumps(result, indent=1))
    ratio = next(row["ratio"] for row in rows if row["k"] == CLAIM_K)
    if ratio < LEAST_RATIO:
        raise SystemExit(f"only {ratio:.0f} times fewer bytes than fp32 at k {CLAIM_K}")


def _row(layout: WeightLayout, delta: NDArray[np.float32], k: int) -> dict[str, float]:
    manifest = Algorithm(name="sparseloco", k=k, bits=BITS)  # type: ignore[arg-type]  # only widths that a run may have
    encoded = codecs.encode(codecs.outer_algorithm(manifest, k, 0.95), layout, delta, None)
    size = HEADER_BYTES + len(encoded.payload)
    return {
        "k": k,
        "bits": BITS,
        "bytes": size,
        "bits_per_parameter": 8 * size / layout.parameters,
        "ratio": 4 * layout.parameters / size,
    }


if __name__ == "__main__":
    main()
