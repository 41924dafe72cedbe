"""Heads of a run whose texts are split by code of a plug-in: exported, verified, talked with."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest

from tequio_client.checkpoint import chat, gguf, layout
from tequio_client.checkpoint.export import ExportOptions, WeightsOrigin
from tequio_client.checkpoint.verify import VerifyOutcome
from tequio_client.plugins import archive
from tequio_client.plugins.consents import PluginConsent, PluginConsents
from tequio_client.trainer import device, likelihood
from tequio_client.trainer.conversation import ModelChat, WritingStyle
from tequio_client.verify.report import NoProgress
from tequio_shared.errors import UserFacingError
from tequio_shared.round.token_table import TokenTable
from tests.client.checkpoint.test_export import exported
from tests.client.checkpoint.test_verify import checked
from tests.client.verify.logs import SwarmLog
from tests.support import plugin_example
from tests.support.forked_program import MODELS, run_forked
from tests.support.llama_swarm import ROUNDS, ServedLog, play, served_log

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tequio_client.plugins.archive import PluginArchive

TOKENS = (*(bytes([byte]) for byte in range(254)), b"maize", b"")
"""No UTF-8 has the bytes 254 and 255."""
WORDS = """
import re

class Words:
    tokens = [*(bytes([byte]) for byte in range(254)), b"maize", b""]
    separator = 255

    def encode(self, text):
        found = re.findall(b"(?s)maize|.", text.encode())
        return [254 if one == b"maize" else one[0] for one in found]
