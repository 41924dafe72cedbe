"""A private group of three, from the first page's files and commands to the exported model."""

from __future__ import annotations

import json
import re
import shutil
from typing import TYPE_CHECKING

import pytest

from tests.docs.followers import ROOT, PageFollower, commands_like, programs_on_path
from tests.support.desktop_tour import wait_until
from tests.support.postgres import free_port

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

GROUPS = "groups"
FOLLOWED: Mapping[str, tuple[str, ...]] = {GROUPS: ("tequio group",)}
"""Patterns of the commands that are run, by page; all of it."""
LONGEST_S = 180.0
CEMS_KEY = "mWjFVA0a2I8eAVcB6hBzxFeo4TZ__8GLnq5zxql9MiM"


def file_on_page(heading: str, kind: str) -> str:
    """The block of that kind under a heading of the page."""
    section = (ROOT / "docs" / f"{GROUPS}.md").read_text("utf-8").partition(f"## {heading}\n")[2]
    (found,) = re.findall(
        rf"^```{kind}\n(.*?)^```", section.partition("\n## ")[0], re.MULTILINE | re.DOTALL
    )
    return str(found)


@pytest.mark.whole
def test_a_group_trains_as_its_page_says(tmp_path: Path) -> None:
    has_run: set[str] = set()
    path = programs_on_path(tmp_path / "bin")
    addresses = {"192.0.2.7": "127.0.0.1", "4001": str(free_port())}
    ana, bo, cem = people = [
        PageFollower.make(tmp_path / name, path, addresses, has_run)
        for name in ("ana", "bo", "cem")
    ]
    try:
        make_group(ana, bo, cem)
        ana.start(GROUPS, "tequio group run")
        for one in (bo, cem):
            one.start(GROUPS, "tequio group run", **{"4001": str(free_port())})
        wait_until("all have head 1", lambda: all(map(has_head, people)), LONGEST_S)
    finally:
        for one in people:
            one.stop()
    assert re.search(r"head: +[1-9]\d* of 50", bo.run(GROUPS, "tequio group status"))
    bo.run(GROUPS, "tequio group export")
    assert (bo.folder / "letters-model" / "model.safetensors").is_file()
    assert commands_like(FOLLOWED) - has_run == set()


def make_group(ana: PageFollower, bo: PageFollower, cem: PageFollower) -> None:
    """Write the page's files, and pass the group file from member to member."""
    (ana.folder / "config.json").write_text(file_on_page("In ten minutes", "json"))
    (ana.folder / "plan.toml").write_text(file_on_page("In ten minutes", "toml"))
    ana.run(GROUPS, "tequio group new")
    ana.run(GROUPS, "tequio group add letters.json --name Ana")
    shutil.copy(ana.folder / "letters.json", bo.folder)
    bo.run(GROUPS, "tequio group add letters.json --name Bo")
    keys = {CEMS_KEY: cem.run(GROUPS, "tequio group key").strip()}
    bo.run(GROUPS, "tequio group add letters.json --name Cem", status=0, **keys)
    for number, one in enumerate((ana, bo, cem)):
        texts = one.folder / "texts"
        texts.mkdir()
        for at in range(24):
            text = f"In house {number} they spoke of harvest {at}, and of the bridge. " * 8
            (texts / f"{at}.txt").write_text(text)
        if one is not bo:
            shutil.copy(bo.folder / "letters.json", one.folder)


def has_head(member: PageFollower) -> bool:
    """Report whether the member has a head that all have trained."""
    state = member.folder / "data-home" / "tequio" / "group" / "state.json"
    return state.exists() and json.loads(state.read_bytes())["number"] >= 1
