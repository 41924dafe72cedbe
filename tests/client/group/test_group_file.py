"""Group files: what is refused, what names a group, and the way from a plan."""

from __future__ import annotations

import json
from pathlib import Path

import msgspec
import pytest
from msgspec import structs
from safetensors.numpy import load_file

from tequio_client.group import group_file, plan, report
from tequio_client.group.group_file import GroupFile, GroupMember
from tequio_client.group.head_store import HeadStore
from tequio_client.group.updates import state_folder
from tequio_client.ipc.private import PrivacyRules
from tequio_client.keys import identity
from tequio_client.trainer.private.accountant import RECORD_NAME, SpentRecord, SpentSteps
from tequio_shared.errors import MalformedError, UserFacingError
from tequio_shared.ids import to_text
from tests.support.forked_program import CLIENT, run_forked
from tests.support.group_members import group_signers, make_group

MODEL = {
    "model_type": "llama",
    "vocab_size": 256,
    "hidden_size": 16,
    "intermediate_size": 32,
    "num_hidden_layers": 1,
    "num_attention_heads": 2,
    "tie_word_embeddings": True,
}
PLAN = """
name = "Letters"
[model]
source = "config.json"
sequence = 64
[training]
steps = 7
lr = 0.002
[times]
train_s = 90
"""


def write_plan(folder: Path, text: str = PLAN, **changes: object) -> Path:
    (folder / "config.json").write_text(json.dumps(MODEL | changes))
    path = folder / "plan.toml"
    path.write_text(text)
    return path


def test_a_member_without_texts_is_refused_before_the_first_round(tmp_path: Path) -> None:
    file, data, folder = (tmp_path / name for name in ("group.json", "texts", "member"))
    file.write_bytes(make_group(group_signers(3)).encode())
    data.mkdir()
    (data / "photo.jpg").write_bytes(b"no text")
    words = ("group", "run", str(file), "--data", str(data), "--dir", str(folder))
    done = run_forked(CLIENT, *words, timeout_s=30)
    assert (done.returncode, done.stdout) == (1, "")
    assert f"{data} has no texts: put files *.txt, *.md or *.jsonl into it" in done.stderr
    assert not folder.exists()


def test_a_group_file_reads_back_and_every_change_makes_another_group() -> None:
    group = make_group(group_signers(3))
    assert GroupFile.parse(group.encode()) == group
    for changed in (
        structs.replace(group, name="other"),
        structs.replace(group, members=group.members[:2]),
        structs.replace(group, members=group.members[::-1]),
        structs.replace(group, allows_two=True),
    ):
        assert changed.id != group.id


@pytest.mark.parametrize(
    ("count", "threshold"),
    [(2, 2), (3, 3), (4, 3), (5, 4), (6, 5), (7, 5), (9, 7), (31, 21), (32, 22)],
)
def test_two_thirds_of_the_members_are_needed(count: int, threshold: int) -> None:
    group = make_group(group_signers(count))
    assert group.threshold == threshold
    # Two sets of that size have more members in common than a third of the group.
    assert 3 * (2 * threshold - count) > count


def test_the_coordinator_rotates() -> None:
    group = make_group(group_signers(3))
    assert [group.coordinator_of(one) for one in range(1, 7)] == [1, 2, 0, 1, 2, 0]


@pytest.mark.parametrize(
    ("change", "why"),
    [
        ({"config": "{ }"}, "not the one that it names"),
        ({"members": (GroupMember(name="A", key=to_text(bytes(32))),)}, "not acceptable"),
    ],
)
def test_a_wrong_group_file_is_refused(change: dict[str, object], why: str) -> None:
    group = structs.replace(make_group(group_signers(3)), **change)
    with pytest.raises(MalformedError, match=why):
        GroupFile.parse(group.encode())


def test_names_and_keys_are_unique_and_members_are_few() -> None:
    signers = group_signers(33)
    group = make_group(signers[:3])
    same_key = group_file.new_member("D", group.members[0].key, ())
    with pytest.raises(UserFacingError, match="two members have the key"):
        group_file.with_member(group, same_key)
    same_name = group_file.new_member("member 1", to_text(signers[5].key), ())
    with pytest.raises(UserFacingError, match="two members have the name member 1"):
        group_file.with_member(group, same_name)
    full = make_group(signers[:32])
    with pytest.raises(UserFacingError, match="at most 32 members"):
        group_file.with_member(full, group_file.new_member("Z", to_text(signers[32].key), ()))


@pytest.mark.parametrize(
    ("name", "key", "addresses"),
    [
        ("a\nb", to_text(group_signers(1)[0].key), ()),
        ("Ana", "short", ()),
        ("Ana", to_text(bytes(32)), ()),
        ("Ana", to_text(group_signers(1)[0].key), ("192.0.2.1:4001",)),
    ],
)
def test_a_member_that_is_described_wrongly_gets_an_example(
    name: str, key: str, addresses: tuple[str, ...]
) -> None:
    with pytest.raises(UserFacingError, match=r"/ip4/192\.0\.2\.1/tcp/4001"):
        group_file.new_member(name, key, addresses)