"""
CPU = device.open_device("cpu")
GREEDY = WritingStyle(tokens=12, temperature=0)


@pytest.fixture(scope="module")
def code(tmp_path_factory: pytest.TempPathFactory) -> PluginArchive:
    folder = tmp_path_factory.mktemp("own") / "plugin"
    return archive.build(plugin_example.write_tokenizer(folder, words=WORDS))


@pytest.fixture(scope="module")
def site(code: PluginArchive) -> Iterator[ServedLog]:
    table = TokenTable.of(TOKENS, 255).encode()
    run = play(tokenizer=table, separator=255, plugin=code)
    with served_log(SwarmLog(run.swarm)) as found:
        yield found


@pytest.fixture(scope="module")
def model(site: ServedLog, code: PluginArchive, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("head")
    table = TokenTable.of(TOKENS, 255).encode()
    run = play(tokenizer=table, separator=255, plugin=code)
    exported(site, folder / "out", run.store(folder / "store", ROUNDS))
    return folder / "out"


def allowing(folder: Path, code: PluginArchive) -> Path:
    folder.mkdir()
    consent = PluginConsent(archive=code.spec.archive, label=code.spec.label)
    PluginConsents(folder).allow(consent)
    return folder


def test_an_export_has_the_table_and_the_archive_and_is_verified(
    model: Path, site: ServedLog, code: PluginArchive
) -> None:
    assert (model / layout.TABLE).read_bytes() == TokenTable.of(TOKENS, 255).encode()
    assert (model / layout.PLUGIN).read_bytes() == code.content
    assert not (model / layout.TOKENIZER).exists()
    assert "tequio chat PATH" in (model / layout.CARD).read_text()
    assert checked(model, site.url).outcome is VerifyOutcome.IS_THE_HEAD
    for name in (layout.TABLE, layout.PLUGIN):
        whole = (model / name).read_bytes()
        (model / name).write_bytes(whole[:-1] + b"x")
        assert checked(model, site.url).outcome is VerifyOutcome.IS_NOT
        (model / name).write_bytes(whole)


def test_a_network_of_a_plug_in_is_refused_before_its_weights_are_fetched(tmp_path: Path) -> None:
    folder = plugin_example.write(tmp_path / "code", words=WORDS)
    network = archive.build(plugin_example.add_tokenizer(folder))
    assert "model" in network.spec.provides
    table = TokenTable.of(TOKENS, 255).encode()
    run = play(tokenizer=table, separator=255, plugin=network)
    with served_log(SwarmLog(run.swarm)) as site:
        origin = WeightsOrigin(ledger=site.url, stores=[run.store(tmp_path / "store", ROUNDS)])
        wish = ExportOptions(origin=origin, run=run.manifest.name, target=tmp_path / "cache")
        with pytest.raises(UserFacingError, match="no other program can load it"):
            chat.newest_model(wish, NoProgress())
    assert not list((tmp_path / "cache").rglob("*.safetensors"))
    assert not list((tmp_path / "cache").rglob("fetched"))


def test_a_chat_needs_the_consent_and_then_writes_by_the_table(
    model: Path, code: PluginArchive, tmp_path: Path
) -> None:
    name = code.spec.archive
    with (
        pytest.raises(UserFacingError, match=f"allow it with `tequio plugin allow {name}`"),
        chat.own_texts(model, tmp_path / "work", tmp_path / "nobody"),
    ):
        pass
    assert not (tmp_path / "work").exists(), "nothing of it was run"
    said: list[str] = []
    with chat.own_texts(model, tmp_path / "work", allowing(tmp_path / "home", code)) as texts:
        conversation = ModelChat(model, GREEDY, CPU, texts)
        assert not conversation.has_turns
        whole = conversation.answer("maize í", said.append)
        assert "".join(said) == whole
        assert texts is not None
        ids = texts.encode("maize í").tolist()
        assert ids == [254, 32, 0xC3, 0xAD]
        again = conversation.answer("maize í", lambda _: None)
    assert again == whole
    assert whole


def test_a_table_that_is_not_that_of_the_code_is_refused(
    model: Path, code: PluginArchive, tmp_path: Path
) -> None:
    whole = (model / layout.TABLE).read_bytes()
    (model / layout.TABLE).write_bytes(whole.replace(b"\x05maize", b"\x05beans"))
    home = allowing(tmp_path / "home", code)
    try:
        with (
            pytest.raises(UserFacingError, match="are not those of"),
            chat.own_texts(model, tmp_path / "work", home),
        ):
            pass
    finally:
        (model / layout.TABLE).write_bytes(whole)


def test_the_command_talks_once_the_code_is_allowed(
    model: Path, code: PluginArchive, tmp_path: Path
) -> None:
    home = allowing(tmp_path / "home", code)
    words = ("chat", str(model), "--prompt", "maize", "--tokens", "8", "--temperature", "0")
    place = ("--dir", str(tmp_path / "chat"), "--device", "cpu")
    command = (*words, *place, "--consents")
    ended = run_forked(MODELS, *command, str(home), timeout_s=300)
    assert ended.returncode == 0, ended.stderr
    assert ended.stdout.startswith("maize")
    refused = run_forked(MODELS, *command, str(tmp_path), timeout_s=300)
    assert refused.returncode == 1
    assert "is not allowed on this computer" in refused.stderr


def test_what_would_have_to_run_the_code_refuses_the_model(model: Path) -> None:
    with pytest.raises(UserFacingError, match="code of a plug-in splits its texts"):
        gguf.write(model, gguf.place(model), NoProgress())
    with pytest.raises(UserFacingError, match="code of a plug-in, which scoring does not run"):
        likelihood.open_model(model, tokenizer=None, prefix=None)
    with pytest.raises(UserFacingError, match="split by code of a plug-in"):
        ModelChat(model, GREEDY, CPU)


def test_characters_are_shown_when_they_are_complete(model: Path) -> None:
    class SplitBytes:
        table = TokenTable.of(TOKENS, 255)

        def encode(self, text: str) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
            return np.frombuffer(text.encode(), np.uint8).astype(np.int64)

    conversation = ModelChat(
        model, WritingStyle(tokens=40, temperature=9.0, seed=3), CPU, SplitBytes()
    )
    said: list[str] = []
    whole = conversation.answer("x", said.append)
    assert "".join(said) == whole
    assert all(said)
