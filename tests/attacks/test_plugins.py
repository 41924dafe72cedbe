"""Code of a run's own against the volunteers who allowed it, and against those who did not.

Layer: cli. The code runs in a real trainer's child under the worker's own rules; each attack is
made once more without the sandbox, where it has to succeed.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec
import numpy as np
import pytest

from tequio_client import ipc
from tequio_client.dataset.build import ShardOptions, build_shards
from tequio_client.dataset.own_tokenizer import run_tokenizer
from tequio_client.dataset.sources import folder_files
from tequio_client.ipc import plugin as link
from tequio_client.ipc.plugin import PluginTrial
from tequio_client.platform import sandbox
from tequio_client.plugins import archive
from tequio_client.plugins.consents import PluginConsent, PluginConsents
from tequio_client.tokenizers import TABLE_NAME, TokenizerError
from tequio_client.trainer.plugins import loading
from tequio_client.trainer.prepared import held_out_documents
from tequio_client.worker.children.process import CACHE_BYTES, CACHE_FILES, is_larger
from tequio_client.worker.children.trainer import isolated_program, trainer_program
from tequio_shared.errors import MalformedError, UserFacingError
from tequio_shared.round.corpus import held_out_file_name
from tequio_shared.round.token_table import TokenTable
from tests.attacks.test_sandbox import ABI, VolunteerHome
from tests.attacks.test_sandbox import home as home  # noqa: PLC0414 - a fixture
from tests.support.attack_table import attack
from tests.support.plugin_example import CONFIG, example_files, pack, write, write_tokenizer

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from tequio_client.plugins.archive import PluginArchive

CODE = """
import os, socket

ATTACKS = {attacks!r}

def ends(attack):
    try:
        exec(attack)
    except OSError:
        return "refused"
    return "done"

def build(config):
    raise RuntimeError(" ".join(ends(one) for one in ATTACKS))
"""
LEAVES = """
import os

def build(config):
    os.chdir(os.environ["WORKER"] + "/work/cpu")
    open("file", "w").write("x")
    os.mkdir("closed", 0)
    for _ in range(1_200):
        os.mkdir("deep" * 50)
        os.chdir("deep" * 50)
    raise RuntimeError("done")
"""
"""Code that makes folders which nobody lists, or which lie too deep for a path."""
CLEARS = """
import sys
from pathlib import Path
from tequio_client.worker.rounds.workdir import clear_work_folder

clear_work_folder(Path(sys.argv[1]))
"""
WORDS_CODE = """
import os, socket

os.environ.update({values!r})
ATTACKS = {attacks!r}

def ends(attack):
    try:
        exec(attack)
    except OSError:
        return "refused"
    return "done"

class Words:
    def __init__(self):
        raise RuntimeError(" ".join(ends(one) for one in ATTACKS))
