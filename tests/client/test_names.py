"""A report names neither its user nor the home folder, however a program writes the path."""

from __future__ import annotations

import json
from pathlib import Path, PureWindowsPath
from typing import TYPE_CHECKING

import pytest

from tequio_client.names import redact_names

if TYPE_CHECKING:
    from typing import Any

HOME = Path("/somewhere/ana")


LOGIN = "ana-b"


@pytest.mark.parametrize(
    ("said", "shown"),
    [
        ("cannot open /somewhere/ana/data/x", "cannot open ~/data/x"),
        ("file:///somewhere/ana", "file://~"),
        ("'/media/ana-b/disk/x'", "'/media/[user]/disk/x'"),
        ("/run/user/ana: gone", "/run/user/[user]: gone"),
        ("/srv/tequio-ana/banana", "/srv/tequio-ana/banana"),
        ("/somewhere/anabel/x", "/somewhere/anabel/x"),
        ("https://me:secret@ledger.example/v1", "https://ledger.example/v1"),
        ("ana said", "ana said"),
        ("/chroot/somewhere/ana/x", "/chroot/somewhere/[user]/x"),
    ],
)
def test_names_are_taken_out_and_the_rest_stays(said: str, shown: str) -> None:
    assert redact_names(said, HOME, LOGIN) == shown


@pytest.mark.parametrize("write", [str, repr, json.dumps, lambda path: path.replace("\\", "/")])
def test_a_folder_of_windows_is_found_in_every_spelling(write: Any) -> None:  # noqa: ANN401 - any way to write
    class Home(PureWindowsPath):
        def resolve(self) -> Home:
            return self

    home = Home("C:\\Users\\Ana Maria")
    said = redact_names(write("C:\\Users\\Ana Maria\\AppData\\x"), home, LOGIN)  # type: ignore[arg-type]  # no Windows here
    assert "na" not in said.replace("AppData", "")
    assert redact_names(write("c:\\users\\ana maria\\x"), home, LOGIN).count("~") == 1  # type: ignore[arg-type]  # as above
    assert "Maria" not in redact_names(write("D:\\Backup\\Ana Maria\\x"), home, LOGIN)  # type: ignore[arg-type]  # as above


def test_a_home_behind_a_link_is_found_by_both_names(tmp_path: Path) -> None:
    real, home = tmp_path / "disk" / "h1", tmp_path / "ana"
    real.mkdir(parents=True)
    home.symlink_to(real)
    assert redact_names(f"{real}/x and {home}/x", home, LOGIN) == "~/x and ~/x"


def test_whoever_lives_at_the_root_has_no_home_to_hide() -> None:
    assert redact_names("/etc/x", Path("/")) == "/etc/x"
