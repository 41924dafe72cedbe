"""A run that starts from another run's head: found in the log, fetched, and named."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec
import numpy as np
import pytest
from click.testing import CliRunner

from tequio_client.__main__ import cli
from tequio_client.organiser import opening
from tequio_client.organiser import plan as plans
from tequio_client.organiser.outline import read_outline
from tequio_client.trainer import first_head
from tequio_client.worker.store.store import Store
from tequio_shared.errors import UserFacingError, first_error
from tequio_shared.head.head import aux_root
from tequio_shared.ids import digest_from_text, to_text
from tequio_shared.limits import PIECE_BYTES
from tequio_shared.round.manifest import Manifest
from tests.client.verify.logs import SwarmLog
from tests.support.forked_program import MODELS
from tests.support.frozen_base import TARGETS, described, write_base
from tests.support.llama_swarm import ROUNDS, ServedLog, play, played, served_log
from tests.support.plans import write_plan
from tests.support.terminals import in_terminal

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

NAME = "maize- 1.0"


@pytest.fixture(scope="module")
def site() -> Iterator[ServedLog]:
    with served_log(SwarmLog(played().swarm)) as served:
        yield served


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The current folder, with data on bytes."""
    write_plan(tmp_path).unlink()
    monkeypatch.chdir(tmp_path)
    return tmp_path


def new(site: ServedLog, *words: str, run: str = NAME) -> str:
    """Plan in `fork.toml`; raises what the command raises."""
    where = ("--data", "data", "--from-run", run, "--ledger", site.url)
    result = CliRunner().invoke(cli, ("run", "new", "fork.toml", *where, *words))
    if result.exception is not None:
        raise first_error(result.exception)
    return result.output


def refusal(site: ServedLog, *words: str, run: str = NAME) -> str:
    with pytest.raises(UserFacingError) as caught:
        new(site, *words, run=run)
    assert "\n" not in str(caught.value)
    return str(caught.value)


def plan_text(site: ServedLog, *, run: str = NAME, number: int = 1, more: str = "") -> str:
    parent = f'parent.ledger = "{site.url}"\nparent.run = "{run}"\nparent.round = {number}'
    return f'name = "fork"\n[model]\n{parent}\n[data]\nfolder = "data"\n{more}'


@pytest.mark.parametrize("number", [0, 1, ROUNDS])
def test_the_first_head_is_that_of_the_round(site: ServedLog, folder: Path, number: int) -> None:
    words = () if number == ROUNDS else ("--round", str(number))
    assert "tequio run open fork.toml" in new(site, *words)
    text = (folder / "fork.toml").read_text()
    assert f"# {NAME}" in text
    assert "the head of this round is the first head" in text
    assert "a third of the rate for fresh weights; it was " in text
    outline = read_outline(folder / "fork.toml")
    algorithm = outline.plan.algorithm
    assert (algorithm.k, algorithm.outer_lr) == (0, 1.0), "measured for fresh weights only"
    prepared = opening.prepare_run(folder / "fork.toml")
    manifest, head = prepared.manifest, played().swarm.view.heads[number]
    assert Manifest.parse(manifest.encode()) == manifest
    assert outline.manifest.continued == manifest.continued
    assert manifest.continued is not None
    assert manifest.continued.run == to_text(played().manifest.run_id)
    assert (manifest.continued.round, manifest.continued.head) == (number, to_text(head.hash))
    assert manifest.model.weights_root == to_text(head.weights_root)
    assert manifest.model.tensors == played().manifest.model.tensors
    assert prepared.parent is not None
    found = played().store(folder / "worker" / "store", number).parent
    prepared.parent.fetch(folder / "seed", (folder / "gone", found))
    store = Store(folder / "seed", quota_bytes=1 << 30)
    opening.store_run(prepared, store)
    weights = np.fromfile(store.tree_path(head.weights_root), "<i4")
    assert (weights == played().weights(number)).all()


def test_state_beside_the_weights_begins_with_zeros(site: ServedLog, folder: Path) -> None:
    rules = '[algorithm]\nname = "diloco"\nk = 4096\nbits = 8\nmomentum = 0.6\n'
    (folder / "fork.toml").write_text(plan_text(site, more=rules))
    manifest = opening.prepare_run(folder / "fork.toml").manifest
    zeros = np.zeros(manifest.layout.elements, "<i4")
    assert manifest.model.aux_root == to_text(aux_root(zeros))


