"""Resources that runs need, and the automatic choice of a run."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import TYPE_CHECKING

import msgspec
import pytest

from tequio_client.ipc.facts import AcceleratorFacts, MachineFacts
from tequio_client.ipc.preferences import DeviceChoice, Preferences, usable_memory_mb
from tequio_client.ipc.runs import RunOrganiser, RunPlugin, RunRow, RunsReply
from tequio_client.ledger.api import LedgerApi
from tequio_client.worker.control.lists import (
    MAX_RUNS,
    RunsList,
    assign_runs,
    choose_run,
    select_runs,
)
from tequio_client.worker.lending.facts import IdleCause, select_chosen_devices
from tequio_client.worker.lending.needs import (
    FEEDBACK_FILES,
    MOST_LOGITS,
    OUTPUT_BYTES,
    SHARDS,
    RoundPace,
    contribution_bytes,
    disk_after,
    estimate,
    gossip_bytes,
    memory_mb,
    min_memory_mb,
)
from tequio_ledger.log.sequencer import Logged
from tequio_shared.api.runs import RunAnswer
from tequio_shared.head import layout
from tequio_shared.head.layout import BaseFile, FrozenBase
from tequio_shared.ids import PeerKey, sha256, to_text
from tequio_shared.limits import NEWCOMER_WORK
from tequio_shared.network.run_states import RunState
from tequio_shared.round.corpus import Corpus, TrainShard
from tequio_shared.round.manifest import AuditRules
from tequio_shared.round.plugin import PluginSpec
from tequio_shared.statements.network import MemberName
from tequio_shared.statements.runs import RunNotice
from tests.client.worker.lending.test_needs import CONFIG, config_of, manifest_of, network_of
from tests.ledger.test_replay import CLOCK, live_through
from tests.support import signing_swarm
from tests.support.answers import filled
from tests.support.ledgers import VirtualClock, make_settings, opened, running, served
from tests.support.signing_swarm import SigningOrganiser
from tests.support.tiny_run import tiny_manifest

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from tequio_ledger.ledger import Ledger
    from tequio_shared.round.manifest import Manifest

CHAT = "https://try.nova.example/"
PACE = RoundPace(members=5, length_ms=60_000, tokens=0)
KEY = PeerKey(bytes([1]) * 32)
TWO_CARDS = MachineFacts(
    gpus=(
        AcceleratorFacts(id="cuda:0", name="small", serial="GPU-small", memory_mb=6_144),
        AcceleratorFacts(id="cuda:1", name="large", serial="GPU-large", memory_mb=24_576),
    )
)
CARD = MachineFacts(gpus=(AcceleratorFacts(id="cuda:0", name="a card", memory_mb=8_192),))
ROW = RunRow(
    run="r",
    name="r",
    state="round_train",
    round=3,
    rounds=100,
    members=4,
    most_members=8,
    tokens=0,
    parameters=1_000,
    memory_mb=2_000,
    disk_bytes=1 << 30,
    hourly_up_bytes=1,
    hourly_down_bytes=1,
    first_bytes=1 << 28,
)


def row(name: str, **changed: int | bool) -> RunRow:
    return msgspec.structs.replace(ROW, run=name, name=name, **changed)


def with_code(name: str, *, is_allowed: bool) -> RunRow:
    """A run that brings code of its own."""
    spec = PluginSpec(
        name="tiny",
        version="1.0",
        archive=to_text(sha256(b"archive")),
        size_bytes=7,
        provides=("model",),
    )
    code = RunPlugin(spec=spec, is_allowed=is_allowed)
    return msgspec.structs.replace(ROW, run=name, name=name, plugin=code)


def chosen(
    runs: Sequence[RunRow],
    machine: MachineFacts = CARD,
    preferences: Preferences | None = None,
    key: PeerKey = KEY,
    disk_bytes: int = 1 << 50,
) -> str:
    wanted = preferences or Preferences()
    (device,) = select_chosen_devices(machine, wanted) or ()
    found = choose_run(runs, device, wanted, key, disk_bytes)
    return found if isinstance(found, str) else found.why


def test_the_emptiest_run_that_fits_is_chosen() -> None:
    full, empty = row("full", members=8), row("empty", members=1)
    assert chosen([full, row("half"), empty]) == "empty"
    assert chosen([full, row("half"), row("empty", members=1, memory_mb=9_000)]) == "half"
    assert chosen([row("many", members=60, most_members=64), row("few", members=7)]) == "few"


@pytest.mark.parametrize(
    ("changed", "why"),
    [
        ({"is_open": False}, IdleCause.NONE_OPEN),
        ({"members": 8}, IdleCause.NONE_FITS),
        ({"memory_mb": 6_145}, IdleCause.NONE_FITS),
        ({"first_bytes": 101 * 10**9}, IdleCause.NONE_FITS),
    ],
)
def test_there_may_be_none_and_then_the_reason_is_told(changed: dict[str, int], why: str) -> None:
    assert chosen([row("r", **changed)]) == why
    assert chosen([]) == IdleCause.NONE_OPEN


def test_limits_of_the_volunteer_count() -> None:
    runs = [row("r", memory_mb=3_000)]
    assert chosen(runs) == "r"
    small = Preferences(devices=(DeviceChoice(id="cuda:0", memory_mb=2_048),))
    assert chosen(runs, preferences=small) == IdleCause.NONE_FITS
    generous = Preferences(month_gb=0)
    large = [row("r", disk_bytes=100 << 30, first_bytes=10**12)]
    assert chosen(large, preferences=generous) == "r"


def test_a_run_must_fit_the_disk() -> None:
    assert chosen([ROW], disk_bytes=1 << 30) == "r"
    assert chosen([ROW], disk_bytes=(1 << 30) - 1) == IdleCause.NONE_FITS


def test_a_computer_without_a_card_goes_by_its_memory() -> None:
    runs = [row("r")]
    assert chosen(runs, MachineFacts(gpus=(), free_memory_mb=16_000)) == "r"
    assert chosen(runs, MachineFacts(gpus=(), free_memory_mb=1_000)) == IdleCause.NONE_FITS
    assert chosen(runs, MachineFacts(gpus=())) == IdleCause.NONE_FITS


def assigned(
    runs: Sequence[RunRow],
    taken: dict[str, str] | None = None,
    unread: Sequence[str] = (),
    **preferences: object,
) -> dict[str, str]:
    """The runs of a large and a small card, or why they have none.

    `unread` are open runs whose rules could not be read.
    """
    wanted = msgspec.structs.replace(Preferences(), **preferences)
    devices = select_chosen_devices(TWO_CARDS, wanted) or ()
    listed = RunsReply(rows=tuple(runs), unread=tuple(unread))
    found = assign_runs(listed, devices, taken or {}, wanted, KEY, 1 << 50)
    return {
        name: run if isinstance(run, str) else f"none: {run.why}" for name, run in found.items()
    }


def test_no_two_devices_get_the_same_run() -> None:
    both = [row("a", members=1), row("b", members=2)]
    assert assigned(both) == {"cuda:1": "a", "cuda:0": "b"}, "the larger card comes first"
    assert assigned(both[:1]) == {"cuda:1": "a", "cuda:0": "none: taken"}
    assert assigned([]) == {"cuda:1": "none: open", "cuda:0": "none: open"}


def test_a_device_keeps_its_run_and_others_choose_around_it() -> None:
    both = [row("a", members=1), row("b", members=2)]
    assert assigned(both, {"cuda:0": "a"}) == {"cuda:1": "b", "cuda:0": "a"}


def test_a_run_chosen_for_the_computer_goes_to_the_most_able_device() -> None:
    both = [row("a", members=1), row("b", members=2)]
    assert assigned(both, run="b") == {"cuda:1": "b", "cuda:0": "a"}
    own = (DeviceChoice(id="GPU-small", run="b"),)
    assert assigned(both, run="b", devices=own) == {"cuda:1": "b", "cuda:0": "none: taken"}
    assert assigned(both, devices=own) == {"cuda:1": "a", "cuda:0": "b"}


def test_a_chosen_run_that_has_ended_leaves_the_choice_to_the_program() -> None:
    runs = [row("old", is_open=False), row("a", members=1), row("b", members=2)]
    assert assigned(runs, run="old") == {"cuda:1": "a", "cuda:0": "b"}
    own = (DeviceChoice(id="GPU-small", run="old"),)
    assert assigned(runs, devices=own) == {"cuda:1": "a", "cuda:0": "b"}
    assert assigned(runs, run="b", devices=own) == {"cuda:1": "b", "cuda:0": "a"}
    assert assigned(runs[:1], run="old") == {"cuda:1": "none: open", "cuda:0": "none: open"}


def test_a_chosen_run_whose_rules_could_not_be_read_stays_chosen() -> None:
    runs = [row("a", members=1), row("b", members=2)]
    assert assigned(runs, unread=["c"], run="c") == {"cuda:1": "c", "cuda:0": "a"}
    own = (DeviceChoice(id="GPU-small", run="c"),)
    assert assigned(runs, unread=["c"], devices=own) == {"cuda:1": "a", "cuda:0": "c"}


def test_a_card_that_is_too_small_for_what_is_left_says_so() -> None:
    runs = [row("a", members=1), row("large", members=2, memory_mb=5_000)]
    assert assigned(runs) == {"cuda:1": "a", "cuda:0": "none: taken"}
    assert assigned(runs[1:]) == {"cuda:1": "large", "cuda:0": "none: fits"}


def test_a_crowd_spreads_over_equal_runs_and_each_stays_with_its_own() -> None:
    runs = [row(name) for name in "abcd"]
    keys = [PeerKey(bytes([number]) * 32) for number in range(64)]
    taken = [chosen(runs, key=key) for key in keys]
    assert set(taken) == set("abcd")
    assert taken == [chosen(list(reversed(runs)), key=key) for key in keys]


def test_of_runs_without_end_the_newest_are_read_and_open_ones_before_others() -> None:
    def answer(number: int, state: str) -> RunAnswer:
        name = to_text(bytes([number % 256, number // 256]) + bytes(30))
        return filled(
            RunAnswer, run=name, name="r", manifest=name, state=state, round=1, members=1, tokens=0,
            opened_index=number,
        )  # fmt: skip

    answers = [
        answer(number, "round_train" if number == 5 else RunState.FINISHED) for number in range(500)
    ]
    found = [one.opened_index for one in select_runs(answers)]
    assert found == [*range(500 - MAX_RUNS + 1, 500), 5]
    assert select_runs(answers[:7]) == [*answers[:5], answers[6], answers[5]]


# --- what a run takes


def corpus(manifest: Manifest, sizes: Sequence[int]) -> Corpus:
    return Corpus(
        source="test",
        tokenizer=manifest.tokenizer,
        token_bytes=2,
        separator=0,
        sequence=manifest.model.sequence,
        train=tuple(
            TrainShard(
                root=to_text(bytes([at]) * 32),
                size_bytes=size,
                tokens=size // 2,
                samples=max((size // 2 - 1) // manifest.model.sequence, 1),
            )
            for at, size in enumerate(sizes)
        ),
        held_out=(),
    )


def test_needs_follow_from_the_rules() -> None:
    manifest = plain_manifest()
    found = estimate(manifest, corpus(manifest, (100, 300, 200)), PACE)
    head, feedback = 4 * 4_096 * manifest.chunks, 2 * 4_096 * manifest.chunks
    piece = contribution_bytes(manifest, 5)
    assert found.first_bytes == head + 500, "one head and the two largest shards"
    working = 3 * head + FEEDBACK_FILES * feedback
    assert found.disk_bytes == found.first_bytes + 2 * head + 2 * 5 * piece + working
    assert found.day_disk_bytes == 500 + 8 * head + 24 * 60 * 5 * piece + working
    gossip = gossip_bytes(PACE.members)
    assert found.hourly_down_bytes == 60 * (4 * piece + gossip)
    to_seed = 60 * (piece + head / 5)
    assert found.hourly_up_bytes == pytest.approx(found.hourly_down_bytes + to_seed, abs=1)
    assert found.memory_mb == memory_mb(manifest) > 700
    nobody = RoundPace(members=0, length_ms=0, tokens=0)
    lonely = estimate(manifest, corpus(manifest, (2,)), nobody)
    assert lonely.hourly_down_bytes > 0, "as for the fewest that make a round"


def test_a_member_without_witness_duty_fetches_as_much_content_however_many_there_are() -> None:
    manifest, data = plain_manifest(), corpus(plain_manifest(), (100,))
    algorithm = msgspec.structs.replace(manifest.algorithm, down_k=64)
    linked = msgspec.structs.replace(manifest, algorithm=algorithm)
    few, many = (
        estimate(linked, data, replace(PACE, members=count), is_witness=False)
        for count in (10, 1_000)
    )
    assert few.hourly_down_bytes == 60 * (linked.step_bytes + gossip_bytes(10))
    more = many.hourly_down_bytes - few.hourly_down_bytes
    assert more == 60 * (gossip_bytes(1_000) - gossip_bytes(10)), (
        "contents do not grow with the members"
    )
    all_of_it = estimate(linked, data, PACE)
    assert few.first_bytes == all_of_it.first_bytes - linked.aux_bytes
    assert few.disk_bytes < all_of_it.disk_bytes
    without = estimate(manifest, data, PACE, is_witness=False)
    assert without == estimate(manifest, data, PACE), "there are no steps without a down link"


def test_audits_and_new_shards_count_as_traffic() -> None:
    manifest = plain_manifest()
    data, piece = corpus(manifest, (6_000,) * 10), contribution_bytes(manifest, 4)
    seen = replace(PACE, contributions=4.0, tokens=300)
    plain = estimate(manifest, data, replace(seen, tokens=0)).hourly_down_bytes
    gossip = gossip_bytes(PACE.members)
    assert plain == 60 * ((4 - 4 / 5) * piece + gossip), "without audits, the fifth is away"
    with_shards = estimate(manifest, data, seen).hourly_down_bytes
    assert with_shards - plain == 60 * 6_000 / 10, "a tenth of a shard in a round"
    rules = AuditRules(unproven_bp=5_000, others_bp=500)
    audited = msgspec.structs.replace(manifest, audit=rules)
    more = estimate(audited, data, replace(seen, tokens=0)).hourly_down_bytes - plain
    leaves = 2 * 64 * (8_192 + 32 * 7)  # of one auditor, from a model of 65 to 128 chunks
    assert audited.chunks // 4 < 64 or more == pytest.approx(60 * leaves / 5, rel=0.2)
    assert more > 0
    young, old = (
        estimate(audited, data, replace(PACE, contributions=5.0, closed=closed)).hourly_down_bytes
        - estimate(manifest, data, replace(PACE, contributions=5.0)).hourly_down_bytes
        for closed in (NEWCOMER_WORK - 1, NEWCOMER_WORK)
    )
    assert young == pytest.approx(10 * old, rel=0.01), "all train, and audit in the time left"
    assert old > 0


@pytest.mark.parametrize("closed", [0, 199, 200, 9_000])
def test_data_counts_once_as_traffic_if_a_store_keeps_it(closed: int) -> None:
    manifest, shard = plain_manifest(), 60_000
    data = corpus(manifest, (shard,) * 10)
    pace = replace(PACE, contributions=4.0, length_ms=3_600_000, tokens=1_500, closed=closed)
    none = replace(pace, tokens=0)  # a round an hour, and a pass in 200 rounds
    pass_bytes = disk_after(manifest, data, pace, 200)
    for store_bytes in (pass_bytes, pass_bytes - 1):
        found, bare = (
            estimate(manifest, data, one, store_bytes=store_bytes) for one in (pace, none)
        )
        hourly = found.hourly_down_bytes - bare.hourly_down_bytes
        assert hourly == found.hourly_up_bytes - bare.hourly_up_bytes
        is_once = store_bytes == pass_bytes and closed >= 200
        assert hourly == (0 if is_once else 3_000), "as much as is trained on, at two bytes a token"
        assert found.first_bytes - bare.first_bytes == is_once * (10 - SHARDS) * shard
        assert found.disk_bytes == bare.disk_bytes


def test_an_hour_with_many_passes_counts_the_data_once() -> None:
    manifest = plain_manifest()
    data = corpus(manifest, (60_000,) * 10)
    plan, bare = (estimate(manifest, data, replace(PACE, tokens=tokens)) for tokens in (900_000, 0))
    assert plan.hourly_down_bytes - bare.hourly_down_bytes == 60_000 * (10 - SHARDS)


def test_a_disk_fills_with_contributions_and_a_few_heads() -> None:
    manifest = plain_manifest()
    data, piece = corpus(manifest, (100,)), contribution_bytes(manifest, 5)
    at = [disk_after(manifest, data, PACE, rounds) for rounds in (5, 6, 100, 101)]
    assert at[1] - at[0] == manifest.weights_bytes + 5 * piece
    assert at[3] - at[2] == 5 * piece, "older heads leave"


def plain_manifest() -> Manifest:
    return msgspec.structs.replace(tiny_manifest(most=3), audit=msgspec.UNSET)


def test_memory_counts_states_logits_and_activations() -> None:
    manifest = tiny_manifest(most=3)
    width, layers, symbols = 768, 12, 50_304
    blocks = [
        (f"layers.{layer}.{name}.weight", shape)
        for layer in range(layers)
        for name, shape in (
            ("attention", (4 * width, width)),
            ("down", (width, 4 * width)),
            ("up", (4 * width, width)),
        )
    ]
    tensors = (("embed.weight", (symbols, width)), *blocks)
    parameters = sum(shape[0] * shape[1] for _, shape in tensors)
    large = msgspec.structs.replace(
        manifest,
        model=msgspec.structs.replace(
            manifest.model, tensors=tensors, parameters=parameters, sequence=1_024
        ),
        tokenizer=msgspec.structs.replace(manifest.tokenizer, vocab_size=symbols),
    )
    hidden = parameters - symbols * width
    states, logits = 12 * hidden + 16 * symbols * width, 8 * MOST_LOGITS
    activations = 4_096 * (4 * layers * width + OUTPUT_BYTES * 9 * width)
    assert large.inner.optimiser == "muon"
    assert memory_mb(large) == 701 + (states + logits + activations) // (1 << 20)
    adam = msgspec.structs.replace(large.inner, optimiser="adamw")
    more = memory_mb(msgspec.structs.replace(large, inner=adam)) - memory_mb(large)
    assert more == pytest.approx(4 * hidden / (1 << 20), abs=1)
    rounded = msgspec.structs.replace(large.inner, state_bits=8)
    less = memory_mb(large) - memory_mb(msgspec.structs.replace(large, inner=rounded))
    assert less == pytest.approx((3 * hidden + 5 * symbols * width) / (1 << 20), abs=1)
    one = 1_024 * (4 * layers * width + OUTPUT_BYTES * 9 * width) + 8 * 1_024 * symbols
    assert one < 16 << 25, "a step of Muon needs more than one sample"
    assert min_memory_mb(large) == 701 + (states + (16 << 25)) // (1 << 20)
    longer = msgspec.structs.replace(
        large, model=msgspec.structs.replace(large.model, sequence=16_384)
    )
    assert memory_mb(longer) > memory_mb(large), "one sample goes through at once, at least"


def test_a_frozen_base_counts_in_memory_disk_and_what_is_fetched_first() -> None:
    """Llama 2 7B in bfloat16 with pairs of rank 16 beside every matrix."""
    width, inner, layers = 4_096, 11_008, 32
    sides = {"gate_proj": (inner, width), "up_proj": (inner, width), "down_proj": (width, inner)}
    sides |= dict.fromkeys(("q_proj", "k_proj", "v_proj", "o_proj"), (width, width))
    modules = {
        f"model.layers.{at}.x.{name}": side for at in range(layers) for name, side in sides.items()
    }
    tensors = layout.adapter_pairs(modules, 16)
    parameters, frozen = sum(rows * columns for _, (rows, columns) in tensors), 6_738_415_616
    assert parameters == 39_976_960
    plain = tiny_manifest(most=3)
    file = BaseFile(name="m.safetensors", size_bytes=2 * frozen + 40_000, root=plain.data.root)
    base = FrozenBase(
        source="", revision="", parameters=frozen, files=(file,), rank=16, alpha=32,
        targets=tuple(sorted(sides)),
    )  # fmt: skip
    model = msgspec.structs.replace(
        plain.model, tensors=tensors, parameters=parameters, sequence=1_024
    )
    windows = msgspec.structs.replace(plain.windows, tokens=50_000 * 1_024)
    symbols = msgspec.structs.replace(plain.tokenizer, vocab_size=32_000)
    manifest = msgspec.structs.replace(
        plain, model=model, base=base, windows=windows, tokenizer=symbols
    )
    gib = 1 << 10
    assert 14 * gib < min_memory_mb(manifest) < memory_mb(manifest) < 16 * gib
    assert memory_mb(manifest) < usable_memory_mb(24 * gib), "what is lent of a card of 24 GB"
    whole = estimate(manifest, corpus(manifest, (100, 300)), PACE)
    lacking = estimate(
        msgspec.structs.replace(manifest, base=msgspec.UNSET),
        corpus(manifest, (100, 300)), PACE,
    )  # fmt: skip
    assert whole.first_bytes - lacking.first_bytes == file.size_bytes
    assert whole.disk_bytes - lacking.disk_bytes == file.size_bytes
    assert whole.hourly_up_bytes == lacking.hourly_up_bytes
    narrow = msgspec.structs.replace(manifest, base=msgspec.structs.replace(base, bits=4))
    assert 7 * gib < memory_mb(narrow) < 8 * gib < usable_memory_mb(12 * gib)
    in_4_bits = estimate(narrow, corpus(manifest, (100, 300)), PACE)
    assert in_4_bits.first_bytes == whole.first_bytes, "the files are the same"


# --- the list, from a real ledger


async def open_run(
    ledger: Ledger, manifest: Manifest, data: Corpus, *, name: str = "", chat: str = ""
) -> None:
    """Open a run; its organiser may have a public name, and state where the run's chat is."""
    organiser, now_ms, run = SigningOrganiser(ledger), ledger.clock(), manifest.run_id
    async with running(ledger):
        for blob in (manifest.encode(), data.encode()):
            ledger.blobs.put(blob)
        entries = [organiser.open(manifest, now_ms)]
        if name:
            entries.append(organiser.sign(MemberName(name=name), now_ms))
        if chat:
            notice = RunNotice(about="chat", text=chat)
            entries.append(organiser.sign(notice, now_ms, run=run))
        for entry in entries:
            (outcome,) = await ledger.sequencer.submit([entry])
            assert isinstance(outcome, Logged), outcome


