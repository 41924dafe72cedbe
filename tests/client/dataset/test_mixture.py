"""Mixtures: each source gives its share of the text, and no document comes twice."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest
from click.testing import CliRunner

from tequio_client.dataset.build import MANIFEST_NAME, ShardOptions, build_shards
from tequio_client.dataset.cli import data
from tequio_client.dataset.mixture import read_mixture
from tequio_client.tokenizers import ByteTokenizer
from tequio_shared.errors import UserFacingError
from tequio_shared.round.corpus import Corpus, train_file_name

if TYPE_CHECKING:
    from pathlib import Path

DOCUMENT_BYTES = 40
SETTINGS = ShardOptions(sequence=16, seed=4, held_out_bp=0, shard_bytes=1 << 20)


def _texts(folder: Path, letter: str, count: int) -> None:
    folder.mkdir()
    for number in range(count):
        text = f"{number:04d}" + letter * (DOCUMENT_BYTES - 4)
        (folder / f"{number}.txt").write_text(text)


def _mixture(folder: Path, *sources: str) -> Path:
    path = folder / "mixture.toml"
    path.write_text("\n".join(f"[[source]]\n{one}" for one in sources))
    return path


def _build(path: Path, out: Path) -> Corpus:
    return build_shards(read_mixture(path), ByteTokenizer(), SETTINGS, out)


def test_each_source_gives_its_share_of_the_text(tmp_path: Path) -> None:
    _texts(tmp_path / "few", "a", 30)
    _texts(tmp_path / "many", "b", 500)
    path = _mixture(tmp_path, 'folder = "few"\nshare = 3', 'folder = "many"\nshare = 7')
    corpus = _build(path, tmp_path / "out")
    text = (tmp_path / "out" / train_file_name(0)).read_bytes()
    # The smaller source is used up, and the larger one gives 7/3 of it.
    assert text.count(b"a" * 36) == 30
    assert text.count(b"b" * 36) == 70
    assert corpus.source == "0.3 of folder few, 0.7 of folder many"


def test_documents_are_left_out_whatever_the_order_of_the_sources(tmp_path: Path) -> None:
    _texts(tmp_path / "few", "a", 30)
    _texts(tmp_path / "many", "b", 500)
    one = _mixture(tmp_path, 'folder = "few"\nshare = 3', 'folder = "many"\nshare = 7')
    first = _build(one, tmp_path / "one").root
    other = _mixture(tmp_path, 'folder = "many"\nshare = 0.7', 'folder = "few"\nshare = 0.3')
    assert _build(other, tmp_path / "two").root == first


def test_a_text_of_two_sources_counts_once(tmp_path: Path) -> None:
    _texts(tmp_path / "one", "a", 40)
    _texts(tmp_path / "other", "a", 60)
    path = _mixture(tmp_path, 'folder = "one"\nshare = 2', 'folder = "other"\nshare = 1')
    _build(path, tmp_path / "out")
    text = (tmp_path / "out" / train_file_name(0)).read_bytes()
    assert text.count(b"a" * 36) == 60


@pytest.mark.parametrize(
    ("sources", "why"),
    [
        (('folder = "one"\nshare = 0',), "share: expected a number > 0"),
        (("share = 1",), "each source has exactly one of folder, dataset and stdlib"),
        (('folder = "one"\nstdlib = true\nshare = 1',), "each source has exactly one of"),
        (('folder = "none"\nshare = 1',), "none is not a folder"),
        (('folder = "one"\nweight = 1',), "weight"),
        (('folder = "one"\nshare = 1', 'folder = "blank"\nshare = 1'), "folder blank has no text"),
        (('folder = "one"\nshare = 1', 'folder = "one"\nshare = 1'), "that the sources before it"),
    ],
)
def test_a_mixture_that_cannot_be_is_refused_with_its_fault(
    tmp_path: Path, sources: tuple[str, ...], why: str
) -> None:
    _texts(tmp_path / "one", "a", 10)
    (tmp_path / "blank").mkdir()
    (tmp_path / "blank" / "empty.txt").write_text(" \n")
    with pytest.raises(UserFacingError, match=why):
        _build(_mixture(tmp_path, *sources), tmp_path / "out")


def test_the_program_builds_a_mixture(tmp_path: Path) -> None:
    _texts(tmp_path / "one", "a", 40)
    path = _mixture(tmp_path, 'folder = "one"\nshare = 1', "stdlib = true\nshare = 1")
    asked = ["build", str(tmp_path / "out"), "--mixture", str(path), "--sequence", "32"]
    result = CliRunner().invoke(data, asked)
    assert result.exit_code == 0, result.output
    given = re.findall(r"(\S+) of (?:folder one|Python)", result.stdout)
    assert sum(map(float, given)) == pytest.approx(1, abs=0.01)


def test_shares_that_came_out_are_shown_and_those_far_off_are_told(tmp_path: Path) -> None:
    _texts(tmp_path / "short", "a", 90)
    (tmp_path / "long").mkdir()
    (tmp_path / "long" / "all.txt").write_text("b" * 90 * DOCUMENT_BYTES)
    path = _mixture(tmp_path, 'folder = "short"\nshare = 9', 'folder = "long"\nshare = 1')
    asked = ["build", str(tmp_path / "out"), "--mixture", str(path), "--sequence", "32"]
    result = CliRunner().invoke(data, asked)
    assert result.exit_code == 0, result.output
    assert "source:   0.5 of folder short, 0.5 of folder long" in result.stdout
    assert "folder short gives 0.5 of the text instead of 0.9: documents are" in result.stderr
    assert "folder long gives 0.5 of the text instead of 0.1" in result.stderr
    built = Corpus.parse((tmp_path / "out" / MANIFEST_NAME).read_bytes())
    assert built.source == "0.5 of folder short, 0.5 of folder long"
    few = _mixture(tmp_path, 'folder = "short"\nshare = 1')
    one = CliRunner().invoke(data, ["build", str(tmp_path / "one"), "--mixture", str(few)])
    assert "instead of" not in one.stderr
