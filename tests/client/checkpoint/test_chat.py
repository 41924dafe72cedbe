"""After training on conversations, an exported head brings the template that they had."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from tequio_client.checkpoint import layout
from tequio_client.checkpoint.verify import VerifyOutcome
from tequio_client.dataset import chat
from tests.client.checkpoint.test_export import exported
from tests.client.checkpoint.test_verify import checked
from tests.client.verify.logs import SwarmLog
from tests.support import chats
from tests.support.llama_swarm import ROUNDS, play, served_log

if TYPE_CHECKING:
    from pathlib import Path

TALK = [chats.message("user", "w1 w2"), chats.message("assistant", "w3")]


def test_the_template_comes_with_the_head_and_no_other_is_certified(tmp_path: Path) -> None:
    from transformers import GenerationConfig, PreTrainedTokenizerFast  # noqa: PLC0415 - seconds

    encoder = chats.encoder(chats.word_tokenizer(tmp_path / "tokenizer"), 64)
    ids = encoder.encode(chats.texts_of(chats.rows(TALK))[0]).ids
    run = play(tokenizer=encoder.tokenizer.file, chat=chats.manifest_entry(encoder))
    out = tmp_path / "out"
    with served_log(SwarmLog(run.swarm)) as site:
        exported(site, out, run.store(tmp_path / "store", ROUNDS))
        assert checked(out, site.url).outcome is VerifyOutcome.IS_THE_HEAD
        theirs = PreTrainedTokenizerFast.from_pretrained(out)
        found: Any = theirs.apply_chat_template(TALK)
        assert found["input_ids"] == [one % encoder.tokenizer.vocab_size for one in ids]
        assert theirs.eos_token == chats.SEPARATOR
        assert theirs.bos_token is None
        assert GenerationConfig.from_pretrained(out).eos_token_id == [2, 0]
        path = out / layout.TOKENIZER_CONFIG
        settings = json.loads(path.read_bytes())
        path.write_text(json.dumps(settings | {"chat_template": "planted"}))
        verdict = checked(out, site.url)
        assert verdict.outcome is VerifyOutcome.IS_NOT
        path.write_text(json.dumps(settings, indent=2, sort_keys=True) + "\n")
        (out / chat.TEMPLATE_FILE).write_text("planted")
        verdict = checked(out, site.url)
        assert verdict.outcome is VerifyOutcome.IS_NOT
        assert chat.TEMPLATE_FILE in "\n".join(verdict.lines)
