"""Four members of a private group, as people start them: programs, training and connections."""

from __future__ import annotations

import json
import subprocess
import time
from contextlib import ExitStack
from typing import TYPE_CHECKING, Any, Self

import numpy as np
import pytest

from tequio_client.platform import programs
from tests.support.forked_program import CLIENT, run_forked
from tests.support.timing_slack import allowed_s

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path
    from types import TracebackType

MEMBERS = ("Ana", "Bo", "Cem", "Dia")
ROUNDS = 8
PLAN = f"""
name = "Letters"
[model]
source = "config.json"
sequence = 32
[training]
rounds = {ROUNDS}
steps = 8
batch = 4
lr = 0.01
[times]
train_s = 60
reply_s = 6
"""
CONFIG = {
    "model_type": "llama",
    "vocab_size": 256,
    "hidden_size": 32,
    "intermediate_size": 64,
    "num_hidden_layers": 1,
    "num_attention_heads": 2,
    "tie_word_embeddings": True,
}
WAIT_S = 150.0


class MemberProgram:
    """`tequio group run` of one member, which can be killed and started again."""

    def __init__(self, folder: Path, name: str) -> None:
        self.folder = folder / name
        self.texts = folder / f"texts of {name}"
        self._group = folder / "letters.json"
        self._log = folder / f"{name}.log"
        self._process: subprocess.Popen[bytes] | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, _: TracebackType | None
    ) -> None:
        self.kill()
        if error is not None and self._log.exists():
            print(self._log.read_text()[-6_000:])  # noqa: T201 - pytest shows it with a failure

    def start(self, peer: str | None) -> None:
        words = ["group", "run", str(self._group), "--data", str(self.texts)]
        words += ["--dir", str(self.folder), "--listen", "/ip4/127.0.0.1/tcp/0"]
        words += ["--device", "cpu", "--log-json", *(["--peer", peer] if peer else [])]
        with self._log.open("ab") as log:
            self._process = subprocess.Popen(programs.tequio(*words), stdout=log, stderr=log)

    def kill(self) -> None:
        if self._process is not None:
            self._process.kill()
            self._process.wait()
            self._process = None

    @property
    def address(self) -> str | None:
        """The address of the program that was started last."""
        found = [one for one in self._events() if one["event"] == "listening"]
        return str(found[-1]["addresses"][0]) if found else None

    @property
    def state(self) -> dict[str, Any]:
        path = self.folder / "state.json"
        empty = {"round": 0, "number": 0, "head": "", "rows": []}
        return dict(json.loads(path.read_bytes())) if path.exists() else empty

    def _events(self) -> list[dict[str, Any]]:
        lines = self._log.read_text().splitlines() if self._log.exists() else []
        return [json.loads(line) for line in lines if line.startswith("{") and line.endswith("}")]


def wait_until(what: str, holds: Callable[[], bool]) -> None:
    end_s = time.monotonic() + allowed_s(WAIT_S)
    while not holds():
        assert time.monotonic() < end_s, f"not in time: {what}"
        time.sleep(0.01)


def tequio(*words: str) -> str:
    done = run_forked(CLIENT, *words, timeout_s=allowed_s(60))
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.whole
def test_four_members_train_one_is_killed_in_a_round_and_catches_up(tmp_path: Path) -> None:
    (tmp_path / "config.json").write_text(json.dumps(CONFIG))
    (tmp_path / "plan.toml").write_text(PLAN)
    group = str(tmp_path / "letters.json")
    folders = {name: str(tmp_path / name) for name in MEMBERS}
    tequio("group", "new", str(tmp_path / "plan.toml"), group, "--dir", folders["Ana"])
    for name, folder in folders.items():
        shown = tequio("group", "add", group, "--name", name, "--dir", folder)
    assert "Ana, Bo, Cem, Dia" in shown
    with ExitStack() as stack:
        members = [stack.enter_context(MemberProgram(tmp_path, name)) for name in MEMBERS]
        for number, member in enumerate(members):
            write_texts(member.texts, number)
        ana, _, _, dia = members
        ana.start(None)
        wait_until("Ana listens", lambda: ana.address is not None)
        for member in members[1:]:
            member.start(ana.address)
        wait_until("all have head 1", lambda: all(one.state["number"] >= 1 for one in members))
        before = dia.state
        wait_until("Dia is in the next round", lambda: dia.state["round"] > before["round"])
        dia.kill()
        killed = dia.state["number"]
        assert killed < ROUNDS
        wait_until(
            "the others go on",
            lambda: all(one.state["number"] == ROUNDS for one in members[:3]),
        )
        assert len({one.state["head"] for one in members[:3]}) == 1
        assert any(row["members"] == [0, 1, 2] for row in ana.state["rows"])
        dia.start(ana.address)
        wait_until("Dia has caught up", lambda: dia.state["number"] == ROUNDS)
        assert len({one.state["head"] for one in members}) == 1
    weights = {(one.folder / "heads" / ana.state["head"]).read_bytes() for one in members}
    assert len(weights) == 1
    losses = [row["loss"] for row in ana.state["rows"] if row["loss"] is not None]
    assert losses[-1] < losses[0] - 1
    assert "head:        8 of 8" in tequio("group", "status", "--dir", folders["Ana"])
    tequio("group", "export", str(tmp_path / "out"), "--dir", folders["Ana"])
    assert (tmp_path / "out" / "model.safetensors").stat().st_size > 4 * 18_000
    plain = np.frombuffer(weights.pop(), "<i4")
    assert np.count_nonzero(plain) > 10_000


def write_texts(folder: Path, number: int) -> None:
    """Sentences that only this member has; all members' have the same few words."""
    folder.mkdir()
    words = ("maize", "beans", "squash", "bridge", "school", "harvest", "water", "village")
    for at in range(24):
        chosen = " and ".join(words[(number + at * step) % len(words)] for step in range(1, 8))
        (folder / f"{at}.txt").write_text(f"In house {number} they spoke of {chosen}.")
