"""The notebooks run from the first cell to the last, against a real ledger and a real model."""

from __future__ import annotations

import ast
import json
import re
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any
from xml.etree import ElementTree as ET

import pytest

from tequio_client import tokenizers
from tequio_client.checkpoint import layout
from tests.client.verify.logs import SwarmLog
from tests.support import architectures
from tests.support.llama_swarm import ROUNDS, played, served_log
from tests.support.sample_site import served_site

if TYPE_CHECKING:
    from collections.abc import Iterator

FOLDER = Path(__file__).parents[2] / "docs" / "notebooks"
NOTEBOOKS = sorted(FOLDER.glob("*.ipynb"))
LEDGER = "https://ledger.example"
"""Address that the notebooks leave to the reader."""
CELL_ID = re.compile(r"[A-Za-z0-9_-]{1,64}")


@dataclass(frozen=True, slots=True)
class NotebookCell:
    """A cell that holds Python, or Markdown."""

    kind: str
    text: str


def cells_of(notebook: Path) -> Iterator[NotebookCell]:
    for cell in json.loads(notebook.read_text("utf-8"))["cells"]:
        yield NotebookCell(cell["cell_type"], "".join(cell["source"]))


def run_notebook(name: str, values: dict[str, str]) -> tuple[dict[str, Any], list[str]]:
    """Execute the cells as Jupyter does, with the reader's own values in place of others.

    Returns the names that they leave, and what Jupyter would draw.
    """
    names: dict[str, Any] = {"__name__": "__main__"}
    drawn: list[str] = []
    for number, cell in enumerate(cells_of(FOLDER / f"{name}.ipynb")):
        if cell.kind != "code":
            continue
        code = cell.text
        for given, own in values.items():
            code = code.replace(given, own)
        tree = ast.parse(code, filename=f"{name}, cell {number}")
        shown = tree.body.pop() if isinstance(tree.body[-1], ast.Expr) else None
        exec(compile(tree, f"{name}, cell {number}", "exec"), names)  # noqa: S102 - our own notebook
        if isinstance(shown, ast.Expr):
            last = compile(ast.Expression(shown.value), f"{name}, cell {number}", "eval")
            value = eval(last, names)  # noqa: S307 - our own notebook
            if hasattr(value, "_repr_svg_"):
                drawn.append(value._repr_svg_())
    return names, drawn


@pytest.mark.parametrize("notebook", NOTEBOOKS, ids=[one.stem for one in NOTEBOOKS])
def test_a_notebook_has_the_format_that_jupyter_reads_and_no_outputs(notebook: Path) -> None:
    content = json.loads(notebook.read_text("utf-8"))
    assert set(content) == {"cells", "metadata", "nbformat", "nbformat_minor"}
    assert (content["nbformat"], content["nbformat_minor"]) == (4, 5)
    assert set(content["metadata"]["kernelspec"]) == {"display_name", "language", "name"}
    ids = [cell["id"] for cell in content["cells"]]
    assert len(set(ids)) == len(ids)
    assert all(CELL_ID.fullmatch(one) for one in ids)
    for cell in content["cells"]:
        lines = cell["source"]
        assert all(line.endswith("\n") for line in lines[:-1])
        assert not lines[-1].endswith("\n")
        keys = {"cell_type", "id", "metadata", "source"}
        if cell["cell_type"] == "code":
            assert (cell["outputs"], cell["execution_count"]) == ([], None)
            keys |= {"outputs", "execution_count"}
        else:
            assert cell["cell_type"] == "markdown"
        assert set(cell) == keys
    texts = [one.text for one in cells_of(notebook) if one.kind == "markdown"]
    assert [text.startswith("# ") for text in texts] == [True] + [False] * (len(texts) - 1)


@pytest.fixture(scope="module")
def ledger(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with served_site(tmp_path_factory.mktemp("site")) as running:
        yield running.url


def test_a_run_is_followed(ledger: str, capsys: pytest.CaptureFixture[str]) -> None:
    _, drawn = run_notebook("01-follow-a-run", {LEDGER: ledger})
    printed = capsys.readouterr().out
    assert "nova-350m: round_train" in printed
    assert "contributions accepted" in printed
    assert "bits per byte" in printed
    assert "Once upon a time" in printed
    assert len(drawn) == 2
    for picture in drawn:
        lines = ET.fromstring(picture).findall("{*}polyline")  # noqa: S314 - of our own notebook
        assert [len(line.attrib["points"].split()) > 5 for line in lines] == [True]


def test_the_points_of_a_key_are_proven(ledger: str, capsys: pytest.CaptureFixture[str]) -> None:
    names, _ = run_notebook("02-check-who-did-what", {LEDGER: ledger})
    printed = capsys.readouterr().out
    assert "work.commit, round" in printed
    assert "Everything holds." in printed
    assert f"{names['peer'].gflop:,} GFLOP, derived from" in printed
    assert names["outcome"]["windows"] > 0
    assert names["outcome"]["trainer_gflop"] > 0


def test_texts_are_split_as_in_training_whatever_the_kind_of_model(tmp_path: Path) -> None:
    text = "maize of 2026"
    own = tokenizers.train_tokenizer([text] * 9, 300)
    folder = architectures.write(
        tmp_path, architectures.small_fields("qwen2") | {"vocab_size": 300}
    )
    raw, settings = layout.tokenizer_files(own.file, own.separator, 64)
    (folder / layout.TOKENIZER).write_bytes(raw)
    (folder / layout.TOKENIZER_CONFIG).write_bytes(settings)
    cells = cells_of(FOLDER / "03-use-the-model.ipynb")
    code = next(one.text for one in cells if one.kind == "code" and "model.generate" in one.text)
    names: dict[str, Any] = {"FOLDER": folder}
    exec(code.replace("Once upon a time", text), names)  # noqa: S102 - our own notebook
    assert names["tokens"]["input_ids"].tolist() == [own.encode(text).tolist()]


def test_the_newest_head_is_used(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    store = played().store(tmp_path / "store", ROUNDS)
    values = {'"nova"': repr("maize- 1.0"), "STORES = []": f"STORES = [{str(store)!r}]"}
    with served_log(SwarmLog(played().swarm)) as site:
        names, _ = run_notebook("03-use-the-model", {LEDGER: site.url, **values})
    printed = capsys.readouterr().out
    assert f"head of round {ROUNDS}" in printed
    assert "verified" in printed
    assert names["written"].shape[1] > len("Once upon a time")
    assert (tmp_path / "nova-head-copy.gguf").is_file()
    assert names["difference"] < 1e-4
