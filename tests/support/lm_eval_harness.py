"""lm-evaluation-harness with its own package, which is not among our requirements."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from tests.support import model_folders

if TYPE_CHECKING:
    from pathlib import Path


def require() -> Any:  # noqa: ANN401 - a package without types
    """Import the harness, or skip the tests of the module."""
    return pytest.importorskip(
        "lm_eval", reason="lm_eval is not installed: docs/scoring.md says how"
    )


def results(folder: Path, task: dict[str, Any]) -> dict[str, float]:
    """The harness's figures for the model in a folder, in the one task of that configuration."""
    library = pytest.importorskip("lm_eval.models.huggingface")
    model = library.HFLM(
        pretrained=str(folder),
        dtype="float32",
        device="cpu",
        batch_size=4,
        max_length=model_folders.CONTEXT,
        trust_remote_code=False,
    )
    found = require().simple_evaluate(model, tasks=[task], bootstrap_iters=0)["results"]
    return {
        name.partition(",")[0]: value
        for name, value in found[task["task"]].items()
        if isinstance(value, float)
    }
