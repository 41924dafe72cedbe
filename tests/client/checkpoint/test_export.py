"""An exported head is a folder that plain transformers loads, and is exactly that head."""

from __future__ import annotations

import json
import os
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
import torch
from safetensors.numpy import load_file
from tokenizers import Tokenizer

from tequio_client.checkpoint import export, layout, tensors, verify
from tequio_client.checkpoint.export import WeightsOrigin
from tequio_client.checkpoint.verify import VerifyOutcome
from tequio_client.runtime import locked
from tequio_client.tokenizers import ByteTokenizer
from tequio_client.trainer import model
from tequio_client.verify.report import NoProgress
from tequio_shared.errors import UserFacingError, first_error
from tequio_shared.ids import digest_from_text, to_text
from tests.client.verify.logs import SwarmLog
from tests.support.llama_swarm import ROUNDS, LlamaRun, ServedLog, play, played, served_log
from tests.support.small_disk import SmallDisk

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from tequio_client.checkpoint.history import HeadHistory


def exported(site: ServedLog, target: Path, *stores: Path, **wanted: Any) -> HeadHistory:  # noqa: ANN401
    name = str(wanted.pop("run", site.log.swarm.manifest.name))
    wish = export.ExportOptions(
        origin=WeightsOrigin(ledger=site.url, stores=stores),
        run=name,
        **wanted,
        target=target,
    )
    return export.export_head(wish, NoProgress())


class EntriesRead(NoProgress):
    """How many entries each reading of the log had before it."""

    def __init__(self) -> None:
        self.left: list[int] = []

    @contextmanager
    def work(self, what: str, total: int) -> Iterator[Callable[[int], None]]:
        if what == "entries":
            self.left.append(total)
        with super().work(what, total) as tick:
            yield tick


def test_a_reader_goes_on_from_head_to_head(site: ServedLog, tmp_path: Path) -> None:
    store, name = played().store(tmp_path / "store", 1, ROUNDS), site.log.swarm.manifest.name
    origin = WeightsOrigin(ledger=site.url, stores=[store])
    reader, read = origin.reader(), EntriesRead()
    for number in (1, ROUNDS):
        wish = export.ExportOptions(
            origin=origin, run=name, round=number, target=tmp_path / str(number)
        )
        assert export.export_head(wish, read, reader).head.round == number
        assert (
            verify.verify_folder(wish.target, origin, NoProgress()).outcome
            is VerifyOutcome.IS_THE_HEAD
        )
    first, second = read.left
    assert first > ROUNDS
    assert second == 0, "nothing was added to the log since then"


def refusal(site: ServedLog, target: Path, *stores: Path, **wanted: Any) -> str:  # noqa: ANN401
    with pytest.raises((UserFacingError, BaseExceptionGroup)) as caught:
        exported(site, target, *stores, **wanted)
    error = first_error(caught.value)
    assert isinstance(error, UserFacingError)
    assert "\n" not in str(error)
    return str(error)


def logits_of_the_head(run: LlamaRun, number: int, ids: torch.Tensor) -> torch.Tensor:
    """Logits of the trainer's own forward pass for the integers of a head."""
    manifest = run.manifest
    made = model.build(run.swarm.blobs[digest_from_text(manifest.model.config)])
    made.load(run.weights(number), manifest.layout)
    made.network.eval()
    with torch.no_grad():
        return made.logits(ids)


