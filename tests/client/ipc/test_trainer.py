"""The link between worker and trainer: every message survives its line, nothing else passes."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tequio_client.ipc import trainer
from tequio_shared.errors import MalformedError

DIGEST = "A" * 43
HEADER = "A" * 288

COMMANDS: list[trainer.Command] = [
    trainer.Prepare(command=1, manifest="m", config="c", data_manifest="d", device="cuda:1"),
    trainer.Train(
        command=2,
        round=1,
        run=DIGEST,
        head=DIGEST,
        weights="w",
        trainer=DIGEST,
        k=64,
        windows=((0, 4), (9, 1)),
        shards=(trainer.Shard(index=0, path="s"),),
        payload_out="p",
        feedback_out="f",
        delta_out="d",
    ),
    trainer.Finish(command=2),
    trainer.Screen(
        command=3,
        round=1,
        run=DIGEST,
        head=DIGEST,
        k=64,
        candidates=(
            trainer.ScreenCandidate(
                slot=0, trainer=DIGEST, header=HEADER, seal=DIGEST, payload="p", windows=((0, 4),)
            ),
        ),
    ),
    trainer.MeasureGains(
        command=9,
        round=1,
        weights="w",
        k=64,
        shards=(trainer.Shard(index=0, path="s"),),
        slots=(trainer.MeasuredSlot(slot=0, payload="p", windows=(2, 7)),),
        control=(90, 81),
        stop_after_ms=6_000,
    ),
    trainer.Audit(
        command=8,
        round=1,
        run=DIGEST,
        head=DIGEST,
        weights="w",
        k=64,
        audited=trainer.ScreenCandidate(
            slot=0, trainer=DIGEST, header=HEADER, seal=DIGEST, payload="p", windows=((0, 4),)
        ),
        shards=(trainer.Shard(index=0, path="s"),),
        chunks=(3, 5),
        seed=DIGEST,
        delta_out="d",
        feedback_out="f",
    ),
    trainer.Advance(
        command=4,
        round=1,
        run=DIGEST,
        parent=DIGEST,
        k=64,
        weights="w",
        weights_out="v",
        contributions=(trainer.Contribution(header=HEADER, payload="p"),),
    ),
    trainer.Evaluate(command=5, round=0, weights="w", shards=(trainer.Shard(index=0, path="s"),)),
    trainer.Rest(command=6),
    trainer.Quit(command=7),
]

REPORTS: list[trainer.Report] = [
    trainer.TrainerHello(pid=1, software="0.1"),
    trainer.Resting(command=6),
    trainer.Screened(
        command=3,
        round=1,
        verdicts=(trainer.ScreeningVerdict(slot=0, contribution=DIGEST, reason=""),),
        seconds=0.5,
    ),
    trainer.GainsMeasured(command=9, round=1, gains=((0, -65_536), (3, 12)), seconds=0.5),
    trainer.Audited(
        command=8,
        round=1,
        contribution=DIGEST,
        figures=trainer.MeasuredFigures(hidden=12, other=0, cosine=-3),
        sketch=(-32_768, 32_767),
        checked=(9_999, -10_000),
        loss_first=1.0,
        loss_last=0.5,
        train_seconds=0.5,
        seconds=0.5,
    ),
    trainer.Failed(command=0, code="malformed", reason="ä\nö"),
]


@pytest.mark.parametrize("command", COMMANDS, ids=lambda command: type(command).__name__)
def test_a_command_comes_back_from_its_line(command: trainer.Command) -> None:
    line = trainer.encode(command)
    assert line.count(b"\n") == 1
    assert trainer.decode_command(line) == command


@pytest.mark.parametrize("report", REPORTS, ids=lambda report: type(report).__name__)
def test_a_report_comes_back_from_its_line(report: trainer.Report) -> None:
    line = trainer.encode(report)
    assert line.count(b"\n") == 1
    assert trainer.decode_report(line) == report


@given(line=st.binary(max_size=200))
def test_any_other_bytes_are_malformed(line: bytes) -> None:
    with pytest.raises(MalformedError):
        trainer.decode_command(line)
    with pytest.raises(MalformedError):
        trainer.decode_report(line)


@pytest.mark.parametrize(
    "line",
    [
        b'{"type":"rest"}',
        b'{"type":"rest","command":0}',
        b'{"type":"rest","command":1,"more":1}',
        b'{"type":"resting","command":1}',
        b'{"type":"prepare","command":1,"manifest":"m","config":"c","data_manifest":"d",'
        b'"device":"tpu"}',
        b'{"type":"rest","command":1}' + b" " * trainer.LINE_BYTES,
    ],
)
def test_a_command_outside_its_bounds_is_malformed(line: bytes) -> None:
    with pytest.raises(MalformedError):
        trainer.decode_command(line)
