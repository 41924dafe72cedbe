"""Conversations for tests, and tokenizers with chat templates to render them."""

from __future__ import annotations

import json
import random
from dataclasses import dataclass
from typing import TYPE_CHECKING

from tokenizers import AddedToken, Tokenizer, decoders, pre_tokenizers, processors
from tokenizers.models import BPE, WordLevel
from tokenizers.trainers import BpeTrainer

from tequio_client.dataset import chat, sources
from tequio_client.dataset.build import ShardOptions, build_shards
from tequio_client.dataset.chat import MESSAGES, ChatEncoder, ConversationRows
from tequio_client.dataset.sources import Position, RowReader

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from tequio_client.dataset.rows import Row
    from tequio_client.dataset.sources import TextSource
    from tequio_client.tokenizers import SubwordTokenizer
    from tequio_shared.round.corpus import Chat, Corpus

START, END, SEPARATOR = "<|im_start|>", "<|im_end|>", "<|endoftext|>"
_SPECIAL = [SEPARATOR, START, END]
_TURN = "'<|im_start|>' + m.role + '\n'"
_ASKS = "{% if add_generation_prompt %}{{ '<|im_start|>assistant\n' }}{% endif %}"
CHATML = (
    f"{{% for m in messages %}}{{{{ {_TURN} + m.content + '<|im_end|>' + '\n' }}}}{{% endfor %}}"
    + _ASKS
)
MARKED = (
    f"{{% for m in messages %}}{{{{ {_TURN} }}}}{{% if m.role == 'assistant' %}}"
    "{% generation %}{{ m.content + '<|im_end|>' }}{% endgeneration %}"
    "{% else %}{{ m.content + '<|im_end|>' }}{% endif %}{{ '\n' }}{% endfor %}" + _ASKS
)
"""The same texts, with marks."""
FORGETFUL = (
    "{% for m in messages %}{{ '<|im_start|>' + m.role + '\n' }}"
    "{{ m.content if loop.last else m.content.split('.')[-1] }}{{ '<|im_end|>' + '\n' }}"
    "{% endfor %}" + _ASKS
)
"""Drops what precedes a full stop in all turns but the last."""
ENDLESS = "{% for m in messages %}{{ m.role + ': ' + m.content + '\n' }}{% endfor %}"
WORDS = tuple(f"w{number}" for number in range(40))
Messages = list[dict[str, str]]


def message(role: str, content: str) -> dict[str, str]:
    return {"role": role, "content": content}


def byte_level_tokenizer(folder: Path, template: str = CHATML, *, trims: bool = False) -> Path:
    """A byte-level tokenizer in a folder; one that `trims` gives blanks no characters."""
    folder.mkdir(exist_ok=True)
    inner = Tokenizer(BPE())
    inner.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    inner.decoder = decoders.ByteLevel()
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    trainer = BpeTrainer(
        vocab_size=320, initial_alphabet=alphabet, special_tokens=_SPECIAL, show_progress=False
    )
    inner.train_from_iterator(["how are you today\n\n I am well, and you\n\n"] * 4, trainer)
    inner.post_processor = processors.ByteLevel(trim_offsets=trims)
    inner.save(str(folder / "tokenizer.json"))
    (folder / chat.TEMPLATE_FILE).write_text(template)
    return folder


def word_tokenizer(folder: Path) -> Path:
    """A tokenizer of a few words, in a folder with ChatML."""
    folder.mkdir(exist_ok=True)
    names = [*_SPECIAL, "[UNK]", "user", "assistant", *WORDS]
    inner = Tokenizer(WordLevel({one: at for at, one in enumerate(names)}, unk_token="[UNK]"))  # noqa: S106 - no password
    inner.pre_tokenizer = pre_tokenizers.Whitespace()
    inner.add_special_tokens([AddedToken(one, special=True) for one in _SPECIAL])
    inner.save(str(folder / "tokenizer.json"))
    settings = {"chat_template": CHATML, "eos_token": {"content": SEPARATOR}, "bos_token": None}
    (folder / chat.SETTINGS_FILE).write_text(json.dumps(settings))
    return folder


def encoder(folder: Path, sequence: int) -> ChatEncoder:
    """The encoder of a folder's tokenizer and template."""
    return chat.open_encoder(tokenizer(folder), str(folder), None, sequence)


def chat_of(encoder: ChatEncoder, messages: Messages) -> Chat:
    """The manifest's entry for data of this one conversation."""
    end = encoder.encode(texts_of(rows(messages))[0]).turn_end
    return encoder.manifest_entry({end: 1})


def manifest_entry(encoder: ChatEncoder) -> Chat:
    """The data manifest's entry for conversations whose turns end with `END`."""
    return encoder.manifest_entry({encoder.tokenizer.special_tokens[END]: 1})


def tokenizer(folder: Path) -> SubwordTokenizer:
    loaded = sources.load_tokenizer(str(folder), None)
    assert loaded.file
    return loaded  # type: ignore[return-value]  # only bytes have no file


@dataclass(frozen=True, slots=True, kw_only=True)
class ListedRows:
    """Rows of a dataset that are in memory."""

    label: str = "conversations"
    listed: Sequence[Row]

    @property
    def column_names(self) -> list[str]:
        return list(self.listed[0])

    def identity(self) -> list[str]:
        return [json.dumps(self.listed)]

    def read(self, position: Position) -> RowReader[Row]:
        return RowReader(iter(self.listed[position.row :]), position.row)


def rows(*conversations: Messages) -> ConversationRows:
    """A dataset of these conversations."""
    found = [{"messages": one} for one in conversations]
    return ConversationRows(rows=ListedRows(listed=found), columns=MESSAGES)


def texts_of(source: TextSource) -> list[str]:
    """All documents of a source."""
    return list(source.read(Position()))


def echoes(count: int) -> list[Messages]:
    """Conversations in which the assistant repeats the last word of ten that nobody can guess."""
    chance = random.Random(3)
    found = []
    for _ in range(count):
        words = chance.choices(WORDS, k=10)
        found.append([message("user", " ".join(words)), message("assistant", f"{words[-1]} w0")])
    return found


def build(folder: Path, encoder: ChatEncoder, source: ConversationRows) -> Corpus:
    """Build shards of conversations in a folder."""
    settings = ShardOptions(
        sequence=encoder.sequence, seed=1, held_out_bp=1_000, shard_bytes=20_000
    )
    return build_shards(source, encoder.tokenizer, settings, folder, chat=encoder)