@pytest.mark.parametrize("is_tied", [False, True])
def test_plain_transformers_gives_the_logits_of_the_head(
    is_tied: bool,  # noqa: FBT001 - a parameter of a test
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    from transformers import AutoModelForCausalLM  # noqa: PLC0415 - seconds, for this test

    run = play(is_tied=True) if is_tied else played()
    store = run.store(tmp_path / "store", ROUNDS)
    with served_log(SwarmLog(run.swarm)) as site:
        exported(site, tmp_path / "out", store)
    loaded: Any = AutoModelForCausalLM.from_pretrained(
        tmp_path / "out", output_loading_info=True, trust_remote_code=False
    )
    network, told = loaded
    assert not told["missing_keys"]
    assert not told["unexpected_keys"]
    assert type(network).__name__ == "LlamaForCausalLM"
    assert network.dtype == torch.float32
    ids = torch.randint(0, 256, (3, 48), generator=torch.Generator().manual_seed(1))
    with torch.no_grad():
        theirs = network(input_ids=ids, use_cache=False).logits
    ours = logits_of_the_head(run, ROUNDS, ids)
    difference = float((ours - theirs).abs().max())
    with capsys.disabled():
        print(f" max difference of logits {difference:.3g} ", end="")  # noqa: T201
    assert float(ours.abs().max()) > 0.1
    assert difference <= 1e-5


def test_the_weights_are_the_head_to_the_last_bit(site: ServedLog, tmp_path: Path) -> None:
    run = played()
    out = tmp_path / "out"
    story = exported(site, out, run.store(tmp_path / "store", 2), round=2)
    assert (story.head.round, story.rounds) == (2, 2)
    back = tensors.read_weights(run.manifest, out, tmp_path / "back", lambda _: None)
    assert (back == run.weights(2)).all()
    floats = load_file(out / "model.safetensors")
    assert all(one.dtype == np.float32 for one in floats.values())
    lacking = load_file(out / layout.REMAINDER)
    assert lacking["positions"].size > 10, "scales of norms rose above one"


def test_large_weights_come_in_several_files_and_back(tmp_path: Path) -> None:
    from transformers import AutoModelForCausalLM  # noqa: PLC0415 - seconds, for this test

    run = played()
    head = tmp_path / "head"
    head.write_bytes(run.weights(1).astype("<i4").tobytes())
    out = tmp_path / "out"
    (out / layout.TEQUIO_FOLDER).mkdir(parents=True)
    told: list[int] = []
    tensors.write_weights(run.manifest, head, out, told.append, shard_bytes=60_000)
    assert sum(told) == run.manifest.model.parameters * 4
    assert len(list(out.glob("model-*.safetensors"))) > 3
    assert not (out / layout.WEIGHTS).exists()
    back = tensors.read_weights(run.manifest, out, tmp_path / "back", lambda _: None)
    assert (back == run.weights(1)).all()
    (out / layout.CONFIG).write_bytes(
        layout.model_config(run.swarm.blobs[digest_from_text(run.manifest.model.config)])
    )
    network = AutoModelForCausalLM.from_pretrained(out)
    name = "model.layers.1.mlp.up_proj.weight"
    due = run.manifest.layout.unflatten(run.weights(1))[name] * np.float32(2**-24)
    assert (network.get_parameter(name).detach().numpy() == due.astype(np.float32)).all()


def test_no_code_of_the_configurations_author_is_named(whole: Path) -> None:
    fields = json.loads((whole / "config.json").read_bytes())
    assert "auto_map" not in fields
    assert fields["dtype"] == "float32"
    assert fields["architectures"] == ["LlamaForCausalLM"]


@pytest.mark.parametrize("text", ["a\0b", "\0", "<|separator|>", "Ā"])
def test_the_byte_tokenizer_reads_what_the_run_reads_of_odd_texts(whole: Path, text: str) -> None:
    theirs, ours = Tokenizer.from_file(str(whole / "tokenizer.json")), ByteTokenizer()
    ids = theirs.encode(text, add_special_tokens=False).ids
    assert ids == ours.encode(text).tolist()
    assert theirs.decode(ids, skip_special_tokens=False) == ours.decode(ids)


TEXTS = ("milpa y maíz", "Ā is not a zero", "🌽\r\n\ttabs", "", " lead", "a" * 300)


@pytest.mark.parametrize("text", TEXTS)
def test_the_byte_tokenizer_gives_bytes_and_takes_them_back(whole: Path, text: str) -> None:
    from transformers import PreTrainedTokenizerFast  # noqa: PLC0415 - seconds, for this test

    plain = Tokenizer.from_file(str(whole / "tokenizer.json"))
    assert plain.encode(text, add_special_tokens=False).ids == list(text.encode())
    theirs = PreTrainedTokenizerFast.from_pretrained(whole)
    ids = theirs(text, add_special_tokens=False)["input_ids"]
    assert ids == list(text.encode())
    assert theirs.decode(ids) == text
    assert (theirs.eos_token_id, theirs.bos_token_id) == (0, 0)


def test_a_tokenizer_of_the_run_is_exported_byte_for_byte(tmp_path: Path) -> None:
    from transformers import PreTrainedTokenizerFast  # noqa: PLC0415 - seconds, for this test

    vocabulary = {"<|endoftext|>": 0, "maize": 1, "milpa": 2, "[UNK]": 3}
    raw = json.dumps(
        {
            "version": "1.0", "truncation": None, "padding": None, "normalizer": None,
            "added_tokens": [], "pre_tokenizer": {"type": "Whitespace"},
            "post_processor": None, "decoder": None,
            "model": {"type": "WordLevel", "vocab": vocabulary, "unk_token": "[UNK]"},
        }
    ).encode()  # fmt: skip
    run = play(tokenizer=raw)
    with served_log(SwarmLog(run.swarm)) as other:
        exported(other, tmp_path / "out", run.store(tmp_path / "store", ROUNDS))
    assert (tmp_path / "out" / "tokenizer.json").read_bytes() == raw
    theirs = PreTrainedTokenizerFast.from_pretrained(tmp_path / "out")
    assert theirs("milpa maize")["input_ids"] == [2, 1]
    assert theirs.eos_token_id == 0


def test_nothing_is_written_when_the_store_has_other_bytes(site: ServedLog, tmp_path: Path) -> None:
    store = played().store(tmp_path / "store", ROUNDS)
    (tree,) = [path for path in store.rglob("*") if path.is_file() and path.stat().st_size > 1e5]
    content = bytearray(tree.read_bytes())
    content[1_000] ^= 1
    tree.chmod(0o600)
    tree.write_bytes(content)
    assert "complete and undamaged" in refusal(site, tmp_path / "out", store)
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    ("wanted", "why"),
    [
        ({"run": "wheat"}, "no run 'wheat'; known runs: maize- 1.0 ("),
        ({"round": 99}, "no head of round 99 is certified; the last certified ones are of: 0, 1"),
    ],
)
def test_an_unknown_run_or_round_is_named(
    site: ServedLog, tmp_path: Path, wanted: dict[str, Any], why: str
) -> None:
    assert why in refusal(site, tmp_path / "out", tmp_path, **wanted)


