"""Settings: three places, one order, and every fault told at once with its place."""

from __future__ import annotations

import os
import re
import subprocess
import tomllib
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tequio_ledger.config.settings import LEDGER, LedgerSettings
from tequio_ledger.config.sources import hide, settings_of
from tequio_ledger.web.limits import MAX_EVENT_STREAMS, MAX_PAGE_STREAMS
from tequio_shared.errors import UserFacingError
from tequio_shared.ids import to_text
from tests.support.configured import find
from tests.support.forked_program import LEDGER as PROGRAM
from tests.support.forked_program import run_forked
from tests.support.ledgers import ORGANISER

if TYPE_CHECKING:
    from collections.abc import Mapping

SAMPLE = Path(__file__).parents[3] / "installer" / "ledger.toml"
KEY = to_text(ORGANISER.key)


def read(
    options: Mapping[str, str], environ: Mapping[str, str], file: Path | None = None
) -> LedgerSettings:
    return find(LEDGER, options, environ, file).convert()


def written(folder: Path, text: str) -> Path:
    file = folder / "ledger.toml"
    file.write_text(text, "utf-8")
    return file


def faults(*args: object) -> list[str]:
    with pytest.raises(UserFacingError) as caught:
        read(*args)  # type: ignore[arg-type]  # passed on as they came
    return str(caught.value).split("; ")


def run(*words: str, **environ: str) -> subprocess.CompletedProcess[str]:
    return run_forked(PROGRAM, *words, env={**os.environ, **environ})


def test_the_sample_says_how_many_connections_may_be_event_streams() -> None:
    (said,) = re.findall(r"((?:^# .*\n)+)#connections", SAMPLE.read_text("utf-8"), re.MULTILINE)
    streams = MAX_EVENT_STREAMS + MAX_PAGE_STREAMS
    due = [streams, LedgerSettings().connections, MAX_EVENT_STREAMS, MAX_PAGE_STREAMS]
    assert [int(one) for one in re.findall(r"\b\d{4}\b", said)] == due


@pytest.mark.parametrize("system", ["windows", "macos", "linux"])
def test_each_system_has_an_address_for_downloads_and_a_bad_one_is_named(system: str) -> None:
    name = f"download-url-{system}"
    found = read({name: "https://example.org/app"}, {})
    assert getattr(found, f"download_url_{system}") == "https://example.org/app"
    assert found.download_url == ""
    for bad in ("example.org/app", "ftp://example.org/app", "https://example.org/a b"):
        (said,) = faults({name: bad}, {})
        assert f"--{name}" in said
        assert bad in said
        assert "a URL that begins with https:// or http://" in said


def test_the_command_line_wins_over_the_environment_which_wins_over_the_file(
    tmp_path: Path,
) -> None:
    file = written(tmp_path, 'port = 1\nkey-rate = 1\nhost = "::1"\n')
    environ = {"TEQUIO_LEDGER_PORT": "2", "TEQUIO_LEDGER_KEY_RATE": "2"}
    found = read({"port": "3"}, environ, file)
    assert (found.port, found.key_rate, found.host, found.address_rate) == (3, 2, "::1", 100)


def test_the_environment_may_name_the_file(tmp_path: Path) -> None:
    file = written(tmp_path, "port = 4\n")
    assert read({}, {"TEQUIO_LEDGER_SETTINGS": str(file)}).port == 4


def test_a_list_is_written_as_a_list_in_the_file_and_with_spaces_elsewhere(tmp_path: Path) -> None:
    file = written(tmp_path, f'organiser = ["{KEY}"]\ntrusted-proxy = ["10.0.0.0/8", "::1/128"]\n')
    found = read({}, {}, file)
    environ = {
        "TEQUIO_LEDGER_ORGANISER": KEY,
        "TEQUIO_LEDGER_TRUSTED_PROXY": "10.0.0.0/8 ::1/128",
    }
    assert found == read({}, environ)
    assert (found.organisers, len(found.trusted_proxies)) == ((ORGANISER.key,), 2)


