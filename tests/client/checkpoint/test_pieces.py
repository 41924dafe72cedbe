"""The pieces in which a text is shown while a model writes it: none is lost or held back."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
import torch
from tokenizers import Tokenizer, decoders, models, normalizers, pre_tokenizers, trainers

from tequio_client import tokenizers
from tequio_client.trainer import device
from tequio_client.trainer.conversation import ModelChat, WritingModel, WritingStyle
from tests.support import model_folders

if TYPE_CHECKING:
    from pathlib import Path

CPU = device.open_device("cpu")
GREEDY_AND_LONG = WritingStyle(tokens=200, temperature=0)


def sentence_pieces(text: str, *, is_llama: bool) -> Tokenizer:
    """A tokenizer whose decoder drops the first blank, as a Metaspace or as Llama 2 does it."""
    made = Tokenizer(models.BPE())
    made.pre_tokenizer = pre_tokenizers.Metaspace()
    made.decoder = decoders.Metaspace()
    trainer = trainers.BpeTrainer(vocab_size=300, special_tokens=["<s>"], show_progress=False)
    made.train_from_iterator([text] * 9, trainer)
    if is_llama:
        made.normalizer = normalizers.Sequence(
            [normalizers.Prepend("▁"), normalizers.Replace(" ", "▁")]
        )
        made.pre_tokenizer = None
        made.decoder = decoders.Sequence(
            [decoders.Replace("▁", " "), decoders.Fuse(), decoders.Strip(" ", 1, 0)]
        )
    return made


def make_it_write(
    monkeypatch: pytest.MonkeyPatch, model: WritingModel, ids: list[int]
) -> list[int]:
    """Let transformers generate these tokens; gives the list to which it adds what it wrote."""
    wrote: list[int] = []

    def generate(prompt: torch.Tensor, **options: Any) -> torch.Tensor:  # noqa: ANN401 - transformers'
        streamer, made = options["streamer"], prompt
        streamer.put(made)
        for one in ids[: options["max_new_tokens"]]:
            wrote.append(one)
            made = torch.cat([made, torch.tensor([[one]])], 1)
            streamer.put(torch.tensor([one]))
            if options["stopping_criteria"](made, torch.zeros(1, 1)).all():
                break
        streamer.end()
        return made

    monkeypatch.setattr(model._model, "generate", generate)  # noqa: SLF001 - as if trained so
    return wrote


@pytest.mark.parametrize("is_llama", [False, True])
def test_no_blank_and_no_indent_is_lost(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, *, is_llama: bool
) -> None:
    begin, rest = "def f(x):", " # maize\n    if x :\n        return  x\n"
    tokenizer = sentence_pieces(begin + rest, is_llama=is_llama)
    model_folders.write(
        tmp_path,
        model_folders.llama(tokenizer.get_vocab_size(), max_position_embeddings=256),
        tokenizer=tokenizer.to_str().encode(),
    )
    model = WritingModel(tmp_path, CPU)
    prompt, ids = model.encode_text(begin), tokenizer.encode(begin + rest).ids
    assert ids[: len(prompt) - 1] == prompt[1:], "what is left continues the prompt"
    make_it_write(monkeypatch, model, ids[len(prompt) - 1 :])
    pieces: list[str] = []
    written = model.write(prompt, GREEDY_AND_LONG, pieces.append)
    assert written.text == "".join(pieces) == rest
    assert len(pieces) > 4, "each word as it is written"


@pytest.mark.parametrize("text", ["สวัสดีครับผมชื่อสมชาย", "これはペンです", "maize "])
def test_a_character_is_shown_as_soon_as_it_is_whole_and_an_answer_stops_in_any_script(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: str
) -> None:
    own = tokenizers.train_tokenizer(["maize"] * 9, 300)
    folder = model_folders.write(tmp_path, model_folders.llama(300), tokenizer=own.file)
    conversation = ModelChat(folder, GREEDY_AND_LONG, CPU)
    ids, pieces = own.encode(text * 4).tolist(), list[str]()
    wrote = make_it_write(monkeypatch, conversation._model, ids)  # noqa: SLF001 - as if trained so
    answer = conversation.answer("maize", pieces.append, lambda: len(pieces) == 3)
    assert answer == "".join(pieces)
    assert (text * 4).startswith(answer)
    assert len(wrote) < len(ids) / 2
    assert len(wrote) == len(own.encode(answer)), "nothing is held back"


@pytest.mark.parametrize("is_special", [False, True])
def test_tokens_that_never_make_a_character_are_not_decoded_again_and_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, *, is_special: bool
) -> None:
    own = tokenizers.train_tokenizer(["maize"] * 9, 300)
    folder = model_folders.write(
        tmp_path, model_folders.llama(300, max_position_embeddings=512), tokenizer=own.file
    )
    model, decoded = WritingModel(folder, CPU), list[int]()
    inner_byte, word = own.encode("ก").tolist()[1], own.encode(" maize").tolist()
    stray = [own.separator if is_special else inner_byte] * 100
    decode = model._decode  # noqa: SLF001 - counts what it decodes

    def count(ids: list[int]) -> str:
        decoded.append(len(ids))
        return decode(ids)

    monkeypatch.setattr(model, "_decode", count)
    make_it_write(monkeypatch, model, [*word, *stray, *word])
    pieces: list[str] = []
    written = model.write(own.encode("maize").tolist(), GREEDY_AND_LONG, pieces.append)
    assert written.text == "".join(pieces) == decode([*word, *stray, *word])
    assert max(decoded) < 50