def test_a_run_may_be_named_by_the_beginning_of_its_id(site: ServedLog, tmp_path: Path) -> None:
    name = to_text(played().manifest.run_id)[:8]
    store = played().store(tmp_path / "store", ROUNDS)
    assert exported(site, tmp_path / "out", store, run=name).head.round == ROUNDS


def test_a_folder_with_something_in_it_is_left_alone(site: ServedLog, tmp_path: Path) -> None:
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "thesis.tex").write_text("mine")
    assert "not empty" in refusal(site, tmp_path / "out")
    assert (tmp_path / "out" / "thesis.tex").read_text() == "mine"
    assert "create it first" in refusal(site, tmp_path / "a" / "b")


def test_an_empty_folder_is_taken(site: ServedLog, tmp_path: Path) -> None:
    (tmp_path / "out").mkdir()
    exported(site, tmp_path / "out", played().store(tmp_path / "store", ROUNDS))
    assert (tmp_path / "out" / layout.CLAIM).exists()
    assert [one.name for one in tmp_path.iterdir() if one.name.startswith(".")] == []


def test_an_export_refused_by_another_leaves_the_work_of_that(
    site: ServedLog, tmp_path: Path
) -> None:
    part = tmp_path / ".out.part"
    with locked(part):
        (part / "made").mkdir()
        assert "another process uses" in refusal(site, tmp_path / "out")
        assert (part / "made").exists()


def test_a_log_that_breaks_a_rule_is_not_exported(tmp_path: Path) -> None:
    log = SwarmLog(played().swarm)
    log.leaves[40] = log.leaves[40][:-1] + b"!"
    with served_log(log) as other:
        said = refusal(other, tmp_path / "out", tmp_path)
        assert f"the log at {other.url} cannot be trusted" in said
    assert not (tmp_path / "out").exists()


def test_a_ledger_without_seeds_and_no_store_says_what_to_do(
    site: ServedLog, tmp_path: Path
) -> None:
    assert "lists no seed: give the folder" in refusal(site, tmp_path / "out")


def test_a_full_disk_is_said_and_the_next_run_ends_well(site: ServedLog, tmp_path: Path) -> None:
    store = played().store(tmp_path / "store", ROUNDS)
    disk = SmallDisk(tmp_path / "disk")
    target = tmp_path / "disk" / "out"
    try:
        disk.fill([os.getpid()])
        said = refusal(site, target, store)
        assert "full" in said or "free" in said or "free some space" in said
        assert not target.exists()
        disk.empty([os.getpid()])
        exported(site, target, store)
        assert (target / layout.CLAIM).exists()
    finally:
        disk.unmount()


def test_an_error_without_a_number_is_not_told_as_a_full_disk(tmp_path: Path) -> None:
    lost = ConnectionError("all attempts to connect failed")
    with pytest.raises(ConnectionError) as caught, export.disk_errors(tmp_path / "out"):
        raise lost
    assert caught.value is lost
