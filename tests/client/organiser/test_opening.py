"""Opening a run: what it is made of holds together, and what is missing is named."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import httpx
import msgspec
import pytest
from click.testing import CliRunner
from msgspec.structs import replace

from tequio_client.__main__ import cli
from tequio_client.dataset import build
from tequio_client.dataset.chat import SETTINGS_FILE
from tequio_client.ipc.cell import CellNeed
from tequio_client.organiser import estimate, opening
from tequio_client.organiser.outline import RunOutline, read_outline
from tequio_client.organiser.plan import ExpectPlan
from tequio_client.worker.store.store import Store
from tequio_shared.errors import UserFacingError
from tequio_shared.ids import digest_from_text, sha256, to_text
from tequio_shared.keys import Signer
from tequio_shared.multiple_choice import MeasuredTask
from tequio_shared.network.run import first_head
from tequio_shared.round.corpus import Corpus, train_file_name
from tequio_shared.round.manifest import Manifest
from tests.support import chats
from tests.support.app_worker_answers import NOVA
from tests.support.data_mirror import data_mirror
from tests.support.equivocators import key_folder
from tests.support.ledgers import ORGANISER, UNLIMITED, served
from tests.support.plans import CONFIG, PLAN, write_plan
from tests.support.small_tasks import small_task

if TYPE_CHECKING:
    from pathlib import Path


SECOND = Signer(bytes([2]) * 32)


@pytest.fixture
def plan(tmp_path: Path) -> Path:
    """A plan with all that belongs to it, in a folder of its own."""
    return write_plan(tmp_path)


def refusal(plan: Path) -> str:
    with pytest.raises(UserFacingError) as caught:
        opening.prepare_run(plan)
    assert "\n" not in str(caught.value)
    return str(caught.value)


def said_no(*words: str) -> str:
    error: BaseException | None = CliRunner().invoke(cli, ("run", *words)).exception
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    assert isinstance(error, UserFacingError)
    return str(error)


def test_a_prepared_run_has_a_valid_manifest_whose_documents_are_there(plan: Path) -> None:
    prepared = opening.prepare_run(plan)
    manifest = prepared.manifest
    assert Manifest.parse(manifest.encode()) == manifest
    names = {to_text(sha256(blob)) for blob in prepared.blobs}
    assert {to_text(manifest.run_id), manifest.model.config, manifest.data.manifest} <= names
    assert len(prepared.weights) == 4 * manifest.layout.elements


def test_a_seed_gets_the_first_head_and_every_shard(plan: Path, tmp_path: Path) -> None:
    prepared = opening.prepare_run(plan)
    store = Store(tmp_path / "store", quota_bytes=1 << 30)
    opening.store_run(prepared, store)
    assert store.has_tree(first_head(prepared.manifest).weights_root)
    assert store.has_blob(sha256(prepared.manifest.encode()))
    corpus = Corpus.parse((plan.parent / "data" / build.MANIFEST_NAME).read_bytes())
    assert all(store.has_tree(digest_from_text(one.root)) for one in corpus.train)
    assert all(store.has_tree(digest_from_text(one.root)) for one in corpus.held_out)


def test_a_network_of_two_signatures_opens_and_steers_its_runs_by_two(
    plan: Path, tmp_path: Path
) -> None:
    first, second = (
        str(key_folder(tmp_path / name, key))
        for name, key in (("first", ORGANISER), ("second", SECOND))
    )
    founding = ("--organiser", to_text(SECOND.key), "--threshold", "2")
    with served(tmp_path / "ledger", *UNLIMITED, *founding) as ledger:
        where = ("--ledger", ledger.url, "--dir", first)
        open_ = ("open", str(plan), *where, "--seed-dir", str(tmp_path / "seed"))
        for words in (open_, ("pause", "tiny", *where), ("finish", "tiny", *where)):
            assert "2 organisers of the network" in said_no(*words)
            assert f"the folder {first} is given twice" in said_no(*words, "--with", first)
            done = CliRunner().invoke(cli, ("run", *words, "--with", second))
            assert done.exit_code == 0, done.exception
            if words[0] == "pause":
                again = said_no(*words, "--with", second)
                assert again == "tiny is paused: run.pause has no effect"
        invited = said_no("invite", "tiny", *where, "--with", second)
        assert invited == "the run tiny has ended: nobody can join it"
        (run,) = httpx.get(f"{ledger.url}/v1/runs").json()["runs"]
        assert run["state"] in ("cooldown", "finished")


def test_a_mirror_that_lacks_the_data_is_named_before_the_run_is_opened(
    plan: Path, tmp_path: Path
) -> None:
    key = str(key_folder(tmp_path / "organiser", ORGANISER))
    data = plan.parent / "data"
    with served(tmp_path / "ledger", *UNLIMITED) as ledger, data_mirror(data) as mirror:
        text = plan.read_text()
        plan.write_text(
            text.replace('folder = "data"', f'folder = "data"\nmirrors = ["{mirror.url}"]')
        )
        where = ("--ledger", ledger.url, "--dir", key, "--seed-dir", str(tmp_path / "seed"))
        mirror.folder = tmp_path
        said = said_no("open", str(plan), *where)
        assert said.startswith(f"the mirror {mirror.url} does not serve {train_file_name(0)}")
        assert f"copy all files of {data} there" in said
        assert not httpx.get(f"{ledger.url}/v1/runs").json()["runs"]
        mirror.folder = data
        done = CliRunner().invoke(cli, ("run", "open", str(plan), *where))
        assert done.exit_code == 0, done.exception
        assert len(httpx.get(f"{ledger.url}/v1/runs").json()["runs"]) == 1


def test_the_same_plan_makes_the_same_run(plan: Path) -> None:
    assert opening.prepare_run(plan).manifest.run_id == opening.prepare_run(plan).manifest.run_id


def test_a_model_with_too_few_tokens_is_refused(plan: Path) -> None:
    (plan.parent / "config.json").write_text(json.dumps({**CONFIG, "vocab_size": 100}))
    said = refusal(plan)
    assert "100 tokens" in said
    assert "256" in said


@pytest.mark.parametrize(
    ("config", "named"),
    [
        ("{", "not valid JSON"),
        (json.dumps({"hidden_size": 3}), "model_type"),
        (json.dumps({**CONFIG, "model_type": "llamma"}), "llamma"),
    ],
)
def test_a_configuration_that_makes_no_model_is_named(plan: Path, config: str, named: str) -> None:
    (plan.parent / "config.json").write_text(config)
    assert named in refusal(plan)


def test_a_missing_configuration_is_named(plan: Path) -> None:
    (plan.parent / "config.json").unlink()
    assert str(plan.parent / "config.json") in refusal(plan)


def test_an_unknown_model_is_named(plan: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", True)
    plan.write_text(PLAN.replace("config.json", "nobody/no-such-model"))
    assert "nobody/no-such-model" in refusal(plan)


def test_a_missing_shard_is_named(plan: Path) -> None:
    shard = plan.parent / "data" / train_file_name(0)
    shard.unlink()
    assert str(shard) in refusal(plan)


def test_a_damaged_shard_is_not_kept(plan: Path, tmp_path: Path) -> None:
    prepared = opening.prepare_run(plan)
    shard = plan.parent / "data" / train_file_name(0)
    shard.write_bytes(b"\0" * shard.stat().st_size)
    with pytest.raises(UserFacingError, match="does not match the data manifest"):
        opening.store_run(prepared, Store(tmp_path / "store", quota_bytes=1 << 30))


def test_a_damaged_data_manifest_is_named(plan: Path) -> None:
    (plan.parent / "data" / build.MANIFEST_NAME).write_text("{}")
    assert "damaged" in refusal(plan)


def test_a_plan_that_makes_no_valid_run_is_told(plan: Path) -> None:
    plan.write_text(PLAN + "[rounds]\nmin_members = 0\n")
    assert "does not describe a valid run" in refusal(plan)


ENDED = "{% for m in messages %}{{ m.role + ': ' + m.content + eos_token }}{% endfor %}"
"""As Zephyr's: the separator ends each turn."""
ASKED = (
    "{% for m in messages %}{{ m.role + ': ' + m.content }}"
    "{% if m.role == 'assistant' %}{{ eos_token }}{% endif %}{% endfor %}"
)
"""The separator ends what the assistant says."""


