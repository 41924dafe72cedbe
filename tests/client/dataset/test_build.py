"""The data builder: the same texts give the same bytes, wherever and in whatever order they lie."""

from __future__ import annotations

import copy
from typing import TYPE_CHECKING

import numpy as np
import pytest

from tequio_client.dataset import sources
from tequio_client.dataset.build import (
    MANIFEST_NAME,
    ShardOptions,
    build_shards,
)
from tequio_client.dataset.encode import TextEncoder
from tequio_client.tokenizers import ByteTokenizer
from tequio_client.worker.store.trees import TreeRef, split_leaves
from tequio_shared.errors import UserFacingError
from tequio_shared.ids import to_text
from tequio_shared.log import merkle
from tequio_shared.round.corpus import LEAVES_SUFFIX, Corpus, held_out_file_name, train_file_name
from tests.support import chats

if TYPE_CHECKING:
    from pathlib import Path

SETTINGS = ShardOptions(sequence=16, seed=4, held_out_bp=2_000, shard_bytes=3_000)


def _texts(folder: Path, names: list[str]) -> Path:
    folder.mkdir()
    for number, name in enumerate(names):
        (folder / name).write_text(f"{number} " + "maíz " * (number + 1), encoding="utf-8")
    return folder


def _build(folder: Path, out: Path, settings: ShardOptions = SETTINGS) -> Corpus:
    source = sources.folder_files(folder, "*")
    return build_shards(source, ByteTokenizer(), settings, out)


def test_the_same_texts_give_the_same_bytes(tmp_path: Path) -> None:
    names = [f"{number:02d}" for number in range(50)]
    one = _build(_texts(tmp_path / "a", names), tmp_path / "one")
    other = _build(_texts(tmp_path / "b", [f"x{name}" for name in names]), tmp_path / "two")
    assert one.root == other.root
    assert {path.name for path in (tmp_path / "one").iterdir()} == {
        MANIFEST_NAME,
        *(name for name, _ in one.files),
        *(name + LEAVES_SUFFIX for name, _ in one.files),
    }
    for path in (tmp_path / "one").glob("*.tokens"):
        assert path.read_bytes() == (tmp_path / "two" / path.name).read_bytes()


def test_shards_of_texts_never_change(tmp_path: Path) -> None:
    folder = _texts(tmp_path / "a", [f"{number:02d}" for number in range(50)])
    corpus = _build(folder, tmp_path / "out")
    assert to_text(corpus.root) == "ZJG_SYy5M8--2iJdaXo8VCbTIdU2OYx7EGZkUDBOgj8"
    long = ShardOptions(sequence=1_600, seed=4, held_out_bp=2_000, shard_bytes=300)
    corpus = _build(folder, tmp_path / "long", long)
    assert to_text(corpus.root) == "ExlN8dRaDqUthmLjRwdyehs_UzhGZnpVScXjL61VRTg"


def test_every_text_is_in_exactly_one_shard(tmp_path: Path) -> None:
    folder = _texts(tmp_path / "texts", [f"{number:02d}" for number in range(50)])
    (folder / "again").write_bytes((folder / "07").read_bytes())
    (folder / "empty").write_text(" \n")
    (folder / "binary").write_bytes(b"\xff\xfe")
    corpus = _build(folder, tmp_path / "out")
    train = b"".join(
        (tmp_path / "out" / train_file_name(index)).read_bytes()
        for index in range(len(corpus.train))
    )
    held_out = b"".join(
        (tmp_path / "out" / held_out_file_name(index)).read_bytes()[8 * shard.documents :]
        for index, shard in enumerate(corpus.held_out)
    )
    texts = [(folder / f"{number:02d}").read_bytes() for number in range(50)]
    in_train = [text for text in texts if b"\0" + text in train]
    in_held_out = [text for text in texts if text in held_out and text not in in_train]
    assert sorted(in_train + in_held_out) == sorted(texts)
    assert len(train) == sum(map(len, in_train)) + len(in_train)
    assert sum(shard.documents for shard in corpus.held_out) == len(in_held_out) > 0


