"""What is said of judging: our part in a competition, what it takes, and why we may not."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QCoreApplication

from tequio_client.app.widgets import figures

if TYPE_CHECKING:
    from tequio_client.link.competitions import CompetitionRow
    from tequio_client.link.snapshot import JudgingShown

translate = QCoreApplication.translate


def cost(row: CompetitionRow | None = None) -> str:
    """What judging takes."""
    memory = figures.memory(row.judge_mb) if row is not None and row.judge_mb else ""
    takes = (
        translate("judging", "It takes {memory} of memory").format(memory=memory)
        if memory
        else translate("judging", "It takes memory, about five bytes for each parameter of a model")
    )
    return translate(
        "judging",
        "{takes}, and some minutes of computing for each model when the texts are open, by the "
        "same manners as training: it pauses for you and your games. Who judges cannot win with "
        "an entry of their own, nor judge a run that they trained in.",
    ).format(takes=takes)


def state(row: CompetitionRow, here: JudgingShown | None, *, is_on: bool) -> tuple[str, str, str]:
    """Our part in a word or two, with its picture and tone."""
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


def about(row: CompetitionRow, here: JudgingShown | None, *, is_on: bool) -> str:
    """Our part in a sentence or two."""
    if row.part == "drawn":
        return _scoring(row, here, is_on=is_on)
    if row.bar and row.part in ("", "offered", "opened", "missed"):
        return _barred(row)
    if row.part:
        return _part(row)
    if is_on:
        return translate(
            "judging", "You help to judge: this computer makes its offer within a minute or two."
        )
    return translate(
        "judging",
        "Who wins is decided by volunteers, drawn by lot, whose computers score every model on "
        "the sealed texts. Yours can be one of them.",
    )


def _part(row: CompetitionRow) -> str:
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


def _scoring(row: CompetitionRow, here: JudgingShown | None, *, is_on: bool) -> str:
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


def _barred(row: CompetitionRow) -> str:
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
