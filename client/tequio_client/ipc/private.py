"""Messages between a member of a private group and the process that trains on the member's texts.

The process reads one request after another, and answers each with `LocalTrained` or
`PrivateFailed`. The end of its input ends it. Paths are text and name files that both processes
see; output files appear under their name complete, or not at all.

A group's plan may ask for differential privacy. It then has a table `[privacy]`, which
`PrivacyPlan` reads and `privacy_rules` turns into the integers that all members agree on.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Literal, TypeAlias

import msgspec

from tequio_client import ipc
from tequio_client.ipc.trainer import FilePath, Label, Number, Positive, Text
from tequio_shared.errors import UserFacingError

LINE_BYTES = 1 << 20
"""Longest line, newline included."""
MILLIONTHS, TRILLIONTHS = 10**6, 10**12
LEAST_NOISE, MOST_NOISE = 0.1, 100.0
"""Noise multipliers: below, epsilon means nothing; above, nothing is learned."""
MOST_DELTA = 0.01
MOST_CLIP = 1e6
MOST_EPSILON = 1e6


class PrivacyRules(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """Rules of differential privacy, the same for all members of a group.

    A group without these rules has no differential privacy.
    """

    clip_e6: Annotated[int, msgspec.Meta(ge=1, le=10**12)]
    """Largest L2 norm of the gradient of one document, in 1e-6."""
    noise_e6: Annotated[int, msgspec.Meta(ge=10**5, le=10**8)]
    """Standard deviation of the noise over that norm, in 1e-6."""
    delta_e12: Annotated[int, msgspec.Meta(ge=1, le=10**10)]
    """Probability for which epsilon need not hold, in 1e-12."""
    epsilon_e6: Annotated[int, msgspec.Meta(ge=0, le=10**12)] = 0
    """Budget of a member's documents, in 1e-6: no training beyond it; 0: no limit."""


