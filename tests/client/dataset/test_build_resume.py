"""A build that was killed: the same command continues it, to the same bytes; another is refused."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec
import psutil
import pytest
from click.testing import CliRunner

from tequio_client.dataset import chat, rows, sources
from tequio_client.dataset.build import BuildOptions, BuildProgress, ShardOptions, build_shards
from tequio_client.dataset.cli import data
from tequio_client.dataset.state import FOLDER_NAME, STATE_NAME, BuildState
from tequio_client.tokenizers import ByteTokenizer
from tequio_shared.errors import UserFacingError

if TYPE_CHECKING:
    from tequio_client.dataset.sources import TextSource

SETTINGS = ShardOptions(sequence=16, seed=4, held_out_bp=2_000, shard_bytes=3_000)
SMALL = 2_000
"""Bytes of a run."""
CHILD_S = 300.0

BUILD = """
import os, sys
from pathlib import Path
from tequio_client.dataset import build, sources
from tequio_client.dataset.jobs import Jobs
from tequio_client.tokenizers import ByteTokenizer

def main():
    texts, out, stage, number, jobs = sys.argv[1:]

    def report(now):
        if now.stage == stage and now.done >= int(number):
            print("there", flush=True)
            sys.stdin.read()

    settings = build.ShardOptions(sequence=64, seed=4, held_out_bp=500, shard_bytes=300_000)
    how = build.BuildOptions(jobs=Jobs(count=int(jobs)), progress=report, run_bytes=400_000)
    source = sources.folder_files(Path(texts), "*")
    build.build_shards(source, ByteTokenizer(), settings, Path(out), how)

if __name__ == "__main__":
    main()
"""
"""Builds shards, and stops in the middle of a stage to be killed there."""


class InterruptedTestError(Exception):
    """The end of a process, at a place that a test chooses."""


def write_texts(folder: Path, count: int, words: int = 10) -> Path:
    folder.mkdir()
    for number in range(count):
        text = f"{number} " + "maíz y frijol " * (words + number % 7)
        (folder / f"{number:05d}.txt").write_text(text, encoding="utf-8")
    return folder


def contents(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def state(out: Path) -> BuildState:
    return msgspec.json.decode((out / FOLDER_NAME / STATE_NAME).read_bytes(), type=BuildState)


def build_until(source: TextSource, out: Path, most: int) -> int:
    """Build until that many reports were made; how many there were."""
    reports = 0

    def report(_now: BuildProgress) -> None:
        nonlocal reports
        reports += 1
        if reports > most:
            raise InterruptedTestError

    how = BuildOptions(run_bytes=SMALL, run_s=0.0, progress=report)
    build_shards(source, ByteTokenizer(), SETTINGS, out, how)
    return reports


def test_a_build_ends_equal_wherever_it_was_interrupted(tmp_path: Path) -> None:
    source = sources.folder_files(write_texts(tmp_path / "texts", 60), "*")
    reports = build_until(source, tmp_path / "whole", sys.maxsize)
    due = contents(tmp_path / "whole")
    assert FOLDER_NAME not in due
    for most in range(0, reports, 3):
        out = tmp_path / str(most)
        with pytest.raises(InterruptedTestError):
            build_until(source, out, most)
        assert "corpus.json" not in contents_of_files(out)
        # And again, twelve reports later, unless it is complete by then.
        try:
            build_until(source, out, 12)
        except InterruptedTestError:
            build_until(source, out, sys.maxsize)
        assert contents(out) == due


def contents_of_files(folder: Path) -> set[str]:
    return {path.name for path in folder.iterdir() if path.is_file()}


def run_build(home: Path, out: Path, jobs: str) -> None:
    """Build the shards, without a stop."""
    done = subprocess.run(
        [sys.executable, str(home / "build.py"), str(home / "texts"), str(out), "never", "0", jobs],
        stdin=subprocess.DEVNULL,
        check=False,
        timeout=CHILD_S,
        env=os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)},
    )
    assert done.returncode == 0


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with texts, the script, and the shards of a build without a stop, in `whole`."""
    home = tmp_path_factory.mktemp("build")
    write_texts(home / "texts", 4_000)
    (home / "build.py").write_text(BUILD)
    run_build(home, home / "whole", "1")
    return home