"""
ATTACKS = {
    "calls home": "socket.create_connection(('127.0.0.1', int(os.environ['PORT'])), 5)",
    "sends a datagram": "socket.socket(socket.AF_INET, socket.SOCK_DGRAM)",
    "reads the key": "open(os.environ['WORKER'] + '/identity.key').read()",
    "reads a key for SSH": "open(os.environ['HOME'] + '/.ssh/id_ed25519').read()",
    "allows itself for good": "open(os.environ['WORKER'] + '/plugins.json', 'w').write('{}')",
    "alters what others are served": "open(os.environ['WORKER'] + '/store/tree', 'w').write('x')",
    "plants a kernel for other runs": (
        "open(os.environ['WORKER'] + '/cache/trainer-cpu/x', 'w').write('x')"
    ),
}


def outcome(found: PluginArchive, home: VolunteerHome, variables: Mapping[str, str]) -> str:
    """The problem of a plug-in's trial in a trainer's child with these variables."""
    path = home.worker / "store" / "plugin"
    path.write_bytes(found.content)
    asked = PluginTrial(archive=str(path), config=json.dumps(CONFIG))
    done = subprocess.run(
        [sys.executable, "-m", "tequio_client.trainer", "plugin"],
        env={"PATH": os.environ["PATH"], "PYTHONPATH": os.pathsep.join(sys.path), **variables},
        input=ipc.encode(asked),
        capture_output=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done
    return link.decode_result(done.stdout).problem


@attack("P17", layer="cli", ends="refused by the operating system; others' files stay as they are")
@pytest.mark.skipif(ABI == 0, reason="no Landlock in this kernel")
def test_code_of_a_run_reaches_nothing_beside_its_work(home: VolunteerHome) -> None:
    (home.worker / "cache" / "trainer-cpu").mkdir(parents=True)
    source = CODE.format(attacks=tuple(ATTACKS.values()))
    found = archive.build(write(home.path / "plugin", network=source))
    free = outcome(found, home, {**home.names(), sandbox.VARIABLE: sandbox.OFF})
    assert free.split("RuntimeError: ")[1].split() == ["done"] * len(ATTACKS), ATTACKS.keys()
    usual = trainer_program(home.worker, device="cpu")
    isolated = isolated_program(usual, home.worker, "cpu", found.spec.archive)
    confined = outcome(found, home, {**isolated.environment, **home.names()})
    assert confined.split("RuntimeError: ")[1].split() == ["refused"] * len(ATTACKS), ATTACKS.keys()


@pytest.fixture
def _deep(tmp_path: Path) -> Iterator[None]:
    """Delete folders too deep for pytest, should a test leave them."""
    yield
    subprocess.run(["/bin/rm", "-rf", tmp_path], check=True)


@attack("P28", layer="cli", ends="the folder counts as too large, and all that is in it is deleted")
@pytest.mark.skipif(ABI == 0, reason="no Landlock in this kernel")
@pytest.mark.usefixtures("_deep")
def test_folders_that_code_of_a_run_leaves_are_deleted_however_deep(home: VolunteerHome) -> None:
    found = archive.build(write(home.path / "plugin", network=LEAVES))
    usual = trainer_program(home.worker, device="cpu")
    isolated = isolated_program(usual, home.worker, "cpu", found.spec.archive)
    assert "done" in outcome(found, home, {**isolated.environment, **home.names()})
    work = home.worker / "work" / "cpu"
    assert {one.name for one in work.iterdir()} == {"file", "closed", "deep" * 50}
    assert is_larger(work, CACHE_BYTES, CACHE_FILES)
    # Without root's right to list every folder.
    rights = "--bounding-set=-dac_override,-dac_read_search"
    as_anybody = ["setpriv", rights] if os.geteuid() == 0 else []
    subprocess.run([*as_anybody, sys.executable, "-c", CLEARS, work], check=True, timeout=60)
    assert list(work.parent.iterdir()) == [work]
    assert not list(work.iterdir())


@attack("P17", layer="cli", ends="refused by the operating system, in a chat as well")
@pytest.mark.skipif(ABI == 0, reason="no Landlock in this kernel")
def test_code_that_splits_texts_reaches_nothing_beside_its_table(
    home: VolunteerHome, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    values = {**home.names(), "WORKER": str(home.worker)}
    source = WORDS_CODE.format(values=values, attacks=tuple(ATTACKS.values()))
    found = archive.build(write_tokenizer(tmp_path / "plugin", words=source))
    monkeypatch.setenv("HOME", str(home.path))
    (home.worker / "cache" / "trainer-cpu").mkdir(parents=True)
    outcomes = {}
    for value, place in ((sandbox.OFF, "free"), ("", "confined")):
        monkeypatch.setenv(sandbox.VARIABLE, value)
        with (
            pytest.raises(TokenizerError) as raised,
            run_tokenizer(found, tmp_path / place, hidden=(home.worker,)),
        ):
            pass
        outcomes[place] = str(raised.value).split("RuntimeError: ")[1].split()
    assert outcomes["free"] == ["done"] * len(ATTACKS), ATTACKS.keys()
    assert outcomes["confined"] == ["refused"] * len(ATTACKS), ATTACKS.keys()


@attack("P20", layer="cli", ends="bytes are counted by the table of what each token is")
def test_claimed_bytes_of_held_out_text_do_not_count(tmp_path: Path) -> None:
    texts = tmp_path / "texts"
    texts.mkdir()
    for number in range(20):
        (texts / f"{number}.txt").write_text(f"{number} milpa maíz " * 20, encoding="utf-8")
    settings = ShardOptions(sequence=16, seed=0, held_out_bp=3_000, shard_bytes=1 << 20)
    found = archive.build(write_tokenizer(tmp_path / "plugin"))
    with run_tokenizer(found, tmp_path / "work") as tokenizer:
        source = folder_files(texts, "*")
        corpus = build_shards(source, tokenizer, settings, tmp_path / "data")
    (shard,), path = corpus.held_out, tmp_path / "data" / held_out_file_name(0)
    raw = bytearray(path.read_bytes())
    table = np.frombuffer(raw, "<u4", 2 * shard.documents).reshape(-1, 2).copy()
    honest = table[:, 1].tolist()
    table[:, 1] *= 10
    raw[: table.nbytes] = table.tobytes()
    path.write_bytes(raw)
    ids = (corpus.token_bytes, corpus.tokenizer.vocab_size)
    believed = [one.text_bytes for one in held_out_documents(path, shard, *ids)]
    assert believed == [10 * one for one in honest]
    known = TokenTable.parse((tmp_path / "data" / TABLE_NAME).read_bytes(), ids[1])
    counted = [one.text_bytes for one in held_out_documents(path, shard, *ids, tokens=known)]
    assert counted == honest


@attack("P18", layer="cli", ends="refused before a line of it runs")
def test_other_bytes_than_those_that_the_manifest_names_do_not_load(tmp_path: Path) -> None:
    found = archive.build(write(tmp_path / "plugin"))
    for at in range(0, len(found.content), 97):
        wrong = bytearray(found.content)
        wrong[at] ^= 1
        with pytest.raises(MalformedError):
            loading.load(bytes(wrong), found.spec)
    other = msgspec.structs.replace(found.spec, provides=("model",))
    with pytest.raises(MalformedError, match="but the run names"):
        loading.load(found.content, other)
    assert "tiny" not in sys.modules


@attack("P18", layer="cli", ends="refused: what is shown is what runs")
@pytest.mark.parametrize(
    "hidden",
    [
        b"import os  # \x1b[2K\r",  # a terminal erases the line, and writes the next one over it
        b"import os\r# ",
        b"import os  # \x1b[8m",
        "# \u202e so gnihtoN".encode(),
        "# \U000e0041".encode(),
        b"# -*- coding: utf-7 -*-\n# \xff",
    ],
)
def test_code_does_not_hide_itself_from_who_reads_it(tmp_path: Path, hidden: bytes) -> None:
    folder = write(tmp_path / "plugin")
    network = folder / "tiny" / "network.py"
    network.write_bytes(b"\n" + hidden + b"\n" + network.read_bytes())
    with pytest.raises(UserFacingError, match=r"'tiny/network.py' (has the character|is not UTF)"):
        archive.build(folder)
    found = {one: (folder / one).read_bytes() for one in ("plugin.toml", "tiny/__init__.py")}
    with pytest.raises(MalformedError, match=r"'tiny/network.py' (has the character|is not UTF)"):
        archive.parse(pack({**found, "tiny/network.py": network.read_bytes()}))


@attack("P18", layer="cli", ends="the volunteer is asked again")
def test_a_consent_does_not_cover_the_next_version(tmp_path: Path) -> None:
    first = archive.build(write(tmp_path / "plugin"))
    worse = example_files()["tiny/network.py"] + "\nimport os\n"
    second = archive.build(write(tmp_path / "plugin", network=worse))
    assert (first.spec.name, first.spec.version) == (second.spec.name, second.spec.version)
    consents = PluginConsents(tmp_path)
    consents.allow(PluginConsent(archive=first.spec.archive, label="tiny 1.0"))
    assert consents.covers(first.spec.archive)
    assert not consents.covers(second.spec.archive)
