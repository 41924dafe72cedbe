"""The file of webhooks: what cannot work is refused at the start, with the reason."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tequio_ledger.webhooks import read_settings
from tequio_shared.errors import UserFacingError

if TYPE_CHECKING:
    from pathlib import Path


def written(folder: Path, text: str, mode: int = 0o600) -> Path:
    file = folder / "webhooks.toml"
    file.write_text(text, "utf-8")
    file.chmod(mode)
    return file


GOOD = 'ledger = "https://l.example"\n[[webhook]]\nurl = "https://h.example/x"\n'
TWICE = GOOD + 'secret = "x"\n' + GOOD.partition("\n")[2] + 'secret = "y"'


@pytest.mark.parametrize(
    ("text", "mode", "said"),
    [
        (GOOD + 'secret = "x"', 0o604, "chmod 600"),
        (GOOD, 0o600, "h.example needs a secret"),
        (GOOD + 'format = "matrix"\nsecret = "x"', 0o600, "`room`"),
        (GOOD + 'format = "smoke"', 0o600, "smoke"),
        (GOOD + 'colour = "red"', 0o600, "colour"),
        (GOOD.replace("https://h", "ftp://h"), 0o600, "url"),
        (GOOD.replace("h.example", "[::1"), 0o600, r"'\[::1' is not a valid host"),
        (GOOD.replace("h.example", "h:80a"), 0o600, "'h:80a' is not a valid host"),
        (GOOD.replace("h.example", "h:99999"), 0o600, "'h:99999' is not a valid host"),
        (GOOD.replace("h.example/", "?h="), 0o600, "no host"),
        (
            GOOD.replace("h.example", "bot..example.org"),
            0o600,
            r"host \(a part between dots is",
        ),
        (GOOD.replace("l.example", "l..example"), 0o600, "'l..example' is not a valid host"),
        (GOOD + 'secret = "abc\u2026"', 0o600, "'\u2026' at character 4"),
        (GOOD + 'secret = "abc "', 0o600, "' ' at character 4"),
        (TWICE, 0o600, "h.example twice"),
        ('ledger = "https://l.example"', 0o600, "webhook"),
        ("ledger = ", 0o600, "not a valid file of webhooks"),
    ],
)
def test_a_file_that_cannot_work_is_refused_with_the_reason(
    tmp_path: Path, text: str, mode: int, said: str
) -> None:
    with pytest.raises(UserFacingError, match=said):
        read_settings(written(tmp_path, text, mode))


def test_a_refused_address_does_not_show_its_path(tmp_path: Path) -> None:
    text = GOOD.replace("h.example/x", "u:p@h..example/hidden?hidden#hidden")
    with pytest.raises(UserFacingError) as caught:
        read_settings(written(tmp_path, text))
    assert "'h..example'" in str(caught.value)
    assert "hidden" not in str(caught.value)
    assert "u:p" not in str(caught.value)


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(UserFacingError, match=r"missing\.toml"):
        read_settings(tmp_path / "missing.toml")
