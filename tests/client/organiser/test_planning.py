"""New plans: values that can work, refusals that say the way out, one table for both."""

from __future__ import annotations

import os
import re
from typing import TYPE_CHECKING

import msgspec
import pytest
from click.testing import CliRunner

from tequio_client.__main__ import cli
from tequio_client.dataset import build, sources
from tequio_client.organiser import estimate, opening, planning
from tequio_client.organiser import plan as plans
from tequio_client.organiser.outline import read_outline
from tequio_client.organiser.plan import ExpectPlan
from tequio_client.worker.lending.needs import MOST_COMPUTERS, contribution_bytes, gossip_bytes
from tequio_shared.errors import UserFacingError
from tests.support import chats

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Shards of bytes, samples of 64."""
    folder = tmp_path_factory.mktemp("planning")
    texts = folder / "texts"
    texts.mkdir()
    for number in range(20):
        (texts / f"{number}.txt").write_text(f"{number} milpa mano metate masa " * 20)
    settings = build.ShardOptions(sequence=64, seed=0, held_out_bp=1_000, shard_bytes=1 << 20)
    source, tokenizer = sources.folder_files(texts, "*"), sources.load_tokenizer("bytes", None)
    build.build_shards(source, tokenizer, settings, folder / "data")
    return folder / "data"


def new(path: Path, data: Path, *words: str) -> str:
    result = CliRunner().invoke(cli, ("run", "new", str(path), "--data", str(data), *words))
    if result.exception is not None:
        raise result.exception
    return result.output


def refusal(path: Path, data: Path, *words: str) -> str:
    with pytest.raises(UserFacingError) as caught:
        new(path, data, *words)
    assert "\n" not in str(caught.value)
    assert not path.exists()
    return str(caught.value)


@pytest.mark.parametrize(
    ("parameters", "vocabulary"),
    [(10**6, 256), (125 * 10**6, 50_257), (10**9, 32_000), (7 * 10**9, 32_000)],
)
def test_a_fresh_model_has_about_the_size_that_was_asked_for(
    parameters: int, vocabulary: int
) -> None:
    shape = planning.nearest_shape(parameters, vocabulary)
    assert abs(shape.parameters - parameters) < 0.05 * parameters
    assert shape.heads * shape.head == shape.width
    assert shape.heads % shape.keys == 0


def test_the_size_of_a_shape_is_that_of_the_network(tmp_path: Path, data: Path) -> None:
    new(tmp_path / "run.toml", data, "--parameters", "1M")
    found = read_outline(tmp_path / "run.toml").manifest.model
    assert found.parameters == planning.nearest_shape(10**6, 256).parameters


def test_data_on_another_drive_is_named_by_its_whole_path(
    tmp_path: Path, data: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def relpath(path: object, start: object) -> str:
        raise ValueError(f"path is on mount {path}, start on mount {start}")  # as ntpath says

    monkeypatch.setattr(os.path, "relpath", relpath)
    monkeypatch.chdir(data.parent)
    new(tmp_path / "run.toml", data.relative_to(data.parent), "--parameters", "1M")
    assert f'folder = "{data}"' in (tmp_path / "run.toml").read_text()


def test_no_model_is_smaller_than_its_vocabulary() -> None:
    with pytest.raises(UserFacingError, match=r"vocabulary of 128,256 has about 1,000,000"):
        planning.nearest_shape(10**6, 128_256)


def test_a_new_plan_opens_and_its_check_is_the_same_table(tmp_path: Path, data: Path) -> None:
    path = tmp_path / "plans" / "maize.toml"
    said = new(path, data, "--parameters", "200K", "--peers", "4")
    assert f"tequio run open {path}" in said.replace("\n", "")
    checked = CliRunner().invoke(cli, ("run", "check", str(path)))
    assert checked.exit_code == 0
    assert checked.output.split() == said[: said.index("written to")].split()
    prepared = opening.prepare_run(path)
    assert prepared.manifest.name == "maize"
    assert prepared.manifest.inner.steps == 20
    assert prepared.manifest.rounds.min_members == 2
    # Members may miss the attest phase after the last round without losing its head.
    assert prepared.manifest.rounds.cooldown >= 3 * prepared.manifest.rounds.attest


def test_a_plan_says_why_at_each_value(tmp_path: Path, data: Path) -> None:
    new(tmp_path / "run.toml", data, "--parameters", "1M")
    lines = (tmp_path / "run.toml").read_text().splitlines()
    assert max(map(len, lines)) <= 110
    bare = [line for line in lines if "=" in line and "#" not in line]
    assert {line.split(" ")[0] for line in bare} <= {"name", "cooldown_s", "peers"}


def test_the_defaults_are_the_plan_that_was_measured_at_ten_million_parameters(
    tmp_path: Path, data: Path
) -> None:
    """The one of `bench/learning.py`, by which docs/results.md says what a run loses."""
    new(tmp_path / "run.toml", data, "--parameters", "10M", "--peers", "4")
    plan = plans.read_plan(tmp_path / "run.toml")
    assert (plan.algorithm.k, plan.algorithm.bits, plan.algorithm.outer_lr) == (512, 2, 2.0)
    inner = plan.inner
    assert (inner.optimiser, inner.steps, inner.lr, inner.adam_lr) == ("muon", 20, 3e-3, 1e-3)
    assert (inner.warmup, inner.anneal, inner.feedback, inner.clip) == (0.03, 0.4, 0.95, 1.0)
    new(tmp_path / "many.toml", data, "--parameters", "10M", "--peers", "7")
    assert plans.read_plan(tmp_path / "many.toml").algorithm.k == 0


def test_larger_models_train_longer_at_lower_rates(tmp_path: Path, data: Path) -> None:
    found = []
    for size in ("1M", "100M", "1B"):
        path = tmp_path / f"{size}.toml"
        new(path, data, "--parameters", size, "--vram-gib", "80", "--disk-gib", "100")
        found.append(plans.read_plan(path))
    rates = [plan.inner.lr for plan in found]
    assert rates == sorted(rates, reverse=True)
    assert rates[0] > rates[-1]
    times = [plan.rounds.train_s for plan in found]
    assert times == sorted(times)
    assert times[0] < times[-1]


def test_sizes_of_a_small_run_are_told_in_three_digits(tmp_path: Path, data: Path) -> None:
    said = " ".join(new(tmp_path / "run.toml", data, "--parameters", "1M").split())
    assert re.search(r"model [│|]? ?\d(\.\d+)?[kM] parameters", said) is not None, said
    assert re.search(r" [1-9][\d.]* MB a head", said) is not None, said
    assert not re.search(r" 0\.0+ (GB|GiB|MB|billion)", said), said


def test_a_slow_line_makes_longer_rounds(tmp_path: Path, data: Path) -> None:
    for name, mbit in (("fast", "100"), ("slow", "0.5")):
        new(tmp_path / f"{name}.toml", data, "--parameters", "30M", "--upload-mbit", mbit)
    fast, slow = (plans.read_plan(tmp_path / f"{name}.toml") for name in ("fast", "slow"))
    assert slow.rounds.train_s > fast.rounds.train_s
    assert slow.rounds.witness_s > fast.rounds.witness_s


@pytest.mark.parametrize("size", ["10M", "1B"])
@pytest.mark.parametrize("peers", range(2, 9))
def test_a_full_roster_has_time_to_transfer_what_the_plan_lets_it_send(
    peers: int, size: str, tmp_path: Path, data: Path
) -> None:
    words = ("--peers", str(peers), "--vram-gib", "80", "--disk-gib", "500", "--days", "30")
    new(tmp_path / "run.toml", data, "--parameters", size, *words)
    found = read_outline(tmp_path / "run.toml")
    rounds, expect = found.plan.rounds, found.plan.expect
    assert isinstance(expect, ExpectPlan)
    full_s = estimate.transfer_s(found.manifest, expect, rounds.most_members)
    assert full_s <= rounds.train_s / 2
    assert full_s <= rounds.witness_s
    round_s = estimate.estimate_run(found, expect).round_s
    assert 0 <= 30 * 86_400 - rounds.most * round_s < round_s, "the days given, within a round"


def test_a_model_too_large_for_the_card_is_refused_with_one_that_fits(
    tmp_path: Path, data: Path
) -> None:
    said = refusal(tmp_path / "run.toml", data, "--parameters", "7B", "--vram-gib", "8")
    assert "one sample needs" in said
    assert "6.0 of 8 GiB are lent" in said
    fitting = re.search(r"about ([0-9]+)M parameters", said)
    assert fitting is not None
    assert not (tmp_path / "run.model.json").exists()
    new(tmp_path / "run.toml", data, "--parameters", f"{fitting[1]}M")


def test_a_plan_that_was_changed_to_what_cannot_work_is_not_opened(
    tmp_path: Path, data: Path
) -> None:
    path = tmp_path / "run.toml"
    new(path, data, "--parameters", "30M")
    text = path.read_text()
    for was, becomes, said in (
        (r"witness_s = \d+", "witness_s = 1", "witnesses wait 1 s: set rounds.witness_s to"),
        (r"min_members = \d+", "min_members = 9", "a round needs 9 members, and 8 are expected"),
        (r"first = \d+", "first = 99999", "set windows.first to"),
        (r"disk_gib = \d+", "disk_gib = 0.1", "107 MB are lent (disk_gib = 0.1)"),
    ):
        path.write_text(re.sub(rf"(?m)^{was}", becomes, text))
        with pytest.raises(UserFacingError, match="this run cannot work") as caught:
            opening.prepare_run(path)
        assert said in str(caught.value)
        assert CliRunner().invoke(cli, ("run", "check", str(path))).exception is not None


def test_a_plan_of_distro_opens_with_one_step_only(tmp_path: Path, data: Path) -> None:
    path = tmp_path / "run.toml"
    new(path, data, "--parameters", "1M")
    text = path.read_text()
    needed = estimate.estimate_run(read_outline(path), ExpectPlan()).rows
    for was, becomes, said in (
        ("name = .sparseloco.", 'name = "distro"', "algorithm.outer_lr is 2: for distro"),
        ("outer_lr = 2.0", "outer_lr = 0.002", "algorithm.bits 2 is not allowed for distro"),
        ("bits = 2", "bits = 1", "inner.steps must be 1 for distro, whose round is one step"),
    ):
        text = re.sub(rf"(?m)^{was}", becomes, text)
        path.write_text(text)
        with pytest.raises(UserFacingError, match=re.escape(said)):
            opening.prepare_run(path)
    path.write_text(re.sub(r"(?m)^steps = \d+", "steps = 1", text))
    prepared = opening.prepare_run(path)
    assert prepared.manifest.algorithm.layout == "tile64"
    assert len(prepared.weights) == 4 * prepared.manifest.layout.elements
    found = estimate.estimate_run(read_outline(path), ExpectPlan()).rows
    memory = [
        next(one.value for one in rows if one.label == "card memory") for rows in (needed, found)
    ]
    assert float(memory[1].split()[0]) <= float(memory[0].split()[0])


def test_what_is_there_already_is_not_written_over(tmp_path: Path, data: Path) -> None:
    path = tmp_path / "run.toml"
    new(path, data, "--parameters", "1M")
    before = path.read_text()
    with pytest.raises(UserFacingError, match="exists already"):
        new(path, data, "--parameters", "2M")
    assert path.read_text() == before


@pytest.mark.parametrize("size", ["0", "-1", "1e9", "many", "1.5.2M", "9" * 16])
def test_an_amount_that_is_none_is_refused(size: str, tmp_path: Path, data: Path) -> None:
    words = ("run", "new", str(tmp_path / "p.toml"), "--data", str(data), "--parameters", size)
    assert "expected 125M" in CliRunner().invoke(cli, words).output


def test_a_run_is_fresh_or_goes_on(tmp_path: Path, data: Path) -> None:
    words = ("run", "new", str(tmp_path / "p.toml"), "--data", str(data))
    for more in ((), ("--parameters", "1M", "--from", "x")):
        assert "--from" in CliRunner().invoke(cli, (*words, *more)).output


def test_a_run_that_reads_its_data_too_often_is_warned_about(tmp_path: Path, data: Path) -> None:
    words = ("run", "new", str(tmp_path / "p.toml"), "--data", str(data), "--parameters", "1M")
    often = CliRunner().invoke(cli, (*words, "--tokens", "10B"))
    assert often.exit_code == 0, often.output
    assert "warning: the run passes " in often.stderr
    assert "fewer rounds (rounds.most, which `run new` takes from --tokens)" in often.stderr
    assert "little more" not in often.stdout, "the table has figures only"
    (tmp_path / "p.toml").unlink()
    (tmp_path / "p-config.json").unlink(missing_ok=True)


def test_data_that_is_read_often_is_fetched_once_if_a_store_keeps_it(
    tmp_path: Path, data: Path
) -> None:
    new(tmp_path / "run.toml", data, "--parameters", "1M", "--tokens", "10B")
    outline = read_outline(tmp_path / "run.toml")
    all_bytes = sum(one.size_bytes for one in outline.corpus.train)
    large, small = (
        estimate.estimate_run(outline, ExpectPlan(disk_gib=size)) for size in (30.0, 1e-6)
    )
    rounds, passes = outline.manifest.rounds.most, large.passes
    assert passes > 1_000
    whole = (8 * contribution_bytes(outline.manifest, 8) + gossip_bytes(8)) * rounds
    head = outline.manifest.weights_bytes + outline.manifest.aux_bytes
    assert received(large) < head + 1.1 * whole, "contributions and gossip, and hardly any data"
    again = received(small) - received(large)
    assert again == pytest.approx(passes * all_bytes, rel=0.05, abs=0.02 * received(small))


def received(found: estimate.Estimate) -> float:
    """Bytes that a member receives in the whole run, as the table says."""
    (note,) = (row.note for row in found.rows if row.label == "cost")
    return in_bytes(note.rpartition("and receives ")[2])


def in_bytes(text: str) -> float:
    number, unit = text.split()
    return float(number) * {"MB": 1e6, "GB": 1e9, "TB": 1e12}[unit]


def test_peers_for_whom_a_round_has_no_place_are_named_and_not_counted(
    tmp_path: Path, data: Path
) -> None:
    path = tmp_path / "run.toml"
    new(path, data, "--parameters", "1M", "--peers", "20")
    text = re.sub(r"(?m)^most_members = \d+", "most_members = 16", path.read_text())
    path.write_text(text)
    found = estimate.estimate_run(read_outline(path), ExpectPlan(peers=20))
    fewer = estimate.estimate_run(read_outline(path), ExpectPlan(peers=16))
    assert found.rows == fewer.rows
    assert (found.round_tokens, found.round_s) == (fewer.round_tokens, fewer.round_s)
    (told,) = set(found.warnings) - set(fewer.warnings)
    assert (
        "a round has at most 16 members, so 4 would wait for a place: raise rounds.most_members"
        in told
    )


def test_a_run_for_cells_is_judged_by_the_memory_of_their_computers(
    tmp_path: Path, data: Path
) -> None:
    plan = tmp_path / "plan.toml"
    size = ("--parameters", "1B", "--disk-gib", "100")
    alone = refusal(plan, data, *size)
    found = re.search(r"or cells of (\d) such computers, .* \(--cell (\d), or cell = ", alone)
    assert found is not None, alone
    number = int(found[1])
    assert found[1] == found[2]
    short = refusal(plan, data, *size, "--cell", str(number - 1))
    assert f"each of {number - 1} computers needs" in short
    shown = new(plan, data, *size, "--cell", str(number))
    assert f"on each of {number} computers" in shown
    assert plans.read_plan(plan).expect == ExpectPlan(disk_gib=100.0, cell=number, tflops=10.0)
    with pytest.raises(SystemExit):
        new(plan, data, *size, "--cell", str(MOST_COMPUTERS + 1))


def test_every_card_of_a_cell_counts_in_the_card_hours(tmp_path: Path, data: Path) -> None:
    path = tmp_path / "run.toml"
    new(path, data, "--parameters", "1M", "--peers", "4", "--cell", "2", "--days", "5")
    found = estimate.estimate_run(read_outline(path), ExpectPlan(peers=4, cell=2))
    (hours,) = (
        float(row.value.removesuffix(" card-hours").replace(",", ""))
        for row in found.rows
        if row.label == "cost"
    )
    assert hours == pytest.approx(4 * 2 * 5 * 24, rel=0.01)


def test_the_speed_of_a_card_is_guessed_or_said() -> None:
    said, guessed = ExpectPlan(tflops=20.0), ExpectPlan(vram_gib=8.0)
    assert estimate.tokens_per_s(10**8, said) == 2 * estimate.tokens_per_s(10**8, guessed)


def test_a_run_has_the_length_that_was_given_or_is_refused(tmp_path: Path, data: Path) -> None:
    size = ("--parameters", "1M", "--peers", "2", "--tflops", "0.1")
    short = refusal(tmp_path / "run.toml", data, *size, "--tokens", "5M")
    told = re.fullmatch(
        r"(.*) tokens are 8 rounds, and a run has at least 10: give (.*)M or more", short
    )
    assert told is not None, short
    assert told[1] == "5,000,000"
    new(tmp_path / "run.toml", data, *size, "--tokens", f"{told[2]}M")
    assert plans.read_plan(tmp_path / "run.toml").rounds.most in (10, 11)
    new(tmp_path / "long.toml", data, *size, "--days", "3650")
    long = read_outline(tmp_path / "long.toml")
    found = estimate.estimate_run(long, ExpectPlan(peers=2, tflops=0.1))
    assert long.plan.rounds.most * found.round_s == pytest.approx(3_650 * 86_400, rel=1e-3)


def test_a_model_that_is_not_here_is_named_without_asking_the_hub(
    tmp_path: Path, data: Path
) -> None:
    (tmp_path / "config.json").write_text("{}")
    gone = refusal(tmp_path / "run.toml", data, "--from", str(tmp_path / "gone"))
    assert gone == f"folder {tmp_path / 'gone'} not found"
    file = refusal(tmp_path / "run.toml", data, "--from", str(tmp_path / "config.json"))
    assert file.endswith("config.json is a file: give the folder of the model")
    fresh = CliRunner().invoke(
        cli, ("run", "new", "x.toml", "--data", str(data), "--parameters", "1M", "--revision", "v1")
    )
    assert fresh.exit_code == 2
    assert "--revision v1 needs a repository of the Hub" in fresh.stderr


def test_conversations_are_read_three_times(tmp_path: Path) -> None:
    words = chats.encoder(chats.word_tokenizer(tmp_path / "words"), 64)
    corpus = chats.build(tmp_path / "data", words, chats.rows(*chats.echoes(10)))
    size = 64 * 10**8 + 1
    many = msgspec.structs.replace(
        corpus.train[0], samples=10**8, tokens=size, size_bytes=size * corpus.token_bytes
    )
    corpus = msgspec.structs.replace(corpus, train=(many,))
    (tmp_path / "data" / build.MANIFEST_NAME).write_bytes(corpus.encode())
    said = new(tmp_path / "run.toml", tmp_path / "data", "--parameters", "1M", "--disk-gib", "99")
    plain = "".join(one for one in said if one.isascii())
    assert re.search(r"3\.\d passes", " ".join(plain.split())), said
