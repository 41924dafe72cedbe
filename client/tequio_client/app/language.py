"""The app's language: translations, number formats and text direction.

Translations are Qt's own: `.ts` files for translators and, beside each, the `.qm` file that
`lrelease` compiles, with the plural rule of its language. Both are in the repository (`make texts`
writes them), so a checkout, a wheel and a frozen program load the same file without a build step. A
text without a finished translation is shown in English.
"""

from __future__ import annotations

from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING, cast

from PySide6.QtCore import QCoreApplication, QEvent, QLibraryInfo, QLocale, QTranslator
from shiboken6 import isValid

from tequio_client.app.theme import style

if TYPE_CHECKING:
    from PySide6.QtWidgets import QApplication

SYSTEM = ""
"""Follow the system's language."""
LANGUAGES = ("en", "de", "es", "fr", "ja", "pt", "zh")


class Language:
    def __init__(self, app: QApplication, choice: str = SYSTEM) -> None:
        self._app = app
        self._spoken = _spoken(app)
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
        """Translate by that translator and format numbers by that locale."""
        self._choice = None
        QLocale.setDefault(locale)
        self._spoken.ask_only(translator, _qt_translations(locale.bcp47Name()))
        self._app.setLayoutDirection(locale.textDirection())
        self._app.setFont(style.font(style.TextStyle.BODY))
        QCoreApplication.sendEvent(self._app, QEvent(QEvent.Type.LanguageChange))


class _SpokenTranslator(QTranslator):
    """The one translator that Qt knows: it asks those of the present language, in their order.

    Qt's threads translate too, for example why a host name was not found. Each of them asks every
    installed translator and needs Python's lock for it, under a lock that `removeTranslator` and
    `installTranslator` wait for while they hold Python's. So nothing is installed or removed once
    there may be such a thread, and nothing is destroyed, as the destructor waits for the same lock.
    """

    def __init__(self, app: QApplication) -> None:
        super().__init__(app)
        self._translators: tuple[QTranslator, ...] = ()

    def ask_only(self, *translators: QTranslator) -> None:
        """Ask these from now on, and own them."""
        for one in translators:
            one.setParent(self)
        self._translators = translators

    def isEmpty(self) -> bool:
        """Never: Qt would not ask an empty one."""
        return False

    def translate(
        self, context: str, source: str, disambiguation: str | None = None, n: int = -1
    ) -> str:
        """The first translation; Qt takes None for an absent one, and an empty text for a text."""
        # as the program ends, Qt's objects go before the questions do
        left = filter(isValid, self._translators)
        found = (one.translate(context, source, disambiguation, n) for one in left)
        return next(filter(None, found), cast("str", None))


def _spoken(app: QApplication) -> _SpokenTranslator:
    made = app.findChild(_SpokenTranslator)
    if made is None:
        made = _SpokenTranslator(app)
        app.installTranslator(made)
    return made


def locale_of(choice: str, system: QLocale) -> QLocale:
    """The locale of a choice, in the system's region if its language is spoken there."""
    code = choice or QLocale.languageToCode(system.language())
    if code not in LANGUAGES:
        return QLocale("en")
    locale = QLocale(code)
    # Chinese is translated in simplified characters: days and months have to be written like that
    is_spoken = (locale.language(), locale.script()) == (system.language(), system.script())
    return system if is_spoken else locale


@cache
def load_translations(code: str) -> QTranslator:
    """Load the translations for a code of `LANGUAGES`; the English file holds the plural forms."""
    made = QTranslator()
    path = files("tequio_assets") / "i18n" / f"tequio_{code}.qm"
    if not made.load(str(path)):
        raise FileNotFoundError(f"no translations in {path}: install Tequio again")
    return made


@cache
def _qt_translations(tag: str) -> QTranslator:
    """Qt's own texts (Copy, Cancel, the file dialog) for a locale; empty if Qt has none.

    `tag` is the locale's BCP 47 name, which keeps the script: Hong Kong has two of them.
    """
    made, folder = QTranslator(), QLibraryInfo.path(QLibraryInfo.LibraryPath.TranslationsPath)
    # some of Qt's files are named by a region: Singapore reads those of China
    locale = QLocale(tag)
    for one in (locale, QLocale(locale.language(), locale.script(), QLocale.Country.AnyCountry)):
        if made.load(one, "qtbase", "_", folder):
            break
    return made


def with_reason(word: str, reason: str) -> str:
    """A word and its reason; the word alone if there is none."""
    template = QCoreApplication.translate("sentences", "{word}: {reason}")
    return template.format(word=word, reason=reason) if reason else word


def join_sentences(*sentences: str) -> str:
    """Sentences after one another, with a space between them where the language has one."""
    template, joined = QCoreApplication.translate("sentences", "{first} {second}"), ""
    for one in filter(None, sentences):
        joined = template.format(first=joined, second=one) if joined else one
    return joined


def as_sentence(text: str) -> str:
    """A text with a capital letter and one period, whether it had them or not."""
    template = QCoreApplication.translate("sentences", "{text}.")
    return template.format(text=without_period(text[:1].upper() + text[1:]))


def without_period(text: str) -> str:
    """A sentence that stands inside another one."""
    return text.rstrip(".。")
