"""Translations: nothing is lost on the way, and what is not translated is English."""

from __future__ import annotations

import subprocess
import sys
from importlib.resources import files
from pathlib import Path
from string import Formatter
from xml.etree import ElementTree

import pytest
from PySide6.QtCore import QCoreApplication, QLocale

import tequio_client.app
from tequio_client.app.language import LANGUAGES, Catalogue, Language, catalogue
from tequio_client.key_errors import TEMPLATES
from tequio_client.link import words

APP = Path(tequio_client.app.__file__).parent
FOLDER = files("tequio_assets") / "i18n"
PAIR = """<TS><context><name>x</name>
<message numerus="yes"><source>%n thing(s)</source><translation>
<numerusform>%n cosa</numerusform><numerusform>%n cosas</numerusform></translation></message>
<message><source>half</source><translation type="unfinished">medio</translation></message>
<message><source>gone</source><translation type="vanished">ido</translation></message>
</context></TS>"""


def test_plurals_are_chosen_by_number() -> None:
    made = Catalogue(PAIR)
    assert made.translate("x", "%n thing(s)", None, 1) == "%n cosa"
    assert [made.translate("x", "%n thing(s)", None, n) for n in (0, 2)] == ["%n cosas"] * 2


@pytest.mark.parametrize("source", ["half", "gone", "never heard of"])
def test_what_is_not_translated_stays_english(source: str) -> None:
    assert Catalogue(PAIR).translate("x", source) == source


@pytest.mark.parametrize("code", LANGUAGES)
def test_every_translation_keeps_the_places_of_its_values(code: str) -> None:
    for message in _messages(code):
        source = message.findtext("source", "")
        target = message.find("translation")
        assert target is not None
        forms = [form.text or "" for form in target.iter("numerusform")] or [target.text or ""]
        for form in filter(None, forms):
            assert _places(form) == _places(source), form
            assert ("%n" in form) == ("%n" in source), form


@pytest.mark.parametrize("code", LANGUAGES)
def test_no_translation_is_of_a_text_that_is_gone(code: str, tmp_path: Path) -> None:
    wanted = _sources(tmp_path) | {
        ("words", text)
        for table in (words.STATES, words.REASONS, words.WHEN)
        for text in table.values()
    }
    wanted |= {("keys", text) for text in TEMPLATES.values()}
    assert _translated(code) - wanted == set()


def test_english_has_both_forms_of_every_plural(tmp_path: Path) -> None:
    plurals = {one for one in _sources(tmp_path) if "%n" in one[1]}
    assert plurals
    assert plurals - _translated("en") == set()


def test_an_unknown_language_is_english(language: Language) -> None:
    language.choose("fi")
    assert QLocale().language() is QLocale.Language.English
    assert QCoreApplication.translate("pages", "Home") == "Home"


def test_spanish_is_spoken(language: Language) -> None:
    language.choose("es")
    assert QCoreApplication.translate("pages", "Home") == "Inicio"
    assert QCoreApplication.translate("RoundCard", "%n peer(s)", "", 1) == "1 par"
    assert catalogue("es").translate("words", "Lending") == "Prestando"


def _messages(code: str) -> list[ElementTree.Element]:
    text = (FOLDER / f"tequio_{code}.ts").read_text("utf-8")
    return list(ElementTree.fromstring(text).iter("message"))  # noqa: S314  # it is ours


def _translated(code: str) -> set[tuple[str, str]]:
    text = (FOLDER / f"tequio_{code}.ts").read_text("utf-8")
    return _pairs(text)


def _sources(folder: Path) -> set[tuple[str, str]]:
    """What Qt's own tool finds in the app's sources."""
    output = folder / "found.ts"
    sources = [str(file) for file in APP.rglob("*.py")]
    subprocess.run(
        [Path(sys.executable).with_name("pyside6-lupdate"), *sources, "-ts", str(output)],
        check=True,
        capture_output=True,
    )
    return _pairs(output.read_text("utf-8"))


def _pairs(text: str) -> set[tuple[str, str]]:
    return {
        (context.findtext("name", ""), message.findtext("source", ""))
        for context in ElementTree.fromstring(text).iter("context")  # noqa: S314  # it is ours
        for message in context.iter("message")
    }


def _places(text: str) -> set[str]:
    return {name for _, name, _, _ in Formatter().parse(text) if name}
