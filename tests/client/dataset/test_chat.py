"""Conversations: what the assistant says has a loss, and nothing else."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from tequio_client.dataset import chat
from tequio_client.dataset.chat import ConversationRows
from tequio_client.tokenizers import ByteTokenizer
from tequio_shared.errors import UserFacingError
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
    assert [one.is_cut for one in found] == [True, True, False]
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