@pytest.mark.trio
async def test_runs_are_listed_with_what_they_need(tmp_path: Path) -> None:
    paper = signing_swarm.manifest(most=50)
    data = corpus(paper, (1_000, 3_000))
    told = msgspec.structs.replace(paper.data, manifest=to_text(data.digest))
    manifest = msgspec.structs.replace(
        paper, data=told, description="A model for tests.", licence="Apache-2.0"
    )
    with opened(make_settings(tmp_path), VirtualClock()) as ledger:
        organiser = SigningOrganiser(ledger).key
        asyncio.run(open_run(ledger, manifest, data, name="Ana Sofía", chat=CHAT))
    with served(tmp_path) as program:
        async with LedgerApi(program.url) as api:
            runs = RunsList(api)
            listed = await runs.read(ours=[to_text(manifest.run_id)])
            assert await runs.read(ours=[to_text(manifest.run_id)]) == listed
            found = await runs.with_names(listed)
            (fast,) = (await runs.read(flop_per_s=1e12)).rows
    needed = estimate(
        manifest, data, RoundPace(members=0, length_ms=manifest.rounds.train, tokens=0)
    )
    (row,) = found.rows
    assert (row.run, row.name, row.rounds) == (to_text(manifest.run_id), "paper", 50)
    assert (row.is_open, row.is_ours, row.members) == (True, True, 0)
    assert (row.description, row.licence) == ("A model for tests.", "Apache-2.0")
    assert row.organisers == (RunOrganiser(key=to_text(organiser), name="Ana Sofía"),)
    assert row.chat == CHAT
    assert (row.first_bytes, row.disk_bytes) == (needed.first_bytes, needed.disk_bytes)
    assert row.hourly_up_bytes == needed.hourly_up_bytes
    assert (row.day_points, fast.day_points) == (0, 1_000 * 86_400), "it trains all the time"
    assert chosen(found.rows, MachineFacts(gpus=(), free_memory_mb=10**6)) == row.run


