"""`tequio chat`: the newest head of a run, and what a model in a folder writes."""

from __future__ import annotations

import json
import math
from typing import TYPE_CHECKING

import pytest
import torch
from click.testing import CliRunner
from tokenizers import (
    Tokenizer,
    processors,
)

from tequio_client import tokenizers
from tequio_client.__main__ import cli
from tequio_client.checkpoint import chat as talks
from tequio_client.checkpoint import layout, verify
from tequio_client.checkpoint.export import ExportOptions, WeightsOrigin
from tequio_client.checkpoint.verify import VerifyOutcome
from tequio_client.runtime import locked
from tequio_client.trainer import device
from tequio_client.trainer.conversation import (
    EndReason,
    ModelChat,
    WritingModel,
    WritingStyle,
    seed_chance,
)
from tequio_client.verify.report import NoProgress
from tequio_shared.errors import UserFacingError
from tequio_shared.ids import to_text
from tequio_shared.log.tiles import TILE_WIDTH
from tests.client.checkpoint.test_export import exported
from tests.client.checkpoint.test_pieces import make_it_write
from tests.client.verify.logs import SwarmLog
from tests.support import architectures, chats, model_folders
from tests.support.forked_program import MODELS, run_forked
from tests.support.llama_swarm import ROUNDS, ServedLog, play, played, served_log
from tests.support.terminals import in_terminal

if TYPE_CHECKING:
    from pathlib import Path

TALK = [chats.message("user", "w1 w2"), chats.message("assistant", "w3")]
CPU = device.open_device("cpu")
GREEDY = WritingStyle(tokens=12, temperature=0)
GREEDY_AND_LONG = WritingStyle(tokens=200, temperature=0)


def said(conversation: ModelChat, text: str) -> str:
    pieces: list[str] = []
    whole = conversation.answer(text, pieces.append)
    assert "".join(pieces) == whole
    return whole


def test_the_likeliest_text_is_always_the_same(whole: Path) -> None:
    first = said(ModelChat(whole, GREEDY, CPU), "maize")
    assert first
    assert said(ModelChat(whole, GREEDY, CPU), "maize") == first


def test_a_seed_gives_the_same_text_again(whole: Path) -> None:
    style = WritingStyle(tokens=16, temperature=5.0, top_p=1.0, seed=7)
    other = WritingStyle(tokens=16, temperature=5.0, top_p=1.0, seed=8)
    first = said(ModelChat(whole, style, CPU), "maize")
    assert said(ModelChat(whole, style, CPU), "maize") == first
    assert said(ModelChat(whole, other, CPU), "maize") != first


def test_a_top_p_of_1_leaves_every_token_a_chance(whole: Path) -> None:
    model = WritingModel(whole, CPU)
    ids, style = model.encode_text("maize"), WritingStyle(tokens=1, temperature=100.0, top_p=1.0)
    seed_chance(1)
    found = {model.write(ids, style, lambda _: None).text for _ in range(200)}
    assert len(found) > 60, "all of 256 bytes are about equally likely"


def test_a_prompt_beyond_the_context_is_cut_at_its_beginning(whole: Path) -> None:
    conversation = ModelChat(whole, GREEDY, CPU)
    kept = conversation.context - GREEDY.tokens
    text = "x" * 1_000 + "maize " * 20
    assert said(conversation, text) == said(ModelChat(whole, GREEDY, CPU), text[-kept:])


def test_a_conversation_remembers_its_turns_until_it_starts_over(tmp_path: Path) -> None:
    encoder = chats.encoder(chats.word_tokenizer(tmp_path / "tokenizer"), 64)
    run = play(tokenizer=encoder.tokenizer.file, chat=chats.chat_of(encoder, TALK))
    with served_log(SwarmLog(run.swarm)) as site:
        exported(site, tmp_path / "out", run.store(tmp_path / "store", ROUNDS))
    conversation = ModelChat(tmp_path / "out", GREEDY, CPU)
    assert conversation.has_turns
    first = said(conversation, "w1 w2")
    said(conversation, "w3")
    conversation.forget()
    assert said(conversation, "w1 w2") == first


