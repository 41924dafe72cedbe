"""A check finds every change to a head, and says when it cannot tell."""

from __future__ import annotations

import json
import os
import shutil
import tempfile
from dataclasses import replace
from typing import TYPE_CHECKING

import msgspec
import numpy as np
import pytest
from click.testing import CliRunner
from safetensors.numpy import load_file, save_file

from tequio_client.__main__ import cli
from tequio_client.checkpoint import layout, verify
from tequio_client.checkpoint.export import WeightsOrigin
from tequio_client.checkpoint.verify import CheckpointVerdict, VerifyOutcome
from tequio_client.verify.report import NoProgress
from tequio_shared.ids import sha256, to_text
from tequio_shared.log.policy import TlogProof
from tequio_shared.round.manifest import Manifest
from tests.client.verify.logs import SwarmLog
from tests.support.attack_table import attack
from tests.support.llama_swarm import ROUNDS, played, served_log
from tests.support.small_disk import SmallDisk

if TYPE_CHECKING:
    from pathlib import Path

    from tests.support.llama_swarm import ServedLog

NAME = "model.layers.0.mlp.down_proj.weight"


def checked(folder: Path, ledger: str, *stores: Path) -> CheckpointVerdict:
    return verify.verify_folder(folder, WeightsOrigin(ledger=ledger, stores=stores), NoProgress())


def is_not(folder: Path, site: ServedLog, *stores: Path) -> str:
    verdict = checked(folder, site.url, *stores)
    assert verdict.outcome is VerifyOutcome.IS_NOT, verdict
    return "\n".join(verdict.lines)


def change_claim(folder: Path, **values: str | int) -> None:
    claim = layout.HeadClaim.parse((folder / layout.CLAIM).read_bytes())
    changed = msgspec.structs.replace(claim, **values)
    (folder / layout.CLAIM).write_bytes(changed.encode())


def change_weight(folder: Path, name: str, at: int, change: float) -> None:
    tensors = load_file(folder / layout.WEIGHTS)
    tensors[name] = tensors[name].copy()
    tensors[name].reshape(-1)[at] += np.float32(change)
    save_file(tensors, folder / layout.WEIGHTS, metadata={"format": "pt"})


def test_an_export_is_its_head(folder: Path, site: ServedLog) -> None:
    verdict = checked(folder, site.url)
    assert verdict.outcome is VerifyOutcome.IS_THE_HEAD, verdict
    text = "\n".join(verdict.lines)
    assert f"the head of round {ROUNDS} of the run maize- 1.0" in text
    assert to_text(played().swarm.view.heads[ROUNDS].weights_root) in text
    assert played().swarm.genesis.log_key in text


def test_a_later_log_still_bears_it_out(folder: Path) -> None:
    log = SwarmLog(played().swarm)
    log.leaves.append(log.leaves[-1])
    log.sign()
    with served_log(log) as later:
        assert checked(folder, later.url).outcome is VerifyOutcome.IS_THE_HEAD


def test_a_weight_changed_by_one_unit_names_its_tensor(
    folder: Path, site: ServedLog, tmp_path: Path
) -> None:
    change_weight(folder, NAME, 7, 2.0**-24)
    text = is_not(folder, site)
    assert (
        f"root of the head:      {to_text(played().swarm.view.heads[ROUNDS].weights_root)}" in text
    )
    store = played().store(tmp_path / "store", ROUNDS)
    assert f"the first tensor that differs is {NAME}, at 1 places" in is_not(folder, site, store)


def test_a_weight_changed_by_less_than_a_unit_is_found(folder: Path, site: ServedLog) -> None:
    tensors = load_file(folder / layout.WEIGHTS)
    at = int(np.abs(tensors[NAME]).argmin())
    change_weight(folder, NAME, at, 2.0**-30)
    assert f"{NAME}: a weight is not a multiple" in is_not(folder, site)


def test_weights_are_not_the_head_of_another_round(folder: Path, site: ServedLog) -> None:
    entries = [one.statement for one in played().swarm.entries]
    index = next(
        at for at, one in enumerate(entries) if (one.type, one.round) == ("head.promote", 1)
    )
    change_claim(folder, round=1, entry=index)
    assert "certifies other weights for round 1" in is_not(folder, site)


@pytest.mark.parametrize(
    ("change", "why"),
    [
        ({"entry": 1}, "is a run.open: it names no certified head"),
        ({"entry": 1_000_000}, "should name this head, is not in it"),
        ({"round": 2}, "not of round 2"),
        ({"head": to_text(bytes(32))}, "certifies other weights"),
        ({"run": to_text(bytes(32))}, "not the manifest of the run"),
        ({"weights_root": to_text(bytes(32))}, "root of these weights"),
    ],
)
def test_a_false_claim_is_found(
    folder: Path, site: ServedLog, change: dict[str, str | int], why: str
) -> None:
    change_claim(folder, **change)
    assert why in is_not(folder, site)


def test_a_configuration_that_computes_something_else_is_found(
    folder: Path, site: ServedLog
) -> None:
    path = folder / layout.CONFIG
    path.write_text(path.read_text().replace('"rms_norm_eps": 1e-05', '"rms_norm_eps": 1e-04'))
    assert "config.json was changed after the export" in is_not(folder, site)