@pytest.mark.trio
@pytest.mark.parametrize(
    ("config", "kinds"),
    [
        (CONFIG, {"pipeline", "shard", "tensor"}),
        (config_of("mistral"), {"none", "tensor"}),
        (config_of("gemma"), {"none"}),
        (None, {"none"}),
    ],
    ids=["llama", "mistral", "gemma", "unknown"],
)
async def test_cells_are_proposed_by_the_configuration_that_the_ledger_has(
    tmp_path: Path, config: bytes | None, kinds: set[str]
) -> None:
    paper, large = signing_swarm.manifest(most=50), manifest_of(network_of(tied=False))
    data = corpus(large, (8_000, 8_000))
    named = to_text(sha256(config or CONFIG))
    manifest = msgspec.structs.replace(
        paper,
        model=msgspec.structs.replace(large.model, config=named),
        tokenizer=large.tokenizer,
        windows=msgspec.structs.replace(paper.windows, tokens=paper.windows.samples * 1_024),
        data=msgspec.structs.replace(paper.data, manifest=to_text(data.digest)),
    )
    with opened(make_settings(tmp_path), VirtualClock()) as ledger:
        asyncio.run(open_run(ledger, manifest, data))
        if config is not None:
            ledger.blobs.put(config)
    with served(tmp_path) as program:
        async with LedgerApi(program.url) as api:
            runs = RunsList(api)
            (row,) = (await runs.read()).rows
            assert (await runs.read()).rows == (row,), "what is kept is the same"
    assert {one.division for one in row.cells} == kinds


