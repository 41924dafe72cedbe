"""Consents: one archive each, stored in the worker's folder, and nothing on a guess."""

from __future__ import annotations

from pathlib import Path

import pytest

from tequio_client.plugins.consents import FILE, REVIEWED, PluginConsent, PluginConsents
from tequio_shared.errors import UserFacingError
from tequio_shared.ids import sha256, to_text

FIRST, SECOND = (to_text(sha256(one)) for one in (b"1.0", b"1.1"))


def test_a_consent_covers_one_archive_and_no_other_version(tmp_path: Path) -> None:
    consents = PluginConsents(tmp_path)
    assert not consents.covers(FIRST)
    consents.allow(PluginConsent(archive=FIRST, label="tiny 1.0", at_ms=1))
    assert consents.covers(FIRST)
    assert not consents.covers(SECOND)
    assert PluginConsents(tmp_path).covers(FIRST), "it survives a restart"


def test_a_consent_is_taken_back(tmp_path: Path) -> None:
    consents = PluginConsents(tmp_path)
    consents.allow(PluginConsent(archive=FIRST))
    assert consents.revoke(FIRST)
    assert not consents.revoke(FIRST)
    assert not PluginConsents(tmp_path).covers(FIRST)


def test_what_another_program_writes_is_seen(tmp_path: Path) -> None:
    worker, command = PluginConsents(tmp_path), PluginConsents(tmp_path)
    assert not worker.refresh()
    command.allow(PluginConsent(archive=FIRST))
    assert worker.refresh()
    assert worker.covers(FIRST)
    command.revoke(FIRST)
    assert worker.refresh()
    assert not worker.covers(FIRST)


def test_a_damaged_file_allows_nothing_and_is_not_overwritten(tmp_path: Path) -> None:
    (tmp_path / FILE).write_bytes(b'{"allowed": [{"archive": 1}]}')
    consents = PluginConsents(tmp_path)
    assert consents.allowed == ()
    with pytest.raises(UserFacingError, match="delete it"):
        consents.allow(PluginConsent(archive=FIRST))
    assert b"allowed" in (tmp_path / FILE).read_bytes()


def test_the_release_has_reviewed_no_plugin_yet() -> None:
    assert frozenset() == REVIEWED
