"""The folder of a group's member: its head, a vote that waits for its decision, and the progress.

    group.json     the group file
    state.json     `GroupState`
    model/         config.json and, if the group has one, tokenizer.json
    heads/         master copies (int32 little-endian), named by their roots; *.sum: the sum of a
                   head that waits for its decision
    work/, cache/  the trainer's; work/state/spent.json: what the member's texts have spent

Nothing here is secret: keys, shares and masks of a round are in memory only.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal, TypeAlias

import msgspec
import numpy as np
from msgspec import Meta, Struct, structs

from tequio_client import files
from tequio_client.group.group_file import GroupFile
from tequio_client.group.messages import Frames, HeadVote
from tequio_shared.errors import MalformedError, UserFacingError
from tequio_shared.head.head import saturate, weights_root
from tequio_shared.ids import Bytes32Text, BytesText, Natural, to_text

if TYPE_CHECKING:
    from numpy.typing import NDArray

GROUP_FILE = "group.json"
_STATE = "state.json"
_MODEL, _HEADS = "model", "heads"
_CONFIG, _TOKENIZER = "config.json", "tokenizer.json"
_SUM = ".sum"
_MOST_ROWS = 1_000
Content: TypeAlias = bytes | bytearray | memoryview


class ProgressRow(Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """One head of the group, and this member's own training for it, which nobody else learns."""

    number: Natural
    members: tuple[int, ...]
    """Members whose updates are in the sum; none: unknown, the head was fetched."""
    loss: float | None = None
    """Own loss of the head before, nats per token; None: this member did not train."""