@pytest.mark.parametrize("jobs", ["1", "2"])
@pytest.mark.parametrize(("stage", "number"), [("reading", 3_100), ("writing", 2_500)])
def test_a_killed_process_is_continued_to_the_same_bytes(
    whole: Path, tmp_path: Path, stage: str, number: int, jobs: str
) -> None:
    out = tmp_path / "out"
    words = [sys.executable, str(whole / "build.py"), str(whole / "texts")]
    process = subprocess.Popen(
        [*words, str(out), stage, str(number), jobs],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        env=os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)},
    )
    assert process.stdin is not None
    assert process.stdout is not None
    assert process.stdout.readline() == b"there\n"
    children = psutil.Process(process.pid).children(recursive=True)
    process.send_signal(signal.SIGKILL if os.name == "posix" else signal.SIGTERM)
    process.wait(CHILD_S)
    process.stdin.close()
    process.stdout.close()
    psutil.wait_procs(children, CHILD_S)
    assert not [one for one in children if one.is_running()], "they end with their parent"
    left = state(out)
    assert left.run_sizes if stage == "reading" else left.train
    if stage == "writing":  # the shard that was being written: garbage, or half of it
        (out / f"train-{len(left.train):05d}.tokens").write_bytes(b"half")
    run_build(whole, out, jobs)
    assert contents(out) == contents(whole / "whole")


def test_other_settings_are_refused_by_name_with_the_way_out(tmp_path: Path) -> None:
    source = sources.folder_files(write_texts(tmp_path / "texts", 60), "*")
    out = tmp_path / "out"
    with pytest.raises(InterruptedTestError):
        build_until(source, out, 10)
    command = ["build", str(out), "--folder", str(tmp_path / "texts"), "--seed", "4"]
    command += ["--held-out", "2000"]
    refused = CliRunner().invoke(data, [*command, "--sequence", "32"])
    assert refused.exit_code == 1
    wanted = "has an unfinished build with --sequence: 16, and now it is 32"
    assert wanted in refused.output
    assert "start over with --restart, or choose another folder" in refused.output
    started = CliRunner().invoke(data, [*command, "--sequence", "32", "--restart"])
    assert started.exit_code == 0, started.output
    assert not (out / FOLDER_NAME).exists()


@pytest.mark.parametrize(
    ("change", "named"),
    [("grow", "it had folder texts: .*00007.txt.* and now has"), ("add", "extra.txt.* is new")],
)
def test_a_source_that_has_changed_is_refused_by_name(
    tmp_path: Path, change: str, named: str
) -> None:
    texts = write_texts(tmp_path / "texts", 60)
    with pytest.raises(InterruptedTestError):
        build_until(sources.folder_files(texts, "*"), tmp_path / "out", 10)
    path = texts / ("00007.txt" if change == "grow" else "extra.txt")
    with path.open("a") as file:
        file.write("more")
    with pytest.raises(UserFacingError, match=f"the source has changed .*{named}"):
        build_until(sources.folder_files(texts, "*"), tmp_path / "out", sys.maxsize)


@pytest.mark.parametrize("is_chat", [False, True])
def test_a_build_is_not_continued_with_another_column(tmp_path: Path, *, is_chat: bool) -> None:
    load = chat.open_conversations if is_chat else rows.open_texts
    said = [{"role": "assistant", "content": "maíz"}] if is_chat else "maíz y frijol " * 10
    lines = [json.dumps({"asked": said, "answered": said, "row": at}) for at in range(60)]
    (tmp_path / "rows.jsonl").write_text("\n".join(lines))

    def build(column: str, most: int) -> None:
        source = load(str(tmp_path / "rows.jsonl"), config=None, split="train", column=column)
        build_until(source, tmp_path / "out", most)

    with pytest.raises(InterruptedTestError):
        build("asked", 1)
    with pytest.raises(UserFacingError, match=r"it had .* --column asked, and now has .*answered"):
        build("answered", sys.maxsize)