@pytest.mark.parametrize(
    ("written", "end"),
    [
        ([65, 66, 0], EndReason.STOP),
        ([65, 66, 67], EndReason.LENGTH),
        ([65, 66, 67, 0], EndReason.LENGTH),
        ([65, 0], EndReason.STOP),
    ],
)
def test_a_text_that_the_model_ends_with_its_last_token_is_not_cut(
    whole: Path, monkeypatch: pytest.MonkeyPatch, written: list[int], end: EndReason
) -> None:
    model = WritingModel(whole, CPU)
    make_it_write(monkeypatch, model, written)
    found = model.write([77], WritingStyle(tokens=3), lambda _: None)
    assert (found.tokens, found.end) == (min(len(written), 3), end)


def test_a_text_ends_with_the_context_of_an_mpt(tmp_path: Path) -> None:
    sizes = {"vocab_size": 256, "d_model": 32, "n_heads": 4, "n_layers": 2, "max_seq_len": 24}
    folder = architectures.write(tmp_path, {"model_type": "mpt"} | sizes)
    raw, settings = layout.tokenizer_files(b"", 0, 24)
    (folder / layout.TOKENIZER).write_bytes(raw)
    (folder / layout.TOKENIZER_CONFIG).write_bytes(settings)
    model = WritingModel(folder, CPU)
    assert model.context == 24
    found = model.write([77] * 20, GREEDY_AND_LONG, lambda _: None)
    assert found.tokens <= 4
    assert said(ModelChat(folder, GREEDY, CPU), "maize " * 20)


@pytest.mark.parametrize(
    ("style", "named"),
    [({"temperature": -1.0}, "-1.0"), ({"top_p": 0.0}, "0.0"), ({"top_p": 1.5}, "1.5")],
)
def test_a_style_that_makes_no_sense_is_refused(style: dict[str, float], named: str) -> None:
    with pytest.raises(UserFacingError, match=named):
        WritingStyle(**style)  # type: ignore[arg-type]  # floats alone


def test_a_text_begins_with_the_separator_and_no_other_special_token(tmp_path: Path) -> None:
    tokenizer = Tokenizer.from_str(model_folders.bpe(["maize"], 300).decode())
    ids = tokenizer.encode("maize").ids
    tokenizer.add_special_tokens(["<s>"])
    begin = tokenizer.get_vocab()["<s>"]
    tokenizer.post_processor = processors.TemplateProcessing(
        single="<s> $A", special_tokens=[("<s>", begin)]
    )
    model_folders.write(
        tmp_path, model_folders.llama(begin + 1), tokenizer=tokenizer.to_str().encode()
    )
    assert WritingModel(tmp_path, CPU).encode_text("maize") == [0, *ids]


def test_a_text_that_spells_a_special_token_is_split_like_any_other(tmp_path: Path) -> None:
    text = f"maize{layout.SEPARATOR}{model_folders.END}"
    whole = model_folders.bytes_folder(tmp_path / "bytes")
    assert WritingModel(whole, CPU).encode_text(text) == [0, *text.encode()]
    own = tokenizers.train_tokenizer([text] * 9, 300)
    folder = model_folders.write(tmp_path / "own", model_folders.llama(300), tokenizer=own.file)
    due = tokenizers.encode_document(own, text).tolist()
    assert 0 not in due
    assert WritingModel(folder, CPU).encode_text(text) == [0, *due]