def test_the_manifest_says_what_the_files_are(tmp_path: Path) -> None:
    corpus = _build(_texts(tmp_path / "a", [f"{number:02d}" for number in range(50)]), tmp_path)
    assert Corpus.parse((tmp_path / MANIFEST_NAME).read_bytes()) == corpus
    assert len(corpus.train) > 1
    for index, shard in enumerate(corpus.train):
        raw = (tmp_path / train_file_name(index)).read_bytes()
        assert shard.root == to_text(merkle.root([raw]))  # smaller than a piece
        assert (shard.size_bytes, shard.samples) == (len(raw), (len(raw) - 1) // 16)


def test_each_shard_has_its_leaf_hashes_beside_it_for_mirrors(tmp_path: Path) -> None:
    corpus = _build(_texts(tmp_path / "a", [f"{number:02d}" for number in range(50)]), tmp_path)
    for name, shard in corpus.files:
        leaves = split_leaves((tmp_path / (name + LEAVES_SUFFIX)).read_bytes())
        TreeRef.of_file(shard.root, shard.size_bytes).check_leaves(leaves)


def test_another_seed_holds_out_other_texts(tmp_path: Path) -> None:
    folder = _texts(tmp_path / "a", [f"{number:02d}" for number in range(50)])
    other = ShardOptions(sequence=16, seed=5, held_out_bp=2_000, shard_bytes=3_000)
    assert _build(folder, tmp_path / "1").root != _build(folder, tmp_path / "2", other).root


def test_too_little_text_is_told(tmp_path: Path) -> None:
    with pytest.raises(UserFacingError, match="too little text"):
        _build(_texts(tmp_path / "a", ["x"]), tmp_path / "out")


def test_a_subword_tokenizer_gives_wider_tokens(tmp_path: Path) -> None:
    from tokenizers import Tokenizer  # noqa: PLC0415
    from tokenizers.models import WordLevel  # noqa: PLC0415
    from tokenizers.pre_tokenizers import Whitespace  # noqa: PLC0415

    vocabulary = {"</s>": 0, "[UNK]": 1, "maíz": 299}
    inner = Tokenizer(WordLevel(vocabulary, unk_token="[UNK]"))  # noqa: S106 - no password
    inner.pre_tokenizer = Whitespace()
    inner.save(str(tmp_path / "tokenizer.json"))
    tokenizer = sources.load_tokenizer(str(tmp_path), None)
    folder = _texts(tmp_path / "a", [f"{number:02d}" for number in range(50)])
    source = sources.folder_files(folder, "*")
    corpus = build_shards(source, tokenizer, SETTINGS, tmp_path / "out")
    ids = np.fromfile(tmp_path / "out" / train_file_name(0), "<u2")
    assert (corpus.token_bytes, corpus.tokenizer.vocab_size, corpus.separator) == (2, 300, 0)
    assert set(ids.tolist()) == {0, 1, 299}
    copied = (tmp_path / "out" / "tokenizer.json").read_bytes()
    assert copied == (tmp_path / "tokenizer.json").read_bytes()


def test_zero_bytes_that_raw_bytes_leave_out_are_not_counted() -> None:
    found = TextEncoder(tokenizer=ByteTokenizer()).encode("ma\0íz\0")
    assert (len(found.ids), found.text_bytes) == (5, 5)


def test_a_text_that_spells_the_separator_has_none_inside(tmp_path: Path) -> None:
    tokenizer = chats.tokenizer(chats.byte_level_tokenizer(tmp_path))
    text = f"a text ends with {chats.SEPARATOR}, and this one goes on"
    encoder = TextEncoder(tokenizer=tokenizer)
    for one in (encoder, copy.deepcopy(encoder)):  # pickled, as for another process
        ids = one.encode(text).ids.tolist()
        assert tokenizer.separator not in ids
        assert tokenizer.decode(ids) == text


def test_the_files_of_linked_folders_are_read_once(tmp_path: Path) -> None:
    folder, other = (_texts(tmp_path / name, ["0", "1"]) for name in ("a", "b"))
    _texts(other / "in", ["2"])
    for place in (folder / "b", folder / "more", other / "in" / "round"):
        place.symlink_to(other)
    (other / "back").symlink_to(folder)
    found = sources.folder_files(folder, "*")
    assert found.paths == tuple(folder / name for name in ("0", "1", "b/0", "b/1", "b/in/2"))
    assert sources.folder_files(folder, "2").paths == (folder / "b" / "in" / "2",)


def test_the_standard_library_is_a_source() -> None:
    source = sources.standard_library_files()
    assert len(source) > 300
    assert "import" in source.text(0) + source.text(100)
