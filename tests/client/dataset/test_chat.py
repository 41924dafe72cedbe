"""Conversations: what the assistant says has a loss, and nothing else."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from click.testing import CliRunner

from tequio_client.dataset import chat
from tequio_client.dataset.build import MANIFEST_NAME
from tequio_client.dataset.chat import ConversationRows
from tequio_client.dataset.cli import data
from tequio_client.tokenizers import ByteTokenizer
from tequio_shared.errors import UserFacingError
from tequio_shared.round.corpus import Corpus, held_out_file_name, train_file_name
from tests.support import chats
from tests.support.chats import (
    CHATML,
    END,
    ENDLESS,
    FORGETFUL,
    MARKED,
    SEPARATOR,
    START,
    message,
)

if TYPE_CHECKING:
    from pathlib import Path

    from tequio_client.dataset.chat import ChatEncoder

TALK = [
    message("system", "short."),
    message("user", "how are you?"),
    message("assistant", "\n\n I am  well, and you\n\n"),
    message("user", "maíz "),
    message("assistant", " milpa 🌽 mano"),
]


def encoded(encoder: ChatEncoder, messages: chats.Messages) -> tuple[list[int], list[bool], int]:
    """Ids, whether each has a loss, and the bytes of the text that has one."""
    found = encoder.encode(chats.texts_of(chats.rows(messages))[0])
    ends = encoder.tokenizer.vocab_size
    return (found.ids % ends).tolist(), (found.ids < ends).tolist(), found.text_bytes


def conversations(
    listed: list[dict[str, Any]], columns: tuple[str, ...], label: str
) -> ConversationRows:
    return ConversationRows(rows=chats.ListedRows(label=label, listed=listed), columns=columns)


def said(encoder: ChatEncoder, messages: chats.Messages) -> str:
    """The text of the tokens that have a loss."""
    ids, masks, _ = encoded(encoder, messages)
    return encoder.tokenizer.decode([one for one, mask in zip(ids, masks, strict=True) if mask])


@pytest.mark.parametrize("template", [CHATML, MARKED])
@pytest.mark.parametrize("trims", [False, True])
def test_ids_and_masks_are_those_of_transformers(
    tmp_path: Path, template: str, *, trims: bool
) -> None:
    from transformers import PreTrainedTokenizerFast  # noqa: PLC0415 - seconds, for this test

    folder = chats.byte_level_tokenizer(tmp_path / "tokenizer", template, trims=trims)
    ids, masks, size = encoded(chats.encoder(folder, 1_000), TALK)
    # Their masks miss blanks of tokenizers that trim, so they are those of the one that does not.
    plain = chats.byte_level_tokenizer(tmp_path / "plain")
    load: Any = PreTrainedTokenizerFast  # its class has no types
    due = load(tokenizer_file=str(plain / "tokenizer.json")).apply_chat_template(
        TALK, chat_template=MARKED, return_dict=True, return_assistant_tokens_mask=True
    )
    assert ids == due["input_ids"]
    assert masks == [bool(one) for one in due["assistant_masks"]]
    assert size == len((TALK[2]["content"] + END + TALK[4]["content"] + END).encode())


def test_a_turn_has_a_loss_up_to_the_token_that_ends_it(tmp_path: Path) -> None:
    encoder = chats.encoder(chats.byte_level_tokenizer(tmp_path), 1_000)
    assert said(encoder, [message("user", "how"), message("assistant", "well")]) == f"well{END}"
    talk = [message("user", "how"), message("assistant", "well")]
    end = encoder.encode(chats.texts_of(chats.rows(talk))[0]).turn_end
    assert end == encoder.tokenizer.special_tokens[END]
    entry = encoder.manifest_entry({end: 2, end + 1: 1, end - 1: 2})
    assert entry.turn_end == end - 1, "of equals, the lowest"
    assert entry.template == CHATML


def test_a_template_may_end_turns_by_the_end_of_texts(tmp_path: Path) -> None:
    template = (
        "{{ bos_token }}{% for m in messages %}{% if m.role == 'user' %}{{ '[' + m.content + ']' }}"
        "{% else %}{{ m.content + eos_token }}{% endif %}{% endfor %}"
    )
    folder = chats.byte_level_tokenizer(tmp_path, template)
    names = {"bos_token": START, "eos_token": {"content": SEPARATOR}}
    (folder / chat.SETTINGS_FILE).write_text(json.dumps(names))
    encoder = chats.encoder(folder, 1_000)
    talk = [message("user", "how"), message("assistant", "well"), message("user", "you")]
    ids, _, _ = encoded(encoder, talk)
    assert encoder.tokenizer.decode(ids) == f"{START}[how]well{SEPARATOR}[you]"
    assert said(encoder, talk) == f"well{SEPARATOR}"
    end = encoder.encode(chats.texts_of(chats.rows(talk))[0]).turn_end
    assert end == encoder.tokenizer.separator


@pytest.mark.parametrize("template", [CHATML, MARKED])
def test_of_a_pair_the_completion_alone_has_a_loss(tmp_path: Path, template: str) -> None:
    encoder = chats.encoder(chats.byte_level_tokenizer(tmp_path, template), 1_000)
    pairs: list[dict[str, Any]] = [
        {"prompt": "how are you", "completion": "well"},
        {"prompt": TALK[:4], "completion": TALK[4:]},
    ]
    source = conversations(pairs, chat.PAIR, "pairs")
    texts = chats.texts_of(source)
    spoken = [json.loads(one) for one in texts]
    assert [one["messages"] for one in spoken] == [
        [message("user", "how are you"), message("assistant", "well")],
        TALK,
    ]
    decode = encoder.tokenizer.decode
    for at, text in enumerate((f"well{END}", f" milpa 🌽 mano{END}")):
        ids = encoder.encode(texts[at]).ids
        assert decode(ids[ids < encoder.tokenizer.vocab_size].tolist()) == text


def test_of_a_completion_every_marked_part_has_a_loss(tmp_path: Path) -> None:
    thought = "{% generation %}{{ m.thought + '<|im_end|>' }}{% endgeneration %}"
    marked = MARKED.replace(
        "{% generation %}", f"{{% if m.thought %}}{thought}{{% endif %}}{{% generation %}}"
    )
    encoder = chats.encoder(chats.byte_level_tokenizer(tmp_path, marked), 1_000)
    turn = message("assistant", "well") | {"thought": "hm"}
    pair: dict[str, Any] = {"prompt": [TALK[1], turn, TALK[1]], "completion": [turn, TALK[1], turn]}
    (text,) = chats.texts_of(conversations([pair], chat.PAIR, "pairs"))
    ids = encoder.encode(text).ids
    said = encoder.tokenizer.decode(ids[ids < encoder.tokenizer.vocab_size].tolist())
    assert said == 2 * f"hm{END}well{END}"


def test_an_assistant_that_speaks_first_is_not_trained_on_what_the_template_says(
    tmp_path: Path,
) -> None:
    system = "<|im_start|>system\nshort.<|im_end|>\n"
    encoder = chats.encoder(
        chats.byte_level_tokenizer(tmp_path, f"{{{{ {system!r} }}}}{CHATML}"), 1_000
    )
    talk = [message("assistant", "how"), message("user", "well"), message("assistant", "you")]
    ids, _, size = encoded(encoder, talk)
    assert encoder.tokenizer.decode(ids).startswith(f"{system}{START}assistant\nhow{END}")
    assert said(encoder, talk) == f"how{END}you{END}"
    assert size == len(f"how{END}you{END}")


def test_a_first_turn_that_cannot_be_found_is_refused(tmp_path: Path) -> None:
    template = CHATML.replace("add_generation_prompt", "false")
    encoder = chats.encoder(chats.byte_level_tokenizer(tmp_path, template), 1_000)
    with pytest.raises(UserFacingError, match="does not show where the first message begins"):
        encoded(encoder, [message("assistant", "how"), message("user", "well")])


def test_a_template_that_is_not_prefix_preserving_is_refused_unless_it_has_marks(
    tmp_path: Path,
) -> None:
    encoder = chats.encoder(chats.byte_level_tokenizer(tmp_path, FORGETFUL), 1_000)
    talk = [message("user", "how"), message("assistant", "hm. well"), message("user", "you")]
    assert said(encoder, talk[:2]) == f"hm. well{END}"
    with pytest.raises(UserFacingError, match=r"not prefix-preserving: .* up to message 2") as err:
        encoder.encode(chats.texts_of(chats.rows(talk))[0])
    assert f"the chat template of {tmp_path}" in str(err.value)
    assert "--chat-template" in str(err.value)
    text = "{{ m.content if loop.last else m.content.split('.')[-1] }}{{ '<|im_end|>' + '\n' }}"
    marks = f"{{% generation %}}{text}{{% endgeneration %}}"
    marked = FORGETFUL.replace(
        text, f"{{% if m.role == 'user' %}}{text}{{% else %}}{marks}{{% endif %}}"
    )
    encoder = chats.encoder(chats.byte_level_tokenizer(tmp_path, marked), 1_000)
    assert said(encoder, talk) == f" well{END}"


def test_a_template_without_a_token_that_ends_a_turn_is_refused(tmp_path: Path) -> None:
    encoder = chats.encoder(chats.byte_level_tokenizer(tmp_path, ENDLESS), 1_000)
    with pytest.raises(UserFacingError, match="could not learn to end its turn"):
        encoder.encode(chats.texts_of(chats.rows(TALK))[0])


@pytest.mark.parametrize(
    ("template", "why"),
    [
        ("{{ raise_exception('roles must alternate') }}", "roles must alternate"),
        (
            "{{ messages[0].content + 1 }}",
            "cannot render a conversation of system, user, assistant",
        ),
        ("{% if %}", "cannot render"),
    ],
)
def test_a_template_that_fails_is_named_with_its_reason(
    tmp_path: Path, template: str, why: str
) -> None:
    encoder = chats.encoder(chats.byte_level_tokenizer(tmp_path, template), 1_000)
    with pytest.raises(UserFacingError, match=why):
        encoder.encode(chats.texts_of(chats.rows(TALK))[0])


def test_templates_are_found_in_either_file_and_by_name(tmp_path: Path) -> None:
    folder = chats.byte_level_tokenizer(tmp_path, "of the file")
    settings = {"chat_template": "of the settings", "bos_token": "<s>", "eos_token": None}
    (folder / chat.SETTINGS_FILE).write_text(json.dumps(settings))
    loaded = chat.load_template(str(folder), None)
    assert (loaded.source, loaded.bos_token, loaded.eos_token) == ("of the file", "<s>", "")
    (folder / chat.TEMPLATE_FILE).unlink()
    assert chat.load_template(str(folder / "tokenizer.json"), None).source == "of the settings"
    several = [{"name": "tools", "template": "other"}, {"name": "default", "template": "one"}]
    (folder / chat.SETTINGS_FILE).write_text(json.dumps({"chat_template": several}))
    assert chat.load_template(str(folder), None).source == "one"
    (folder / chat.SETTINGS_FILE).unlink()
    with pytest.raises(UserFacingError, match=r"has no chat template.*--chat-template"):
        chat.load_template(str(folder), None)
    (folder / "mine.jinja").write_text("mine")
    assert chat.load_template(str(folder), folder / "mine.jinja").source == "mine"


def test_raw_bytes_are_refused() -> None:
    with pytest.raises(UserFacingError, match="raw bytes have no token that ends a turn"):
        chat.open_encoder(ByteTokenizer(), "bytes", None, 32)


@pytest.mark.parametrize("talk", ["a text", [{"from": "human", "value": "x"}], ["x"]])
def test_what_is_no_list_of_messages_is_named_with_its_row(talk: object) -> None:
    source = conversations([{"messages": talk}], chat.MESSAGES, "set")
    with pytest.raises(UserFacingError, match="row 0 of set is not a list of messages"):
        chats.texts_of(source)


def test_fields_that_other_rows_have_are_left_out() -> None:
    talk = [{"role": "user", "content": "x", "tool_calls": None}]
    source = conversations([{"messages": talk}], chat.MESSAGES, "set")
    assert json.loads(chats.texts_of(source)[0]) == {
        "prompt": 0,
        "messages": [message("user", "x")],
    }
    empty = conversations([{"messages": None}], chat.MESSAGES, "set")
    assert chats.texts_of(empty) == [""]


def test_conversations_whose_keys_are_in_another_order_are_one_document() -> None:
    turned = [dict(reversed(one.items())) for one in TALK]
    one, other = chats.texts_of(chats.rows(TALK, turned))
    assert one == other


def test_long_conversations_are_cut_and_silent_ones_left_out(tmp_path: Path) -> None:
    encoder = chats.encoder(chats.word_tokenizer(tmp_path), 16)
    words = " ".join(chats.WORDS[:8])
    long = [message("user", words), message("assistant", words)]  # 11 tokens, then 2
    ids, masks, size = encoded(encoder, long)
    assert (len(ids), sum(masks), size) == (16, 3, len("w0 w1 w2"))
    silent = [message("user", words), message("user", words), message("assistant", words)]
    alone = [message("user", "w1")]
    found = [encoder.encode(one) for one in chats.texts_of(chats.rows(long, silent, alone))]
    assert [one.is_cut for one in found] == [True, False, False]
    assert [one.is_left_out for one in found] == [False, True, True]


def test_conversations_in_which_somebody_writes_an_end_are_left_out(tmp_path: Path) -> None:
    encoder = chats.encoder(chats.byte_level_tokenizer(tmp_path), 1_000)
    talks = [
        [message("user", f"how{asked}"), message("assistant", f"well{told}")]
        for asked, told in (("", ""), (SEPARATOR, ""), ("", SEPARATOR), (END, ""), ("", END))
    ]
    found = [encoder.encode(one) for one in chats.texts_of(chats.rows(*talks))]
    assert [one.is_left_out for one in found] == [False, True, True, True, True]
    assert [one.spells_end for one in found] == [False, True, True, True, True]
    assert [len(one.ids) for one in found[1:]] == [0, 0, 0, 0]
    begins = encoder.encode(chats.texts_of(chats.rows([message("user", START), talks[0][1]]))[0])
    assert not begins.is_left_out, "only what ends something"


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
    talks = [*chats.echoes(40), [message("user", "w1")], [*chats.echoes(1)[0], *TALK[1:]]]
    talks += [[message("user", f"w{at} {END}"), message("assistant", "w1")] for at in range(2)]
    lines = [json.dumps({"messages": one, "id": at}) for at, one in enumerate(talks)]
    (tmp_path / "rows" / "train.jsonl").write_text("\n".join(lines))
    told = ["--tokenizer", str(chats.word_tokenizer(tmp_path / "words")), "--sequence", "24"]
    asked = [str(tmp_path / "out"), "--dataset", str(tmp_path / "rows"), "--chat", *told]
    result = CliRunner().invoke(data, ["build", *asked])
    assert result.exit_code == 0, result.output
    assert f"turns end: {END}" in result.output
    assert "cut:      1 (conversations longer than a sample of 24 tokens)" in result.output
    assert "left out: 1 (conversations in which the assistant says nothing)" in result.output
    assert "left out: 2 (conversations in which somebody writes a token" in result.output
    mixture = '[[source]]\ndataset = "rows"\nshare = 1\n'
    (tmp_path / "mixture.toml").write_text(mixture)
    asked[1:3] = ["--mixture", str(tmp_path / "mixture.toml")]
    asked[0] = str(tmp_path / "mixed")
    result = CliRunner().invoke(data, ["build", *asked])
    assert result.exit_code == 0, result.output
    one, other = (
        Corpus.parse((tmp_path / name / MANIFEST_NAME).read_bytes()) for name in ("out", "mixed")
    )
    assert one.root == other.root


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
