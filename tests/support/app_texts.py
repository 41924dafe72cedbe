"""Every text that the app shows, and the files that translate them.

    python -m tests.support.app_texts

rewrites the `.ts` files and compiles each to the `.qm` file beside it: it keeps translations, adds
new texts as unfinished, and drops texts that are gone.

Qt's lupdate finds the texts in the app's sources, and its lrelease compiles them. The `.ts` files
are merged here and not by lupdate, because its Python parser (6.11) knows neither
QT_TRANSLATE_N_NOOP nor the count of `translate(context, text, None, n)`: it would write every
plural that is not asked of `self.tr` as a text without forms. Nor can it read `TABLES`, whose texts
are plain data: those that the app shares with the command line know nothing of Qt.
"""

from __future__ import annotations

import subprocess
import sys
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, NamedTuple
from xml.etree import ElementTree

import tequio_assets
import tequio_client.app
from tequio_client.app import notifications, releases, worker_texts
from tequio_client.app.first_run import checks
from tequio_client.app.keys import service
from tequio_client.app.language import LANGUAGES
from tequio_client.app.pages import (
    PAGES,
    activity,
    competition_text,
    home,
    run_needs,
    settings_table,
)
from tequio_client.app.pages.settings_table_app import ChipSpec, ChoiceSpec, ControlSpec, NumberSpec
from tequio_client.app.widgets import figures
from tequio_client.ipc import texts
from tequio_client.keys.state import ERROR_TEMPLATES
from tequio_shared.network.standing import CAUSE_TEXTS

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping


def _setting_texts() -> Iterator[str]:
    """Every text of the tables of settings, some more than once."""
    for part in settings_table.SECTIONS:
        yield from (part.title, part.note, *(one.heading for one in part.cards))
        for one in settings_table.settings_of(part):
            yield from (one.title, one.note, one.default, one.found_by)
            yield from _control_texts(one.control)


def _control_texts(control: ControlSpec | None) -> Iterator[str]:
    match control:
        case NumberSpec(unit=unit, nothing=nothing):
            yield from (unit, nothing)
        case ChoiceSpec(choices=choices):
            yield from choices.values()
        case ChipSpec(words=words):
            yield words


APP = Path(tequio_client.app.__file__).parent
FOLDER = Path(tequio_assets.__file__).parent / "i18n"
TABLES: tuple[tuple[str, Iterable[str]], ...] = (
    (worker_texts.CONTEXT, texts.STATE_WORDS.values()),
    (worker_texts.CONTEXT, texts.REASON_TEMPLATES.values()),
    (worker_texts.CONTEXT, texts.END_TEMPLATES.values()),
    (worker_texts.CONTEXT, texts.EVENT_TEMPLATES.values()),
    (worker_texts.CONTEXT, texts.REACHABILITY_TEMPLATES.values()),
    (worker_texts.CONTEXT, texts.INTRODUCTION_TEXTS.values()),
    (worker_texts.CONTEXT, (texts.UNKNOWN_EVENT, texts.UNKNOWN_REASON)),
    (worker_texts.CONTEXT, texts.ROUND_STATES.values()),
    (worker_texts.CONTEXT, texts.ROUND_REASON_TEXTS.values()),
    (worker_texts.CONTEXT, texts.STANDING_TEXTS.values()),
    (worker_texts.CONTEXT, CAUSE_TEXTS.values()),
    (worker_texts.CONTEXT, (*texts.DECLINED_AUDIT_TEXTS.values(), *texts.AUDITING)),
    (
        worker_texts.HEADLINE_CONTEXT,
        (
            *worker_texts.STARTING_WORKER,
            *worker_texts.PAUSING,
            *worker_texts.STARTING,
            *worker_texts.CUT_OFF,
        ),
    ),
    (checks.CONTEXT, (*checks.CHECK_NAMES, *(words for _, words in checks.VERDICTS.values()))),
    (notifications.NOTICE_CONTEXT, [text for _, text in notifications.NOTICE_TEXTS.values()]),
    (service.CONTEXT, ERROR_TEMPLATES.values()),
    ("pages", [entry.title for entry in PAGES]),
    ("health", (*activity.PROBE_NAMES.values(), *activity.PROBE_ADVICE.values())),
    ("health", (activity.OTHER_ADVICE,)),
    ("remedies", (home.NO_BACKUP, *home.BUTTONS.values())),
    ("remedies", (home.AWAY, home.AWAY_AT_WORK, releases.UPDATE_NOW, home.HOW_TO_UPDATE)),
    ("competitions", [words for words, _, _ in competition_text.STAGE_CHIPS.values()]),
    ("competitions", (*competition_text.STAGE_DESCRIPTIONS.values(), competition_text.UNSCORED)),
    ("competitions", [goal for _, goal in competition_text.STAGE_ENDS.values()]),
    ("competitions", competition_text.MILESTONES),
    ("judging", [words for words, _, _ in competition_text.JUDGING_PARTS.values()]),
    ("judging", (*competition_text.OFFERS.values(), *competition_text.BARS.values())),
    ("figures", list(figures.SCALES.values())),
    ("RunNeeds", [words for words, _, _ in run_needs.FIT_CHIPS.values()]),
    ("RunNeeds", [words for _, *texts in run_needs.NEEDS.values() for words in texts]),
    (settings_table.CONTEXT, [text for text in _setting_texts() if text]),
)
HEAD = '<?xml version="1.0" encoding="utf-8"?>\n<!DOCTYPE TS>\n'