@pytest.mark.parametrize("name", [layout.TOKENIZER, layout.TOKENIZER_CONFIG, layout.GENERATION])
def test_other_texts_for_the_same_tokens_are_found(
    folder: Path, site: ServedLog, name: str
) -> None:
    (folder / name).write_text(json.dumps({"model": {}}))
    assert f"{name} was changed after the export" in is_not(folder, site)


def test_an_adapter_that_would_be_loaded_too_is_found(folder: Path, site: ServedLog) -> None:
    (folder / "adapter_config.json").write_text("{}")
    assert "adapter_config.json is not part of an export" in is_not(folder, site)


PLANTED = (
    "added_tokens.json",
    "special_tokens_map.json",
    "chat_template.jinja",
    "pytorch_model.bin",
    "modeling_maize.py",
    "model-00002-of-00002.safetensors",
    "adapter_model.safetensors",
    "tequio/adapter_model.safetensors",
    "additional/chat.jinja",
    "model.safetensors.index.json",
)


@attack("M10", layer="cli", ends="named, and refused: exit status 2")
@pytest.mark.parametrize("name", PLANTED)
def test_a_file_that_no_export_has_is_found(folder: Path, site: ServedLog, name: str) -> None:
    (folder / name).parent.mkdir(exist_ok=True)
    (folder / name).write_bytes(b"{}")
    assert f"{name} is not part of an export" in is_not(folder, site)


@attack("M10", layer="cli", ends="named, and refused: exit status 2")
def test_a_folder_behind_a_link_is_found(folder: Path, site: ServedLog, tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    (folder / "additional_chat_templates").symlink_to(tmp_path / "elsewhere")
    assert "additional_chat_templates is not part of an export" in is_not(folder, site)


def test_what_git_the_hub_and_desktops_leave_is_no_part_of_a_model(
    folder: Path, site: ServedLog
) -> None:
    (folder / "README.md").write_text("Another card.")
    for name in (".gitattributes", ".DS_Store", ".git/config", ".cache/huggingface/CACHEDIR.TAG"):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(b"")
    assert checked(folder, site.url).outcome is VerifyOutcome.IS_THE_HEAD


@attack("M10", layer="cli", ends="the leaf beside a proof is compared with the log: exit status 2")
def test_another_leaf_beside_the_proof_is_found(folder: Path, site: ServedLog) -> None:
    proof = TlogProof.parse((folder / layout.PROOF).read_bytes())
    changed = replace(proof, extra=(proof.extra or b"") + b" ")
    (folder / layout.PROOF).write_bytes(changed.encode())
    assert "its extra line is not that entry" in is_not(folder, site)


def test_a_tensor_more_or_less_is_found(folder: Path, site: ServedLog) -> None:
    tensors = load_file(folder / layout.WEIGHTS)
    save_file(tensors | {"extra": np.zeros(2, np.float32)}, folder / layout.WEIGHTS)
    assert "the tensor extra is not one of the run's" in is_not(folder, site)
    del tensors[NAME]
    save_file(tensors, folder / layout.WEIGHTS)
    assert f"the tensor {NAME} is missing" in is_not(folder, site)


def test_no_room_is_made_for_weights_that_the_files_do_not_hold(
    folder: Path, site: ServedLog
) -> None:
    manifest = Manifest.parse((folder / layout.MANIFEST).read_bytes())
    tensors = tuple((name, (1 << 20, 1 << 16)) for name, _ in manifest.model.tensors)
    large = msgspec.structs.replace(
        manifest,
        model=msgspec.structs.replace(
            manifest.model, tensors=tensors, parameters=len(tensors) << 36
        ),
        windows=msgspec.structs.replace(manifest.windows, samples=1, tokens=64, most=3),
    )
    (folder / layout.MANIFEST).write_bytes(large.encode())
    change_claim(folder, run=to_text(large.run_id))
    assert "not F32[1048576, 65536]" in is_not(folder, site)


def test_a_full_disk_for_temporary_files_is_no_fault_of_the_folder(
    folder: Path, site: ServedLog, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    disk = SmallDisk(tmp_path / "disk")
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "disk"))
    try:
        disk.fill([os.getpid()])
        verdict = checked(folder, site.url)
        assert verdict.outcome is VerifyOutcome.CANNOT_VERIFY
        assert f"the disk of {tmp_path / 'disk'} is full: free some space, or" in verdict.lines[0]
        assert "TMPDIR" in verdict.lines[0]
        disk.empty([os.getpid()])
        assert checked(folder, site.url).outcome is VerifyOutcome.IS_THE_HEAD
    finally:
        disk.unmount()