def test_every_fault_is_told_at_once_with_its_value_its_place_and_what_would_do(
    tmp_path: Path,
) -> None:
    file = written(tmp_path, 'port = 70000\nkey-rate = 1.5\nadress-rate = 3\nnetwork = "My Net"\n')
    environ = {"TEQUIO_LEDGER_HOST": "a b", "TEQUIO_LEDGER_KEYRATE": "1"}
    assert faults({"organiser": "me", "threshold": "2"}, environ, file) == [
        f"key-rate in {file} is 1.5, but must be a text, a whole number, true or false, "
        "or a list of texts",
        f"adress-rate in {file} is an unknown setting: did you mean address-rate?",
        "TEQUIO_LEDGER_KEYRATE in the environment is an unknown setting: "
        "did you mean TEQUIO_LEDGER_KEY_RATE?",
        "TEQUIO_LEDGER_HOST is 'a b', but must be a host name or address",
        f"port in {file} is '70000', but must be a whole number from 0 to 65535",
        f"network in {file} is 'My Net', but must be 1 to 32 of a-z, 0-9 and -",
        "--organiser is 'me', but must be public keys, which 'me' is not "
        "(not the one base64url spelling: 'me')",
        "--threshold is '2', but must be at most 1: as many as there are organisers",
    ]


def test_an_empty_variable_counts_as_unset(tmp_path: Path) -> None:
    file = written(tmp_path, "port = 5\n")
    assert read({}, {"TEQUIO_LEDGER_PORT": "", "TEQUIO_LEDGER_SETTINGS": str(file)}).port == 5


@pytest.mark.parametrize("content", [b"port = \n", b"\xff\xfe", b"port = 1\nport = 2\n"])
def test_a_file_that_is_no_toml_is_told(tmp_path: Path, content: bytes) -> None:
    file = tmp_path / "ledger.toml"
    file.write_bytes(content)
    (fault,) = faults({}, {}, file)
    assert fault.startswith(f"the settings file {file} is not valid TOML: ")


def test_a_file_that_is_not_there_is_told(tmp_path: Path) -> None:
    (fault,) = faults({}, {}, tmp_path / "none.toml")
    assert fault == (
        f"the settings file {tmp_path}/none.toml cannot be read: No such file or directory"
    )


def test_a_key_twice_is_a_fault() -> None:
    (fault,) = faults({"organiser": f"{KEY} {KEY}"}, {})
    assert "one is repeated" in fault


def test_a_password_in_an_address_is_hidden_wherever_it_is_shown() -> None:
    url = "postgresql+psycopg://tequio:se:cr/et@db.example/ledger"
    assert hide(url) == "postgresql+psycopg://tequio:***@db.example/ledger"
    assert hide("postgresql:///x?user=a&password=b&c=d") == (
        "postgresql:///x?user=a&password=***&c=d"
    )
    assert hide("http://ledger.example:8600/x") == "http://ledger.example:8600/x"
    (setting,) = (one for one in settings_of(LedgerSettings) if one.name == "database")
    assert "se:cr" not in setting.written(url)


def test_the_settings_are_printed_as_a_file_that_says_where_each_comes_from(
    tmp_path: Path,
) -> None:
    file = written(tmp_path, f'organiser = ["{KEY}"]\n')
    options = ("--port", "7", "--settings", str(file), "--log-json")
    done = run("settings", *options, TEQUIO_LEDGER_HOST="::1")
    assert done.returncode == 0, done.stderr
    for line in (
        "port = 7  # --port",
        'host = "::1"  # TEQUIO_LEDGER_HOST',
        f'organiser = ["{KEY}"]  # organiser in {file}',
        "log-json = true  # --log-json",
        'network = "tequio"  # default',
    ):
        assert line in done.stdout.splitlines()
    again = written(tmp_path, done.stdout)
    assert read({}, {}, again) == read(
        {"port": "7", "host": "::1", "organiser": KEY}, {"TEQUIO_LEDGER_LOG_JSON": "true"}
    )


def test_every_command_with_a_folder_reads_the_settings(tmp_path: Path) -> None:
    for command in (("serve",), ("doctor",), ("replay",), ("backup", "--to", "x"), ("settings",)):
        done = run(*command, TEQUIO_LEDGER_DIRR=str(tmp_path))
        told, status = (done.stdout, 2) if command == ("doctor",) else (done.stderr, 1)
        assert done.returncode == status, command
        assert "TEQUIO_LEDGER_DIRR in the environment is an unknown setting" in told, command


def test_the_sample_names_every_setting_with_its_default(tmp_path: Path) -> None:
    text = SAMPLE.read_text("utf-8")
    assert tomllib.loads(text) == {}, "all of it is commented out"
    lines = re.findall(r"^#([a-z-]+ = .*)$", text, re.MULTILINE)
    found = find(LEDGER, {}, file=written(tmp_path, "\n".join(lines)))
    assert not found.faults
    known = settings_of(LedgerSettings)
    assert {line.split(" = ")[0] for line in lines} == {one.name for one in known}
    defaults = {one.name: one.default_text for one in known if one.name != "dir"}
    assert {name: found.texts[name].text for name in defaults} == defaults