@pytest.mark.parametrize("kind", ["qwen2", "qwen3_5_moe_text"])
def test_a_tokenizer_file_splits_texts_as_in_training(tmp_path: Path, kind: str) -> None:
    # For these kinds, transformers' AutoTokenizer splits otherwise than the file says.
    text = "maize of 2026"
    own = tokenizers.train_tokenizer([text] * 9, 300)
    fields = architectures.small_fields(kind) | {"vocab_size": 300}
    folder = architectures.write(tmp_path, fields)
    raw, settings = layout.tokenizer_files(own.file, own.separator, 64)
    (folder / layout.TOKENIZER).write_bytes(raw)
    (folder / layout.TOKENIZER_CONFIG).write_bytes(settings)
    begin, *found = WritingModel(folder, CPU).encode_text(text)
    assert (begin, found) == (own.separator, tokenizers.encode_document(own, text).tolist())


def test_no_token_is_drawn_from_what_are_not_numbers(whole: Path) -> None:
    model = WritingModel(whole, CPU)
    ids = model.encode_text("maize")
    for broken in (math.nan, math.inf, 1e36):
        with torch.no_grad():
            next(iter(model._model.lm_head.parameters())).fill_(broken)  # noqa: SLF001 - as if trained so
        with pytest.raises(UserFacingError, match="not numbers"):
            model.write(ids, WritingStyle(tokens=4), lambda _: None)


def test_a_folder_that_is_no_model_is_named(tmp_path: Path) -> None:
    with pytest.raises(UserFacingError, match=r"no config\.json"):
        ModelChat(tmp_path, GREEDY, CPU)
    mute = model_folders.write(tmp_path / "mute", model_folders.llama(256))
    with pytest.raises(UserFacingError, match=r"no tokenizer\.json"):
        ModelChat(mute, GREEDY, CPU)
    (tmp_path / layout.ADAPTER_CONFIG).write_text("{}")
    with pytest.raises(UserFacingError, match="--merged"):
        ModelChat(tmp_path, GREEDY, CPU)


def test_damaged_weights_are_no_traceback(folder: Path) -> None:
    next(folder.glob("*.safetensors")).write_bytes(b"\x00" * 64)
    with pytest.raises(UserFacingError, match="cannot be loaded"):
        ModelChat(folder, GREEDY, CPU)


# --- the newest head


def options(site: ServedLog, cache: Path, store: Path) -> ExportOptions:
    origin = WeightsOrigin(ledger=site.url, stores=[store], also_seeds=True)
    return ExportOptions(origin=origin, run=site.log.swarm.manifest.name, target=cache)


def test_the_newest_head_is_exported_once(site: ServedLog, tmp_path: Path) -> None:
    store = played().store(tmp_path / "store", ROUNDS)
    wish = options(site, tmp_path / "cache", store)
    found = talks.newest_model(wish, NoProgress())
    claim = layout.HeadClaim.parse((found / layout.CLAIM).read_bytes())
    assert claim.round == ROUNDS
    (found / ".kept").touch()
    stale = found.with_name(f"{claim.run}-1")
    stale.mkdir()
    assert talks.newest_model(wish, NoProgress()) == found
    assert (found / ".kept").exists(), "the same folder"
    # A head that is not the newest is exported again, and older ones go.
    content = json.loads((found / layout.CLAIM).read_bytes())
    (found / layout.CLAIM).write_text(json.dumps(content | {"head": claim.weights_root}))
    assert talks.newest_model(wish, NoProgress()) == found
    assert not (found / ".kept").exists()
    assert not stale.exists()


def test_unfinished_exports_of_the_runs_other_heads_go(site: ServedLog, tmp_path: Path) -> None:
    store = played().store(tmp_path / "store", ROUNDS)
    wish = options(site, tmp_path / "cache", store)
    run = to_text(played().manifest.run_id)
    heads = wish.target / talks.HEADS
    names = [f".{run}-1.part", f".{run}-2.part", f".{'A' * 43}-1.part"]
    passed, in_use, of_other = [heads / name for name in names]
    for one in (passed, in_use, of_other):
        (one / "fetched").mkdir(parents=True)
        one.chmod(0o700)
    with locked(in_use):
        found = talks.newest_model(wish, NoProgress())
    assert set(heads.glob(".*.part")) == {in_use, of_other}
    assert found.is_dir()