class PrivacyPlan(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """The table `[privacy]` of a group's plan; `most_epsilon` 0 means no limit."""

    noise_multiplier: float = 1.0
    max_grad_norm: float = 1.0
    delta: float = 1e-5
    most_epsilon: float = 8.0


def privacy_rules(plan: PrivacyPlan) -> PrivacyRules:
    """The plan's integers; raises UserFacingError, which names the value and what is allowed."""
    if not LEAST_NOISE <= plan.noise_multiplier <= MOST_NOISE:
        raise UserFacingError(
            f"privacy.noise_multiplier is {plan.noise_multiplier:g}: choose a number from "
            f"{LEAST_NOISE:g} to {MOST_NOISE:g} (1 is usual), or remove [privacy] to train without "
            "differential privacy"
        )
    if not 1 / MILLIONTHS <= plan.max_grad_norm <= MOST_CLIP:
        raise UserFacingError(
            f"privacy.max_grad_norm is {plan.max_grad_norm:g}: choose a number from "
            f"{1 / MILLIONTHS:g} to {MOST_CLIP:g} (1 is usual)"
        )
    if not 1 / TRILLIONTHS <= plan.delta <= MOST_DELTA:
        raise UserFacingError(
            f"privacy.delta is {plan.delta:g}: choose a number from {1 / TRILLIONTHS:g} to "
            f"{MOST_DELTA:g}, well below one over the number of a member's documents"
        )
    if not (plan.most_epsilon == 0 or 1 / MILLIONTHS <= plan.most_epsilon <= MOST_EPSILON):
        raise UserFacingError(
            f"privacy.most_epsilon is {plan.most_epsilon:g}: choose a number from "
            f"{1 / MILLIONTHS:g} to {MOST_EPSILON:g} (8 and less is usual), or 0 for no limit"
        )
    return PrivacyRules(
        clip_e6=round(plan.max_grad_norm * MILLIONTHS),
        noise_e6=round(plan.noise_multiplier * MILLIONTHS),
        delta_e12=round(plan.delta * TRILLIONTHS),
        epsilon_e6=round(plan.most_epsilon * MILLIONTHS),
    )


class InnerSteps(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """The optimiser of a member's steps: fields and units of a manifest's `InnerParams`."""

    optimiser: Literal["muon", "adamw"] = "muon"
    lr_e9: Positive = 3_000_000
    """Muon's learning rate."""
    adam_lr_e9: Positive = 3_000_000
    clip_e3: Positive = 1_000
    """Largest norm of a step's gradient; ignored with differential privacy, which has its own."""
    decay_e6: Number = 0


class LocalTraining(
    msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True, tag="train"
):
    """Train on the member's texts, and write the change of the weights.

    Answered by `LocalTrained`.
    """

    command: Positive
    round: Positive
    config: FilePath
    """The model's configuration: JSON as Hugging Face writes it (`config.json`)."""
    weights: FilePath
    """Master copy: int32 little-endian in units of 2^-24, in flat order."""
    data: FilePath
    """Folder of the member's texts: each file *.txt and *.md, and each line of a file *.jsonl
    ({"text": ...}), is a document. Other files are ignored."""
    state: FilePath
    """Folder of this process alone, which survives restarts: what the texts have spent."""
    delta_out: FilePath
    """End less start: int32 little-endian in units of 2^-24, each within +-2^24."""
    sequence: Annotated[int, msgspec.Meta(ge=2, le=1 << 20)]
    """Tokens that a sample predicts."""
    steps: Annotated[int, msgspec.Meta(ge=1, le=1 << 20)]
    batch: Annotated[int, msgspec.Meta(ge=1, le=1 << 20)]
    """Samples of a step; with differential privacy their expected number."""
    inner: InnerSteps = InnerSteps()
    tokenizer: FilePath | None = None
    """The tokenizer as Hugging Face writes it (`tokenizer.json`); none for raw bytes."""
    privacy: PrivacyRules | None = None
    seed: Number = 0
    """0: chance comes from the operating system; else it can be repeated. For tests alone."""
    device: Annotated[str, msgspec.Meta(pattern=r"^(auto|mps|(cpu|cuda|xpu)(:[0-9]{1,3})?)$")] = (
        "auto"
    )
    threads: Annotated[int, msgspec.Meta(ge=1, le=1_024)] = 1


class PrivateHello(
    msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True, tag="hello"
):
    """First report of the process, which now accepts requests."""

    pid: Positive
    software: Label
    sandbox: Label = ""
    """Names what confines the process (`platform.sandbox`), for people."""


class PrivateAlive(
    msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True, tag="alive"
):
    """Sent every few seconds, also while computing."""

    command: Number
    step: Number
    steps: Number


class LocalTrained(
    msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True, tag="trained"
):
    """The change of the weights is in the file that the request named.

    With differential privacy, `samples` and `tokens` are expected numbers, which follow from the
    plan: exact ones would tell more than epsilon allows. Both losses do so too, and are for the
    member alone.
    """

    command: Positive
    round: Positive
    loss: float | None
    """Mean loss of the round's samples, nats per token; None if no sample was drawn."""
    loss_first: float | None
    """Loss of the first step that had a sample."""
    samples: Number
    tokens: Number
    dataset: Number
    """Documents with differential privacy, samples without."""
    epsilon: float | None
    """Spent so far, this round included; None without differential privacy."""
    delta: float | None
    seconds: float


class PrivateFailed(
    msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True, tag="failed"
):
    """The request was not carried out; the process waits for the next one."""

    command: Number
    """0: the line could not be read."""
    code: Label
    """`malformed`, `input`, `model`, `device`, `memory`, `non_finite`, `budget`, `output` or
    `internal`."""
    reason: Text
    """For people, in English."""


PrivateReport: TypeAlias = PrivateHello | PrivateAlive | LocalTrained | PrivateFailed
decode_request: Callable[[bytes], LocalTraining]
decode_request = ipc.line_decoder(LocalTraining, LINE_BYTES, "a request to train on private texts")
decode_report: Callable[[bytes], PrivateReport]
decode_report = ipc.line_decoder(PrivateReport, LINE_BYTES, "a report of private training")


def encode(line: LocalTraining | PrivateReport) -> bytes:
    return ipc.encode(line)
