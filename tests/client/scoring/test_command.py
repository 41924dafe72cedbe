"""`tequio score`: any model, on any text, with the numbers that competitions use."""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING, Any

import pytest
import torch
from click.testing import CliRunner

from tequio_client.checkpoint import layout
from tequio_client.scoring.cli import score
from tequio_client.trainer import likelihood
from tequio_client.trainer.model import CausalModel
from tequio_client.trainer.model_config import ModelRefusedError
from tequio_shared import encoding
from tequio_shared.errors import UserFacingError
from tequio_shared.ids import sha256, to_text
from tequio_shared.multiple_choice import ChoiceQuestion, ChoiceTask
from tequio_shared.scoring import LEAST_DOCUMENTS, Refusal
from tests.support import architectures, model_folders
from tests.support.model_folders import END

if TYPE_CHECKING:
    from pathlib import Path

    from click.testing import Result


TEXTS = [f"{name} " * 30 for name in ("milpa", "mano", "metate", "masa", "maíz", "monte")]


BPE: dict[str, Any] = json.loads(model_folders.bpe(TEXTS, 256))


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """A model, one that is slightly off it, and one that knows nothing."""
    root = tmp_path_factory.mktemp("models")
    config = model_folders.llama(256)
    tensors = model_folders.tensors_of(config)
    chance = torch.Generator().manual_seed(7)
    noisy = {
        name: one + 0.02 * torch.randn(one.shape, generator=chance) for name, one in tensors.items()
    }
    return {
        "good": model_folders.write(
            root / "uniform", config, tensors=model_folders.uniform(config)
        ),
        "bad": model_folders.write(root / "bad", config, tensors=tensors),
        "near": model_folders.write(root / "near", config, tensors=noisy),
    }


@pytest.fixture
def texts(tmp_path: Path) -> Path:
    folder = tmp_path / "texts"
    folder.mkdir()
    for at, text in enumerate(TEXTS):
        (folder / f"{at}.txt").write_text(text, "utf-8")
    return folder


def _run(*asked: object) -> Result:
    command = [*map(str, asked), "--tokenizer", "bytes", "--device", "cpu"]
    return CliRunner().invoke(score, command, terminal_width=200, env={"COLUMNS": "200"})


def _numbers(tmp_path: Path, *asked: object) -> dict[str, Any]:
    result = _run(*asked, "--json", tmp_path / "out.json")
    assert result.exit_code == 0, (result.output, result.exception)
    found: dict[str, Any] = json.loads((tmp_path / "out.json").read_text())
    return found


def _refusal(*asked: object) -> str:
    result = _run(*asked)
    assert isinstance(result.exception, UserFacingError)
    return str(result.exception)


@pytest.mark.skipif(sys.platform != "linux", reason="has no /dev/full")
def test_a_full_disk_is_told_in_a_sentence(folders: dict[str, Path], texts: Path) -> None:
    told = _refusal(folders["good"], "--on", texts, "--json", "/dev/full")
    assert told == "cannot write /dev/full: No space left on device"


def test_a_model_is_scored_on_a_folder_of_texts(
    folders: dict[str, Path], texts: Path, tmp_path: Path
) -> None:
    found = _numbers(tmp_path, folders["good"], "--on", texts)
    (one,) = found["models"]
    assert one["bits_per_byte"] == 8.0
    assert one["byte_perplexity"] == 256.0
    assert one["totals"]["size_bytes"] == sum(len(text.encode()) for text in TEXTS)
    assert [document["words"] for document in one["documents"]] == [31] * 6
    assert found["ranking"] is None
    assert (one["window"], one["stride"]) == (64, 32)


def test_a_text_file_and_json_lines_give_the_same_number(
    folders: dict[str, Path], tmp_path: Path
) -> None:
    (tmp_path / "one.txt").write_text(TEXTS[0], "utf-8")
    lines = [json.dumps({"body": TEXTS[0]}), "", json.dumps({"body": ""})]
    (tmp_path / "lines.jsonl").write_text("\n".join(lines))
    file = _numbers(tmp_path, folders["bad"], "--on", tmp_path / "one.txt")
    lined = _numbers(tmp_path, folders["bad"], "--on", tmp_path / "lines.jsonl", "--column", "body")
    assert file["models"][0]["bits_per_byte"] == lined["models"][0]["bits_per_byte"]
    assert lined["models"][0]["totals"]["empty"] == 1