def test_two_members_must_want_it() -> None:
    pair = group_signers(2)
    with pytest.raises(UserFacingError, match="learn the other's update"):
        make_group(pair).check_complete()
    make_group(pair, allows_two=True).check_complete()
    with pytest.raises(UserFacingError, match=r"has 1 member\(s\)"):
        make_group(pair[:1], allows_two=True).check_complete()
    make_group(group_signers(3)).check_complete()


def test_a_plan_makes_a_group(tmp_path: Path) -> None:
    text = PLAN + "[privacy]\ndelta = 1e-6\n"
    made = plan.make_group(write_plan(tmp_path, text))
    group = made.group
    assert (group.name, group.size, group.model.sequence) == ("Letters", 0, 64)
    assert group.training.steps == 7
    assert group.training.inner.adam_lr_e9 == 2_000_000
    assert (group.times.train_ms, group.times.reply_ms) == (90_000, 30_000)
    assert isinstance(group.privacy, PrivacyRules)
    assert group.privacy.delta_e12 == 10**6
    assert group.layout.elements == made.head.master.size


@pytest.mark.parametrize(
    ("text", "changes", "why"),
    [
        (PLAN.replace("steps", "step"), {}, r"\[training\] has no `step`; `steps` may be meant"),
        (PLAN, {"vocab_size": 200}, "the model knows 200 tokens, and the tokenizer has 256"),
        (PLAN.replace("config.json", "none.json"), {}, "which does not exist"),
        (PLAN.replace("90", "-1"), {}, "train_s"),
    ],
)
def test_a_wrong_plan_gets_an_explanation(
    tmp_path: Path, text: str, changes: dict[str, object], why: str
) -> None:
    with pytest.raises(UserFacingError, match=why):
        plan.make_group(write_plan(tmp_path, text, **changes))


def test_a_head_is_exported_as_transformers_reads_it(tmp_path: Path) -> None:
    made = plan.make_group(write_plan(tmp_path))
    (tmp_path / "ana").mkdir()
    signer = identity.load_or_create(tmp_path / "ana")
    group = group_file.with_member(
        made.group, group_file.new_member("Ana", to_text(signer.key), ())
    )
    with pytest.raises(UserFacingError, match="has no group"):
        report.read_report(tmp_path / "ana")
    HeadStore.write_origin(tmp_path / "ana", made.head.master, made.tokenizer)
    HeadStore(tmp_path / "ana", group)
    assert report.export_head(tmp_path / "ana", tmp_path / "out") == 0
    found = load_file(tmp_path / "out" / "model.safetensors")
    layout = made.head.layout
    for name, tensor in layout.unflatten(made.head.master).items():
        stored = found.get(name, found.get("model.embed_tokens.weight"))
        assert stored is not None
        assert (stored == tensor.astype("f4") * 2.0**-24).all()
    shown = report.read_report(tmp_path / "ana")
    assert "you  Ana" in shown.as_text()
    assert "epsilon" not in shown.as_text()
    assert json.loads(shown.as_json())["needed"] == 1


@pytest.mark.parametrize(("most", "limit"), [("8.0", "of 8"), ("0", "without a limit")])
def test_the_status_says_what_the_texts_have_spent_whatever_became_of_the_rounds(
    tmp_path: Path, most: str, limit: str
) -> None:
    text = f"{PLAN}[privacy]\nmost_epsilon = {most}\n"
    made = plan.make_group(write_plan(tmp_path, text))
    signer = identity.load_or_create(tmp_path)
    member = group_file.new_member("Ana", to_text(signer.key), ())
    HeadStore(tmp_path, group_file.with_member(made.group, member))
    assert f"\nspent:       epsilon 0.000 {limit}\n" in report.read_report(tmp_path).as_text()
    place = state_folder(tmp_path)
    place.mkdir(parents=True)
    record = SpentRecord(rounds=3, entries=(SpentSteps(1.0, 0.1, 4_000),), epsilon=2.5)
    known = f"epsilon 2.500 {limit}", 2.5
    unknown = "not known yet: your next round computes it", None
    for delta_e12, (text, number) in ((10**7, known), (10**6, unknown), (0, unknown)):
        record = msgspec.structs.replace(record, delta_e12=delta_e12)
        (place / RECORD_NAME).write_bytes(msgspec.json.encode(record))
        shown = report.read_report(tmp_path)
        assert f"\nspent:       {text}\n" in shown.as_text()
        assert json.loads(shown.as_json())["epsilon"] == number


def test_the_documentation_names_the_record_of_what_texts_have_spent() -> None:
    page = Path(__file__).parents[3] / "docs" / "differential-privacy.md"
    record = state_folder(Path()) / RECORD_NAME
    assert f"`{record.as_posix()}`" in page.read_text(encoding="utf-8")


def test_an_export_needs_weights(tmp_path: Path) -> None:
    group = make_group(group_signers(3))
    HeadStore(tmp_path, group)
    with pytest.raises(UserFacingError, match="has no model yet"):
        report.export_head(tmp_path, tmp_path / "out")
