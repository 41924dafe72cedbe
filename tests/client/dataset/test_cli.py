"""`tequio data build`, with a real dataset of the datasets library."""

from __future__ import annotations

import bz2
import gzip
import json
import lzma
import os
import random
from typing import TYPE_CHECKING

import pytest
from click.testing import CliRunner

from tequio_client import tokenizers
from tequio_client.dataset.build import MANIFEST_NAME
from tequio_client.dataset.cli import data
from tequio_client.dataset.mixture import Mixture
from tequio_client.dataset.sources import TextsInMemory
from tequio_client.tokenizers import SEPARATORS, TURN_TOKENS
from tequio_shared.round.corpus import Corpus
from tests.support.small_disk import SmallDisk

if TYPE_CHECKING:
    from pathlib import Path
    from types import ModuleType


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


def test_data_without_held_out_text_is_told_with_the_way_to_have_some(tmp_path: Path) -> None:
    asked = ["build", str(tmp_path / "out"), "--sequence", "32"]
    asked += ["--dataset", str(_rows(tmp_path / "rows")), "--column", "body"]
    few = CliRunner().invoke(data, [*asked, "--held-out", "1"])
    assert "none of 30 documents was held out" in few.stderr
    told = few.stderr.partition("or with ")[2].split()
    again = CliRunner().invoke(data, [*asked, *told])
    assert again.exit_code == 0, again.output
    assert not again.stderr.strip()
    assert "held out: 0 documents" not in again.output
    on_purpose = CliRunner().invoke(data, [*asked, "--restart", "--held-out", "0"])
    assert (on_purpose.exit_code, on_purpose.stderr.strip()) == (0, "")


@pytest.mark.parametrize("packed", [gzip, bz2, lzma])
@pytest.mark.parametrize("damage", ["cut", "changed"])
def test_a_damaged_file_is_told_in_one_sentence(
    tmp_path: Path, packed: ModuleType, damage: str
) -> None:
    suffix = {gzip: "gz", bz2: "bz2", lzma: "xz"}[packed]
    lines = [json.dumps({"text": random.Random(at).randbytes(200).hex()}) for at in range(2_000)]
    raw = bytearray(packed.compress("\n".join(lines).encode()))
    half = len(raw) // 2
    raw[half:] = b"" if damage == "cut" else bytes(len(raw) - half)
    (tmp_path / f"rows.jsonl.{suffix}").write_bytes(raw)
    file = str(tmp_path / f"rows.jsonl.{suffix}")
    result = CliRunner().invoke(data, ["build", str(tmp_path / "out"), "--dataset", file])
    assert (result.exit_code, type(result.exception)) == (1, SystemExit)
    assert f"cannot load the dataset {file}: " in result.stderr


def test_a_folder_and_a_dataset_at_once_are_refused(tmp_path: Path) -> None:
    asked = ["build", str(tmp_path / "out"), "--stdlib", "--folder", str(tmp_path)]
    result = CliRunner().invoke(data, asked)
    assert result.exit_code == 2
    assert "choose exactly one of" in result.output


def test_a_seed_beyond_eight_bytes_is_refused(tmp_path: Path) -> None:
    asked = ["build", str(tmp_path / "out"), "--folder", str(tmp_path), "--seed", str(2**64)]
    result = CliRunner().invoke(data, asked)
    assert result.exit_code == 2
    assert "0<=x<=18446744073709551615" in result.output


def test_a_missing_folder_is_told_in_one_sentence(tmp_path: Path) -> None:
    asked = ["build", str(tmp_path / "out"), "--folder", str(tmp_path / "none")]
    result = CliRunner().invoke(data, asked)
    assert result.exit_code == 1
    assert result.output.strip().endswith("none is not a folder")


@pytest.mark.parametrize("command", ["build", "tokenizer"])
def test_files_that_are_not_utf8_are_named_instead_of_left_out(
    tmp_path: Path, command: str
) -> None:
    texts = tmp_path / "texts"
    texts.mkdir()
    (texts / "good.md").write_text("nixtamal")
    for number in range(5):
        (texts / f"{number}.txt").write_bytes("maíz".encode("latin-1"))
    plan = tmp_path / "mixture.toml"
    plan.write_text('[[source]]\nfolder = "texts"\nshare = 1\n')
    for source in (("--folder", str(texts)), ("--mixture", str(plan))):
        result = CliRunner().invoke(data, [command, str(tmp_path / "out"), *source])
        assert result.exit_code == 1
        assert "are not UTF-8 (0.txt, 1.txt, 2.txt and 2 more): convert them" in result.output
    assert not (tmp_path / "out").exists()
    asked = [command, str(tmp_path / "out"), "--folder", str(texts), "--pattern", "*.md"]
    sizes = ["--sequence", "2", "--held-out", "0"] if command == "build" else []
    result = CliRunner().invoke(data, [*asked, *sizes])
    assert result.exit_code == 0, result.output


