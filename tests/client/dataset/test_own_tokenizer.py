"""Data built with the tokenizer of a plug-in: encoded by a confined child, checked by its table."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import numpy as np
import pytest
from click.testing import CliRunner

from tequio_client.__main__ import cli
from tequio_client.dataset.own_tokenizer import run_tokenizer
from tequio_client.ipc import plugin as link
from tequio_client.plugins import archive
from tequio_client.tokenizers import TokenizerError
from tequio_shared.ids import sha256, to_text
from tequio_shared.round.corpus import Corpus
from tequio_shared.round.token_table import TokenTable
from tests.support import plugin_example
from tests.support.attack_table import attack

if TYPE_CHECKING:
    from pathlib import Path

    from click.testing import Result

    from tequio_client.plugins.archive import PluginArchive

TEXT = "the milpa\0 and its maíz\r\n\U0001f33d"
WORDS = plugin_example.example_files()["tiny/words.py"]
GIVES = "return [self.ids[token] for token in self.pattern.findall(text.encode())]"
LIE = """
import tequio_client.trainer.plugin_tokenizer as host

host.OpenedTokenizer.encode = lambda self, text: [0, 1]
"""


def packed(folder: Path, words: str = WORDS) -> PluginArchive:
    return archive.build(plugin_example.write_tokenizer(folder / "plugin", words=words))


def build(out: Path, texts: Path, *words: str) -> Result:
    place = ("--folder", str(texts), "--sequence", "32", "--held-out", "1000")
    return CliRunner().invoke(cli, ("data", "build", str(out), *place, *words))


def test_texts_come_back_byte_for_byte_and_without_the_code(tmp_path: Path) -> None:
    with run_tokenizer(packed(tmp_path), tmp_path / "work") as tokenizer:
        ids = tokenizer.encode(TEXT)
        assert tokenizer.decode(ids.tolist()) == TEXT
        assert len(ids) < len(TEXT.encode()), "words are tokens"
        assert tokenizer.encode("").tolist() == []
        table = TokenTable.parse(tokenizer.file, tokenizer.vocab_size)
    assert table.text(ids.tolist()) == TEXT.encode()


def test_shards_and_table_are_built_and_the_same_every_time(tmp_path: Path) -> None:
    texts, folder = tmp_path / "texts", plugin_example.write_tokenizer(tmp_path / "plugin")
    texts.mkdir()
    for number in range(20):
        (texts / f"{number}.txt").write_text(f"{number} {TEXT} " * 20, encoding="utf-8")
    made = build(tmp_path / "data", texts, "--plugin", str(folder))
    assert made.exception is None, made.output
    raw = (tmp_path / "data" / "corpus.json").read_bytes()
    corpus, file = Corpus.parse(raw), (tmp_path / "data" / "tokenizer.table").read_bytes()
    assert (corpus.tokenizer.kind, corpus.separator) == ("plugin", 256)
    assert corpus.tokenizer.file == to_text(sha256(file))
    ids = np.fromfile(tmp_path / "data" / "train-00000.tokens", "<u2")
    text = TokenTable.parse(file, corpus.tokenizer.vocab_size).text(ids.tolist()).decode()
    assert text.count(TEXT) > 20
    assert text.count(TEXT) % 20 == 0
    again = build(tmp_path / "again", texts, "--plugin", str(folder))
    assert again.exception is None
    assert (tmp_path / "again" / "corpus.json").read_bytes() == raw


def test_what_a_plugin_takes_the_place_of_is_not_given_beside_it(tmp_path: Path) -> None:
    folder = plugin_example.write_tokenizer(tmp_path / "plugin")
    for more, why in (
        (("--chat",), "a chat template needs a tokenizer.json"),
        (("--tokenizer", "x.json"), "give it alone"),
        (("--separator", "x"), "give it alone"),
    ):
        found = build(tmp_path / "data", tmp_path, "--plugin", str(folder), *more)
        assert found.exit_code == 2
        assert why in " ".join(found.output.split())


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (WORDS.replace(GIVES, "return [0]"), "are not its UTF-8 bytes"),
        (WORDS.replace(GIVES, "return [len(self.tokens)]"), "an id that has no token"),
        (WORDS.replace(GIVES, "return 1 / 0"), "ZeroDivisionError"),
        (WORDS + LIE, "are not the text's bytes"),
        (WORDS.replace(GIVES, "__import__('os')._exit(0)"), "the process of its tokenizer ended"),
    ],
)
def test_ids_that_do_not_say_the_text_are_refused(tmp_path: Path, words: str, why: str) -> None:
    with (
        run_tokenizer(packed(tmp_path, words), tmp_path / "work") as tokenizer,
        pytest.raises(TokenizerError, match=why),
    ):
        tokenizer.encode(TEXT)


def test_a_tokenizer_that_hangs_is_ended(tmp_path: Path) -> None:
    found = packed(tmp_path, WORDS.replace(GIVES, "__import__('time').sleep(9)"))
    with run_tokenizer(found, tmp_path / "work", answer_s=60) as tokenizer:
        tokenizer.child.answer_s = 0.2  # the start takes longer
        with pytest.raises(TokenizerError, match=r"took more than 0\.2 s"):
            tokenizer.encode(TEXT)


@attack("P21", layer="cli", ends="the code that splits texts is started again for the next visitor")
def test_after_a_text_that_ends_the_child_another_one_is_split(tmp_path: Path) -> None:
    ends = f"(__import__('os')._exit(0) if text == 'end' else None); {GIVES}"
    found = packed(tmp_path, WORDS.replace(GIVES, ends))
    with run_tokenizer(found, tmp_path / "work") as tokenizer:
        ids = tokenizer.encode(TEXT).tolist()
        for _ in range(2):
            with pytest.raises(TokenizerError, match="the process of its tokenizer ended"):
                tokenizer.encode("end")
            assert tokenizer.encode(TEXT).tolist() == ids


def test_a_plugin_without_a_tokenizer_or_with_a_wrong_one_is_refused(tmp_path: Path) -> None:
    for found, why in (
        (archive.build(plugin_example.write(tmp_path / "none")), "brings no tokenizer"),
        (packed(tmp_path, WORDS.replace('[b""]', '[b"|"]')), "the separator 256 must"),
    ):
        with (
            pytest.raises(TokenizerError, match=why),
            run_tokenizer(found, tmp_path / "work"),
        ):
            pass


def test_a_document_beyond_the_limit_is_refused_with_its_size(tmp_path: Path) -> None:
    with (
        run_tokenizer(packed(tmp_path), tmp_path / "work") as tokenizer,
        pytest.raises(TokenizerError, match="split it"),
    ):
        tokenizer.encode("x" * (link.TEXT_BYTES + 1))


def test_the_child_ends_with_its_tokenizer(tmp_path: Path) -> None:
    with run_tokenizer(packed(tmp_path), tmp_path / "work") as tokenizer:
        number = tokenizer.child.pid
        os.kill(number, 0)
    with pytest.raises(ProcessLookupError):
        os.kill(number, 0)
