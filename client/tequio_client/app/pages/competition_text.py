"""Stages of a competition and the texts about it, for the page and the notifications.

The ledger's phase decides the stage; within a phase the dates of the rules do.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

from PySide6.QtCore import QCoreApplication

from tequio_client.app.widgets import figures

if TYPE_CHECKING:
    from tequio_client.app.widgets.indicators import Chip
    from tequio_client.ipc.control import CompetitionRow
    from tequio_client.ipc.snapshot import JudgingView

NANO = 1e9
SCORE_PLACES = 4
translate = QCoreApplication.translate


class ShownStage(StrEnum):
    """A stage of a competition, finer than the ledger's phases."""

    ANNOUNCED = "announced"
    OPEN = "open"
    OVER = "over"
    """The deadline has passed, but the ledger has not closed the competition yet."""
    CLOSED = "closed"
    DRAWN = "drawn"
    SCORED = "scored"
    """The texts are open and evaluators score."""
    CHALLENGED = "challenged"
    """Scores may be challenged."""
    DECIDED = "decided"
    ENDED = "ended"
    """There will be no ranking, and nothing more will happen."""


FINAL_STAGES = (ShownStage.DECIDED, ShownStage.ENDED)
OPEN_STAGES = (ShownStage.ANNOUNCED, ShownStage.OPEN)
"""Stages in which joining a side still helps."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StageProgress:
    """The progress of a competition at one time."""

    stage: ShownStage
    next_ms: int | None
    """When the stage ends by the rules; None: unknown, or already past."""
    progress: float
    """Progress along the dates: -1 before the first, 0 at it, 1 at the second, and so on."""


def milestones(row: CompetitionRow) -> tuple[int, ...]:
    """Start, deadline, draw, scores, result."""
    return row.opens_ms, row.deadline_ms, row.draw_ms, row.scored_ms, row.result_ms


def stage_progress(row: CompetitionRow, now_ms: int) -> StageProgress:
    stage = _stage(row, now_ms)
    ends = {
        ShownStage.ANNOUNCED: row.opens_ms,
        ShownStage.OPEN: row.deadline_ms,
        ShownStage.CLOSED: row.draw_ms,
        ShownStage.DRAWN: row.scored_ms,
        ShownStage.SCORED: row.scored_ms,
        ShownStage.CHALLENGED: row.result_ms,
    }
    end_ms = ends.get(stage)
    is_ahead = end_ms is not None and end_ms > now_ms
    return StageProgress(
        stage=stage, next_ms=end_ms if is_ahead else None, progress=_progress(row, stage, now_ms)
    )


def _stage(row: CompetitionRow, now_ms: int) -> ShownStage:
    if row.is_void:
        return ShownStage.ENDED
    if row.phase == "open":
        began = ShownStage.OPEN if now_ms < row.deadline_ms else ShownStage.OVER
        return began if now_ms >= row.opens_ms else ShownStage.ANNOUNCED
    if row.phase == "revealed":
        return ShownStage.SCORED if now_ms < row.scored_ms else ShownStage.CHALLENGED
    return ShownStage(row.phase)


def _progress(row: CompetitionRow, stage: ShownStage, now_ms: int) -> float:
    """Progress by the clock, but never past the phase that the ledger has reached."""
    ends = {ShownStage.OPEN: 1, ShownStage.OVER: 1, ShownStage.CLOSED: 2, ShownStage.DRAWN: 3}
    if stage is ShownStage.ENDED and row.phase == "drawn":
        ends[stage] = 3
    most, at = ends.get(stage, 4), milestones(row)
    if stage is ShownStage.DECIDED:
        return float(most)
    if stage is ShownStage.ANNOUNCED:
        return -1.0
    passed = sum(now_ms >= one for one in at) - 1
    if passed < 0:
        return 0.0
    if passed >= most:
        return float(most)
    part = (now_ms - at[passed]) / max(at[passed + 1] - at[passed], 1)
    return passed + part


STAGE_ICONS = {
    ShownStage.ANNOUNCED: ("calendar-clock", ""),
    ShownStage.OPEN: ("swords", "accent"),
    ShownStage.OVER: ("lock", "warn"),
    ShownStage.CLOSED: ("lock", "warn"),
    ShownStage.DRAWN: ("lock-open", "warn"),
    ShownStage.SCORED: ("scale", "warn"),
    ShownStage.CHALLENGED: ("scale", "warn"),
    ShownStage.DECIDED: ("trophy", "ok"),
    ShownStage.ENDED: ("circle-off", "warn"),
}


def update_stage_chip(chip: Chip, stage: ShownStage) -> None:
    chip.set_label(stage_name(stage), *STAGE_ICONS[stage])


def stage_name(stage: ShownStage) -> str:
    return {
        ShownStage.ANNOUNCED: translate("competitions", "Announced"),
        ShownStage.OPEN: translate("competitions", "Under way"),
        ShownStage.OVER: translate("competitions", "Deadline over"),
        ShownStage.CLOSED: translate("competitions", "Closed"),
        ShownStage.DRAWN: translate("competitions", "Being opened"),
        ShownStage.SCORED: translate("competitions", "Being scored"),
        ShownStage.CHALLENGED: translate("competitions", "Being checked"),
        ShownStage.DECIDED: translate("competitions", "Decided"),
        ShownStage.ENDED: translate("competitions", "No ranking"),
    }[stage]


def stage_description(row: CompetitionRow, stage: ShownStage) -> str:
    """A description of the stage for someone new to competitions."""
    words = {
        ShownStage.ANNOUNCED: translate(
            "competitions", "It has not begun yet. Join a side now to train from the start."
        ),
        ShownStage.OPEN: translate(
            "competitions",
            "The sides train. What each submits last before the deadline is what counts.",
        ),
        ShownStage.OVER: translate(
            "competitions", "The deadline is over. The ledger closes the competition any moment."
        ),
        ShownStage.CLOSED: translate(
            "competitions",
            "Nothing can be submitted any more. Every volunteer evaluator opens a secret, and all"
            " secrets together decide by lot who scores, and which texts.",
        ),
        ShownStage.DRAWN: translate(
            "competitions",
            "The custodians show their parts of the key: {needed} of {custodians} open the texts.",
        ).format(needed=figures.count(row.needed), custodians=figures.count(row.custodians)),
        ShownStage.SCORED: translate(
            "competitions",
            "The texts are open. Evaluators, drawn by lot, score each side on them, and commit to "
            "their scores before anyone shows any.",
        ),
        ShownStage.CHALLENGED: translate(
            "competitions",
            "Evaluators show the scores that they committed to. Until the result anyone may score "
            "again and challenge one.",
        ),
        ShownStage.DECIDED: translate(
            "competitions", "The result stands, and anyone can check it from the log alone."
        ),
        ShownStage.ENDED: _why_ended(row),
    }
    return words[stage]


def _why_ended(row: CompetitionRow) -> str:
    if row.phase == "revealed":
        return translate(
            "competitions",
            "It ended without a ranking: too few of those who were drawn scored the sides in time.",
        )
    return translate(
        "competitions",
        "It ended without a ranking: too few custodians showed their parts of the key in time, or "
        "there was nobody to score.",
    )


def countdown(moment: StageProgress, now_ms: int) -> tuple[str, str]:
    """A countdown and its goal; both empty if no known time lies ahead."""
    if moment.next_ms is None:
        return "", ""
    to = {
        ShownStage.ANNOUNCED: translate("competitions", "until it begins"),
        ShownStage.OPEN: translate("competitions", "until the deadline"),
        ShownStage.CLOSED: translate("competitions", "until the draw"),
        ShownStage.DRAWN: translate("competitions", "until all must be scored"),
        ShownStage.SCORED: translate("competitions", "until all must be scored"),
        ShownStage.CHALLENGED: translate("competitions", "until the result"),
    }
    return figures.duration((moment.next_ms - now_ms + 999) // 1_000), to[moment.stage]


def milestone_names() -> tuple[str, ...]:
    return (
        translate("competitions", "Start"),
        translate("competitions", "Deadline"),
        translate("competitions", "Draw"),
        translate("competitions", "Scores"),
        translate("competitions", "Result"),
    )


def format_score(nanobits_per_byte: int) -> str:
    """A score in bits per byte."""
    return figures.decimal(nanobits_per_byte / NANO, SCORE_PLACES)


def judging_cost(row: CompetitionRow | None = None) -> str:
    memory = figures.memory(row.judge_mb) if row is not None and row.judge_mb else ""
    takes = (
        translate("judging", "It takes {memory} of memory").format(memory=memory)
        if memory
        else translate("judging", "It takes memory, about five bytes for each parameter of a model")
    )
    return translate(
        "judging",
        "{takes}, and some minutes of computing for each model when the texts are open, by the "
        "same rules as training: it pauses for you and your games. Evaluators cannot win with an "
        "entry of their own, nor judge a run that they trained in.",
    ).format(takes=takes)


def judging_state(
    row: CompetitionRow, here: JudgingView | None, *, is_on: bool
) -> tuple[str, str, str]:
    """Our part as a judge: label, icon and tone."""
    if here is not None and row.part == "drawn":
        return translate("judging", "Scoring"), "scale", "accent"
    if row.bar and row.part not in ("drawn", "waiting", "scored", "late", "others"):
        return translate("judging", "Not possible"), "ban", ""
    named = {
        "offered": (translate("judging", "Offered"), "hand", "accent"),
        "opened": (translate("judging", "In the draw"), "dices", "accent"),
        "missed": (translate("judging", "Not in the draw"), "clock-alert", "warn"),
        "others": (translate("judging", "Not drawn"), "dices", ""),
        "drawn": (translate("judging", "Drawn"), "scale", "accent"),
        "waiting": (translate("judging", "All scored"), "scale", "ok"),
        "scored": (translate("judging", "Done"), "circle-check", "ok"),
        "late": (translate("judging", "Not in time"), "clock-alert", "warn"),
    }
    nothing = translate("judging", "On") if is_on else translate("judging", "Off")
    return named.get(row.part, (nothing, "scale", ""))


def judging_summary(row: CompetitionRow, here: JudgingView | None, *, is_on: bool) -> str:
    if row.part == "drawn":
        return _scoring_text(row, here, is_on=is_on)
    if row.bar and row.part in ("", "offered", "opened", "missed"):
        return _bar_text(row)
    if row.part:
        return _offer_text(row)
    if is_on:
        return translate(
            "judging", "You help to judge: this computer makes its offer within a minute or two."
        )
    return translate(
        "judging",
        "Volunteers, drawn by lot, decide the winner: their computers score every model on the "
        "sealed texts. Yours can be one of them.",
    )


def _offer_text(row: CompetitionRow) -> str:
    return {
        "offered": translate(
            "judging",
            "Your offer is in the log. After the deadline this computer opens a secret by itself; "
            "let Tequio run then, or others are drawn.",
        ),
        "opened": translate(
            "judging", "Your secret is open. The lot decides at the draw who scores."
        ),
        "missed": translate(
            "judging",
            "Your secret was not opened before the draw, so others score. Nothing is lost.",
        ),
        "others": translate("judging", "Others were drawn. Thank you for the offer."),
        "waiting": translate(
            "judging",
            "All models are scored here, and committed to. The scores are shown when all others "
            "have committed too, or their time is over.",
        ),
        "scored": translate("judging", "All your scores are in the log. Thank you."),
        "late": translate(
            "judging", "Not all models were scored and shown in time; the others' scores count."
        ),
    }[row.part]


def _scoring_text(row: CompetitionRow, here: JudgingView | None, *, is_on: bool) -> str:
    models = figures.count(here.of_models if here and here.of_models else row.to_judge)
    done = figures.count(here.models if here and here.of_models else row.judged)
    if not is_on:
        return translate(
            "judging",
            "You were drawn, and judging is switched off: {done} of {models} models are scored. "
            "Switch it on, or others must do without you.",
        ).format(done=done, models=models)
    if here is None:
        return translate(
            "judging",
            "You were drawn: {done} of {models} models are scored. It goes on when this computer "
            "may lend and the round under way is over.",
        ).format(done=done, models=models)
    if here.doing != "scoring":
        return translate(
            "judging", "Scoring: {done} of {models} models are done. The next one is made ready."
        ).format(done=done, models=models)
    return translate(
        "judging",
        "Scoring: {done} of {models} models are done; {documents} of {texts} texts of {name}.",
    ).format(
        done=done,
        models=models,
        documents=figures.count(here.documents),
        texts=figures.count(here.of_documents),
        name=here.entrant,
    )


def _bar_text(row: CompetitionRow) -> str:
    return {
        "custodian": translate(
            "judging", "You hold a part of the key to the texts, so others judge here."
        ),
        "organiser": translate("judging", "Organisers do not judge."),
        "entrant": translate("judging", "You entered {by}, so others judge here."),
        "trained": translate(
            "judging", "You trained in a run that takes part, as {by}, so others judge here."
        ),
        "memory": translate("judging", "This computer cannot judge now: {by}."),
        "refused": translate("judging", "The ledger did not take your offer: {by}."),
    }[row.bar].format(by=row.barred_by.rstrip("."))
