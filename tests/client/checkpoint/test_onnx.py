"""The ONNX graph of an export computes what the export computes, in onnxruntime."""

from __future__ import annotations

import importlib.util
import json
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
import torch
from click.testing import CliRunner, Result

from tequio_client.checkpoint import cli, export, layout, onnx
from tequio_client.verify.report import NoProgress
from tequio_shared.errors import UserFacingError, first_error
from tests.support import architectures
from tests.support.llama_swarm import ROUNDS, ServedLog, played

if TYPE_CHECKING:
    from pathlib import Path

    from numpy.typing import NDArray

IS_INSTALLED = all(map(importlib.util.find_spec, ("onnx", "onnxscript", "onnxruntime")))
needs_onnx = pytest.mark.skipif(not IS_INSTALLED, reason="needs onnx, onnxscript and onnxruntime")


def test_without_the_packages_one_sentence_names_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda _: None)
    with pytest.raises(UserFacingError, match=r"needs onnx and onnxscript.*tequio\[onnx\]"):
        onnx.check_installed()


def test_a_folder_that_is_there_is_not_written_over(tmp_path: Path) -> None:
    (tmp_path / "maize-onnx").mkdir()
    with pytest.raises(UserFacingError, match=r"maize-onnx is there already: choose another"):
        export.check_copies(tmp_path / "maize", (onnx,))
    export.check_copies(tmp_path / "bean", (onnx,))


def run_export(site: ServedLog, target: Path) -> Result:
    """Run the command as somebody with a store would."""
    store = played().store(target.parent / "store", ROUNDS)
    words = ["--run", "maize- 1.0", "--to", str(target), "--store", str(store)]
    return CliRunner().invoke(cli.export, [*words, "--ledger", site.url, "--onnx"])


def test_the_command_exports_nothing_where_the_packages_are_missing(
    site: ServedLog, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(onnx, "_PACKAGES", ("onnx_that_nobody_has",))
    result = run_export(site, tmp_path / "out")
    assert isinstance(result.exception, UserFacingError)
    assert not (tmp_path / "out").exists()


def logits_of_torch(folder: Path, ids: NDArray[np.int64], mask: NDArray[np.int64]) -> NDArray[Any]:
    """The logits that transformers computes from an exported folder."""
    from transformers import AutoModelForCausalLM  # noqa: PLC0415 - seconds, for these tests

    network: Any = AutoModelForCausalLM.from_pretrained(folder)
    with torch.no_grad():
        found = network(
            input_ids=torch.from_numpy(ids), attention_mask=torch.from_numpy(mask), use_cache=False
        )
    values: NDArray[Any] = found.logits.numpy()
    return values


def check_same(folder: Path, target: Path) -> None:
    """Compare a graph in onnxruntime with torch for several numbers and lengths of texts."""
    import onnxruntime  # noqa: PLC0415 - an optional package

    session = onnxruntime.InferenceSession(
        target / "model.onnx", providers=["CPUExecutionProvider"]
    )
    assert [one.name for one in session.get_inputs()] == ["input_ids", "attention_mask"]
    chance = np.random.default_rng(5)
    for texts, tokens in ((1, 1), (1, 40), (3, 17)):
        ids = chance.integers(0, 256, (texts, tokens))
        mask = np.ones_like(ids)
        if texts > 1:
            mask[1, tokens // 2 :] = 0  # a shorter text
        theirs = logits_of_torch(folder, ids, mask)
        (ours,) = session.run(["logits"], {"input_ids": ids, "attention_mask": mask})
        assert ours.shape == theirs.shape
        there = mask.astype(bool)
        assert np.abs(theirs[there]).max() > 0.1
        np.testing.assert_allclose(ours[there], theirs[there], atol=1e-4, rtol=0)


@needs_onnx
def test_the_command_writes_the_graph_of_a_llama_beside_the_folder_and_it_computes_the_logits(
    site: ServedLog, tmp_path: Path
) -> None:
    result = run_export(site, tmp_path / "out")
    assert result.exception is None, result.output
    folder, target = tmp_path / "out", tmp_path / "out-onnx"
    assert result.output.splitlines()[-1] == str(target)
    assert (folder / layout.CONFIG).exists()
    check_same(folder, target)
    tokenizer = layout.TOKENIZER, layout.TOKENIZER_CONFIG
    due = {"model.onnx", "model.onnx.data", layout.CONFIG, layout.GENERATION, *tokenizer}
    assert {one.name for one in target.iterdir()} == due
    assert [one.name for one in folder.parent.iterdir() if one.name.endswith(".part")] == []


@needs_onnx
@pytest.mark.parametrize("kind", ["gpt2", "gemma2"])
def test_onnxruntime_computes_those_of_other_architectures(kind: str, folder: Path) -> None:
    architectures.write(folder, architectures.DECODERS[kind] | {"model_type": kind})
    onnx.write(folder, onnx.place(folder), NoProgress())
    check_same(folder, onnx.place(folder))


@needs_onnx
def test_a_model_that_cannot_be_read_is_named_and_nothing_is_left(folder: Path) -> None:
    fields = json.loads((folder / layout.CONFIG).read_text()) | {"model_type": "maize"}
    (folder / layout.CONFIG).write_text(json.dumps(fields))
    before = set(folder.parent.iterdir())
    with pytest.raises(UserFacingError, match="cannot build the model of"):
        export.rename_with_copies(folder, folder.with_name("out"), (onnx,), NoProgress())
    assert set(folder.parent.iterdir()) == before


@needs_onnx
@pytest.mark.parametrize(
    ("kind", "why"),
    [("mamba", "texts of one length"), ("mixtral", "No ONNX function found for <OpOverload")],
)
def test_a_network_of_which_no_graph_can_be_made_is_refused_with_the_reason(
    kind: str, why: str, folder: Path
) -> None:
    architectures.write(folder, architectures.small_fields(kind))
    with pytest.raises(UserFacingError, match=f"as ONNX: .*{why}.*leave out --onnx") as raised:
        onnx.write(folder, onnx.place(folder), NoProgress())
    assert str(raised.value).isprintable(), "no codes of colours"
    assert list(onnx.place(folder).iterdir()) == []


@needs_onnx
def test_after_a_model_that_cannot_be_written_there_is_neither_folder_nor_copy(
    site: ServedLog, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patch:
        patch.setattr(torch.onnx, "export", lambda *_, **__: None)
        why = first_error(run_export(site, tmp_path / "out").exception or ValueError())
    assert "returned no ONNX graph" in str(why)
    assert {one.name for one in tmp_path.iterdir()} == {"store"}
    assert run_export(site, tmp_path / "out").exit_code == 0
