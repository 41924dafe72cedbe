"""Translations: nothing is lost on the way, and what is not translated is English."""

from __future__ import annotations

import os
import subprocess
import sys
from string import Formatter
from typing import TYPE_CHECKING

import pytest
from PySide6.QtCore import QCoreApplication, QLocale, QTranslator
from PySide6.QtGui import QFontDatabase
from PySide6.QtWidgets import QApplication

from tequio_client.app import worker_texts
from tequio_client.app.language import (
    LANGUAGES,
    SYSTEM,
    Language,
    as_sentence,
    join_sentences,
    load_translations,
    locale_of,
    with_reason,
    without_period,
)
from tequio_client.app.theme import style
from tequio_client.ipc import texts as link_texts
from tequio_client.keys.state import ERROR_TEMPLATES
from tests.support import app_texts, timing_slack
from tests.support.app_texts import Text, is_finished

if TYPE_CHECKING:
    from pathlib import Path
    from xml.etree.ElementTree import Element


ENDS = (".", "…", ":", "?")
FULL_WIDTH = {code: str.maketrans(".:?", "。：？") for code in ("ja", "zh")}
"""Ends of sentences in languages that write them in another way."""
PAIR = """<TS version="2.1" language="{code}"><context><name>x</name>
<message numerus="yes"><source>%n thing(s)</source><translation>
{forms}</translation></message>
<message><source>half</source><translation type="unfinished">medio</translation></message>
<message><source>gone</source><translation type="vanished">ido</translation></message>
</context></TS>"""
COUNTED = {
    "en": {1: "a", 0: "b", 2: "b", 21: "b"},
    "es": {1: "a", 0: "b", 2: "b", 21: "b"},
    "fr": {0: "a", 1: "a", 2: "b"},
    "ja": {0: "a", 1: "a", 2: "a"},
    "pl": {1: "a", 2: "b", 4: "b", 22: "b", 0: "c", 5: "c", 12: "c", 21: "c"},
}
"""The form of a plural by the number, in languages with one to three of them."""
CANCEL = {
    "en": "Cancel",
    "de": "Abbrechen",
    "es": "Cancelar",
    "fr": "Annuler",
    "ja": "キャンセル",
    "pt": "Cancelar",
    "zh": "取消",
}
HANS = ("zh_Hans_HK", "zh_Hans_MO")
"""Simplified characters where traditional ones are usual."""

SPANISH = PAIR.format(
    code="es", forms="<numerusform>%n cosa</numerusform><numerusform>%n cosas</numerusform>"
)

LOOKUPS = """
import faulthandler
import sys
from PySide6.QtCore import QUrl
from PySide6.QtNetwork import QNetworkAccessManager, QNetworkRequest
from PySide6.QtWidgets import QApplication
from tequio_client.app.language import LANGUAGES, Language

sys.setswitchinterval(1e-6)  # as on a busy machine
faulthandler.dump_traceback_later(float(sys.argv[1]), exit=True)
app = QApplication([])
language = Language(app, "en")
manager = QNetworkAccessManager()
replies, failed = [], 0
while failed < 24:
    while len(replies) < 8:
        url = QUrl(f"http://{failed}-{len(replies)}.invalid/")
        replies.append(manager.get(QNetworkRequest(url)))
    for code in LANGUAGES:
        language.choose(code)
        app.processEvents()
    failed += sum(one.isFinished() for one in replies)
    replies = [one for one in replies if not one.isFinished()]
print("chosen")
"""
"""Qt says in a thread of its own, and in the app's language, that a name is not found."""
PATIENCE_S = 20.0


def _compiled(folder: Path, code: str) -> QTranslator:
    forms = "".join(
        f"<numerusform>%n {'abc'[at]}</numerusform>" for at in range(app_texts.plural_forms(code))
    )
    source, made = folder / "x.ts", QTranslator()
    source.write_text(PAIR.format(code=code, forms=forms), "utf-8")
    target = folder / "x.qm"
    target.write_bytes(app_texts.released(source))
    assert made.load(str(target))
    return made