def test_no_folder_for_temporary_files_is_no_fault_of_the_folder(
    folder: Path, site: ServedLog, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", None)
    monkeypatch.setattr(tempfile, "_candidate_tempdir_list", lambda: [str(tmp_path / "none")])
    verdict = checked(folder, site.url)
    assert verdict.outcome is VerifyOutcome.CANNOT_VERIFY
    assert "no folder for temporary files" in verdict.lines[0]


def test_halved_weights_are_not_the_head(folder: Path, site: ServedLog) -> None:
    tensors = load_file(folder / layout.WEIGHTS)
    save_file(
        {name: one.astype(np.float16) for name, one in tensors.items()}, folder / layout.WEIGHTS
    )
    assert "is F16" in is_not(folder, site)


@pytest.mark.parametrize("content", [b"", b"\x80\x04.", b"\xff" * 100, bytes(8) + b"{}"])
def test_a_file_that_is_no_safetensors_is_not_the_head(
    folder: Path, site: ServedLog, content: bytes
) -> None:
    (folder / layout.WEIGHTS).write_bytes(content)
    assert "cannot be read" in is_not(folder, site)


def test_remainders_that_were_changed_are_found(folder: Path, site: ServedLog) -> None:
    lacking = load_file(folder / layout.REMAINDER)
    values = lacking["remainders"].copy()
    values[0] = -values[0]
    save_file(lacking | {"remainders": values}, folder / layout.REMAINDER)
    assert "root of these weights" in is_not(folder, site)
    save_file(lacking | {"positions": lacking["positions"][::-1].copy()}, folder / layout.REMAINDER)
    assert "do not rise" in is_not(folder, site)


@pytest.mark.parametrize(
    "name",
    [layout.CLAIM, layout.MANIFEST, layout.WEIGHTS, layout.REMAINDER, layout.PROOF, layout.CONFIG],
)
def test_it_cannot_tell_of_a_folder_that_is_not_whole(
    folder: Path, site: ServedLog, name: str
) -> None:
    (folder / name).unlink()
    verdict = checked(folder, site.url)
    assert verdict.outcome is VerifyOutcome.CANNOT_VERIFY
    assert "missing" in verdict.lines[0]


def test_it_cannot_tell_when_the_ledger_is_away_or_another_networks(
    folder: Path, site: ServedLog
) -> None:
    away = checked(folder, "http://127.0.0.1:9")
    assert away.outcome is VerifyOutcome.CANNOT_VERIFY
    assert "can't reach the network" in away.lines[0]
    change_claim(folder, network=to_text(sha256(b"another")))
    other = checked(folder, site.url)
    assert other.outcome is VerifyOutcome.CANNOT_VERIFY
    assert "give the right ledger with --ledger" in other.lines[0]


def test_a_ledger_that_rewrote_its_log_is_caught_by_the_proof(folder: Path) -> None:
    log = SwarmLog(played().swarm)
    last = log.leaves[-1]
    log.leaves[-1] = last[:-1] + bytes([last[-1] ^ 1])
    log.sign()
    with served_log(log) as forked:
        verdict = checked(folder, forked.url)
    assert verdict.outcome is VerifyOutcome.IS_NOT
    assert "the proof from the log is invalid" in verdict.lines[0]


def test_a_promotion_that_the_coordinator_did_not_sign_is_none(folder: Path) -> None:
    log = SwarmLog(played().swarm)
    entry = layout.HeadClaim.parse((folder / layout.CLAIM).read_bytes()).entry
    leaf = bytearray(log.leaves[entry])
    leaf[40] ^= 1  # in the signature
    log.leaves[entry] = bytes(leaf)
    log.sign()
    with served_log(log) as forged:
        assert checked(folder, forged.url).outcome is VerifyOutcome.IS_NOT


def test_the_command_exits_0_2_and_3_and_shows_nobodys_escape_codes(
    folder: Path, site: ServedLog
) -> None:
    def run(*words: str) -> tuple[int, str]:
        result = CliRunner().invoke(cli, ["checkpoint", "verify", *words, "--ledger", site.url])
        assert "\x1b" not in result.output
        return result.exit_code, result.stdout

    code, said = run(str(folder))
    assert (code, said.splitlines()[0]) == (0, "verified")
    change_claim(folder, round=2)
    code, said = run(str(folder))
    assert (code, said.splitlines()[0]) == (2, "NOT THIS HEAD")
    shutil.rmtree(folder / layout.TEQUIO_FOLDER)
    code, said = run(str(folder))
    assert (code, said.splitlines()[0]) == (3, "could not be checked")


@pytest.fixture(autouse=True)
def _network(monkeypatch: pytest.MonkeyPatch) -> None:
    """Name a ledger for all commands; none answers there."""
    monkeypatch.setenv("TEQUIO_LEDGER", "http://127.0.0.1:9")


def test_what_is_no_folder_of_an_export_is_named(tmp_path: Path) -> None:
    (tmp_path / "head.gguf").write_bytes(b"GGUF")
    for what, said in (
        (str(tmp_path / "typo"), "not found"),
        (str(tmp_path / "head.gguf"), "is a file: give the exported folder"),
        ("x" * 5_000, "cannot open the folder xxx"),
    ):
        result = CliRunner().invoke(cli, ["checkpoint", "verify", what])
        assert result.exit_code == 3
        assert result.stderr.startswith("could not be checked: ")
        assert said in result.stderr
