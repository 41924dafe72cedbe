"""The golden vectors of the exact head, read as cases (tests/vectors/exact-head/README.md)."""

from __future__ import annotations

import base64
import hashlib
import json
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from tequio_shared.head.contribution import ExpectedContribution, WindowAssignment
from tequio_shared.head.head import OuterParams, OuterStep
from tequio_shared.head.layout import CHUNK, WeightLayout
from tequio_shared.ids import HeadHash, PeerKey, RunId

if TYPE_CHECKING:
    from numpy.typing import NDArray

FOLDER = Path(__file__).parent.parent / "vectors" / "exact-head"
NAMES = sorted(path.stem for path in FOLDER.glob("[1-9]-*.json"))
_PARAMS = ("alpha_q", "lambda_q", "delta", "z2", "token_cap", "mu_q", "down_k")


@dataclass(frozen=True, slots=True, kw_only=True)
class HeadCase:
    """One round: its input, the expected result, and contributions that must be refused."""

    step: OuterStep
    weights: NDArray[np.int32]
    aux: NDArray[Any] | None
    names: tuple[str, ...]
    contributions: tuple[tuple[bytes, bytes], ...]
    rules: ExpectedContribution
    invalid: tuple[tuple[str, str, bytes, bytes], ...]
    expected: dict[str, Any]
    """As in the file: plain JSON."""

    def name(self, at: int) -> str:
        """Label of the contribution at this position."""
        return self.names[at]


def primitives() -> dict[str, Any]:
    """Values of `0-primitives.json`."""
    loaded: dict[str, Any] = json.loads((FOLDER / "0-primitives.json").read_text())
    return loaded


def load(name: str) -> HeadCase:
    """Read one case."""
    raw = json.loads((FOLDER / f"{name}.json").read_text())
    manifest = raw["manifest"]
    params = OuterParams(
        algorithm=manifest["algorithm"],
        layout=manifest["layout"],
        k=manifest["k"],
        bits=manifest["bits"],
        **{key: manifest[key] for key in _PARAMS},
    )
    step = OuterStep(
        run_id=RunId(bytes.fromhex(raw["run_id"])),
        round=raw["round"],
        parent=HeadHash(bytes.fromhex(raw["base_head"])),
        layout=WeightLayout.of(manifest["tensors"], manifest["layout"]),
        params=params,
    )
    payloads = {one["name"]: base64.b64decode(one["payload"]) for one in raw["contributions"]}
    return HeadCase(
        step=step,
        weights=_array(raw["weights"], np.dtype("<i4"), step.layout),
        aux=raw["aux"] and _array(raw["aux"], np.dtype(raw["aux"]["dtype"]), step.layout),
        names=tuple(payloads),
        contributions=tuple(
            (bytes.fromhex(one["header"]), payloads[one["name"]]) for one in raw["contributions"]
        ),
        rules=_rules(raw, step),
        invalid=tuple(
            (one["what"], one["rule"], bytes.fromhex(one["header"]), _spoil(one, payloads))
            for one in raw["invalid"]
        ),
        expected=raw["expected"],
    )


def sha256_hex(array: NDArray[Any], dtype: str) -> str:
    """SHA-256 of the array's little-endian bytes as `dtype`."""
    return hashlib.sha256(np.ascontiguousarray(array, dtype).tobytes()).hexdigest()


def scale_list(value: list[int] | str) -> list[int]:
    """Scale bytes, which larger cases give in base64."""
    return list(base64.b64decode(value)) if isinstance(value, str) else value


def _array(recipe: dict[str, Any], dtype: np.dtype[Any], layout: WeightLayout) -> NDArray[Any]:
    stream = hashlib.shake_256(recipe["label"].encode()).digest(dtype.itemsize * layout.elements)
    values: NDArray[Any] = np.frombuffer(stream, dtype) >> recipe["shift"]
    padding = layout.padding(0, layout.chunks)
    values.reshape(-1, CHUNK)[padding.chunks] *= ~padding.masks
    for position, value in recipe.get("set", ()):
        values[position] = value
    return values


def _rules(raw: dict[str, Any], step: OuterStep) -> ExpectedContribution:
    return ExpectedContribution(
        shape=step.params.shape,
        chunks=step.layout.chunks,
        run_id=step.run_id,
        round=step.round,
        base_head=step.parent,
        assigned={
            PeerKey(bytes.fromhex(one["trainer"])): WindowAssignment(
                first=one["window_first"], count=one["window_count"]
            )
            for one in raw["assigned"]
        },
        window_tokens=raw["manifest"]["window_tokens"],
        max_inner_steps=raw["manifest"]["max_inner_steps"],
    )


def _spoil(one: dict[str, Any], payloads: dict[str, bytes]) -> bytes:
    payload = bytearray(payloads[one["payload_of"]])
    for offset, text in one["patch"]:
        fresh = bytes.fromhex(text)
        payload[offset : offset + len(fresh)] = fresh
    for offset, length in one["zero"]:
        payload[offset : offset + length] = bytes(length)
    kept = payload[: len(payload) - one["cut"]]
    return bytes(kept) + bytes.fromhex(one["append"])