def test_other_files_in_the_folder_of_a_dataset_do_no_harm(tmp_path: Path) -> None:
    (tmp_path / "rows").mkdir()
    (tmp_path / "rows" / "a.jsonl").write_text('{"text": "maize"}\n')
    (tmp_path / "rows" / "b.csv").write_text("text\nbeans\n")
    (tmp_path / "rows" / "c.jsonl").write_text('{"text": "squash"}\n')
    source = rows.open_texts(str(tmp_path / "rows"), config=None, split="train", column="")
    files = [one.split(" (")[0] for one in source.identity()[:-1]]
    assert files == [str(tmp_path / "rows" / name) for name in ("a.jsonl", "c.jsonl")]


@pytest.mark.parametrize(
    ("before", "after", "why"),
    [
        ({"Last-Modified": "Mon"}, {"Last-Modified": "Mon"}, None),
        ({"Last-Modified": "Mon"}, {"Last-Modified": "Tue"}, "source has changed .*Tue"),
        ({"ETag": '"1"'}, {"ETag": '"2"'}, 'source has changed .*"2"'),
        ({"ETag": '"1"'}, {"ETag": '"1"', "size": 9}, "source has changed .*9 bytes"),
        ({}, {}, "nobody can tell .*/rows.jsonl: .* bytes, no version known.*--restart"),
    ],
)
def test_a_file_of_a_server_is_told_by_its_size_and_version(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    before: dict[str, object],
    after: dict[str, object],
    why: str | None,
) -> None:
    fsspec = import_module("fsspec")
    served = fsspec.filesystem("memory")
    lines = [json.dumps({"text": f"{at} maíz y frijol"}) for at in range(200)]
    served.pipe("/milpa/rows.jsonl", "\n".join(lines).encode())
    facts_of = served.info

    def build(told: dict[str, object], most: int) -> None:
        monkeypatch.setattr(type(served), "info", lambda _, path, **__: facts_of(path) | told)
        address = "memory://milpa/rows.jsonl"
        source = rows.open_texts(address, config=None, split="train", column="")
        build_until(source, tmp_path / "out", most)

    with pytest.raises(InterruptedTestError):
        build(before, 1)
    if why is None:
        build(after, sys.maxsize)
        return
    with pytest.raises(UserFacingError, match=why):
        build(after, sys.maxsize)


def test_a_file_of_a_commit_needs_no_server() -> None:
    address = f"hf://datasets/milpa/maize@{'a' * 40}/rows.jsonl"
    assert rows._file_identity(address) == address  # noqa: SLF001


def test_a_state_that_cannot_be_read_is_named(tmp_path: Path) -> None:
    source = sources.folder_files(write_texts(tmp_path / "texts", 60), "*")
    with pytest.raises(InterruptedTestError):
        build_until(source, tmp_path / "out", 10)
    (tmp_path / "out" / FOLDER_NAME / STATE_NAME).write_bytes(b"{}")
    with pytest.raises(UserFacingError, match="not from this version of Tequio, or was damaged"):
        build_until(source, tmp_path / "out", sys.maxsize)


@pytest.mark.parametrize("change", ["fewer", "unnamed"])
def test_a_build_with_other_records_is_not_continued(tmp_path: Path, change: str) -> None:
    source = sources.folder_files(write_texts(tmp_path / "texts", 60), "*")
    with pytest.raises(InterruptedTestError):
        build_until(source, tmp_path / "out", 10)
    path = tmp_path / "out" / FOLDER_NAME / STATE_NAME
    fields = msgspec.json.decode(path.read_bytes())
    named = fields.pop("record_fields")
    if change == "fewer":
        fields["record_fields"] = named[:-1]
    path.write_bytes(msgspec.json.encode(fields))
    with pytest.raises(UserFacingError, match=r"not from this version .*start over with --restart"):
        build_until(source, tmp_path / "out", sys.maxsize)
