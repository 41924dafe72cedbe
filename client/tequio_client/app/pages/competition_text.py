"""Stages of a competition and the texts about it, for the page and the notifications.

The ledger's phase decides the stage; within a phase the dates of the rules do.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

from PySide6.QtCore import QCoreApplication

from tequio_client.app.language import without_period
from tequio_client.app.widgets import figures
from tequio_client.ipc.competitions import CompetitionRow
from tequio_client.ipc.snapshot import JudgingView

if TYPE_CHECKING:
    from tequio_client.app.widgets.indicators import Chip

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
    end_ms = milestones(row)[STAGE_ENDS[stage][0]] if stage in STAGE_ENDS else 0
    return StageProgress(
        stage=stage,
        next_ms=end_ms if end_ms > now_ms else None,
        progress=_progress(row, stage, now_ms),
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
    if passed < 0 or passed >= most:
        return float(min(max(passed, 0), most))
    part = (now_ms - at[passed]) / max(at[passed + 1] - at[passed], 1)
    return passed + part


STAGE_CHIPS = {
    ShownStage.ANNOUNCED: ("Announced", "calendar-clock", ""),
    ShownStage.OPEN: ("Under way", "swords", "accent"),
    ShownStage.OVER: ("Deadline over", "lock", "warn"),
    ShownStage.CLOSED: ("Closed", "lock", "warn"),
    ShownStage.DRAWN: ("Being opened", "lock-open", "warn"),
    ShownStage.SCORED: ("Being scored", "scale", "warn"),
    ShownStage.CHALLENGED: ("Being checked", "scale", "warn"),
    ShownStage.DECIDED: ("Decided", "trophy", "ok"),
    ShownStage.ENDED: ("No ranking", "circle-off", "warn"),
}
"""Label, icon and tone."""
STAGE_DESCRIPTIONS = {
    ShownStage.ANNOUNCED: "It has not begun yet. Join an entrant's run now to train from the "
    "start.",
    ShownStage.OPEN: "The entrants are training. The last submission of each before the "
    "deadline counts.",
    ShownStage.OVER: "The deadline is over. The ledger closes the competition any moment.",
    ShownStage.CLOSED: "Nothing can be submitted any more. Every volunteer evaluator draws a "
    "lot, which nobody can choose. The lots decide who scores, and on which texts.",
    ShownStage.DRAWN: "The custodians reveal their parts of the key. Any {needed} of the "
    "{custodians} parts open the texts.",
    ShownStage.SCORED: "The texts are open. Evaluators, drawn by lot, score each entrant on "
    "them, and commit to their scores before anyone reveals any.",
    ShownStage.CHALLENGED: "Evaluators reveal the scores that they committed to. Until the "
    "result, anyone may score a model again and challenge a score.",
    ShownStage.DECIDED: "The result stands, and anyone can check it from the log alone.",
    ShownStage.ENDED: "It ended without a ranking: too few custodians revealed their parts of "
    "the key in time, or there was nobody to score.",
}
"""Descriptions for someone new to competitions."""
UNSCORED = (
    "It ended without a ranking: too few of those who were drawn scored the entrants in time."
)
STAGE_ENDS = {
    ShownStage.ANNOUNCED: (0, "until it begins"),
    ShownStage.OPEN: (1, "until the deadline"),
    ShownStage.CLOSED: (2, "until the draw"),
    ShownStage.DRAWN: (3, "until all must be scored"),
    ShownStage.SCORED: (3, "until all must be scored"),
    ShownStage.CHALLENGED: (4, "until the result"),
}
"""The milestone that ends a stage by the rules, and what a countdown to it says."""
MILESTONES = ("Start", "Deadline", "Draw", "Scores", "Result")


def update_stage_chip(chip: Chip, stage: ShownStage) -> None:
    words, picture, tone = STAGE_CHIPS[stage]
    chip.set_label(translate("competitions", words), picture, tone)


def stage_description(row: CompetitionRow, stage: ShownStage) -> str:
    is_unscored = stage is ShownStage.ENDED and row.phase == "revealed"
    return translate("competitions", UNSCORED if is_unscored else STAGE_DESCRIPTIONS[stage]).format(
        needed=figures.count(row.needed), custodians=figures.count(row.custodians)
    )


def countdown(moment: StageProgress, now_ms: int) -> tuple[str, str]:
    """A countdown and its goal; both empty if no known time lies ahead."""
    if moment.next_ms is None:
        return "", ""
    left = figures.duration((moment.next_ms - now_ms + 999) // 1_000)
    return left, translate("competitions", STAGE_ENDS[moment.stage][1])


def milestone_names() -> tuple[str, ...]:
    return tuple(translate("competitions", name) for name in MILESTONES)


def format_score(nanobits_per_byte: int) -> str:
    """A score in bits per byte."""
    return figures.decimal(nanobits_per_byte / NANO, SCORE_PLACES)


def format_perplexity(nanobits_per_byte: int) -> str:
    """The same score as perplexity per byte."""
    return figures.byte_perplexity(nanobits_per_byte / NANO)


def judging_cost(row: CompetitionRow) -> str:
    if row.judge_mb:
        memory = figures.memory(row.judge_mb)
        takes = translate("judging", "It takes {memory} of memory").format(memory=memory)
    else:
        takes = translate(
            "judging", "It takes memory, about five bytes for each parameter of a model"
        )
    return translate(
        "judging",
        "{takes}, and some minutes of computing for each model when the texts are open, by the "
        "same rules as training. Evaluators cannot win with an entry of their own, nor judge a "
        "run that they trained in.",
    ).format(takes=takes)


JUDGING_PARTS = {
    "offered": ("Offered", "hand", "accent"),
    "in-draw": ("In the draw", "dices", "accent"),
    "missed": ("Not in the draw", "clock-alert", "warn"),
    "others": ("Not drawn", "dices", ""),
    "drawn": ("Drawn", "scale", "accent"),
    "waiting": ("All scored", "scale", "ok"),
    "scored": ("Done", "circle-check", "ok"),
    "late": ("Not in time", "clock-alert", "warn"),
    "scoring": ("Scoring", "scale", "accent"),
    "barred": ("Not possible", "ban", ""),
    "on": ("On", "scale", ""),
    "off": ("Off", "scale", ""),
}
"""Label, icon and tone of our part as a judge, as the ledger names it, and of four states more."""
OFFERS = {
    "offered": "Your offer is in the log. After the deadline this computer draws a lot by "
    "itself; let Tequio run then, or others are drawn.",
    "in-draw": "Your lot is drawn. When the texts are opened, the lots decide who scores.",
    "missed": "No lot was drawn here in time, so others score. Nothing is lost.",
    "others": "Others were drawn. Thank you for the offer.",
    "waiting": "All models are scored here, and committed to. The scores are revealed when all "
    "others have committed too, or their time is over.",
    "scored": "All your scores are in the log. Thank you.",
    "late": "Not all models were scored and revealed in time; the others' scores count.",
}
BARS = {
    "custodian": "You hold a part of the key to the texts, so others judge here.",
    "organiser": "Organisers do not judge.",
    "entrant": "You entered {by}, so others judge here.",
    "trained": "You trained in a run that takes part, as {by}, so others judge here.",
    "memory": "This computer cannot judge now: {by}.",
    "refused": "The ledger did not accept your offer: {by}.",
}


def judging_state(
    row: CompetitionRow, judging: JudgingView | None, *, is_on: bool
) -> tuple[str, str, str]:
    """Our part as a judge: label, icon and tone."""
    state = row.part or ("on" if is_on else "off")
    if judging is not None and row.part == "drawn":
        state = "scoring"
    elif row.bar and row.part not in ("drawn", "waiting", "scored", "late", "others"):
        state = "barred"
    words, picture, tone = JUDGING_PARTS.get(state, JUDGING_PARTS["on" if is_on else "off"])
    return translate("judging", words), picture, tone


def judging_summary(row: CompetitionRow, judging: JudgingView | None, *, is_on: bool) -> str:
    if row.part == "drawn":
        return _scoring_text(row, judging, is_on=is_on)
    if row.bar and row.part in ("", "offered", "in-draw", "missed"):
        return translate("judging", BARS[row.bar]).format(by=without_period(row.barred_by))
    if row.part:
        return translate("judging", OFFERS[row.part])
    if is_on:
        return translate(
            "judging", "You help to judge: this computer makes its offer within a minute or two."
        )
    return translate(
        "judging",
        "Volunteers, drawn by lot, decide the winner: their computers score every model on the "
        "sealed texts. Yours can be one of them.",
    )


def _scoring_text(row: CompetitionRow, judging: JudgingView | None, *, is_on: bool) -> str:
    models = figures.count(judging.of_models if judging and judging.of_models else row.to_judge)
    done = figures.count(judging.models if judging and judging.of_models else row.judged)
    if not is_on:
        return translate(
            "judging",
            "You were drawn, but judging is switched off: {done} of {models} models are "
            "scored. Switch it on, or the scores of this computer will be missing.",
        ).format(done=done, models=models)
    if judging is None:
        return translate(
            "judging",
            "You were drawn: {done} of {models} models are scored. It goes on when this computer "
            "may lend and the round under way is over.",
        ).format(done=done, models=models)
    if judging.doing != "scoring":
        return translate(
            "judging", "Scoring: {done} of {models} models are done. The next one is made ready."
        ).format(done=done, models=models)
    return translate(
        "judging",
        "Scoring: {done} of {models} models are done; {documents} of {texts} texts of {name}.",
    ).format(
        done=done,
        models=models,
        documents=figures.count(judging.documents),
        texts=figures.count(judging.of_documents),
        name=judging.entrant,
    )