def test_a_tokenizer_is_learned_from_texts_and_builds_shards(tmp_path: Path) -> None:
    texts = tmp_path / "texts"
    texts.mkdir()
    for number in range(40):
        text = f"nixtamal tlaxcalli {number}\n" * 30
        (texts / f"{number}.txt").write_text(text, "utf-8")
    file, out = tmp_path / "tokenizer.json", tmp_path / "out"
    source = ["--folder", str(texts)]
    asked = ["tokenizer", str(file), *source, "--vocabulary", "300"]
    result = CliRunner().invoke(data, asked)
    assert result.exit_code == 0, result.output
    assert "tokens: 300" in result.output
    first = file.read_bytes()
    CliRunner().invoke(data, asked)
    assert file.read_bytes() == first
    built = ["build", str(out), *source, "--sequence", "32", "--tokenizer", str(file)]
    result = CliRunner().invoke(data, built)
    assert result.exit_code == 0, result.output
    corpus = Corpus.parse((out / MANIFEST_NAME).read_bytes())
    assert corpus.tokenizer.vocab_size == 300
    assert corpus.train[0].tokens * 2 < 40 * 30 * 20, "fewer tokens than characters"
    learned = tokenizers.parse_tokenizer(first, "the file", SEPARATORS)
    for strange in ("tlaxcalli \u0283\U0001f33d\x00\n", " def x():\n\treturn"):
        assert learned.decode(learned.encode(strange).tolist()) == strange
    assert set(TURN_TOKENS) <= learned.special_tokens.keys()


def test_short_texts_give_a_smaller_tokenizer_and_say_so(tmp_path: Path) -> None:
    (tmp_path / "short.txt").write_text("maize and beans and maize")
    asked = ["tokenizer", str(tmp_path / "t.json"), "--folder", str(tmp_path)]
    result = CliRunner().invoke(data, asked)
    assert result.exit_code == 0, result.output
    assert "the texts are too short for more tokens than 2" in result.stderr


def test_a_full_disk_leaves_the_tokenizer_that_was_there(tmp_path: Path) -> None:
    # More than fits in the one page of the disk that the earlier file has.
    (tmp_path / "long.txt").write_text(" ".join(f"maize{number}" for number in range(2_000)))
    disk = SmallDisk(tmp_path / "disk")
    there = tmp_path / "disk" / "t.json"
    try:
        there.write_bytes(b"an earlier tokenizer")
        disk.fill([os.getpid()])
        asked = ["tokenizer", str(there), "--folder", str(tmp_path), "--pattern", "*.txt"]
        result = CliRunner().invoke(data, asked)
        disk.empty([os.getpid()])
        assert result.exit_code == 1
        assert f"cannot use {there} (" in result.output
        assert there.read_bytes() == b"an earlier tokenizer"
        assert [one.name for one in there.parent.iterdir()] == ["t.json"]
    finally:
        disk.unmount()


def test_of_a_dataset_a_tokenizer_learns_from_the_first_rows(tmp_path: Path) -> None:
    rows = [json.dumps({"text": "maize " * 200_000}), json.dumps({"text": "beans " * 200_000})]
    (tmp_path / "rows.jsonl").write_text("\n".join(rows))
    asked = ["tokenizer", str(tmp_path / "t.json"), "--dataset", str(tmp_path / "rows.jsonl")]
    result = CliRunner().invoke(data, [*asked, "--most-mib", "1"])
    assert result.exit_code == 0, result.output
    learned = (tmp_path / "t.json").read_text()
    assert "maize" in learned
    assert "beans" not in learned
    told = CliRunner().invoke(data, ["tokenizer", "--help"]).output
    assert "files are drawn, and of a dataset, the first rows are read" in " ".join(told.split())


def test_a_tokenizer_learns_from_as_much_text_as_it_is_told() -> None:
    some = TextsInMemory(label="some", texts=tuple("milpa " * 10 for _ in range(100)))
    more = TextsInMemory(label="more", texts=tuple("maize " * 10 for _ in range(100)))
    mixture = Mixture(parts=(some, more), shares=(3.0, 1.0))
    few = list(mixture.some_texts(1_200))
    assert (len(few), "".join(few).count("maize") // 10) == (20, 5)
    assert len(list(mixture.some_texts(1 << 20))) == 200
