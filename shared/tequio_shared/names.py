"""Public names: how a name may be spelt, which names count as the same, and who has which.

Rules. A name has 2 to 32 characters: letters of one script and the digits 0 to 9, with single
spaces, hyphens or underscores between them, and at least one letter. Two names are the same if they
differ in case, accents, separators or in letters that look alike. The first claim in the log wins.
After a change the former name stays reserved, so that nobody takes over a reputation at once; while
it is, the key cannot change again, so it never keeps more than two names from others. A successor
has the name of the key that it replaced. Organisers can withdraw a name: then nobody can have it
again, and its key may choose another at once. Pure, and O(1) for each claim.
(docs/protocol.md, names)

The alphabet is a fixed list of characters that Unicode had assigned by version 4.1. Its promises of
stability then make case folding and normalisation the same in every later version, so that all
readers of a log agree on which names are taken.
"""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass, field, replace

from tequio_shared.errors import MalformedError, RefusedError
from tequio_shared.ids import PeerKey, to_text
from tequio_shared.limits import NAME_CHARS, NAME_HOLD_MS, NAME_LEAST
from tequio_shared.wording import plural

_SCRIPTS = {
    "Latin": "A-Za-z\u00c0-\u00d6\u00d8-\u00f6\u00f8-\u017f",
    "Greek": "\u0386\u0388-\u038a\u038c\u038e-\u03a1\u03a3-\u03ce",
    "Cyrillic": "\u0400-\u045f",
    "Hebrew": "\u05d0-\u05ea",
    "Arabic": "\u0621-\u063a\u0641-\u064a\u067e\u0686\u0698\u06a9\u06af\u06cc",
    "Devanagari": "\u0901-\u0903\u0905-\u0939\u093e-\u094d",
    "Chinese or Japanese": "\u3005\u3041-\u3096\u30a1-\u30fa\u30fc\u4e00-\u9fa5",
    "Korean": "\uac00-\ud7a3",
}
"""Letters by script, as classes of a regular expression."""
_MARKS = "\u0901-\u0903\u093e-\u094d"
"""Signs of Devanagari, which no word begins with."""
_WORDS = {letters: rf"(?![{_MARKS}])[{letters}0-9]+" for letters in _SCRIPTS.values()}
_SHAPES = [re.compile(rf"{word}(?:[ _-]{word})*") for word in _WORDS.values()]
_DIGITS = frozenset("0123456789")
_SEPARATORS = frozenset(" -_")
_ACCENTS = ("\u0300", "\u036f")
"""First and last of Unicode's combining diacritical marks."""
_ALIKE = str.maketrans(
    # Latin, and digits; then Greek and Cyrillic letters that look like Latin ones in either case;
    # then Arabic ones of two keyboards, and Japanese ones that look like others of that script.
    "01i\u0131\u0142\u00f8\u0111\u0127\u0167\u0138"
    "\u03b1\u03b2\u03b5\u03b6\u03b7\u03b9\u03ba\u03bc\u03bd\u03bf\u03c1\u03c4\u03c5\u03c7"
    "\u0430\u0432\u0435\u043a\u043c\u043d\u043e\u0440\u0441\u0442\u0443\u0445\u0455\u0456\u0458"
    "\u0643\u064a\u0649"
    "\u3078\u3079\u307a\u529b\u5de5\u5915\u4e8c\u516b\u535c\u53e3\u624d\u5343\u5315\u4e00",
    "ollllodhtkabezhlkmnoptyxabekmhopctyxslj"
    "\u06a9\u06cc\u06cc"
    "\u30d8\u30d9\u30da\u30ab\u30a8\u30bf\u30cb\u30cf\u30c8\u30ed\u30aa\u30c1\u30d2\u30fc",
)
_DAY_MS = 86_400_000


def clean_name(text: str) -> str:
    """The name that a person typed, composed as the rules ask for and with single spaces.

    Some systems, macOS among them, write an accent or a part of a Korean letter by itself.
    """
    return " ".join(unicodedata.normalize("NFKC", text).split())


def check_name(name: str) -> None:
    """Raise MalformedError, which says what to change, unless a name may be spelt like this."""
    # The length first: nothing below then costs more than a few steps.
    if not NAME_LEAST <= len(name) <= NAME_CHARS:
        raise MalformedError(
            f"the name {name[:NAME_CHARS]!r} has {plural(len(name), 'character')}: use "
            f"{NAME_LEAST} to {NAME_CHARS}"
        )
    if any(shape.fullmatch(name) for shape in _SHAPES):
        if _DIGITS.issuperset(set(name) - _SEPARATORS):
            raise MalformedError(f"the name {name!r} has no letter: add one")
        if unicodedata.normalize("NFKC", name) != name:
            raise MalformedError(
                f"the name {name!r} has a letter in an unusual form: type it as "
                f"{unicodedata.normalize('NFKC', name)!r}"
            )
        return
    raise MalformedError(f"the name {name!r} cannot be used: {_problem(name)}")