@pytest.mark.parametrize(
    ("template", "turns", "held_out_bp", "is_right"),
    [
        (chats.CHATML, 2, 1_000, True),
        (ENDED, 1, 1_000, False),
        (ASKED, 1, 1_000, True),
        (ASKED, 2, 1_000, False),
        (chats.CHATML, 2, 0, True),
        (ENDED, 1, 0, False),
    ],
)
def test_apart_no_conversation_is_divided(
    plan: Path, template: str, turns: int, held_out_bp: int, *, is_right: bool
) -> None:
    own = chats.byte_level_tokenizer(plan.parent / "own", template)
    (own / SETTINGS_FILE).write_text(json.dumps({"eos_token": chats.SEPARATOR}))
    talks = chats.rows(*[turns * one for one in chats.echoes(40)])
    settings = build.ShardOptions(
        sequence=200, seed=0, held_out_bp=held_out_bp, shard_bytes=1 << 20
    )
    encoder = chats.encoder(own, 200)
    data = plan.parent / "data"
    build.build_shards(talks, encoder.tokenizer, settings, data, chat=encoder)
    config = CONFIG | {"vocab_size": encoder.tokenizer.vocab_size, "max_position_embeddings": 200}
    (plan.parent / "config.json").write_text(json.dumps(config))
    read_outline(plan)
    plan.write_text(PLAN + '[inner]\ndocuments = "apart"\n')
    if is_right:
        assert read_outline(plan).manifest.inner.documents == "apart"
    else:
        assert "writes the separator itself" in refusal(plan)


