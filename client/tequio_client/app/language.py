"""The language that the app speaks: translations, figures and the side that lines begin on.

Translations are read from Qt's own `.ts` files, so that there is nothing to compile and nothing
that can be out of date: a source text without a finished translation is shown in English.
"""

from __future__ import annotations

from importlib.resources import files
from typing import TYPE_CHECKING
from xml.etree import ElementTree

from PySide6.QtCore import QLibraryInfo, QLocale, QTranslator

if TYPE_CHECKING:
    from PySide6.QtWidgets import QApplication

SYSTEM = ""
"""The system's language."""
LANGUAGES = ("en", "es")


class Catalogue(QTranslator):
    """The texts of one `.ts` file."""

    def __init__(self, content: str) -> None:
        super().__init__()
        self._texts: dict[tuple[str, str], tuple[str, ...]] = {}
        for context in ElementTree.fromstring(content).iter("context"):  # noqa: S314  # it is ours
            name = context.findtext("name", "")
            for message in context.iter("message"):
                self._take(name, message)

    def isEmpty(self) -> bool:
        """Whether there is nothing in it."""
        return not self._texts

    def translate(
        self, context: str, source: str, _disambiguation: str | None = None, n: int = -1
    ) -> str:
        """The translation, or the source where there is none."""
        forms = self._texts.get((context, source), (source,))
        return forms[0] if n == 1 or len(forms) == 1 else forms[1]

    def _take(self, context: str, message: ElementTree.Element) -> None:
        target = message.find("translation")
        if target is None or target.get("type") in ("unfinished", "vanished", "obsolete"):
            return
        forms = [form.text or "" for form in target.iter("numerusform")] or [target.text or ""]
        if all(forms):
            self._texts[context, message.findtext("source", "")] = tuple(forms)


class Language:
    """Keeps the application in one language at a time."""

    def __init__(self, app: QApplication, choice: str = SYSTEM) -> None:
        self._app = app
        self._translators: list[QTranslator] = []
        self._choice: str | None = None
        self.choose(choice)

    def choose(self, choice: str) -> None:
        """Speak that one, or the system's where we can; windows are made anew for another one."""
        if choice == self._choice:
            return
        locale = locale_of(choice, QLocale.system())
        self.speak(locale, catalogue(QLocale.languageToCode(locale.language())))
        self._choice = choice

    def speak(self, locale: QLocale, translator: QTranslator) -> None:
        """Speak by that translator, and write figures by that locale."""
        self._choice = None
        QLocale.setDefault(locale)
        for old in self._translators:
            self._app.removeTranslator(old)
        self._translators = [translator, _qt(locale)]
        self._app.setLayoutDirection(locale.textDirection())
        for new in self._translators:
            self._app.installTranslator(new)


def locale_of(choice: str, system: QLocale) -> QLocale:
    """One of `LANGUAGES`, as it is written where the system is, if it is spoken there."""
    locale = QLocale(choice) if choice else system
    if QLocale.languageToCode(locale.language()) not in LANGUAGES:
        return QLocale("en")
    return system if system.language() == locale.language() else locale


def _qt(locale: QLocale) -> QTranslator:
    """Qt's own words (Copy, Cancel, its file dialog); asked before ours, which answer for all."""
    made = QTranslator()
    made.load(locale, "qtbase", "_", QLibraryInfo.path(QLibraryInfo.LibraryPath.TranslationsPath))
    return made


def catalogue(code: str) -> Catalogue:
    """The texts of a language; those of English are the plurals."""
    path = files("tequio_assets") / "i18n" / f"tequio_{code}.ts"
    return Catalogue(path.read_text("utf-8"))