@pytest.mark.trio
async def test_a_run_whose_rules_nobody_has_is_left_out(tmp_path: Path) -> None:
    with opened(make_settings(tmp_path), CLOCK) as ledger:
        asyncio.run(live_through(ledger))
    with served(tmp_path) as program:
        async with LedgerApi(program.url) as api:
            (answer,) = await api.runs()
            runs = RunsList(api)
            listed = await runs.with_names(await runs.read())
    assert listed.rows == ()
    assert listed.unread == (answer.run,), "it is open all the same"


@pytest.mark.trio
async def test_a_run_that_asks_for_more_than_can_be_said_is_left_out(tmp_path: Path) -> None:
    paper = signing_swarm.manifest(most=50)
    data = corpus(paper, (2**53 - 2, 2**53 - 2))
    told = msgspec.structs.replace(paper.data, manifest=to_text(data.digest))
    with opened(make_settings(tmp_path), VirtualClock()) as ledger:
        asyncio.run(open_run(ledger, msgspec.structs.replace(paper, data=told), data))
    with served(tmp_path) as program:
        async with LedgerApi(program.url) as api:
            assert len(await api.runs()) == 1
            assert (await RunsList(api).read()).rows == ()


def test_a_run_with_code_is_not_chosen_for_who_has_not_allowed_it() -> None:
    assert chosen([with_code("own", is_allowed=False), row("plain")]) == "plain"
    assert chosen([with_code("own", is_allowed=True)]) == "own"