def with_tasks(plan: Path, rules: str = "", **tasks: int) -> Path:
    """Let members answer tasks with these names and numbers of questions, of four choices."""
    for name, questions in tasks.items():
        (plan.parent / f"{name}.task").write_bytes(small_task(questions, name=name).encode())
    files = ", ".join(f'"{name}.task"' for name in tasks)
    plan.write_text(f"{plan.read_text()}\n[measure]\n{rules}tasks = [{files}]\n")
    return plan


def test_a_run_with_tasks_names_their_files_and_uploads_them(plan: Path) -> None:
    prepared = opening.prepare_run(with_tasks(plan, "every = 4\n", words=20, more=9))
    measured = prepared.manifest.measures
    assert (measured.every, [one.name for one in measured.answered]) == (4, ["words", "more"])
    for task, questions in zip(measured.answered, (20, 9), strict=True):
        assert (task.questions, task.requests, task.chance) == (questions, 4 * questions, 0.25)
        (raw,) = [blob for blob in prepared.blobs if to_text(sha256(blob)) == task.file]
        assert MeasuredTask.of(raw) == task


def test_a_plan_without_tasks_makes_the_manifest_that_it_made_before(plan: Path) -> None:
    assert b'"tasks"' not in opening.prepare_run(plan).manifest.encode()


@pytest.mark.parametrize(
    ("rules", "questions", "told"),
    [
        ("every = 0\n", 3, "measure.tasks names words.task, but measure.every is 0"),
        (
            "",
            5_000,
            "whose questions have 20,000 choices together, and at most 16,384 are answered for a "
            "head: draw fewer questions (tequio data tasks --questions)",
        ),
    ],
)
def test_tasks_that_members_cannot_answer_are_refused_with_a_way_out(
    plan: Path, rules: str, questions: int, told: str
) -> None:
    assert told in refusal(with_tasks(plan, rules, words=questions))


def test_a_task_file_that_is_missing_or_another_file_is_named(plan: Path) -> None:
    with_tasks(plan, words=3)
    file = plan.parent / "words.task"
    file.write_bytes(b"{}")
    assert f"{file} is not a task" in refusal(plan)
    file.unlink()
    assert f"cannot read {file}" in refusal(plan)


def test_tasks_need_held_out_text(plan: Path) -> None:
    with_tasks(plan, words=3)
    manifest = plan.parent / "data" / build.MANIFEST_NAME
    corpus = Corpus.parse(manifest.read_bytes())
    manifest.write_bytes(msgspec.structs.replace(corpus, held_out=()).encode())
    assert "the data has no held-out text" in refusal(plan)


@pytest.mark.parametrize("every", [0, 10])
def test_a_run_whose_heads_nobody_can_measure_is_written_with_a_warning(
    plan: Path, every: int
) -> None:
    manifest = plan.parent / "data" / build.MANIFEST_NAME
    corpus = Corpus.parse(manifest.read_bytes())
    manifest.write_bytes(msgspec.structs.replace(corpus, held_out=()).encode())
    plan.write_text(f"{plan.read_text()}\n[measure]\nevery = {every}\n")
    found = estimate.estimate_run(read_outline(plan), ExpectPlan(peers=2, vram_gib=4))
    told = [one for one in found.warnings if "has no held-out text" in one]
    assert bool(told) is (every > 0)


def test_an_estimate_has_the_time_that_tasks_take(plan: Path) -> None:
    outline = read_outline(with_tasks(plan, "every = 1\n", words=1_000))
    found = estimate.estimate_run(outline, ExpectPlan(peers=2, vram_gib=4, tflops=1e-7))
    (row,) = [row for row in found.rows if row.label == "tasks"]
    assert "1,000 questions of words" in row.note
    assert "draw fewer questions" in " ".join(found.warnings)
    faster = estimate.estimate_run(outline, ExpectPlan(peers=2, vram_gib=4))
    assert "draw fewer questions" not in " ".join(faster.warnings)


