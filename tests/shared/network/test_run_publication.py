"""Where a head was published: organisers say it, of certified heads alone, at any time."""

from __future__ import annotations

import msgspec
import pytest

from tequio_shared.errors import RefusedError
from tequio_shared.ids import sha256, to_text
from tequio_shared.limits import PUBLISHED_HEADS
from tequio_shared.network.full_run import MAX_LOCATIONS, HeadPublication
from tequio_shared.network.run import RunView
from tequio_shared.network.run_states import RunState
from tequio_shared.statements.network import CheckpointPublish
from tests.support.memory_swarm import Swarm
from tests.support.tiny_run import tiny_manifest
from tests.support.volunteers import StatementDraft


@pytest.fixture
def swarm() -> Swarm:
    made = Swarm(manifest=tiny_manifest(most=2), seed=4)
    for name in ("ana", "luis", "inés"):
        made.volunteer(name)
    return made


def publication(swarm: Swarm, number: int) -> CheckpointPublish:
    head = swarm.view.heads[number]
    return CheckpointPublish(
        head=to_text(head.hash),
        weights_root=to_text(head.weights_root),
        location="user/tiny",
        revision="0a" * 20,
    )


def go_to(swarm: Swarm, state: RunState) -> None:
    while swarm.view.state is not state:
        assert swarm.step()


def said(swarm: Swarm, number: int, body: CheckpointPublish) -> None:
    swarm.log_statement(swarm.organiser, StatementDraft(body, number))


def test_any_certified_head_may_be_published_in_the_middle_of_a_round_and_after_the_end(
    swarm: Swarm,
) -> None:
    swarm.run_rounds(1)
    go_to(swarm, RunState.ROUND_TRAIN)
    said(swarm, 0, publication(swarm, 0))
    said(swarm, 1, publication(swarm, 1))
    go_to(swarm, RunState.FINISHED)
    said(swarm, 1, publication(swarm, 1))
    said(swarm, 2, publication(swarm, 2))
    assert swarm.replay().heads == swarm.view.heads


def test_publications_of_the_newest_heads_are_kept() -> None:
    made = Swarm(manifest=tiny_manifest(most=PUBLISHED_HEADS + 2), seed=4)
    for name in ("ana", "luis", "inés"):
        made.volunteer(name)
    made.run()
    newest = max(made.view.heads)
    for number in (*range(newest + 1), 0):
        said(made, number, publication(made, number))
    assert list(made.view.published) == list(range(newest + 1 - PUBLISHED_HEADS, newest + 1))


def test_it_changes_nothing_in_the_run(swarm: Swarm) -> None:
    swarm.run()
    before = swarm.view.state, swarm.view.number, swarm.view.head, swarm.view.request
    said(swarm, 1, publication(swarm, 1))
    assert (swarm.view.state, swarm.view.number, swarm.view.head, swarm.view.request) == before


def test_a_head_that_was_not_certified_is_refused(swarm: Swarm) -> None:
    swarm.run()
    body = publication(swarm, 1)
    other = to_text(sha256(b"other"))
    for number, wrong in (
        (3, body),
        (2, body),
        (1, msgspec.structs.replace(body, head=other)),
        (1, msgspec.structs.replace(body, weights_root=other)),
    ):
        with pytest.raises(RefusedError) as caught:
            said(swarm, number, wrong)
        assert caught.value.code == "wrong-head"


def test_a_light_view_has_not_seen_all_heads_and_passes_it_on(swarm: Swarm) -> None:
    swarm.run()
    light = RunView.light(swarm.net, swarm.manifest, head=swarm.view.head, next_head=None)
    statement = swarm.sign(
        swarm.organiser, StatementDraft(publication(swarm, 1), 1), swarm.manifest.run_id
    ).statement
    light.apply(9, statement, 0, swarm.blobs.__getitem__)
    assert light.head == swarm.view.head


def test_the_last_word_on_a_round_is_kept_with_its_entry(swarm: Swarm) -> None:
    swarm.run()
    said(swarm, 1, publication(swarm, 1))
    moved = msgspec.structs.replace(publication(swarm, 1), revision="0b" * 20)
    said(swarm, 1, moved)
    found = HeadPublication(index=len(swarm.entries) - 1, body=moved)
    assert swarm.view.published == {1: {moved.location: found}}


def test_one_head_may_be_in_several_places_of_which_the_last_ones_are_known(swarm: Swarm) -> None:
    swarm.run()
    on_hub = publication(swarm, 1)
    said(swarm, 1, on_hub)
    buckets = [
        msgspec.structs.replace(on_hub, location=f"s3://bucket-{at}/tiny", revision="0b" * 32)
        for at in range(MAX_LOCATIONS)
    ]
    for body in buckets:
        assert on_hub.location in swarm.view.published[1]
        said(swarm, 1, body)
    assert list(swarm.view.published[1]) == [one.location for one in buckets]
    assert swarm.replay().published == swarm.view.published
