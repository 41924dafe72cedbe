"""The app's language: translations, number formats and text direction.

Translations are Qt's own: `.ts` files for translators and, beside each, the `.qm` file that
`lrelease` compiles, with the plural rule of its language. Both are in the repository (`make texts`
writes them), so a checkout, a wheel and a frozen program load the same file without a build step. A
text without a finished translation is shown in English.
"""

from __future__ import annotations

from importlib.resources import files
from typing import TYPE_CHECKING

from PySide6.QtCore import QLibraryInfo, QLocale, QTranslator

if TYPE_CHECKING:
    from PySide6.QtWidgets import QApplication

SYSTEM = ""
"""Follow the system's language."""
LANGUAGES = ("en", "de", "es", "fr", "pt")


class Language:
    def __init__(self, app: QApplication, choice: str = SYSTEM) -> None:
        self._app = app
        self._translators: list[QTranslator] = []  # Qt does not own those that it has installed
        self._choice: str | None = None
        self.choose(choice)

    def choose(self, choice: str) -> None:
        """Switch to a language of `LANGUAGES` or to the system's; windows rebuild themselves."""
        if choice == self._choice:
            return
        locale = locale_of(choice, QLocale.system())
        self.apply(locale, load_translations(QLocale.languageToCode(locale.language())))
        self._choice = choice

    def apply(self, locale: QLocale, translator: QTranslator) -> None:
        """Install a translator and format numbers by that locale."""
        self._choice = None
        QLocale.setDefault(locale)
        for old in self._translators:
            self._app.removeTranslator(old)
        self._translators = [translator, _qt_translations(locale)]
        self._app.setLayoutDirection(locale.textDirection())
        for new in self._translators:
            self._app.installTranslator(new)


def locale_of(choice: str, system: QLocale) -> QLocale:
    """The locale of a choice, in the system's region if its language is spoken there."""
    locale = QLocale(choice) if choice else system
    if QLocale.languageToCode(locale.language()) not in LANGUAGES:
        return QLocale("en")
    return system if system.language() == locale.language() else locale


def load_translations(code: str) -> QTranslator:
    """Load the translations for a code of `LANGUAGES`; the English file holds the plural forms."""
    made = QTranslator()
    path = files("tequio_assets") / "i18n" / f"tequio_{code}.qm"
    if not made.load(str(path)):
        raise FileNotFoundError(f"no translations in {path}: install Tequio again")
    return made


def _qt_translations(locale: QLocale) -> QTranslator:
    """Qt's own texts (Copy, Cancel, the file dialog); empty if Qt has none in that language."""
    made = QTranslator()
    made.load(locale, "qtbase", "_", QLibraryInfo.path(QLibraryInfo.LibraryPath.TranslationsPath))
    return made
