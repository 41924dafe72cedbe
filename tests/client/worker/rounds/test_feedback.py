"""The error feedback on disk: what counts after each step, and after a process that died there."""

from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from tequio_client.worker.lending.needs import FEEDBACK_FILES
from tequio_client.worker.rounds import feedback as feedbacks
from tequio_client.worker.rounds.feedback import NOTE_FILE, ErrorFeedback, open_payloads
from tequio_client.worker.store.trees import hash_bytes
from tequio_client.worker.swarm.feedback_leaves import LEAF_BYTES
from tequio_shared.errors import PeerError, UserFacingError
from tequio_shared.head.contribution import ContributionHeader
from tequio_shared.ids import ZERO_DIGEST, Digest, HeadHash, RunId, sha256, to_text
from tests.support.tiny_run import signer

RUN = RunId(sha256(b"run"))
SIZE = 3 * LEAF_BYTES


def content(round_: int) -> bytes:
    """Error feedback that training in that round produces."""
    return sha256(round_.to_bytes(4, "big")) * (SIZE // 32)


def root_of(round_: int) -> Digest:
    return hash_bytes(content(round_), LEAF_BYTES).ref.root


def header(round_: int) -> ContributionHeader:
    return ContributionHeader(
        algorithm=1,
        bits=2,
        k=8,
        inner_steps=1,
        chunk_count=3,
        round=round_,
        window_first=0,
        window_count=1,
        tokens=1,
        run_id=RUN,
        base_head=HeadHash(bytes(32)),
        trainer=signer("ana").key,
        payload_root=sha256(b"payload"),
        feedback_root=root_of(round_),
    )


def opened(folder: Path) -> ErrorFeedback:
    return ErrorFeedback(folder / "feedback", RUN)


def store_feedback(feedback: ErrorFeedback, folder: Path, round_: int) -> None:
    left = folder / f"left-{round_}"
    left.write_bytes(content(round_))
    feedback.store(left, header(round_), feedback.start)


def settle(feedback: ErrorFeedback, round_: int, *, was_accepted: bool) -> None:
    feedback.settle(round_, root_of(round_) if was_accepted else None)


def held(feedback: ErrorFeedback) -> bytes | None:
    return feedback.path.read_bytes() if feedback.path else None


def test_it_counts_only_once_its_round_closed_with_the_work_accepted(tmp_path: Path) -> None:
    feedback = opened(tmp_path)
    assert feedback.path is None
    store_feedback(feedback, tmp_path, 1)
    assert feedback.path is None
    settle(feedback, 1, was_accepted=True)
    assert held(feedback) == content(1)
    store_feedback(feedback, tmp_path, 2)
    settle(feedback, 2, was_accepted=False)
    assert held(feedback) == content(1)
    store_feedback(feedback, tmp_path, 3)
    settle(feedback, 2, was_accepted=False)  # the round before
    settle(feedback, 3, was_accepted=True)
    assert held(feedback) == content(3)


def test_the_files_of_the_last_four_rounds_stay_and_no_others(tmp_path: Path) -> None:
    feedback = opened(tmp_path)
    for round_ in range(1, 10):
        store_feedback(feedback, tmp_path, round_)
        files = [one for one in files_of(tmp_path) if one.name != NOTE_FILE]
        assert len(files) == min(round_, FEEDBACK_FILES - 1)
        assert sum(one.stat().st_size for one in files) <= (FEEDBACK_FILES - 1) * SIZE
        settle(feedback, round_, was_accepted=True)
    again = opened(tmp_path)
    kept = [round_ for round_ in range(1, 10) if again.file(root_of(round_))]
    assert kept == [5, 6, 7, 8, 9]  # what round 6 started with, and what 6 to 9 left
    # Rounds that end without this key's work count too: their audits are over as well.
    for round_ in range(10, 14):
        feedback.settle(round_, None)
    assert held(feedback) == content(9)
    assert [one.name for one in files_of(tmp_path) if one.name != NOTE_FILE] == [
        to_text(root_of(9))
    ]


def test_work_of_an_open_round_is_not_a_past_one(tmp_path: Path) -> None:
    feedback = opened(tmp_path)
    store_feedback(feedback, tmp_path, 1)
    assert feedback.file(root_of(1)) is None
    settle(feedback, 1, was_accepted=True)
    assert feedback.file(root_of(1)) is not None


def test_a_contribution_states_what_it_started_with_though_that_is_lost(tmp_path: Path) -> None:
    feedback = opened(tmp_path)
    store_feedback(feedback, tmp_path, 1)
    settle(feedback, 1, was_accepted=True)
    store_feedback(feedback, tmp_path, 2)
    (settled,) = (one for one in files_of(tmp_path) if one.read_bytes() == content(1))
    settled.unlink()
    again = opened(tmp_path)
    assert (again.start, again.path) == (ZERO_DIGEST, None)
    assert again.open_start == root_of(1)


def test_it_starts_over_if_the_log_accepted_what_is_not_here(tmp_path: Path) -> None:
    feedback = opened(tmp_path)
    store_feedback(feedback, tmp_path, 1)
    settle(feedback, 1, was_accepted=True)
    feedback.settle(2, sha256(b"work of another disk"))
    assert (feedback.path, opened(tmp_path).path) == (None, None)


def test_rounds_that_are_read_again_change_nothing(tmp_path: Path) -> None:
    feedback = opened(tmp_path)
    for round_ in (1, 2):
        store_feedback(feedback, tmp_path, round_)
        settle(feedback, round_, was_accepted=True)
    again = opened(tmp_path)
    for round_ in (1, 2):
        settle(again, round_, was_accepted=True)
    assert held(again) == content(2)
    assert again.ended_round == 2


def files_of(folder: Path) -> list[Path]:
    return list((folder / "feedback").glob("*/*"))


def test_what_a_later_round_overtook_does_not_count(tmp_path: Path) -> None:
    feedback = opened(tmp_path)
    store_feedback(feedback, tmp_path, 1)
    settle(feedback, 4, was_accepted=True)
    assert (feedback.path, feedback.open_header) == (None, None)


def test_an_algorithm_that_holds_nothing_back_leaves_nothing(tmp_path: Path) -> None:
    feedback = opened(tmp_path)
    store_feedback(feedback, tmp_path, 1)
    settle(feedback, 1, was_accepted=True)
    without = replace(header(2), feedback_root=ZERO_DIGEST)
    feedback.store(tmp_path / "none", without, feedback.start)
    feedback.settle(2, ZERO_DIGEST)
    assert feedback.path is None


def test_a_file_that_is_not_what_the_header_says_is_refused(tmp_path: Path) -> None:
    feedback = opened(tmp_path)
    (tmp_path / "left").write_bytes(content(7))
    with pytest.raises(PeerError, match="does not match its header"):
        feedback.store(tmp_path / "left", header(1), ZERO_DIGEST)
    with pytest.raises(PeerError, match="does not match its header"):
        feedback.store(tmp_path / "missing", header(1), ZERO_DIGEST)
    assert feedback.open_header is None


def test_runs_do_not_share_and_an_ended_one_leaves_nothing(tmp_path: Path) -> None:
    one, other = opened(tmp_path), ErrorFeedback(tmp_path / "feedback", RunId(sha256(b"other")))
    store_feedback(one, tmp_path, 1)
    settle(one, 1, was_accepted=True)
    assert other.path is None
    other.remove()
    assert held(opened(tmp_path)) == content(1)
    feedbacks.remove_ended(tmp_path / "feedback", [RUN])
    assert files_of(tmp_path) == []


@pytest.mark.parametrize("damage", [b"", b"{", b'{"settled":"x"}', b"\xff\xfe", b'{"open":"AAAA"}'])
def test_a_damaged_note_is_survived(tmp_path: Path, damage: bytes) -> None:
    feedback = opened(tmp_path)
    store_feedback(feedback, tmp_path, 1)
    (note,) = (tmp_path / "feedback").glob(f"*/{NOTE_FILE}")
    note.write_bytes(damage)
    again = opened(tmp_path)
    assert (again.path, again.open_header) == (None, None)
    store_feedback(again, tmp_path, 2)
    settle(again, 2, was_accepted=True)
    assert held(opened(tmp_path)) == content(2)


@pytest.mark.parametrize("damage", ["empty", "other", "gone"])
@pytest.mark.parametrize("round_", [1, 2])
def test_a_damaged_file_is_dropped_and_the_other_one_stays(
    tmp_path: Path, damage: str, round_: int
) -> None:
    feedback = opened(tmp_path)
    store_feedback(feedback, tmp_path, 1)
    settle(feedback, 1, was_accepted=True)
    store_feedback(feedback, tmp_path, 2)
    (victim,) = (one for one in files_of(tmp_path) if one.read_bytes() == content(round_))
    victim.write_bytes(b"" if damage == "empty" else content(9))
    if damage == "gone":
        victim.unlink()
    again = opened(tmp_path)
    assert held(again) == (None if round_ == 1 else content(1))
    assert (again.open_start is None) == (round_ == 2)
    # The open round is still known: if its work counts after all, nothing older may be used.
    settle(again, 2, was_accepted=True)
    assert held(again) == (content(2) if round_ == 1 else None)


def test_a_folder_that_cannot_be_used_is_named(tmp_path: Path) -> None:
    (tmp_path / "feedback").write_text("a file")
    with pytest.raises(UserFacingError, match=r"cannot store error feedback in .*feedback"):
        opened(tmp_path)


STEPS = """
import os, signal, sys
from pathlib import Path
from tests.client.worker.rounds.test_feedback import opened, settle, store_feedback

place = Path(sys.argv[1])

def live(step):
    left, folder = [step], place / str(step)
    folder.mkdir()
    def pass_by():
        left[0] -= 1
        if left[0] == 0:
            os.kill(os.getpid(), signal.SIGKILL)
    def pausing(real):
        def wrapped(*arguments, **named):
            pass_by()
            outcome = real(*arguments, **named)
            pass_by()
            return outcome
        return wrapped
    def record(word):
        with (folder / "recorded").open("a") as file:
            file.write(word)
    feedback = opened(folder)
    os.fsync = pausing(os.fsync)
    Path.replace, Path.unlink = pausing(Path.replace), pausing(Path.unlink)
    store_feedback(feedback, folder, 1)
    record("a")
    settle(feedback, 1, was_accepted=True)
    record("b")
    store_feedback(feedback, folder, 2)
    record("c")
    settle(feedback, 2, was_accepted=True)
    record("d")

for step in range(1, 60):
    child = os.fork()
    if not child:
        live(step)
        os._exit(0)
    os.waitpid(child, 0)
"""


@pytest.mark.skipif(os.name != "posix", reason="signals")
def test_killed_before_and_after_each_write_it_holds_what_an_unhurt_one_has(tmp_path: Path) -> None:
    """Killed at every sync, rename and deletion of two rounds; each recorded step has held."""
    root = Path(__file__).parents[4]
    subprocess.run([sys.executable, "-c", STEPS, str(tmp_path)], cwd=root, check=True)
    seen = set()
    for folder in tmp_path.iterdir():
        last = (folder / "recorded").read_text()[-1:] if (folder / "recorded").exists() else ""
        again = opened(folder)
        is_open = again.open_header.round if again.open_header else 0
        seen.add((last, held(again), is_open))
    first, second = content(1), content(2)
    assert seen == {
        ("", None, 0),
        ("", None, 1),  # noted, and not told any more
        ("a", None, 1),
        ("a", first, 0),
        ("b", first, 0),
        ("b", first, 2),
        ("c", first, 2),
        ("c", second, 0),
        ("d", second, 0),
    }


def test_open_payloads_of_all_runs_are_found_whatever_else_is_damaged(tmp_path: Path) -> None:
    folder = tmp_path / "feedback"
    assert open_payloads(folder) == set()
    store_feedback(opened(tmp_path), tmp_path, 3)
    for name, note in (("cut", b'{"open": "'), ("strange", b'{"open": "AAAA"}'), ("none", b"{}")):
        (folder / name).mkdir()
        (folder / name / NOTE_FILE).write_bytes(note)
    assert open_payloads(folder) == {header(3).payload_root}
    opened(tmp_path).settle(3, None)
    assert open_payloads(folder) == set()
