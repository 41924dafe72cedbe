"""Every text that the app shows, and the files that translate them.

    python -m tests.support.app_texts

writes the `.ts` files anew: what was translated stays so, what is new stands there unfinished, what
is gone is dropped. Qt's own tool finds the texts in the app's sources; it does not know the tables
that the app shares with the command line, nor a plural that is not asked of `tr`.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, NamedTuple
from xml.etree import ElementTree

import tequio_assets
import tequio_client.app
from tequio_client.app import snooze as app_words
from tequio_client.app.keys import service
from tequio_client.app.language import LANGUAGES
from tequio_client.ipc import texts as ipc_texts
from tequio_client.keys.state import TEMPLATES

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

APP = Path(tequio_client.app.__file__).parent
FOLDER = Path(tequio_assets.__file__).parent / "i18n"
TABLES: tuple[tuple[str, Iterable[str]], ...] = (
    (app_words.CONTEXT, ipc_texts.STATES.values()),
    (app_words.CONTEXT, ipc_texts.REASONS.values()),
    (app_words.CONTEXT, ipc_texts.WHEN.values()),
    (app_words.CONTEXT, ipc_texts.EVENTS.values()),
    (app_words.CONTEXT, (ipc_texts.UNKNOWN, ipc_texts.NEWER)),
    (app_words.CONTEXT, ipc_texts.ROUND_WORDS_STATES.values()),
    (app_words.CONTEXT, ipc_texts.ROUND_WORDS_REASONS.values()),
    (app_words.CONTEXT, ipc_texts.STANDINGS.values()),
    (service.CONTEXT, TEMPLATES.values()),
)
HEAD = '<?xml version="1.0" encoding="utf-8"?>\n<!DOCTYPE TS>\n'
PLURALS = 2
"""Forms of a plural in each of our languages: of one, and of any other number."""


class Text(NamedTuple):
    """A text as the sources have it."""

    context: str
    source: str

    @property
    def is_plural(self) -> bool:
        """Whether it depends on a number."""
        return "%n" in self.source


def path_of(code: str) -> Path:
    """The file of a language."""
    return FOLDER / f"tequio_{code}.ts"


def shown() -> tuple[Text, ...]:
    """Every text that the app can show, as its sources are now."""
    tables = (Text(context, text) for context, table in TABLES for text in table)
    return tuple(dict.fromkeys((*_found(), *tables)))


def wanted(code: str, texts: Iterable[Text]) -> tuple[Text, ...]:
    """Those that a language's file has to hold: in English only the plurals differ."""
    return tuple(text for text in texts if code != "en" or text.is_plural)


def messages(content: str) -> dict[Text, ElementTree.Element]:
    """The messages of a `.ts` file."""
    return {
        Text(context.findtext("name", ""), message.findtext("source", "")): message
        for context in ElementTree.fromstring(content).iter("context")  # noqa: S314  # it is ours
        for message in context.iter("message")
    }


def forms(message: ElementTree.Element) -> tuple[str, ...]:
    """What a message is translated with, finished or not; empty texts where it is not."""
    target = message.find("translation")
    if target is None:
        return ("",)
    plurals = tuple(form.text or "" for form in target.iter("numerusform"))
    return plurals or (target.text or "",)


def is_finished(message: ElementTree.Element) -> bool:
    """Whether the translation holds: it is no draft, and none of a text that is gone."""
    target = message.find("translation")
    return target is not None and "type" not in target.attrib and all(forms(message))


def written(code: str, texts: Iterable[Text], known: Mapping[Text, ElementTree.Element]) -> str:
    """The content of a language's file: its messages of these texts, and drafts for the others."""
    contexts: dict[str, ElementTree.Element] = {}
    for text in sorted(texts, key=lambda text: text.context):
        if text.context not in contexts:
            made = contexts[text.context] = ElementTree.Element("context")
            ElementTree.SubElement(made, "name").text = text.context
        message = known.get(text)
        contexts[text.context].append(_draft(text) if message is None else message)
    lines = "".join(map(_indented, contexts.values()))
    return f'{HEAD}<TS version="2.1" language="{code}">\n{lines}</TS>\n'


def _indented(context: ElementTree.Element) -> str:
    ElementTree.indent(context, "    ")
    return f"{ElementTree.tostring(context, 'unicode', short_empty_elements=False)}\n"


def _draft(text: Text) -> ElementTree.Element:
    message = ElementTree.Element("message", {"numerus": "yes"} if text.is_plural else {})
    ElementTree.SubElement(message, "source").text = text.source
    target = ElementTree.SubElement(message, "translation", type="unfinished")
    if text.is_plural:
        for _ in range(PLURALS):
            ElementTree.SubElement(target, "numerusform").text = ""
    return message


def _found() -> tuple[Text, ...]:
    """What Qt's own tool finds in the app's sources."""
    sources = [str(file) for file in sorted(APP.rglob("*.py"))]
    tool = Path(sys.executable).with_name("pyside6-lupdate")
    with TemporaryDirectory() as folder:
        output = Path(folder, "found.ts")
        subprocess.run([tool, *sources, "-ts", output], check=True, capture_output=True)
        return tuple(messages(output.read_text("utf-8")))


def main() -> int:
    """Write the file of each language anew."""
    texts = shown()
    for code in LANGUAGES:
        path = path_of(code)
        known = messages(path.read_text("utf-8"))
        path.write_text(written(code, wanted(code, texts), known), "utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