def _problem(name: str) -> str:
    """Say which rule a name of the right length breaks."""
    scripts = set[str]()
    for char in name:
        found = [one for one, letters in _SCRIPTS.items() if re.match(f"[{letters}]", char)]
        if not found and char not in _DIGITS | _SEPARATORS:
            return f"{char!r} is not a letter, digit, space, hyphen or underscore"
        scripts.update(found)
    if len(scripts) > 1:
        return f"it mixes {' and '.join(sorted(scripts))} letters; use those of one script"
    return "use single spaces, hyphens and underscores, and only between letters or digits"


def same_as(name: str) -> str:
    """The form in which names are compared: two names with one form are the same name."""
    spread = unicodedata.normalize("NFKD", name.casefold())
    first, last = _ACCENTS
    bare = "".join(one for one in spread if not (first <= one <= last or one in _SEPARATORS))
    return unicodedata.normalize("NFKC", bare).translate(_ALIKE)


@dataclass(frozen=True, slots=True, kw_only=True)
class NameClaim:
    """The name of one key, and the name that it had before, while that is reserved."""

    name: str
    """Empty: the key gave its name up."""
    index: int
    """Log index of the statement."""
    form: str
    """The name as it is compared; `former` likewise."""
    former: str = ""
    until: int = 0
    """End of the reservation of `former`, in milliseconds since 1970."""


@dataclass(slots=True)
class NameRegistry:
    """The names of a network's keys; only `claim`, `withdraw` and `replace` change them."""

    _claims: dict[PeerKey, NameClaim] = field(default_factory=dict)
    _holders: dict[str, PeerKey] = field(default_factory=dict)
    """The key that has or had a name, by the form in which it is compared."""
    withdrawn: set[str] = field(default_factory=set)
    """Forms that organisers withdrew from a key or a team: nobody can have them."""

    def of(self, key: PeerKey) -> str:
        """Name of a key, or empty."""
        found = self._claims.get(key)
        return found.name if found else ""

    def holder(self, name: str) -> PeerKey | None:
        """The key that has a name now, however it is spelt; O(1)."""
        form = same_as(name)
        key = self._holders.get(form)
        return key if key is not None and self._claims[key].form == form else None

    def claim(self, index: int, ts: int, author: PeerKey, name: str) -> None:
        """Give a key that name (empty: none) from `ts` on; raises RefusedError."""
        own, form = self._claims.get(author), same_as(name)
        if name == self.of(author):
            what = f"already has the name {name!r}" if name else "has no name"
            raise RefusedError("already-said", f"the key {what}")
        if own is not None and form == own.form:  # spelt differently: no name changes hands
            self._claims[author] = replace(own, name=name, index=index)
            return
        self._check_change(own, ts)
        if form:
            self._check_free(form, name, ts)
        if own is not None and self._holders.get(own.former) == author:
            del self._holders[own.former]  # its time is over: the key may change again
        former = own.form if own is not None else ""
        self._claims[author] = NameClaim(
            name=name,
            index=index,
            form=form,
            former=former,
            until=ts + NAME_HOLD_MS if former else 0,
        )
        if form:
            self._holders[form] = author

    def withdraw(self, index: int, key: PeerKey) -> None:
        """Take the name from a key, which may choose another; raises RefusedError without one."""
        own = self._claims.get(key)
        if own is None or not own.name:
            raise RefusedError("not-found", f"key {to_text(key)} has no name")
        self.withdrawn.add(own.form)
        for form in (own.form, own.former):
            if self._holders.get(form) == key:
                del self._holders[form]
        self._claims[key] = NameClaim(name="", index=index, form="")

    def check_allowed(self, form: str, name: str) -> None:
        """Raise RefusedError for a name that organisers withdrew."""
        if form in self.withdrawn:
            raise RefusedError(
                "name-held",
                f"the organisers of the network withdrew the name {name!r}: choose another one",
            )

    def replace(self, former: PeerKey, successor: PeerKey) -> None:
        """Hand the name of a key, and what it reserves, to its successor."""
        own = self._claims.pop(former, None)
        if own is None:
            return
        self._claims[successor] = own
        for form in (own.form, own.former):
            if self._holders.get(form) == former:
                self._holders[form] = successor

    def _check_change(self, own: NameClaim | None, ts: int) -> None:
        if own is not None and ts < own.until:
            raise RefusedError(
                "name-held",
                "the key changed its name recently: it can change it again in "
                f"{days(own.until - ts)}",
            )

    def _check_free(self, form: str, name: str, ts: int) -> None:
        self.check_allowed(form, name)
        holder = self._holders.get(form)
        if holder is None:
            return
        theirs = self._claims[holder]
        if theirs.form == form:
            raise RefusedError(
                "name-taken",
                f"the name {name!r} is taken: key {to_text(holder)} is called {theirs.name!r}; "
                "choose another one",
            )
        if ts < theirs.until:
            raise RefusedError(
                "name-held",
                f"the name {name!r} belonged to key {to_text(holder)} and is reserved for "
                f"{days(theirs.until - ts)} more; choose another one",
            )


def days(length_ms: int) -> str:
    """Write a time as a number of days, rounded up."""
    whole = -(-length_ms // _DAY_MS)
    return f"{whole} day{'' if whole == 1 else 's'}"
