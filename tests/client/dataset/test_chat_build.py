"""Builds of conversations: whole ones in samples, none both held out and trained on."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import numpy as np
import pytest
from click.testing import CliRunner

from tequio_client.dataset import chat
from tequio_client.dataset.build import MANIFEST_NAME
from tequio_client.dataset.chat import ConversationRows
from tequio_client.dataset.cli import data
from tequio_shared.errors import UserFacingError
from tequio_shared.round.corpus import Corpus, held_out_file_name, train_file_name
from tests.support import chats
from tests.support.chats import (
    END,
    SEPARATOR,
    message,
)

if TYPE_CHECKING:
    from pathlib import Path


def test_a_sample_that_holds_no_word_of_the_assistant_is_told_to_be_short(tmp_path: Path) -> None:
    encoder = chats.encoder(chats.word_tokenizer(tmp_path / "words"), 8)
    with pytest.raises(UserFacingError, match=r"within a sample of 8 .* in 40, .* longer --seq"):
        chats.build(tmp_path, encoder, chats.rows(*chats.echoes(40)))


def test_no_conversation_is_in_two_samples(tmp_path: Path) -> None:
    encoder = chats.encoder(chats.word_tokenizer(tmp_path / "words"), 64)
    talks = [
        [message("user", f"w{at} w{at + 1}"), message("assistant", "w1 " * (at + 1))]
        for at in range(30)
    ]
    corpus = chats.build(tmp_path, encoder, chats.rows(*talks))
    assert Corpus.parse((tmp_path / MANIFEST_NAME).read_bytes()) == corpus
    size = corpus.tokenizer.vocab_size
    (shard,) = corpus.train
    stream = np.fromfile(tmp_path / train_file_name(0), "<u1").astype(int)
    assert len(stream) == shard.tokens == 64 * shard.samples + 1
    ends = encoder.tokenizer.special_tokens
    found = []
    for sample in stream[:-1].reshape(-1, 64):
        text = sample.tolist()
        assert text[0] == ends["<|im_start|>"] + size, "a sample begins with a conversation"
        parts = "".join(chr(one) for one in text).split(chr(ends[SEPARATOR] + size))
        found += [[ord(one) for one in part] for part in parts if part]
    due = [encoder.encode(chats.texts_of(chats.rows(one))[0]) for one in talks]
    held_out = sum(one.documents for one in corpus.held_out)
    wanted = [one.ids.tolist() for one in due]
    assert all(part in wanted for part in found)
    assert len(found) == len(talks) - held_out
    assert held_out > 0
    assert stream[-1] == ends[SEPARATOR] + size


def test_held_out_conversations_are_measured_by_what_is_said(tmp_path: Path) -> None:
    encoder = chats.encoder(chats.word_tokenizer(tmp_path / "words"), 64)
    corpus = chats.build(tmp_path, encoder, chats.rows(*chats.echoes(100)))
    (shard,) = corpus.held_out
    raw = (tmp_path / held_out_file_name(0)).read_bytes()
    table = np.frombuffer(raw[: 8 * shard.documents], "<u4").reshape(-1, 2)
    ids = np.frombuffer(raw[8 * shard.documents :], "<u1")
    assert int((ids < corpus.tokenizer.vocab_size).sum()) == 3 * shard.documents
    assert set(table[:, 1]) <= {len(f"w0 w0{END}"), len(f"w10 w0{END}")}
    assert shard.text_bytes == table[:, 1].sum()


@pytest.mark.parametrize("turns", [1, -1])
def test_conversations_that_become_equal_tokens_count_once(tmp_path: Path, turns: int) -> None:
    talks = [
        [one | {"id": f"{copy} {'x' * copy}"} for one in talk]
        for copy in range(3)
        for talk in chats.echoes(100)
    ]
    encoder = chats.encoder(chats.word_tokenizer(tmp_path / "words"), 64)
    corpus = chats.build(tmp_path, encoder, chats.rows(*talks[::turns]))
    (shard,) = corpus.held_out
    raw = (tmp_path / held_out_file_name(0)).read_bytes()
    held_out = raw[8 * shard.documents :]
    size = len(held_out) // shard.documents  # all have that many tokens of a byte
    train = (tmp_path / train_file_name(0)).read_bytes()
    documents = [held_out[at : at + size] for at in range(0, len(held_out), size)]
    assert not [one for one in documents if one in train]
    assert len(documents) == len(set(documents))
    due = chats.build(tmp_path / "due", encoder, chats.rows(*chats.echoes(100)))
    assert corpus.root == due.root


def test_the_program_builds_conversations_and_counts_what_it_cut(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("datasets.config.HF_DATASETS_CACHE", tmp_path / "cache")
    (tmp_path / "rows").mkdir()
    one, other = chats.echoes(2)
    talks = [*chats.echoes(40), [message("user", "w1")], one + other]
    talks += [[message("user", f"w{at} {END}"), message("assistant", "w1")] for at in range(2)]
    lines = [json.dumps({"messages": one, "id": at}) for at, one in enumerate(talks)]
    (tmp_path / "rows" / "train.jsonl").write_text("\n".join(lines))
    told = ["--tokenizer", str(chats.word_tokenizer(tmp_path / "words")), "--sequence", "24"]
    asked = [str(tmp_path / "out"), "--dataset", str(tmp_path / "rows"), "--chat", *told]
    result = CliRunner().invoke(data, ["build", *asked])
    assert result.exit_code == 0, result.output
    assert f"turns end: {END}" in result.output
    assert "cut:      1 (conversations longer than a sample of 24 tokens)" in result.output
    assert "left out: 1 (conversations in which the assistant says nothing within" in result.output
    assert "left out: 2 (conversations in which somebody writes a token" in result.output
    mixture = '[[source]]\ndataset = "rows"\nshare = 1\n'
    (tmp_path / "mixture.toml").write_text(mixture)
    asked[1:3] = ["--mixture", str(tmp_path / "mixture.toml")]
    asked[0] = str(tmp_path / "mixed")
    result = CliRunner().invoke(data, ["build", *asked])
    assert result.exit_code == 0, result.output
    roots = {
        Corpus.parse((tmp_path / name / MANIFEST_NAME).read_bytes()).root
        for name in ("out", "mixed")
    }
    assert len(roots) == 1


@pytest.mark.parametrize(
    ("asked", "why"),
    [
        (("--stdlib", "--chat"), "--chat reads a dataset"),
        (("--stdlib", "--chat-template", "x"), "--chat-template needs --chat"),
    ],
)
def test_options_that_do_not_go_together_are_refused(
    tmp_path: Path, asked: tuple[str, ...], why: str
) -> None:
    result = CliRunner().invoke(data, ["build", str(tmp_path / "out"), *asked])
    assert result.exit_code == 2
    assert why in result.output


def test_other_columns_are_named_by_the_option(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("datasets.config.HF_DATASETS_CACHE", tmp_path / "cache")
    (tmp_path / "rows").mkdir()
    line = json.dumps({"question": "w1", "answer": "w2"})
    (tmp_path / "rows" / "train.jsonl").write_text(line)

    def load(column: str) -> ConversationRows:
        folder = str(tmp_path / "rows")
        return chat.open_conversations(folder, config=None, split="train", column=column)

    found = json.loads(chats.texts_of(load("question,answer"))[0])
    assert found == {"prompt": 1, "messages": [message("user", "w1"), message("assistant", "w2")]}
    with pytest.raises(UserFacingError, match="no conversations in messages or prompt,completion"):
        load("")
