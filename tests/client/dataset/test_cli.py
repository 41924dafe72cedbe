"""`tequio data build`, with a real dataset of the datasets library."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from click.testing import CliRunner

from tequio_client.dataset.build import MANIFEST_NAME
from tequio_client.dataset.cli import data
from tequio_shared.round.manifest import Corpus

if TYPE_CHECKING:
    from pathlib import Path

    import pytest


def _rows(folder: Path) -> Path:
    folder.mkdir()
    rows = [json.dumps({"body": f"{number} " + "milpa " * 20}) for number in range(30)]
    (folder / "train.jsonl").write_text("\n".join(rows))
    return folder


def test_a_hugging_face_dataset_becomes_shards(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("datasets.config.HF_DATASETS_CACHE", tmp_path / "cache")
    folder = _rows(tmp_path / "rows")
    asked = [str(tmp_path / "out"), "--dataset", str(folder), "--column", "body"]
    result = CliRunner().invoke(data, ["build", *asked, "--sequence", "32", "--held-out", "1000"])
    assert result.exit_code == 0, result.output
    corpus = Corpus.parse((tmp_path / "out" / MANIFEST_NAME).read_bytes())
    documents = sum(shard.documents for shard in corpus.held_out)
    assert documents > 0
    assert corpus.samples > 50
    assert f"held out: {documents} documents" in result.output


def test_a_folder_and_a_dataset_at_once_are_refused(tmp_path: Path) -> None:
    asked = ["build", str(tmp_path / "out"), "--stdlib", "--folder", str(tmp_path)]
    result = CliRunner().invoke(data, asked)
    assert result.exit_code == 2
    assert "choose exactly one of" in result.output


def test_a_missing_folder_is_told_in_one_sentence(tmp_path: Path) -> None:
    asked = ["build", str(tmp_path / "out"), "--folder", str(tmp_path / "none")]
    result = CliRunner().invoke(data, asked)
    assert result.exit_code == 1
    assert result.output.strip().endswith("none is not a folder")
