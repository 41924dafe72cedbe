"""What is said of a competition's stage, its dates and its scores."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QCoreApplication

from tequio_client.app.pages.competition_time import Stage
from tequio_client.app.widgets import figures

if TYPE_CHECKING:
    from tequio_client.app.pages.competition_time import Moment
    from tequio_client.app.widgets.chip import Chip
    from tequio_client.link.competitions import CompetitionRow

NANO = 1e9
SCORE_PLACES = 4
translate = QCoreApplication.translate
PICTURES = {
    Stage.ANNOUNCED: ("calendar-clock", ""),
    Stage.OPEN: ("swords", "accent"),
    Stage.OVER: ("lock", "warn"),
    Stage.CLOSED: ("lock", "warn"),
    Stage.DRAWN: ("lock-open", "warn"),
    Stage.SCORED: ("scale", "warn"),
    Stage.CHALLENGED: ("scale", "warn"),
    Stage.DECIDED: ("trophy", "ok"),
    Stage.ENDED: ("circle-off", "warn"),
}


def show_stage(chip: Chip, stage: Stage) -> None:
    """Let a chip say how far a competition is."""
    chip.show_as(stage_name(stage), *PICTURES[stage])


def stage_name(stage: Stage) -> str:
    """The stage in a word or two."""
    return {
        Stage.ANNOUNCED: translate("competitions", "Announced"),
        Stage.OPEN: translate("competitions", "Under way"),
        Stage.OVER: translate("competitions", "Deadline over"),
        Stage.CLOSED: translate("competitions", "Closed"),
        Stage.DRAWN: translate("competitions", "Being opened"),
        Stage.SCORED: translate("competitions", "Being scored"),
        Stage.CHALLENGED: translate("competitions", "Being checked"),
        Stage.DECIDED: translate("competitions", "Decided"),
        Stage.ENDED: translate("competitions", "No ranking"),
    }[stage]


def what_goes_on(row: CompetitionRow, stage: Stage) -> str:
    """What happens in that stage, for who meets it for the first time."""
    words = {
        Stage.ANNOUNCED: translate(
            "competitions", "It has not begun yet. Join a side now to train from the start."
        ),
        Stage.OPEN: translate(
            "competitions",
            "The sides train. What each submits last before the deadline is what counts.",
        ),
        Stage.OVER: translate(
            "competitions", "The deadline is over. The ledger closes the competition any moment."
        ),
        Stage.CLOSED: translate(
            "competitions",
            "Nothing can be submitted any more. Whoever offered to score opens a secret, and all "
            "secrets together decide by lot who scores, and which texts.",
        ),
        Stage.DRAWN: translate(
            "competitions",
            "The custodians show their parts of the key: {needed} of {custodians} open the texts.",
        ).format(needed=figures.count(row.needed), custodians=figures.count(row.custodians)),
        Stage.SCORED: translate(
            "competitions",
            "The texts are open. Evaluators, drawn by lot, score each side on them, and commit to "
            "their scores before anyone shows any.",
        ),
        Stage.CHALLENGED: translate(
            "competitions",
            "Evaluators show the scores that they committed to. Until the result anyone may score "
            "again and challenge one.",
        ),
        Stage.DECIDED: translate(
            "competitions", "The result stands, and anyone can check it from the log alone."
        ),
        Stage.ENDED: _why_ended(row),
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


def until(moment: Moment, now_ms: int) -> tuple[str, str]:
    """A countdown and what it counts down to; empty where nothing is due at a known time."""
    if moment.next_ms is None:
        return "", ""
    to = {
        Stage.ANNOUNCED: translate("competitions", "until it begins"),
        Stage.OPEN: translate("competitions", "until the deadline"),
        Stage.CLOSED: translate("competitions", "until the draw"),
        Stage.DRAWN: translate("competitions", "until all must be scored"),
        Stage.SCORED: translate("competitions", "until all must be scored"),
        Stage.CHALLENGED: translate("competitions", "until the result"),
    }
    return figures.duration((moment.next_ms - now_ms + 999) // 1_000), to[moment.stage]


def date_names() -> tuple[str, ...]:
    """The dates of a competition, in their order."""
    return (
        translate("competitions", "Start"),
        translate("competitions", "Deadline"),
        translate("competitions", "Draw"),
        translate("competitions", "Scores"),
        translate("competitions", "Result"),
    )


def score(nanobits_per_byte: int) -> str:
    """Bits per byte, as they are compared."""
    return figures.decimal(nanobits_per_byte / NANO, SCORE_PLACES)