@pytest.mark.parametrize("code", COUNTED)
def test_plurals_follow_the_rule_of_their_language(
    code: str, language: Language, tmp_path: Path
) -> None:
    made = _compiled(tmp_path, code)
    language.apply(QLocale(code), made)
    said = {n: QCoreApplication.translate("x", "%n thing(s)", "", n) for n in COUNTED[code]}
    assert said == {n: f"{n} {form}" for n, form in COUNTED[code].items()}


@pytest.mark.parametrize("source", ["half", "gone", "never heard of"])
def test_what_is_not_translated_stays_english(
    source: str, language: Language, tmp_path: Path
) -> None:
    language.apply(QLocale("es"), _compiled(tmp_path, "es"))
    assert QCoreApplication.translate("x", source) == source


@pytest.mark.parametrize("code", LANGUAGES)
def test_the_compiled_file_is_that_of_its_translations(code: str) -> None:
    path = app_texts.path_of(code)
    made = app_texts.released(path)
    assert path.with_suffix(".qm").read_bytes() == made, "make texts compiles them"


@pytest.fixture(scope="module")
def texts() -> tuple[Text, ...]:
    return app_texts.shown()


@pytest.mark.parametrize("code", LANGUAGES)
def test_every_text_is_in_the_file_and_no_other(code: str, texts: tuple[Text, ...]) -> None:
    there, wanted = _messages(code).keys(), set(app_texts.wanted(code, texts))
    assert (wanted - there, there - wanted) == (set(), set()), "make texts brings them in line"


@pytest.mark.parametrize("code", LANGUAGES)
def test_every_text_is_translated(code: str) -> None:
    assert [text for text, one in _messages(code).items() if not is_finished(one)] == []


@pytest.mark.parametrize("code", LANGUAGES)
def test_every_translation_keeps_the_places_of_its_values(code: str) -> None:
    for text, message in _messages(code).items():
        found = app_texts.forms(message)
        assert len(found) == (app_texts.plural_forms(code) if text.is_plural else 1)
        assert message.get("numerus") == ("yes" if text.is_plural else None)
        for form in found:
            assert _places(form) == _places(text.source), form
            for number in ("%n", "%Ln"):
                assert form.count(number) == text.source.count(number), form


@pytest.mark.parametrize("code", LANGUAGES)
def test_every_translation_ends_as_its_text_does(code: str) -> None:
    ends = [end.translate(FULL_WIDTH.get(code, {})) for end in ENDS]
    for text, message in _messages(code).items():
        for form in app_texts.forms(message):
            assert form == form.strip()
            assert [form.endswith(end) for end in ends] == [text.source.endswith(e) for e in ENDS]


def test_the_shared_tables_are_among_the_texts(texts: tuple[Text, ...]) -> None:
    words_of = {text.source for text in texts if text.context == worker_texts.CONTEXT}
    assert words_of > {
        link_texts.REASON_TEMPLATES["in-use"],
        link_texts.UNKNOWN_EVENT,
        link_texts.UNKNOWN_REASON,
    }
    assert {Text("keys", template) for template in ERROR_TEMPLATES.values()} < set(texts)


def test_writing_the_file_keeps_what_is_translated_and_no_more() -> None:
    known = app_texts.messages(SPANISH)
    plural, half, new = Text("x", "%n thing(s)"), Text("x", "half"), Text("a", "new")
    made = app_texts.messages(app_texts.written("es", (plural, half, new), known))
    assert list(made) == [new, plural, half]
    assert app_texts.forms(made[plural]) == ("%n cosa", "%n cosas")
    assert [one for one, message in made.items() if is_finished(message)] == [plural]


def test_an_unknown_language_is_english(language: Language) -> None:
    language.choose("fi")
    assert QLocale().language() is QLocale.Language.English
    assert QCoreApplication.translate("pages", "Home") == "Home"


