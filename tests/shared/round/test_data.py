"""The data manifest: what does not add up is refused."""

import msgspec
import pytest

from tequio_shared import encoding
from tequio_shared.errors import MalformedError
from tequio_shared.ids import to_text
from tequio_shared.round.corpus import Chat, Corpus, HeldOutShard, TrainShard
from tequio_shared.round.manifest import Tokenizer

ROOT = to_text(bytes(32))
CORPUS = Corpus(
    source="a test",
    tokenizer=Tokenizer(kind="bytes", file="", vocab_size=256),
    token_bytes=1,
    separator=0,
    sequence=16,
    train=(TrainShard(root=ROOT, size_bytes=100, tokens=100, samples=6),),
    held_out=(HeldOutShard(root=ROOT, size_bytes=66, tokens=50, documents=2, text_bytes=50),),
)


def test_a_data_manifest_comes_back_from_its_bytes() -> None:
    assert Corpus.parse(CORPUS.encode()) == CORPUS
    assert CORPUS.samples == CORPUS.order(0).total == 6


@pytest.mark.parametrize(
    "changes",
    [
        {"separator": 256},
        {"token_bytes": 2},
        {"sequence": 50},
        {"tokenizer": {"kind": "bytes", "file": "", "vocab_size": 257}},
        {"train": []},
        {"train": [{"root": ROOT, "size_bytes": 100, "tokens": 99, "samples": 6}]},
    ],
)
def test_what_does_not_add_up_is_refused(changes: dict[str, object]) -> None:
    tree = msgspec.to_builtins(CORPUS) | changes
    with pytest.raises(MalformedError):
        Corpus.parse(encoding.encode(tree))


def test_conversations_need_twice_as_many_ids() -> None:
    chat = Chat(template="{{ messages }}", bos_token="", eos_token="</s>", turn_end=2)  # noqa: S106 - no password
    narrow = msgspec.structs.replace(CORPUS, chat=chat)
    with pytest.raises(MalformedError, match="needs wider tokens"):
        Corpus.parse(narrow.encode())
    half = msgspec.structs.replace(CORPUS.tokenizer, vocab_size=128)
    corpus = msgspec.structs.replace(narrow, tokenizer=half)
    assert Corpus.parse(corpus.encode()) == corpus
    assert corpus.has_masks
    assert not CORPUS.has_masks
    assert corpus.digest != msgspec.structs.replace(corpus, chat=msgspec.UNSET).digest
    outside = msgspec.structs.replace(corpus, chat=msgspec.structs.replace(chat, turn_end=128))
    with pytest.raises(MalformedError, match="turn_end 128 is outside"):
        Corpus.parse(outside.encode())


def test_every_entry_is_under_the_root() -> None:
    other = msgspec.structs.replace(CORPUS, held_out=())
    assert other.root != CORPUS.root
    assert other.digest != CORPUS.digest