class Text(NamedTuple):
    """A text as it is in the sources."""

    context: str
    source: str

    @property
    def is_plural(self) -> bool:
        """True if the text depends on a number."""
        return "%n" in self.source or "%Ln" in self.source


def path_of(code: str) -> Path:
    """The file of a language."""
    return FOLDER / f"tequio_{code}.ts"


def shown() -> tuple[Text, ...]:
    """Every text that the app can show, as its sources are now."""
    tables = (Text(context, text) for context, table in TABLES for text in table)
    return tuple(dict.fromkeys((*_found(), *tables)))


def wanted(code: str, texts: Iterable[Text]) -> tuple[Text, ...]:
    """Texts that a language's file must hold: for English, only the plurals."""
    return tuple(text for text in texts if code != "en" or text.is_plural)


def messages(content: str) -> dict[Text, ElementTree.Element]:
    """The messages of a `.ts` file."""
    return {
        Text(context.findtext("name", ""), message.findtext("source", "")): message
        for context in ElementTree.fromstring(content).iter("context")  # noqa: S314  # it is ours
        for message in context.iter("message")
    }


def forms(message: ElementTree.Element) -> tuple[str, ...]:
    """A message's translations, finished or not; empty texts where there are none."""
    target = message.find("translation")
    if target is None:
        return ("",)
    plurals = tuple(form.text or "" for form in target.iter("numerusform"))
    return plurals or (target.text or "",)


def is_finished(message: ElementTree.Element) -> bool:
    """True for a complete translation that is neither a draft nor of a text that is gone."""
    target = message.find("translation")
    return target is not None and "type" not in target.attrib and all(forms(message))


def written(code: str, texts: Iterable[Text], known: Mapping[Text, ElementTree.Element]) -> str:
    """The content of a language's file: its messages of these texts, and drafts for the others."""
    contexts: dict[str, ElementTree.Element] = {}
    plurals = plural_forms(code)
    for text in sorted(texts, key=lambda text: text.context):
        if text.context not in contexts:
            made = contexts[text.context] = ElementTree.Element("context")
            ElementTree.SubElement(made, "name").text = text.context
        message = known.get(text)
        contexts[text.context].append(_draft(text, plurals) if message is None else message)
    lines = "".join(map(_indented, contexts.values()))
    return f'{HEAD}<TS version="2.1" language="{code}">\n{lines}</TS>\n'


def _indented(context: ElementTree.Element) -> str:
    ElementTree.indent(context, "    ")
    return f"{ElementTree.tostring(context, 'unicode', short_empty_elements=False)}\n"


def _draft(text: Text, plurals: int) -> ElementTree.Element:
    message = ElementTree.Element("message", {"numerus": "yes"} if text.is_plural else {})
    ElementTree.SubElement(message, "source").text = text.source
    target = ElementTree.SubElement(message, "translation", type="unfinished")
    if text.is_plural:
        for _ in range(plurals):
            ElementTree.SubElement(target, "numerusform").text = ""
    return message


def _found() -> tuple[Text, ...]:
    """The texts that lupdate finds in the app's sources."""
    return tuple(messages(_lupdate([str(file) for file in sorted(APP.rglob("*.py"))], "en")))


@cache
def plural_forms(code: str) -> int:
    """The number of plural forms of a language, as Qt counts them."""
    with TemporaryDirectory() as folder:
        source = Path(folder, "plural.py")
        source.write_text('class Plural:\n    def one(self): self.tr("%n", "", 1)\n')
        content = _lupdate([str(source)], code)
    return len(ElementTree.fromstring(content).findall(".//numerusform"))  # noqa: S314  # it is ours


def _lupdate(sources: list[str], code: str) -> str:
    with TemporaryDirectory() as folder:
        output = Path(folder, "found.ts")
        command = [_tool("lupdate"), *sources, "-target-language", code, "-ts", str(output)]
        subprocess.run(command, check=True, capture_output=True)
        return output.read_text("utf-8")


def released(path: Path) -> bytes:
    """The `.qm` file of a `.ts` file, without the texts that are unfinished."""
    with TemporaryDirectory() as folder:
        output = Path(folder, "made.qm")
        command = [_tool("lrelease"), "-silent", "-nounfinished", str(path), "-qm", str(output)]
        subprocess.run(command, check=True, capture_output=True)
        return output.read_bytes()


def _tool(name: str) -> str:
    return str(Path(sys.executable).with_name(f"pyside6-{name}"))


def main() -> int:
    """Rewrite and compile the files of each language."""
    texts = shown()
    for code in LANGUAGES:
        path = path_of(code)
        known = messages(path.read_text("utf-8")) if path.exists() else {}
        path.write_text(written(code, wanted(code, texts), known), "utf-8")
        path.with_suffix(".qm").write_bytes(released(path))
    return 0


if __name__ == "__main__":
    sys.exit(main())
