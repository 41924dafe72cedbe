"""Imports of whole packages: every failure is found, with the module's name."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tequio_client.platform.import_check import import_problems

if TYPE_CHECKING:
    from pathlib import Path


def test_every_module_that_cannot_be_imported_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    below = tmp_path / "planted_room" / "below"
    below.mkdir(parents=True)
    for folder in (below, below.parent):
        (folder / "__init__.py").touch()
        (folder / "good.py").touch()
        (folder / "bad.py").write_text("import no_such_part")
    monkeypatch.syspath_prepend(tmp_path)
    assert list(import_problems(["planted_room"], "planted_room.good", "other_part")) == [
        "planted_room.bad: ModuleNotFoundError: No module named 'no_such_part'",
        "planted_room.below.bad: ModuleNotFoundError: No module named 'no_such_part'",
        "other_part: ModuleNotFoundError: No module named 'other_part'",
    ]
