"""The GGUF of an export computes what the export computes."""

from __future__ import annotations

import importlib.util
from typing import TYPE_CHECKING

import pytest
import torch

from tequio_client.audit.main import Quiet
from tequio_client.checkpoint import gguf_file
from tequio_shared.errors import UserFacingError

if TYPE_CHECKING:
    from pathlib import Path


def test_without_the_package_one_sentence_says_what_to_install(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda _: None)
    with pytest.raises(UserFacingError, match="pip install gguf"):
        gguf_file.check_installed()


def test_transformers_reads_the_gguf_as_the_same_model(folder: Path) -> None:
    from transformers import (  # noqa: PLC0415 - seconds, for this test
        AutoModelForCausalLM,
        LlamaConfig,
        LlamaForCausalLM,
    )
    from transformers.modeling_gguf_pytorch_utils import load_gguf_checkpoint  # noqa: PLC0415

    gguf_file.check_installed()
    path = gguf_file.write(folder, Quiet())
    assert path == folder.with_name("head.gguf")
    assert [one.name for one in folder.parent.iterdir() if one.name.endswith(".part")] == []
    plain = AutoModelForCausalLM.from_pretrained(folder)
    fields = load_gguf_checkpoint(str(path))["config"]  # type: ignore[no-untyped-call]  # theirs
    theirs = LlamaForCausalLM(LlamaConfig(**fields))
    read = load_gguf_checkpoint(  # type: ignore[no-untyped-call]  # as above
        str(path), return_tensors=True, model_to_load=theirs
    )
    assert not theirs.load_state_dict(read["tensors"]).missing_keys
    ids = torch.randint(0, 256, (2, 40), generator=torch.Generator().manual_seed(2))
    with torch.no_grad():
        pair = [one(input_ids=ids, use_cache=False).logits for one in (plain, theirs)]
    assert float((pair[0] - pair[1]).abs().max()) <= 1e-5


def test_a_model_that_no_gguf_is_written_of_is_named(folder: Path) -> None:
    (folder / "config.json").write_text('{"model_type": "gpt2"}')
    with pytest.raises(UserFacingError, match="not of gpt2"):
        gguf_file.write(folder, Quiet())
    assert not folder.with_name("head.gguf").exists()
