"""The folder of an unfinished build: what it has done, so that the same command continues it.

`OUT/unfinished` holds `state.json`, `source.json` and the sorted runs (`runs`). The state is
replaced after each run that is written, after the documents are counted, and after each shard; what
was done since is done again, and gives the same bytes. A build that is complete has no such folder.
"""

from __future__ import annotations

import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path

import msgspec
from msgspec import Struct

from tequio_client import files
from tequio_client.dataset.census import Census
from tequio_client.dataset.encode import RECORD
from tequio_client.dataset.sources import UNVERSIONED, Position
from tequio_shared.errors import MalformedError, UserFacingError
from tequio_shared.round.corpus import HeldOutShard, TrainShard

FOLDER_NAME = "unfinished"
STATE_NAME, SOURCE_NAME = "state.json", "source.json"
_RECORD_FIELDS = tuple((one[0], one[1]) for one in RECORD.descr)
_SHOWN_CHARS = 120


class BuildState(Struct, frozen=True, kw_only=True):
    """How far a build is."""

    asked: dict[str, str]
    """Settings that the shards depend on beside the source, by the names that people know."""
    record_fields: tuple[tuple[str, str], ...]
    """Names and types of a record in the runs: another version may write others."""
    part: int = 0
    position: Position = Position()
    """The next row, in the source of that number."""
    rows: int = 0
    tokens: int = 0
    run_sizes: tuple[int, ...] = ()
    """Bytes of ids in each run that is written."""
    census: Census | None = None
    """None until all rows are read and counted."""
    train: tuple[TrainShard, ...] = ()
    held_out: tuple[HeldOutShard, ...] = ()
    is_train_done: bool = False
    last: str = ""
    """Hash (hex) of the last document in a complete shard: of held-out ones after training."""
    done: int = 0
    """Documents in complete shards."""

    def __post_init__(self) -> None:
        """Refuse records that this version would read wrongly."""
        if self.record_fields != _RECORD_FIELDS:
            raise ValueError("the records have other fields")


class UnfinishedBuild:
    """The folder and the newest state; one process at a time."""

    def __init__(self, out: Path) -> None:
        self._out = out
        self.folder = out / FOLDER_NAME

    def open(
        self, asked: Mapping[str, str], source: Sequence[str], *, restart: bool = False
    ) -> BuildState:
        """Find the state to continue from, or write that of a new build.

        `source` names and identifies each part of the source. Raises UserFacingError, which names
        what differs from what the build began with, and OSError.
        """
        if restart:
            self.remove()
        found = self._read()
        if found is None:
            self.remove()
            self.folder.mkdir(parents=True)
            files.write_private(self.folder / SOURCE_NAME, msgspec.json.encode(list(source)))
            state = BuildState(asked=dict(asked), record_fields=_RECORD_FIELDS)
            self.save(state)
            return state
        state, began_with = found
        for name in sorted({*state.asked, *asked}):
            old, new = (one.get(name, "not given") for one in (state.asked, asked))
            if old != new:
                raise UserFacingError(
                    f"{self._out} has an unfinished build with {name}: {_short(old)}, and now it "
                    f"is {_short(new)}; {self._ways_out()}"
                )
        if list(source) != began_with:
            raise UserFacingError(
                f"the source has changed since the build in {self._out} began "
                f"({_first_difference(began_with, source)}); {self._ways_out()}"
            )
        unknown = next((one for one in source if one.endswith(UNVERSIONED)), None)
        if unknown:
            raise UserFacingError(
                f"nobody can tell whether the source has changed since the build in {self._out} "
                f"began: {unknown}, as the server sends neither an ETag nor a time of change; "
                f"{self._ways_out()}"
            )
        return state

    def save(self, state: BuildState) -> None:
        """Replace the state, durably: complete or not at all."""
        files.write_private(self.folder / STATE_NAME, msgspec.json.encode(state))

    def remove(self) -> None:
        """Delete the folder; raises OSError."""
        if self.folder.exists():
            shutil.rmtree(self.folder)

    def _read(self) -> tuple[BuildState, list[str]] | None:
        try:
            state = files.read_record(self.folder / STATE_NAME, BuildState)
            source = files.read_record(self.folder / SOURCE_NAME, list[str])
        except MalformedError as err:
            raise UserFacingError(
                f"{self.folder} is not from this version of Tequio, or was damaged ({err}): "
                f"{self._ways_out()}"
            ) from err
        return None if state is None or source is None else (state, source)

    def _ways_out(self) -> str:
        return "start over with --restart, or choose another folder"


def _first_difference(old: Sequence[str], new: Sequence[str]) -> str:
    in_old, in_new = set(old), set(new)
    only_old = next((one for one in old if one not in in_new), "")
    only_new = next((one for one in new if one not in in_old), "")
    if only_old and only_new:
        return f"it had {_short(only_old)}, and now has {_short(only_new)}"
    if only_old or only_new:
        return f"{_short(only_old)} is gone" if only_old else f"{_short(only_new)} is new"
    return "its parts are in another order"


def _short(text: str) -> str:
    return text if len(text) <= _SHOWN_CHARS else f"{text[:_SHOWN_CHARS]}…"
