"""The manifest: its bytes name the run, and what cannot be run is refused by name."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from tequio_shared.errors import MalformedError
from tequio_shared.ids import RunId, sha256, to_text
from tequio_shared.round.manifest import Admission, Manifest, Tokenizer, TokenizerKind
from tequio_shared.round.plugin import PLUGIN_BYTES, PluginSpec, Seam
from tests.support.tiny_run import TENSORS, tiny_manifest

BASE = tiny_manifest()
PLUGIN = PluginSpec(
    name="tiny",
    version="1.0",
    archive=to_text(sha256(b"archive")),
    size_bytes=7,
    provides=("loader", "model", "optimiser"),
)
DISTRO = {"name": "distro", "layout": "tile64", "bits": 1, "schedule": ((1, 1 << 14, 0),)}


def changed(part: str, **fields: Any) -> Manifest:  # noqa: ANN401  # any field of the manifest
    whole = fields if not part else {part: msgspec.structs.replace(getattr(BASE, part), **fields)}
    return msgspec.structs.replace(BASE, **whole)


def test_a_manifest_survives_its_bytes_and_names_its_run() -> None:
    assert Manifest.parse(BASE.encode()) == BASE
    assert BASE.run_id == RunId(sha256(BASE.encode()))


def test_every_field_changes_the_run() -> None:
    assert changed("rounds", most=5).run_id != BASE.run_id
    assert changed("", name="other").run_id != BASE.run_id


def test_a_manifest_without_rules_of_admission_is_what_it_was_before_there_were_any() -> None:
    assert b"admission" not in BASE.encode()
    assert Manifest.parse(BASE.encode()).admits == Admission()
    said = changed("", admission=Admission())
    assert Manifest.parse(said.encode()).admits == BASE.admits
    assert said.run_id != BASE.run_id
    half = said.encode().replace(b'"owner_slots":4095,', b"")
    with pytest.raises(MalformedError):
        Manifest.parse(half)


def test_a_manifest_without_code_of_its_own_is_what_it_was_before_there_was_any() -> None:
    assert b"plugin" not in BASE.encode()
    said = changed("", plugin=PLUGIN)
    assert Manifest.parse(said.encode()) == said
    assert said.run_id != BASE.run_id


@pytest.mark.parametrize(
    ("fields", "why"),
    [
        ({"provides": ("optimiser", "model")}, "must ascend"),
        ({"provides": ("model", "model")}, "must ascend"),
        ({"provides": ()}, "provides"),
        ({"size_bytes": PLUGIN_BYTES + 1}, "size_bytes"),
        ({"name": "../tiny"}, "name"),
        ({"version": "new"}, "version"),
        ({"archive": "short"}, "archive"),
    ],
)
def test_a_plugin_that_no_archive_can_be_is_refused(fields: dict[str, Any], why: str) -> None:
    wrong = changed("", plugin=msgspec.structs.replace(PLUGIN, **fields))
    with pytest.raises(MalformedError, match=why):
        Manifest.parse(wrong.encode())


@pytest.mark.parametrize("kind", ["bytes", "huggingface", "plugin"])
@pytest.mark.parametrize("provides", [("model",), ("tokenizer",), ("model", "tokenizer")])
def test_texts_are_split_by_a_plugin_that_brings_a_tokenizer_and_by_no_other(
    kind: TokenizerKind, provides: tuple[Seam, ...]
) -> None:
    said = changed(
        "",
        plugin=msgspec.structs.replace(PLUGIN, provides=provides),
        tokenizer=Tokenizer(
            kind=kind, file="" if kind == "bytes" else to_text(sha256(b"file")), vocab_size=256
        ),
    )
    if (kind == "plugin") == ("tokenizer" in provides):
        assert Manifest.parse(said.encode()) == said
        assert (said.trainer_code is None) == (provides == ("tokenizer",))
    else:
        with pytest.raises(MalformedError, match=r"tokenizer\.kind must be plugin"):
            Manifest.parse(said.encode())


def test_a_plugin_s_tokenizer_has_a_table() -> None:
    spec = msgspec.structs.replace(PLUGIN, provides=("tokenizer",))
    wrong = changed("", plugin=spec, tokenizer=Tokenizer(kind="plugin", file="", vocab_size=256))
    with pytest.raises(MalformedError, match=r"tokenizer\.file must be empty for bytes, and only"):
        Manifest.parse(wrong.encode())


def test_the_schedule_holds_from_its_round_on() -> None:
    assert [BASE.schedule_at(number) for number in (1, 2, 3, 99)] == [
        (1 << 20, 0),
        (1 << 20, 0),
        (1 << 19, 1 << 10),
        (1 << 19, 1 << 10),
    ]


def test_learning_rates_rise_first_and_fall_at_the_end() -> None:
    inner = msgspec.structs.replace(
        BASE.inner, lr_e9=1_000, adam_lr_e9=10, warmup_rounds=2, anneal_rounds=5
    )
    rounds = msgspec.structs.replace(BASE.rounds, most=10)
    run = msgspec.structs.replace(BASE, inner=inner, rounds=rounds)
    assert Manifest.parse(run.encode()) == run
    recipes = [run.inner_at(number) for number in range(1, 11)]
    rates = [one.lr_e9 for one in recipes]
    assert rates == [250, 750, 1_000, 1_000, 1_000, 900, 700, 500, 300, 100]
    assert [one.adam_lr_e9 for one in recipes] == [rate // 100 or 1 for rate in rates]
    assert {one.steps for one in recipes} == {BASE.inner.steps}
    assert BASE.inner_at(1) == BASE.inner


def test_learning_rates_fall_to_a_tenth_and_no_further() -> None:
    inner = msgspec.structs.replace(BASE.inner, lr_e9=1_000, adam_lr_e9=10, anneal_rounds=20)
    rounds = msgspec.structs.replace(BASE.rounds, most=30)
    run = msgspec.structs.replace(BASE, inner=inner, rounds=rounds)
    recipes = [run.inner_at(number) for number in range(26, 31)]
    assert [one.lr_e9 for one in recipes] == [225, 175, 125, 100, 100]
    assert [one.adam_lr_e9 for one in recipes] == [2, 1, 1, 1, 1]


@pytest.mark.parametrize(
    ("part", "fields", "named"),
    [
        ("inner", {"warmup_rounds": 1 << 40}, "inner.warmup_rounds"),
        ("", {"name": "tiny\n"}, "name"),
        ("", {"witness_share_bp": 5_001}, "witness_share_bp"),
        ("", {"admission": Admission(trainer_tier=3)}, "admission.trainer_tier"),
        ("", {"admission": Admission(owner_slots=0)}, "admission.owner_slots"),
        ("model", {"tensors": TENSORS[::-1]}, "model.tensors"),
        ("model", {"tensors": (TENSORS[0], TENSORS[0])}, "model.tensors"),
        ("model", {"parameters": 1}, "model.parameters"),
        ("model", {"aliases": (("a.weight", "b.bias"),)}, "model.aliases"),
        ("model", {"aliases": (("x", "nothing"),)}, "model.aliases"),
        ("tokenizer", {"file": to_text(sha256(b"file"))}, "tokenizer.file"),
        ("tokenizer", {"kind": "huggingface"}, "tokenizer.file"),
        ("algorithm", {"schedule": ()}, "schedule"),
        ("algorithm", {"schedule": ((2, 1, 0),)}, "schedule"),
        ("algorithm", {"schedule": ((1, 1, 0), (1, 2, 0))}, "schedule"),
        ("algorithm", {"schedule": ((1, (1 << 22) + 1, 0),)}, "schedule"),
        ("algorithm", {"schedule": ((1, 1, 1 << 22),)}, "schedule"),
        ("algorithm", {"layout": "tile64"}, "layout"),
        ("algorithm", {"bits": 8}, "bits"),
        ("algorithm", {"k": 4096}, "algorithm.k"),
        ("algorithm", {"mu_q": 1}, "mu_q"),
        ("algorithm", {"name": "diloco", "k": 4096, "bits": 8, "mu_q": 1, "down_k": 8}, "down_k"),
        ("windows", {"tokens": 1}, "windows.tokens"),
        ("windows", {"first": 10}, "windows.first"),
        ("rounds", {"train_limit": 1}, "train_limit"),
        ("rounds", {"most_members": 2, "min_members": 3}, "most_members"),
        ("inner", {"steps": 501}, "inner.steps"),
        ("algorithm", DISTRO, "inner.steps must be 1 for distro"),
    ],
)
def test_a_manifest_that_cannot_be_run_is_refused_by_name(
    part: str, fields: dict[str, Any], named: str
) -> None:
    with pytest.raises(MalformedError, match=named):
        Manifest.parse(changed(part, **fields).encode())


def test_other_algorithms_can_be_run() -> None:
    for fields in (
        {"name": "diloco", "k": 4096, "bits": 8, "mu_q": 29_491},
        {"down_k": 64},
    ):
        manifest = changed("algorithm", **fields)
        assert Manifest.parse(manifest.encode()) == manifest
    one_step = changed("inner", steps=1)
    manifest = msgspec.structs.replace(one_step, algorithm=changed("algorithm", **DISTRO).algorithm)
    assert Manifest.parse(manifest.encode()) == manifest