LARGE = CONFIG | {
    "hidden_size": 2_048,
    "intermediate_size": 5_632,
    "num_hidden_layers": 20,
    "num_attention_heads": 32,
    "num_key_value_heads": 4,
}


def outlined(plan: Path, kind: str) -> RunOutline:
    """A run that trains a large network of that kind."""
    (plan.parent / "config.json").write_text(json.dumps(LARGE | {"model_type": kind}))
    return read_outline(plan)


def test_a_plan_is_for_cells_that_its_network_can_be_divided_in(plan: Path) -> None:
    alone = ExpectPlan(peers=2, vram_gib=8, disk_gib=100)
    several = replace(alone, cell=4)
    llama, mistral = outlined(plan, "llama"), outlined(plan, "mistral")
    assert llama.manifest.model.tensors == mistral.manifest.model.tensors
    (short,) = [one for one in estimate.estimate_run(mistral, alone).faults if "memory" in one]
    assert "or cells of 4 such cards of one computer, each of which needs" in short
    assert "(--cell 4, or cell = 4 under [expect])" in short
    for outline, words in (
        (llama, "on each of 4 computers: tequio cell host --guests 3 --pipeline"),
        (
            mistral,
            "on each of 4 cards of one computer: "
            "tequio worker --cell cuda:0,cuda:1,cuda:2,cuda:3 --tensor",
        ),
    ):
        found = estimate.estimate_run(outline, several)
        assert [row.note for row in found.rows if row.label == "of a cell"] == [words]
        assert not [one for one in found.faults if "memory" in one]
    resting = estimate.peer_speed(llama, several) / estimate.peer_speed(mistral, several)
    assert 0.5 < resting < 1, "ranks of a pipeline rest"


def test_a_list_names_the_cell_that_trains_what_a_card_cannot() -> None:
    cells = tuple(
        CellNeed(ranks=ranks, division="pipeline", memory_mb=700 + 24_000 // ranks)
        for ranks in range(2, 9)
    )
    row = replace(NOVA, memory_mb=24_000, cells=cells)
    assert opening.too_large(row, 40.0) == ""
    said = opening.too_large(row, 8.0)
    assert f"{NOVA.name} needs 23.4 GiB, and 6.0 of 8 GiB are lent; " in said
    assert said.endswith(
        "5 such computers in one cell could train it: tequio cell host --guests 4 --pipeline"
    )
    one_computer = (CellNeed(ranks=2, division="tensor", memory_mb=4_000),)
    assert opening.too_large(replace(row, cells=one_computer), 8.0).endswith(
        "2 such cards of one computer in one cell could train it: "
        "tequio worker --cell cuda:0,cuda:1 --tensor"
    )
    assert "nor could 8 such computers" in opening.too_large(row, 4.0)
    assert "nor could 8 such computers" in opening.too_large(replace(row, cells=()), 8.0)


def test_an_open_run_is_listed_and_shown_with_its_memory(plan: Path, tmp_path: Path) -> None:
    folder = str(key_folder(tmp_path / "organiser", ORGANISER))
    with served(tmp_path / "ledger", *UNLIMITED) as ledger:
        where = ("--ledger", ledger.url)
        words = ("--dir", folder, "--seed-dir", str(tmp_path / "seed"))
        done = CliRunner().invoke(cli, ("run", "open", str(plan), *where, *words))
        assert done.exit_code == 0, done.exception
        listed = CliRunner().invoke(cli, ("run", "list", *where, "--vram-gib", "2"))
        shown = CliRunner().invoke(cli, ("run", "show", "tiny", *where))
    assert "tiny needs 0." in listed.output, listed.output
    assert "0.0 of 2 GiB are lent; nor could 8" in listed.output
    assert "card memory" in shown.output
    assert "tequio cell host --guests 3" in shown.output


def test_the_ways_out_of_few_tokens_and_of_many_passes_do_not_contradict_each_other(
    plan: Path,
) -> None:
    outline = read_outline(plan)
    found = estimate.estimate_run(outline, ExpectPlan(peers=2, vram_gib=4, tflops=2e-7))
    (passes,) = [one for one in found.warnings if "times over its data" in one]
    (tokens,) = [one for one in found.warnings if "tokens for each parameter" in one]
    assert "use more data, or fewer rounds" in passes
    assert "use a smaller model, or more data and rounds" in tokens
