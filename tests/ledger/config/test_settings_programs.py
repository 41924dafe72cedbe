"""The settings of the programs beside the ledger: where they are found, and that none is lost."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest

from tequio_ledger.config.sources import Program, settings_of
from tequio_ledger.connector.settings import CONNECTOR
from tequio_ledger.monitor.cli import MONITOR
from tequio_ledger.signing.process import SIGNER
from tequio_ledger.witness.app import WITNESS
from tequio_shared.errors import UserFacingError
from tequio_shared.keys import Signer
from tequio_shared.log.notes import KeyKind, VerifierKey
from tests.support.configured import find, of_texts

INSTALLER = Path(__file__).parents[3] / "installer"
SAMPLES: dict[str, Program[Any]] = {
    "connector": CONNECTOR,
    "monitor": MONITOR,
    "sign": SIGNER,
    "witness": WITNESS,
}
COMMANDS: dict[str, Program[Any]] = {
    "connect": CONNECTOR,
    "monitor http://127.0.0.1:1": MONITOR,
    "sign": SIGNER,
    "witness": WITNESS,
}


def log_key(name: str, kind: KeyKind = KeyKind.LOG) -> VerifierKey:
    return VerifierKey(name=name, kind=kind, key=Signer(bytes([31]) * 32).key)


def faults_of(program: Program[Any], **options: str) -> list[str]:
    given = {name.replace("_", "-"): text for name, text in options.items()}
    with pytest.raises(UserFacingError) as caught:
        of_texts(program, given)
    return str(caught.value).split("; ")


@pytest.mark.parametrize("name", SAMPLES)
def test_a_sample_names_every_setting_with_its_default(name: str, tmp_path: Path) -> None:
    known = settings_of(SAMPLES[name].settings)
    text = (INSTALLER / f"{name}.toml").read_text("utf-8")
    assert tomllib.loads(text) == {}, "all of it is commented out"
    lines = re.findall(r"^#([a-z-]+ = .*)$", text, re.MULTILINE)
    file = tmp_path / "settings.toml"
    file.write_text("\n".join(lines))
    found = find(SAMPLES[name], {}, file=file)
    assert not found.faults
    assert sorted(line.split(" = ")[0] for line in lines) == sorted(one.name for one in known)
    defaults = {one.name: one.default_text for one in known if one.name != "dir"}
    assert {name: found.texts[name].text for name in defaults} == defaults


@pytest.mark.parametrize("words", COMMANDS)
def test_a_variable_with_a_typing_error_in_its_name_is_told_with_every_other_fault(
    words: str, tmp_path: Path
) -> None:
    wrong = COMMANDS[words].variable("dri")
    program = [sys.executable, "-m", "tequio_ledger", *words.split()]
    done = subprocess.run(
        [*program, "--dir", str(tmp_path), "--log-level", "loud"],
        check=False,
        capture_output=True,
        text=True,
        timeout=60,
        env={wrong: "x"},
    )
    assert done.returncode == 1, done.stderr
    assert f"{wrong} in the environment is an unknown setting" in done.stderr
    assert "--log-level is 'loud'" in done.stderr
    assert done.stderr.count("\n") == 1, "one sentence"


def test_a_witness_is_told_every_fault_at_once() -> None:
    one = log_key("ledger.example/one").text()
    port, name, log = faults_of(WITNESS, port="x", log=f"{one} {one}")
    assert port.startswith("--port is 'x'")
    assert "name of the witness's key" in name
    assert "one origin is repeated" in log


@pytest.mark.parametrize(
    ("log", "said"),
    [
        ("", "at least one log"),
        ("a", "'a' is not"),
        (log_key("w.example", KeyKind.COSIGNER).text(), "a cosigner's key"),
    ],
)
def test_what_is_no_log_is_not_witnessed(log: str, said: str) -> None:
    (fault,) = faults_of(WITNESS, name="witness.example/w1", log=log)
    assert said in fault


def test_a_signer_answers_in_its_folder_unless_told_where(tmp_path: Path) -> None:
    def socket(**options: str) -> Path:
        given = {"dir": str(tmp_path), "origin": "log.example/one", **options}
        return of_texts(SIGNER, given).socket

    assert socket() == tmp_path / "sign.socket"
    assert socket(socket="/run/tequio-sign/sign.socket") == Path("/run/tequio-sign/sign.socket")


def test_a_signer_is_told_its_log_and_who_may_ask() -> None:
    origin, caller = faults_of(SIGNER, caller="root no-such-user-here")
    assert "--origin is missing: expected an address such as ledger.example/net1" in origin
    assert "'no-such-user-here' is not" in caller
    given = {"origin": "log.example/one"}
    own = of_texts(SIGNER, given)
    assert own.callers == {os.getuid()}
    named = of_texts(SIGNER, {**given, "caller": "root 4711"})
    assert (named.origin, named.callers) == ("log.example/one", frozenset([0, 4711]))