def test_the_newest_head_is_found_without_reading_the_log(tmp_path: Path) -> None:
    store = played().store(tmp_path / "store", ROUNDS)
    log = SwarmLog(played().swarm)
    asked = list[int]()
    for name in ("short", "long"):
        with served_log(log) as site:
            found = talks.newest_model(options(site, tmp_path / name, store), NoProgress())
            origin = WeightsOrigin(ledger=site.url, stores=[store])
            verdict = verify.verify_folder(found, origin, NoProgress())
            assert verdict.outcome is VerifyOutcome.IS_THE_HEAD
            assert not (found / layout.CARD).exists(), "nothing in it was read from the log"
            asked.append(sum("/log/tile/entries/" in one for one in site.requests))
        log.leaves += [b"an entry that nobody has to read"] * (8 * TILE_WIDTH)
        log.sign()
    short, long = asked
    assert 0 < long <= short + 1


def test_a_run_that_is_not_there_is_named(site: ServedLog, tmp_path: Path) -> None:
    store = played().store(tmp_path / "store", ROUNDS)
    wish = options(site, tmp_path / "cache", store)
    with pytest.raises((UserFacingError, BaseExceptionGroup), match="quinoa"):
        talks.newest_model(
            ExportOptions(origin=wish.origin, run="quinoa", target=wish.target), NoProgress()
        )


# --- in a terminal


def command(*words: str) -> tuple[str, ...]:
    return ("chat", *words, "--device", "cpu")


def test_a_prompt_is_answered_and_the_program_ends(whole: Path) -> None:
    words = command(str(whole), "--prompt", "maize", "--tokens", "8", "--temperature", "0")
    ended = run_forked(MODELS, *words, timeout_s=300)
    assert ended.returncode == 0, ended.stderr
    assert ended.stdout.startswith("maize")
    assert len(ended.stdout.strip()) > len("maize")


def test_what_steers_a_terminal_is_not_shown(
    whole: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    conversation = ModelChat(whole, GREEDY, CPU)
    monkeypatch.setattr(conversation, "answer", lambda _text, show: show("a\x1b[2Jb\tc\nd\u202e"))
    talks.talk(conversation, "maize", is_terminal=False)
    assert capsys.readouterr().out == "maizea\ufffd[2Jb\tc\nd\ufffd\n"


def test_lines_are_answered_until_ctrl_c(whole: Path) -> None:
    words = command(str(whole), "--tokens", "4", "--temperature", "0")
    with in_terminal(*words, module=MODELS) as terminal:
        terminal.read_until(b"> ")
        terminal.type(b"maize\n")
        terminal.read_until(b"> ")
        assert terminal.interrupt() == 0


def test_a_model_and_a_run_are_not_named_together(whole: Path) -> None:
    ended = run_forked(MODELS, *command(str(whole), "--run", "maize"), timeout_s=300)
    assert ended.returncode == 2
    assert "either a MODEL or a run" in ended.stderr


def test_a_chat_takes_the_newest_fine_head_instead_of_the_newest(tmp_path: Path) -> None:
    run, fine = play(measured=ROUNDS - 1), ROUNDS - 1
    store = run.store(tmp_path / "store", fine, ROUNDS)
    with served_log(SwarmLog(run.swarm)) as site:
        words = ("--run", "maize- 1.0", "--prompt", "maize", "--tokens", "4", "--device", "cpu")
        where = ("--store", str(store), "--dir", str(tmp_path / "chat"), "--ledger", site.url)
        for options, number in (((), ROUNDS), (("--measured",), fine), (("--measured",), fine)):
            done = CliRunner().invoke(cli, ("chat", *words, *where, *options))
            assert done.exit_code == 0, done.exception
            (folder,) = (tmp_path / "chat" / talks.HEADS).glob("*-*")
            claim = layout.HeadClaim.parse((folder / layout.CLAIM).read_bytes())
            assert claim.round == number
    alone = CliRunner().invoke(cli, ("chat", "--measured", "a-model"))
    assert "--measured needs a run (--run)" in alone.output