@pytest.mark.parametrize(
    ("choice", "system", "spoken"),
    [
        (SYSTEM, "es_MX", "es_MX"),
        ("es", "es_MX", "es_MX"),
        ("es", "de_DE", "es_ES"),
        ("de", "de_AT", "de_AT"),
        ("pt", "es_MX", "pt_BR"),
        ("en", "es_MX", "en_US"),
        (SYSTEM, "fi_FI", "en_US"),
        ("fi", "en_GB", "en_US"),
        (SYSTEM, "zh_CN", "zh_CN"),
        (SYSTEM, "zh_SG", "zh_SG"),
        (SYSTEM, "zh_TW", "zh_CN"),
        ("zh", "ja_JP", "zh_CN"),
    ],
)
def test_figures_are_written_as_where_the_system_is(choice: str, system: str, spoken: str) -> None:
    assert locale_of(choice, QLocale(system)).name() == spoken


def test_spanish_is_spoken(language: Language) -> None:
    language.choose("es")
    assert QCoreApplication.translate("pages", "Home") == "Inicio"
    assert QCoreApplication.translate("RoundCard", "%Ln peer(s)", "", 1) == "1 par"
    assert load_translations("es").translate("words", "Lending") == "Prestando"


@pytest.mark.parametrize("code", LANGUAGES)
def test_qts_own_words_are_in_the_same_language(language: Language, code: str) -> None:
    language.choose(code)
    said = QCoreApplication.translate("QPlatformTheme", "Cancel")
    assert said == CANCEL[code]


@pytest.mark.parametrize("region", ["zh_CN", "zh_SG", "zh_TW", "zh_HK", *HANS])
def test_one_chinese_is_spoken_in_every_region(language: Language, region: str) -> None:
    locale = locale_of(SYSTEM, QLocale(region))
    language.apply(locale, load_translations("zh"))
    assert QCoreApplication.translate("pages", "Settings") == "设置"
    assert QCoreApplication.translate("QPlatformTheme", "Cancel") == "取消"
    assert QCoreApplication.translate("QPlatformTheme", "Save") == "保存"
    assert QLocale().dayName(6, QLocale.FormatType.ShortFormat) == "周六"


@pytest.mark.parametrize(
    ("code", "sentences"),
    [
        ("en", ("Waiting: full. Try again.", "Waiting: full.", "Full", "Waiting")),
        ("ja", ("Waiting：full。Try again.", "Waiting：full。", "Full", "Waiting")),
        ("zh", ("Waiting：full。Try again.", "Waiting：full。", "Full", "Waiting")),
    ],
)
def test_texts_are_joined_as_their_language_does(
    language: Language, code: str, sentences: tuple[str, ...]
) -> None:
    language.choose(code)
    whole = as_sentence(with_reason("Waiting", "full."))
    joined = join_sentences("", whole, "Try again.")
    alone = without_period(as_sentence("full")), with_reason("Waiting", "")
    assert (joined, whole, *alone) == sentences


def test_characters_are_drawn_in_the_way_of_the_language(language: Language) -> None:
    families = {}
    for code in LANGUAGES:
        language.choose(code)
        families[code] = QApplication.font().families()
        assert families[code] == style.font(style.TextStyle.BODY).families()
        assert families[code][0] == style.FAMILY
    for code, spoken in (("ja", QLocale.Language.Japanese), ("zh", QLocale.Language.Chinese)):
        known = [one for one in style.FALLBACKS[spoken] if QFontDatabase.hasFamily(one)]
        assert families[code][1:] == known
    assert families["en"] == families["es"] == [style.FAMILY]


def _messages(code: str) -> dict[Text, Element]:
    return app_texts.messages(app_texts.path_of(code).read_text("utf-8"))


def _places(text: str) -> list[str]:
    """The values in it, each as often as it stands there."""
    return sorted(name for _, name, _, _ in Formatter().parse(text) if name)


def test_a_language_can_be_chosen_while_qt_translates_in_another_thread() -> None:
    environment = os.environ | {"QT_QPA_PLATFORM": "offscreen"}
    allowed_s = timing_slack.allowed_s(PATIENCE_S)
    command = [sys.executable, "-c", LOOKUPS, str(allowed_s)]
    ended = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert ended.returncode == 0, ended.stderr
    assert ended.stdout.strip() == "chosen"
