"""A member's trainer: what it gives, how often, and what follows when it fails."""

from __future__ import annotations

import sys
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

import msgspec
import pytest
import trio
import trio.testing

from tequio_client.group import updates
from tequio_client.group.head_store import HeadStore
from tequio_client.group.updates import NoUpdateError, PrivateTrainer, TrainerOptions
from tests.support.group_members import first_weights, group_signers, make_group

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
    from pathlib import Path

STUB = (sys.executable, "-m", "tests.support.group_trainer")
HEAD = make_group(group_signers(3)).model.weights_root


@asynccontextmanager
async def trainer(
    folder: Path, does: str, *, tokenizer: str = "", command: Sequence[str] = STUB
) -> AsyncIterator[PrivateTrainer]:
    (folder / does).mkdir()
    HeadStore.write_origin(folder, first_weights(), b"")
    options = TrainerOptions(data=folder / does, command=command)
    group = make_group(group_signers(3))
    named = msgspec.structs.replace(group.tokenizer, file=tokenizer)
    made = PrivateTrainer(folder, msgspec.structs.replace(group, tokenizer=named), options)
    async with trio.open_nursery() as nursery:
        nursery.start_soon(made.run)
        yield made
        nursery.cancel_scope.cancel()


def run(main: Callable[[], Awaitable[None]]) -> None:
    async def bounded() -> None:
        with trio.fail_after(60):
            await main()

    trio.run(bounded)


def asked(folder: Path) -> list[str]:
    path = folder / "work" / "state" / "asked"
    return path.read_text().split() if path.exists() else []


def test_an_update_is_made_once_for_a_head_until_it_is_spent(tmp_path: Path) -> None:
    async def main() -> None:
        async with trainer(tmp_path, "well") as made:
            weights = tmp_path / "heads" / HEAD
            first = await made.update(HEAD, weights, 1)
            assert (first.numbers == 1).all()
            assert first.loss == 3.0
            assert await made.update(HEAD, weights, 2) is first
            made.spend()
            second = await made.update(HEAD, weights, 3)
            assert (second.numbers == 2).all()
            assert asked(tmp_path) == ["1", "2"]
            assert not (tmp_path / "work" / "delta").exists()  # not left on the disk
            third = await made.update("another head", weights, 4)
            assert (third.numbers == 3).all()

    run(main)


def test_a_training_that_fails_is_not_repeated_at_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def main() -> None:
        async with trainer(tmp_path, "fails") as made:
            weights = tmp_path / "heads" / HEAD
            for _ in range(3):
                with pytest.raises(NoUpdateError, match="nothing in"):
                    await made.update(HEAD, weights, 1)
            assert asked(tmp_path) == ["1"]
            monkeypatch.setattr(updates, "RETRY_S", 0.0)
            with pytest.raises(NoUpdateError):
                await made.update(HEAD, weights, 2)
            assert asked(tmp_path) == ["1", "2"]

    run(main)


@pytest.mark.parametrize(("does", "why"), [("dies", "exit status 3"), ("short", "left 4095")])
def test_a_trainer_that_misbehaves_costs_the_member_its_update(
    tmp_path: Path, does: str, why: str
) -> None:
    async def main() -> None:
        size = make_group(group_signers(3)).layout.elements
        async with trainer(tmp_path, does) as made:
            for head in (HEAD, "another"):
                with pytest.raises(NoUpdateError, match=why.replace("4095", str(size - 1))):
                    await made.update(head, tmp_path / "heads" / HEAD, 1)

    run(main)


def test_a_training_for_a_head_that_is_gone_makes_room(tmp_path: Path) -> None:
    async def main() -> None:
        async with trainer(tmp_path, "hangs") as made, trio.open_nursery() as nursery:
            weights = tmp_path / "heads" / HEAD

            async def train() -> None:
                with pytest.raises(NoUpdateError, match="too late"):
                    await made.update(HEAD, weights, 1)

            nursery.start_soon(train)
            while not asked(tmp_path):  # noqa: ASYNC110 - a file
                await trio.sleep(0.02)
            made.spend()

    run(main)


@pytest.mark.parametrize("when", ["before", "after"])
def test_a_request_that_meets_a_trainer_that_is_being_stopped_goes_to_the_next_one(
    tmp_path: Path, when: str
) -> None:
    async def main() -> None:
        async with trainer(tmp_path, "hangs") as made, trio.open_nursery() as nursery:

            async def train(head: str) -> None:
                with pytest.raises(NoUpdateError, match="too late"):
                    await made.update(head, tmp_path / "heads" / HEAD, 1)

            async def wait_for(*numbers: str) -> None:
                while asked(tmp_path) != [*numbers]:  # noqa: ASYNC110 - a file
                    await trio.sleep(0.02)

            nursery.start_soon(train, HEAD)
            await wait_for("1")
            if when == "before":
                nursery.start_soon(train, "the next head")
                await trio.testing.wait_all_tasks_blocked()
            made.spend()
            if when == "after":
                await trio.testing.wait_all_tasks_blocked()
                nursery.start_soon(train, "the next head")
            await wait_for("1", "2")
            made.spend()

    run(main)


def test_a_trainer_that_cannot_be_started_costs_the_member_its_update(tmp_path: Path) -> None:
    async def main() -> None:
        async with trainer(tmp_path, "well", command=[str(tmp_path / "none")]) as made:
            with pytest.raises(NoUpdateError, match=r"could not be started: .* is missing"):
                await made.update(HEAD, tmp_path / "heads" / HEAD, 1)

    run(main)


@pytest.mark.parametrize("file", ["", "tokenizer.json"])
def test_a_trainer_is_given_a_tokenizer_unless_its_group_reads_bytes(
    tmp_path: Path, file: str
) -> None:
    async def main() -> None:
        async with trainer(tmp_path, "well", tokenizer=file) as made:
            await made.update(HEAD, tmp_path / "heads" / HEAD, 1)

    run(main)
    told = (tmp_path / "work" / "state" / "tokenizer").read_text()
    assert told == (str(tmp_path / "model" / "tokenizer.json") if file else "none")
