"""The trainer loads a plug-in from verified bytes, checks what it brings, and trains with it."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec
import pytest
import torch

from tequio_client.ipc.plugin import PluginTrial
from tequio_client.plugins import archive
from tequio_client.tokenizers import TABLE_NAME
from tequio_client.trainer import evaluate, plugin_trial, prepared
from tequio_client.trainer.batch import BatchSize
from tequio_client.trainer.device import open_device
from tequio_client.trainer.inner import StepPlan, train
from tequio_client.trainer.plugins import loading, networks
from tequio_client.trainer.plugins.loading import PluginError
from tequio_shared.errors import MalformedError, UserFacingError
from tequio_shared.ids import sha256, to_text
from tequio_shared.round.manifest import InnerParams, Tokenizer
from tequio_shared.round.token_table import TokenTable
from tests.client.trainer import small_run
from tests.client.trainer.watching import UninterruptedControl
from tests.support import plugin_example

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from torch import Tensor

    from tequio_client.plugins.archive import PluginArchive

CONFIG = json.dumps(plugin_example.CONFIG)


@pytest.fixture(autouse=True)
def _fresh_process(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """As in a process that has loaded no plug-in."""
    monkeypatch.setattr(loading, "_loaded", [])
    monkeypatch.setattr(sys, "meta_path", list(sys.meta_path))
    yield
    for name in [one for one in sys.modules if one.partition(".")[0] == "tiny"]:
        del sys.modules[name]


def built(tmp_path: Path, **changed: str) -> PluginArchive:
    return archive.build(plugin_example.write(tmp_path / "plugin", **changed))


def tried(tmp_path: Path, found: PluginArchive) -> str:
    """The problem that a trial finds; empty without one."""
    path = tmp_path / "plugin.zip"
    path.write_bytes(found.content)
    return plugin_trial.answer(PluginTrial(archive=str(path), config=CONFIG, sequence=8)).problem


def test_the_pages_example_passes_its_trial(tmp_path: Path) -> None:
    found = built(tmp_path)
    path, out = tmp_path / "plugin.zip", tmp_path / "weights"
    path.write_bytes(found.content)
    asked = PluginTrial(archive=str(path), config=CONFIG, sequence=8, weights_out=str(out))
    result = plugin_trial.answer(asked)
    assert result.problem == ""
    assert [name for name, _ in result.tensors] == [
        "embed.weight",
        "mix.bias",
        "mix.weight",
        "out.weight",
    ]
    first = out.read_bytes()
    assert plugin_trial.answer(asked) == result
    assert out.read_bytes() == first, "the seed makes the weights"


def test_a_wrong_byte_is_refused_before_anything_is_loaded(tmp_path: Path) -> None:
    found = built(tmp_path)
    wrong = bytearray(found.content)
    at = found.content.index(b"self.rate = rates.lr")
    wrong[at : at + 4] = b"SELF"
    with pytest.raises(MalformedError):
        loading.load(bytes(wrong), found.spec)
    assert "tiny" not in sys.modules


def test_a_process_serves_the_run_of_one_plugin_alone(tmp_path: Path) -> None:
    found = built(tmp_path)
    first = loading.load(found.content, found.spec)
    assert loading.load(found.content, found.spec) is first
    other = msgspec.structs.replace(found.spec, version="2")
    for spec in (other, None):
        with pytest.raises(PluginError, match="started again"):
            loading.check_only(spec)


def test_errors_of_a_plugins_code_are_told_from_ours(tmp_path: Path) -> None:
    broken = "def build(config):\n    def fail():\n        return 1 / 0\n    return fail()\n"
    found = built(tmp_path, network=broken)
    loaded = loading.load(found.content, found.spec)
    assert loaded.model is not None
    with pytest.raises(ZeroDivisionError) as raised:
        loaded.model({})
    assert loading.is_at_fault(raised.value)
    assert not loading.is_at_fault(ValueError("ours"))
    with pytest.raises(PluginError, match=r"the plug-in tiny 1\.0 failed: ZeroDivisionError"):
        networks.build(loaded, CONFIG.encode())


NETWORK = plugin_example.example_files()["tiny/network.py"]
DESCENT = plugin_example.example_files()["tiny/descent.py"]
BEFORE, RATE = "here.cumsum(1) / count", "self.rate * momentum"
BUFFER = "super().__init__()\n        self.register_buffer('seen', torch.zeros(1))"
CLOCK = "(1 + __import__('time').time_ns() % 1000) * momentum"


@pytest.mark.parametrize(
    ("changed", "why"),
    [
        ({"network": NETWORK.replace(BEFORE, "here.mean(1, True) + 0 * here")}, "later tokens"),
        ({"network": NETWORK.replace(BEFORE, f"{BEFORE} - here.mean(0)")}, "others of its batch"),
        ({"network": NETWORK.replace("super().__init__()", BUFFER)}, "not a parameter"),
        ({"network": NETWORK.replace("bias=False)", "bias=False).double()")}, "float32"),
        ({"network": "def build(config):\n    return 7\n"}, "int instead of a network"),
        ({"descent": DESCENT.replace(RATE, CLOCK)}, "the second time"),
        ({"descent": DESCENT.replace(RATE, "0 * momentum")}, "change no weight"),
        ({"descent": DESCENT.replace(RATE, "float('nan') * momentum")}, "NaN"),
        ({"descent": "import missing_package\n"}, "ModuleNotFoundError"),
    ],
)
def test_a_trial_names_what_a_run_could_not_train_or_repeat(
    tmp_path: Path, changed: dict[str, str], why: str
) -> None:
    found = built(tmp_path, **changed)
    assert why in tried(tmp_path, found)


WORDS = plugin_example.example_files()["tiny/words.py"]
GIVES = "return [self.ids[token] for token in self.pattern.findall(text.encode())]"
CHARACTERS = "return [self.ids[c.encode()] for c in text]"
COUNTING = (
    "self.n = getattr(self, 'n', 0) + 1\n        return list(text.encode()) if self.n < 9 else"
)


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (WORDS, ""),
        (WORDS.replace(GIVES, CHARACTERS), "KeyError"),
        (WORDS.replace(GIVES, GIVES.replace("text.", "text.strip().")), "not its UTF-8 bytes"),
        (WORDS.replace(GIVES, f"{GIVES} + [256]"), "the separator among them"),
        (WORDS.replace(GIVES, GIVES.replace("return", COUNTING)), "otherwise the second time"),
        (WORDS.replace("bytes([byte])", "chr(byte)"), "token 0 is"),
        (WORDS.replace("self.separator = 256", "self.separator = 7"), "the separator 7 must"),
    ],
)
def test_a_tokenizer_has_to_bring_back_texts_of_many_scripts(
    tmp_path: Path, words: str, why: str
) -> None:
    found = archive.build(plugin_example.write_tokenizer(tmp_path / "plugin", words=words))
    problem = tried(tmp_path, found)
    assert why in problem
    assert bool(why) == bool(problem)


def test_trainers_do_not_even_import_a_tokenizer(tmp_path: Path) -> None:
    source = "raise SystemExit('imported')\n"
    folder = plugin_example.add_tokenizer(plugin_example.write(tmp_path / "plugin", words=source))
    found = archive.build(folder)
    loaded = loading.load(found.content, found.spec)
    assert loaded.model is not None
    assert loaded.tokenizer is None


def test_a_loader_gives_the_samples_and_is_held_to_their_form(tmp_path: Path) -> None:
    folder = plugin_example.write(tmp_path / "plugin")
    (folder / "plugin.toml").write_text(
        'name = "tiny"\nversion = "1"\n[provides]\nloader = "tiny.network:load"\n'
    )
    source = "def load(samples, windows):\n    return samples.flip(1) + {}\n"
    (folder / "tiny" / "network.py").write_text(source.format(0))
    found = archive.build(folder)
    assert tried(tmp_path, found) == ""
    loader = loading.load(found.content, found.spec).loader
    assert loader is not None
    rows = torch.tensor([[1, 2, 3]])
    assert prepared.checked_samples(loader(rows, (0,)), rows, 4).tolist() == [[3, 2, 1]]
    with pytest.raises(PluginError, match="ids below 3"):
        prepared.checked_samples(loader(rows, (0,)), rows, 3)
    for wrong in (rows.int(), rows[:, :2], None):
        with pytest.raises(PluginError, match="must return"):
            prepared.checked_samples(wrong, rows, 4)


def test_a_trainer_trains_with_the_optimiser_of_the_plugin(tmp_path: Path) -> None:
    found = built(tmp_path)
    loaded = loading.load(found.content, found.spec)
    recipe, weights = InnerParams(lr_e9=1_000_000), []
    for _ in range(2):
        torch.manual_seed(0)
        made = networks.build(loaded, CONFIG.encode())
        before = made.parameters["mix.weight"].detach().clone()
        batch = BatchSize(8, open_device("cpu"))
        plan = StepPlan.from_ranges([(0, 4)], 4)
        train(made, _MadeUp(), plan, recipe, batch, UninterruptedControl(), loaded.optimiser)
        weights.append(made.parameters["mix.weight"].detach().clone())
        moved = (weights[-1] - before).square().mean().sqrt()
        assert 0.001 < moved < 0.0041, "four steps of rate 0.001, whatever the gradient"
    assert torch.equal(*weights)


class _MadeUp:
    """Samples of random tokens, the same ones every time."""

    window_samples = 2

    def samples(self, windows: Sequence[int]) -> Tensor:
        """Make the samples of some windows."""
        generator = torch.Generator().manual_seed(windows[0])
        return torch.randint(256, (2 * len(windows), 9), generator=generator)


def test_a_trainer_needs_no_code_for_a_tokenizer_and_decodes_by_its_table(tmp_path: Path) -> None:
    run = small_run.small_run(tmp_path / "run")
    found = archive.build(plugin_example.write_tokenizer(tmp_path / "plugin"))
    table = TokenTable.of([b"", *(bytes([one]) for one in range(1, 256))], 0)
    file = tmp_path / TABLE_NAME
    file.write_bytes(table.encode())
    named = Tokenizer(kind="plugin", file=to_text(sha256(table.encode())), vocab_size=256)
    corpus = msgspec.structs.replace(run.corpus, tokenizer=named)
    data = msgspec.structs.replace(run.manifest.data, manifest=to_text(corpus.digest))
    manifest = msgspec.structs.replace(run.manifest, plugin=found.spec, tokenizer=named, data=data)
    (run.folder / "manifest.json").write_bytes(manifest.encode())
    (run.folder / "corpus.json").write_bytes(corpus.encode())
    setup = prepared.prepare_model(run.prepare(1, tokenizer=str(file)))
    setup.check_trains()
    assert setup.plugin is None
    assert evaluate.decoder(setup)(list("maíz".encode())) == "maíz"
    assert evaluate.prompt_ids(setup, "") == [0]
    with pytest.raises(UserFacingError, match="does not run the code"):
        evaluate.prompt_ids(setup, "milpa")


def test_a_trainer_without_the_code_prepares_and_trains_nothing(tmp_path: Path) -> None:
    run = small_run.small_run(tmp_path / "run")
    found = built(tmp_path)
    manifest = msgspec.structs.replace(run.manifest, plugin=found.spec)
    (run.folder / "manifest.json").write_bytes(manifest.encode())
    setup = prepared.prepare_model(run.prepare(1))
    assert setup.layout == manifest.layout, "enough for heads and screening"
    for needs_loader in (True, False):
        with pytest.raises(UserFacingError, match=f"tequio plugin allow {found.spec.archive}"):
            setup.check_trains(needs_loader=needs_loader)
    wrong = tmp_path / "wrong.zip"
    wrong.write_bytes(found.content[:-1] + b"x")
    with pytest.raises(MalformedError):
        prepared.prepare_model(run.prepare(2, plugin=str(wrong)))
    assert "tiny" not in sys.modules