class GroupState(Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    v: Literal[1] = 1
    round: Natural = 0
    """Highest round that the member took part in: it takes part in each once."""
    number: Natural = 0
    """Number of the head."""
    head: Bytes32Text
    votes: Frames = ()
    """Votes that decided the head."""
    vote: HeadVote | None = None
    """The member's vote for a child of the head; it never votes for another one."""
    result: BytesText = ""
    """Frame of the result that it voted for."""
    rows: Annotated[tuple[ProgressRow, ...], Meta(max_length=_MOST_ROWS)] = ()


class HeadStore:
    """Owner of the folder, whose lock the caller holds.

    All methods block, and raise UserFacingError when the disk is full or the folder unusable.
    """

    def __init__(self, folder: Path, group: GroupFile) -> None:
        """Open the folder of this group; raises UserFacingError if it belongs to another one."""
        self.folder = folder
        self.group = group
        with _disk_errors(folder):
            for name in (_MODEL, _HEADS):
                (folder / name).mkdir(parents=True, exist_ok=True, mode=0o700)
            self._pin_group()
            files.write_private(self.config, group.config.encode())
            self.state = read_state(folder, group)

    @staticmethod
    def write_origin(folder: Path, weights: NDArray[np.int32], tokenizer: bytes) -> None:
        """Store head 0 and the tokenizer of a group that is being made; raises UserFacingError."""
        if (folder / GROUP_FILE).exists():
            raise UserFacingError(
                f"the folder {folder} belongs to another group: choose another one with --dir"
            )
        with _disk_errors(folder):
            for name in (_MODEL, _HEADS):
                (folder / name).mkdir(parents=True, exist_ok=True, mode=0o700)
            root = to_text(weights_root(weights))
            files.write_private(folder / _HEADS / root, weights.astype("<i4").tobytes())
            if tokenizer:
                files.write_private(folder / _MODEL / _TOKENIZER, tokenizer)

    @property
    def config(self) -> Path:
        return self.folder / _MODEL / _CONFIG

    @property
    def tokenizer(self) -> Path | None:
        return tokenizer_path(self.folder, self.group)

    @property
    def has_model(self) -> bool:
        """Check for the head's weights and the tokenizer."""
        has_tokenizer = self.tokenizer is None or self.tokenizer.is_file()
        return self.weights_path(self.state.head).is_file() and has_tokenizer

    def weights_path(self, head: str) -> Path:
        return weights_path(self.folder, head)

    def sum_path(self, head: str) -> Path:
        return self.folder / _HEADS / f"{head}{_SUM}"

    def weights(self, head: str) -> NDArray[np.int32]:
        """Read a head's weights; raises MalformedError for a missing or damaged file."""
        try:
            found = np.fromfile(self.weights_path(head), "<i4")
        except OSError as err:  # a later head came, and this one was deleted
            raise MalformedError(f"the weights {head[:10]} cannot be read") from err
        if found.size != self.group.layout.elements:
            raise MalformedError(f"the weights {head[:10]} have {found.size} numbers")
        return found

    def add_weights(self, head: str, content: Content) -> None:
        """Store weights that came from another member; raises MalformedError for wrong ones."""
        if len(content) != self.group.weights_bytes:
            raise MalformedError(f"{len(content)} bytes of weights, not {self.group.weights_bytes}")
        if to_text(weights_root(np.frombuffer(content, "<i4"))) != head:
            raise MalformedError(f"the weights are not those of the head {head[:10]}")
        with _disk_errors(self.folder):
            files.write_private(self.weights_path(head), bytes(content))

    def add_tokenizer(self, content: Content) -> None:
        """Store the tokenizer; raises MalformedError for another one."""
        if self.tokenizer is None or to_text(hashlib.sha256(content).digest()) != (
            self.group.tokenizer.file
        ):
            raise MalformedError("not the tokenizer of the group")
        with _disk_errors(self.folder):
            files.write_private(self.tokenizer, bytes(content))

    def begin_round(self, round_number: int) -> None:
        """Record that the member takes part in a round, before it answers."""
        self._write(structs.replace(self.state, round=round_number))

    def add_candidate(self, head: str, weights: NDArray[np.int32], total: Content) -> None:
        """Store a child of the head, and the sum that leads to it."""
        with _disk_errors(self.folder):
            files.write_private(self.weights_path(head), weights.astype("<i4").tobytes())
            files.write_private(self.sum_path(head), bytes(total))

    def record_vote(self, vote: HeadVote, result: str) -> None:
        """Record a vote, before it is sent."""
        self._write(structs.replace(self.state, vote=vote, result=result))

    def adopt(self, vote: HeadVote, votes: tuple[str, ...], row: ProgressRow) -> None:
        """Make a decided head, whose weights are in the folder, the present one."""
        if not self.weights_path(vote.head).is_file():
            raise MalformedError(f"the weights {vote.head[:10]} are missing")
        self._write(
            structs.replace(
                self.state,
                number=vote.number,
                head=vote.head,
                votes=votes,
                vote=None,
                result="",
                rows=(*self.state.rows, row)[-_MOST_ROWS:],
            )
        )
        for path in (self.folder / _HEADS).iterdir():
            if path != self.weights_path(vote.head):
                with suppress(OSError):  # on Windows, while the trainer reads it: the next time
                    files.delete(path)

    def _pin_group(self) -> None:
        path, raw = self.folder / GROUP_FILE, self.group.encode()
        if path.exists() and path.read_bytes() != raw:
            raise UserFacingError(
                f"the folder {self.folder} belongs to another group, or to an earlier version of "
                "this one: choose another folder with --dir"
            )
        files.write_private(path, raw)

    def _write(self, state: GroupState) -> None:
        with _disk_errors(self.folder):
            files.write_private(self.folder / _STATE, msgspec.json.encode(state))
        self.state = state


@contextmanager
def _disk_errors(folder: Path) -> Iterator[None]:
    try:
        yield
    except OSError as err:
        raise UserFacingError(
            f"cannot use the folder {folder} ({err.strerror}): check its permissions, and free "
            "some space"
        ) from err


def read_state(folder: Path, group: GroupFile) -> GroupState:
    """Read a member's state, that of head 0 if there is none; raises UserFacingError."""
    path = folder / _STATE
    try:
        found = files.read_record(path, GroupState)
        return found or GroupState(head=group.model.weights_root)
    except MalformedError as err:
        raise UserFacingError(
            f"{path} is damaged ({err}): delete it, and the member fetches the head again"
        ) from err


def weights_path(folder: Path, head: str) -> Path:
    return folder / _HEADS / head


def tokenizer_path(folder: Path, group: GroupFile) -> Path | None:
    """Place of the tokenizer.json, there or not; None for raw bytes."""
    return folder / _MODEL / _TOKENIZER if group.tokenizer.file else None


def read_group(path: Path) -> GroupFile:
    """Read a group file; raises UserFacingError."""
    try:
        return GroupFile.parse(path.read_bytes())
    except OSError as err:
        raise UserFacingError(f"cannot read the group file {path}: {err.strerror}") from err
    except MalformedError as err:
        raise UserFacingError(f"{path} is not a valid group file: {err}") from err


def next_weights(
    group: GroupFile, weights: NDArray[np.int32], total: NDArray[np.int64], members: int
) -> NDArray[np.int32]:
    """The next head: weights plus the mean update, rounded half up, limited to int32."""
    mean = (2 * total + members) // (2 * members)
    moved = saturate(weights.astype(np.int64) + mean)
    layout = group.layout
    layout.padding(0, layout.chunks).blank(moved)
    return moved