def test_a_dataset_of_hugging_face_is_read(
    folders: dict[str, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("datasets.config.HF_DATASETS_CACHE", tmp_path / "cache")
    rows = tmp_path / "rows"
    rows.mkdir()
    (rows / "train.jsonl").write_text("\n".join(json.dumps({"text": text}) for text in TEXTS))
    found = _numbers(tmp_path, folders["good"], "--on", rows, "--documents", "4")
    assert found["models"][0]["totals"]["documents"] == 4


def test_models_are_ranked_and_a_copy_is_a_tie(folders: dict[str, Path], tmp_path: Path) -> None:
    lines = [json.dumps({"text": f"{at}: {TEXTS[at % 6]}"}) for at in range(LEAST_DOCUMENTS)]
    (tmp_path / "texts.jsonl").write_text("\n".join(lines))
    asked = (folders["bad"], folders["good"], folders["bad"], "--on", tmp_path / "texts.jsonl")
    found = _numbers(tmp_path, *asked)
    ranks = {one["name"]: one["rank"] for one in found["ranking"]["places"]}
    bad, good = str(folders["bad"]), str(folders["good"])
    assert ranks == {good: 1, bad: 2, f"{bad} (2)": 2}
    winners = {(one["first"], one["other"]): one["winner"] for one in found["ranking"]["pairs"]}
    assert winners[bad, f"{bad} (2)"] == ""
    output = " ".join(_run(*asked).output.split())
    assert f"{good} is better" in output
    assert "a tie" in output
    assert "documents cannot tell" not in output


def test_few_documents_tell_no_models_apart(folders: dict[str, Path], texts: Path) -> None:
    output = " ".join(_run(folders["bad"], folders["good"], "--on", texts).output.split())
    assert "a tie: fewer than 30 documents cannot tell models apart" in output
    assert f"{folders['good']} is better" not in output


def test_another_beacon_draws_other_documents(
    folders: dict[str, Path], texts: Path, tmp_path: Path
) -> None:
    asked = (folders["bad"], folders["near"], "--on", texts)
    zero = _numbers(tmp_path, *asked)["ranking"]
    other = _numbers(tmp_path, *asked, "--beacon", "A" * 42 + "E")["ranking"]
    assert zero["beacon"] == "A" * 43
    assert zero["places"] != other["places"]


def test_each_document_is_shown_when_asked_for(folders: dict[str, Path], texts: Path) -> None:
    (texts / "zero.txt").write_bytes(b"a\0b")
    (texts / "not-text").write_bytes(b"\xff\xfe")
    result = _run(folders["good"], "--on", texts, "--each")
    assert result.exit_code == 0, result.output
    assert "cannot restore the text" in result.output
    assert "left out: no Unicode text" in result.output
    assert "cannot reproduce them: 1" in result.output
    assert "no valid Unicode text: 1" in result.output


def test_a_narrow_terminal_shows_every_digit(folders: dict[str, Path], texts: Path) -> None:
    command = [str(folders["good"]), "--on", str(texts), "--tokenizer", "bytes", "--device", "cpu"]
    result = CliRunner().invoke(score, command, env={"COLUMNS": "80"})
    assert "8.000000" in result.output
    assert "256.0000" in result.output


@pytest.mark.parametrize(
    ("name", "raw", "told"),
    [
        ("a.jsonl", b'{"text": 3}', "line 1 has no text in 'text'"),
        ("a.jsonl", b'"fine"\n{', "line 2 is not valid JSON"),
        ("a.txt", b"", "the file a.txt contains no text"),
        ("a.txt", b"\xff", "the file a.txt contains no text"),
    ],
)
def test_what_holds_no_text_is_told(
    folders: dict[str, Path], tmp_path: Path, name: str, raw: bytes, told: str
) -> None:
    (tmp_path / name).write_bytes(raw)
    assert told in _refusal(folders["good"], "--on", tmp_path / name)


def test_what_is_not_there_is_told(folders: dict[str, Path], tmp_path: Path) -> None:
    there = tmp_path / "none"
    assert f"{there} does not exist" in _refusal(folders["good"], "--on", there)
    assert "File name too long" in _refusal(folders["good"], "--on", "a" * 300)
    (tmp_path / "a.txt").write_text("milpa")
    assert f"{there} does not exist" in _refusal(there, "--on", tmp_path / "a.txt")


def test_a_window_longer_than_the_context_is_told(folders: dict[str, Path], texts: Path) -> None:
    assert "whose context is 64" in _refusal(folders["good"], "--on", texts, "--window", "65")


def test_a_beacon_of_another_size_is_told(folders: dict[str, Path], texts: Path) -> None:
    result = _run(folders["good"], "--on", texts, "--beacon", "short")
    assert result.exit_code == 2
    assert "43 characters" in result.output


def _task(folder: Path, name: str = "words", **changes: object) -> Path:
    questions = tuple(
        ChoiceQuestion(
            characters=(3, 4),
            contexts=(f"{text[:20]} {number}",),
            continuations=(" yes", " fine"),
            right=number % 2,
        )
        for number, text in enumerate(TEXTS * 4)
    )
    task = ChoiceTask(name=name, source="a test", questions=questions)
    path = folder / f"{name}.task"
    path.write_bytes(encoding.encode(json.loads(task.encode()) | changes))
    return path


def test_tasks_are_scored_without_texts(folders: dict[str, Path], tmp_path: Path) -> None:
    task = _task(tmp_path)
    found = _numbers(tmp_path, folders["good"], folders["bad"], "--task", task)
    assert (found["data"], found["ranking"]) == (None, None)
    good, bad = found["models"]
    assert good["bits_per_byte"] is None
    (uniform,), (other,) = good["tasks"], bad["tasks"]
    # Every byte costs 8 bits: four bytes are always cheaper than five, and per character dearer.
    assert uniform["questions"][0]["millibits"] == [32_000, 40_000]
    assert (uniform["totals"]["right"], uniform["totals"]["right_normed"]) == (12, 12)
    assert uniform["totals"]["close"] == 0
    assert (uniform["accuracy"], uniform["chance"]) == (0.5, 0.5)
    assert uniform["hash"] == other["hash"] == to_text(sha256(task.read_bytes()))
    assert uniform["questions"] != other["questions"]


def test_tasks_are_shown_beside_bits_per_byte(
    folders: dict[str, Path], texts: Path, tmp_path: Path
) -> None:
    first, second = _task(tmp_path), _task(tmp_path, "more")
    asked = ("--on", texts, "--task", first, "--task", second)
    result = _run(folders["good"], folders["bad"], *asked)
    assert result.exit_code == 0, result.output
    for told in ("8.000000", "Ranking", "words: 24 questions, chance 50.0%", "more: 24 questions"):
        assert told in result.output
    assert "50.00%" in result.output
    assert "31.4% to 68.6%" in result.output
    assert to_text(sha256(second.read_bytes())) in result.output


def test_everybody_counts_the_same_on_a_file(folders: dict[str, Path], tmp_path: Path) -> None:
    task = _task(tmp_path)
    one = _numbers(tmp_path, folders["bad"], "--task", task)["models"][0]["tasks"][0]
    small = ("--batch-tokens", "1", "--threads", "1")
    other = _numbers(tmp_path, folders["bad"], "--task", task, *small)["models"][0]["tasks"][0]
    assert one["totals"] == other["totals"]


def test_questions_beyond_the_window_are_said(folders: dict[str, Path], tmp_path: Path) -> None:
    result = _run(folders["good"], "--task", _task(tmp_path), "--window", "8")
    assert "without their beginning, because its window is too short: 24" in result.output
    tiny = _run(folders["good"], "--task", _task(tmp_path), "--window", "4")
    assert "counted as wrong, because it cannot read them in full: 24" in tiny.output


def test_what_is_no_task_is_told(folders: dict[str, Path], tmp_path: Path) -> None:
    task, none = _task(tmp_path), tmp_path / "none.task"
    assert "nothing to score on" in _refusal(folders["good"])
    assert f"cannot read {none}" in _refusal(folders["good"], "--task", none)
    wrong = _task(tmp_path, "wrong", questions=[])
    assert "is not a task" in _refusal(folders["good"], "--task", wrong)
    assert "is given twice" in _refusal(folders["good"], "--task", task, "--task", task)


def test_a_model_that_looks_ahead_is_refused_on_tasks_alone(
    tmp_path: Path, folders: dict[str, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    plain = CausalModel.logits

    def ahead(model: CausalModel, ids_bl: torch.Tensor) -> torch.Tensor:
        logits_blv = plain(model, ids_bl)
        return logits_blv + logits_blv.mean(dim=1, keepdim=True)

    monkeypatch.setattr(CausalModel, "logits", ahead)
    assert "depend on later tokens" in _refusal(folders["bad"], "--task", _task(tmp_path))


def of_its_own_tokenizer(folder: Path, fields: dict[str, Any], tokenizer: dict[str, Any]) -> Result:
    """Score a model of transformers with that tokenizer.json."""
    architectures.write(folder, fields)
    (folder / "tokenizer.json").write_text(json.dumps(tokenizer))
    command = [str(folder), "--device", "cpu", "--json", str(folder / "out.json"), "--on"]
    return CliRunner().invoke(score, [*command, str(folder.parent / "texts")])


def test_a_model_that_may_look_ahead_is_refused(tmp_path: Path, texts: Path) -> None:
    fields = architectures.fields_of("gemma3_text") | {"use_bidirectional_attention": True}
    result = of_its_own_tokenizer(tmp_path / "model", fields, BPE)
    assert isinstance(result.exception, ModelRefusedError)
    assert result.exception.reason is Refusal.KIND
    assert texts.is_dir()


def test_tokens_that_the_harness_adds_are_said(tmp_path: Path, texts: Path) -> None:
    begin: dict[str, Any] = {"SpecialToken": {"id": END, "type_id": 0}}
    first, second = ({"Sequence": {"id": one, "type_id": 0}} for one in "AB")
    begins = {
        "type": "TemplateProcessing",
        "single": [begin, first],
        "pair": [begin, first, second],
        "special_tokens": {END: {"id": END, "ids": [0], "tokens": [END]}},
    }
    fields = architectures.fields_of("qwen3") | {"vocab_size": 300}
    plain = of_its_own_tokenizer(tmp_path / "plain", fields, BPE)
    adding = of_its_own_tokenizer(tmp_path / "adding", fields, BPE | {"post_processor": begins})
    assert "add_bos_token=False" not in plain.output
    assert "add_bos_token=False" in adding.output
    found = [json.loads((tmp_path / one / "out.json").read_text()) for one in ("plain", "adding")]
    assert [one["models"][0]["adds_tokens"] for one in found] == [False, True]
    # The token is not scored: both numbers are the same.
    assert found[0]["models"][0]["totals"] == found[1]["models"][0]["totals"]
    assert texts.is_dir()


@pytest.mark.parametrize("kind", ["qwen2", "qwen3_5_text"])
def test_a_tokenizer_file_counts_as_it_is(kind: str, tmp_path: Path) -> None:
    # For these kinds, transformers' AutoTokenizer puts a class of its own in place of some files.
    folder = architectures.write(tmp_path, architectures.small_fields(kind))
    tokenizer, settings = layout.tokenizer_files(b"", 0, 64)
    (folder / "tokenizer.json").write_bytes(tokenizer)
    (folder / "tokenizer_config.json").write_bytes(settings)
    text = "e\u0301 12345"
    scored = likelihood.open_model(folder, tokenizer=None, prefix=None)
    assert scored.tokenizer.encode(text).tolist() == list(text.encode())