def test_what_does_not_fit_is_named_with_the_way_out(site: ServedLog, folder: Path) -> None:
    said = refusal(site, "--round", "99")
    assert said.startswith(f"no head of round 99 of {NAME} is certified: give the round of one")
    assert "no run" in refusal(site, run="rye")
    (folder / "fork.toml").write_text(plan_text(site, more='[algorithm]\nname = "distro"\n'))
    for text, why in (
        (plan_text(site, more='[algorithm]\nname = "distro"\n'), "heads have another layout"),
        (plan_text(site).replace("[data]", "lora.rank = 4\n[data]"), "remove model.source and"),
        (plan_text(site).replace("[data]", 'source = "x"\n[data]'), "remove model.source and"),
        ('name = "x"\n[model]\n[data]\nfolder = "data"\n', "[model] lacks `source`"),
    ):
        (folder / "fork.toml").write_text(text)
        with pytest.raises(UserFacingError) as caught:
            opening.prepare_run(folder / "fork.toml")
        assert why in str(caught.value)


def test_data_of_another_tokenizer_is_refused(site: ServedLog, folder: Path) -> None:
    path = folder / "data" / "corpus.json"
    corpus = msgspec.json.decode(path.read_bytes())
    corpus["tokenizer"] = {"kind": "huggingface", "file": "A" * 43, "vocab_size": 256}
    path.write_bytes(msgspec.json.encode(corpus, order="sorted"))
    assert "is trained on bytes, and the data has other tokens" in refusal(site)


def test_options_that_exclude_each_other_are_named(folder: Path) -> None:
    base = ("run", "new", "x.toml", "--data", "data")
    for words, why in (
        (("--parameters", "1M", "--from-run", "maize"), "or --from-run to continue from a head"),
        (("--parameters", "1M", "--round", "3"), "--round 3 is a round of another run"),
        (("--parameters", "1M", "--days", "3", "--tokens", "5M"), "--tokens or --days: give one"),
    ):
        result = CliRunner().invoke(cli, (*base, *words))
        assert result.exit_code == 2
        assert why in " ".join(result.stderr.split())
    assert not (folder / "x.toml").exists()


def test_adapters_go_on_beside_the_same_base(folder: Path) -> None:
    base, paths = described(write_base(folder / "base", parts=2), targets=TARGETS, rank=4)
    config = (folder / "base" / "config.json").read_bytes()
    run = play(
        model=first_head.with_adapters(config, base, paths, seed=3, layout="flat"), base=base
    )
    store = Store(run.store(folder / "store", ROUNDS), quota_bytes=1 << 30)
    for path in paths:
        store.put_tree_file(path, PIECE_BYTES)
    with served_log(SwarmLog(run.swarm)) as site:
        new(site)
        prepared = opening.prepare_run(folder / "fork.toml")
        assert prepared.parent is not None
        prepared.parent.fetch(folder / "seed", [folder / "store"])
    assert prepared.manifest.frozen == base
    assert plans.read_plan(folder / "fork.toml").inner.optimiser == "adamw"
    found = Store(folder / "seed", quota_bytes=1 << 30)
    opening.store_run(prepared, found)
    roots = [prepared.manifest.model.weights_root, *(one.root for one in base.files)]
    assert all(found.has_tree(digest_from_text(root)) for root in roots)


def test_in_a_terminal_the_last_head_is_ready_as_an_answer(site: ServedLog, folder: Path) -> None:
    answers = (
        ("[new]:", "run"),
        ("Ledger", site.url),
        ("Run:", "rye"),
        ("Run:", NAME),
        (f"Round [{ROUNDS}]:", "99"),
        (f"Round [{ROUNDS}]:", "1"),
        ("Data [data]:", "texts"),
        ("Data [", "data"),
        ("Volunteers [8]:", ""),
        ("GiB [8.0]:", ""),
        ("Mbit/s [10.0]:", ""),
        ("Days [", ""),
        ("[anybody]:", ""),
        ("[Y/n]:", ""),
    )
    shown = b""
    with in_terminal("run", "new", "fork.toml", module=MODELS) as terminal:
        for question, text in answers:
            shown += terminal.read_until(question.encode())
            terminal.type(f"{text}\n".encode())
        terminal.read_until(b"tequio run open fork.toml")
        assert terminal.program.wait(60) == 0
    assert "no head of round 99" in " ".join(shown.decode().split())
    run = to_text(played().manifest.run_id)
    assert plans.read_plan(folder / "fork.toml").model == plans.ModelPlan(
        parent=plans.ParentPlan(ledger=site.url, run=run, round=1)
    )
