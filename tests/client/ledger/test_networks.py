"""The networks that a person has added, and which ledger counts where none is named."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import click
import msgspec
import pytest
from click.testing import CliRunner

from tequio_client.__main__ import cli
from tequio_client.app.settings_file import SettingsStore
from tequio_client.competition.cli import log_reader
from tequio_client.ledger import networks
from tequio_client.ledger.cli import network
from tequio_client.ledger.networks import KnownNetwork, chosen_ledger
from tequio_client.releases.publish_cli import release
from tequio_client.worker.account_cli import standing
from tequio_client.worker.cli import net_settings, worker
from tequio_shared.errors import UserFacingError
from tequio_shared.ids import sha256
from tequio_shared.keys import Signer
from tequio_shared.log.notes import KeyKind, VerifierKey
from tests.client.test_dashed_names import commands
from tests.support.cosigned_ledger import WitnessGroup, cosigned, wait_until_published
from tests.support.ledgers import served

if TYPE_CHECKING:
    from pathlib import Path

    from click.testing import Result

    from tequio_shared.log.policy import Policy

ONE = KnownNetwork(name="one", url="https://one.example", description="The first.")
TWO = KnownNetwork(name="two", url="https://two.example")


@pytest.fixture(autouse=True)
def settings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of the user's settings, which is empty."""
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    monkeypatch.delenv("TEQUIO_LEDGER", raising=False)
    return networks.user_settings_folder()


def run(*words: str) -> Result:
    return CliRunner().invoke(network, words)


def test_networks_are_added_replaced_and_removed() -> None:
    assert networks.known_networks() == ()
    for one in (ONE, TWO, ONE):
        networks.add_network(one)
    assert networks.known_networks() == (TWO, ONE)
    assert networks.remove_network("one") == ONE
    assert networks.remove_network("two.example/") == TWO
    assert networks.remove_network("three") is None
    assert networks.known_networks() == ()


def test_networks_of_the_signed_list_come_after_those_of_the_user(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    listed = '{"networks": [{"name": "open", "url": "https://open.example", "description": "All."},'
    listed += (
        ' {"name": "first", "url": "https://one.example"}, {"name": "bad", "url": "file:///x"}]}'
    )
    (tmp_path / "networks.json").write_text(listed)
    monkeypatch.setenv("TEQUIO_RELEASES", str(tmp_path))
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    networks.add_network(ONE)
    open_ = networks.KnownNetwork(name="open", url="https://open.example", description="All.")
    assert networks.known_networks() == (ONE, open_)
    assert networks.remove_network("open") is None
    assert run("list").stdout.count("https://") == 2


# --- the policies of their logs


def policy_text(name: str) -> str:
    key = VerifierKey(name=name, kind=KeyKind.COSIGNER, key=Signer(sha256(name.encode())).key)
    return f"witness {name} {key.text()}\nquorum {name}\n"


def witnesses(found: Policy | None) -> list[str]:
    return [one.name for one in found.witnesses] if found else []


def test_a_policy_comes_from_the_option_then_from_the_user_then_from_the_signed_list(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert networks.read_policy(None, ONE.url) is None
    listed = {"networks": [{"name": "1", "url": ONE.url, "policy": policy_text("signed")}]}
    (tmp_path / "networks.json").write_bytes(msgspec.json.encode(listed))
    monkeypatch.setenv("TEQUIO_RELEASES", str(tmp_path))
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    networks.add_network(ONE)
    networks.add_network(TWO)
    assert witnesses(networks.read_policy(None, f"{ONE.url}/")) == ["signed"]
    assert networks.read_policy(None, TWO.url) is None
    assert networks.read_policy(None) is None
    own = tmp_path / "worker"
    networks.add_network(replace(ONE, policy=policy_text("user")))
    assert witnesses(networks.read_policy(None, ONE.url, own)) == ["user"]
    networks.add_network(replace(ONE, policy=policy_text("tried")), own / "settings")
    assert witnesses(networks.read_policy(None, ONE.url, own)) == ["tried"]
    assert witnesses(networks.read_policy(None, ONE.url)) == ["user"]
    (tmp_path / "file").write_text(policy_text("file"))
    assert witnesses(networks.read_policy(tmp_path / "file", ONE.url, own)) == ["file"]
    networks.add_network(replace(ONE, policy="quorum nobody\n"))
    with pytest.raises(UserFacingError, match=f"listed with the network at {ONE.url} is not a va"):
        networks.read_policy(None, ONE.url)


def test_a_network_that_is_chosen_again_keeps_its_policy_and_description() -> None:
    networks.add_network(replace(ONE, policy=policy_text("w")))
    networks.add_network(KnownNetwork(name="renamed", url=ONE.url))
    (known,) = networks.known_networks()
    assert (known.name, known.description) == ("renamed", ONE.description)
    assert known.policy == policy_text("w")


def test_workers_and_commands_use_the_policy_of_their_network(tmp_path: Path) -> None:
    networks.add_network(replace(ONE, policy=policy_text("w")))
    options: dict[str, Any] = {"trust_file": None, "metrics_host": "127.0.0.1"}
    options |= {"metrics_port": None, "otlp_endpoint": None}
    for url, expected in ((ONE.url, ["w"]), (TWO.url, [])):
        assert witnesses(net_settings(ledger=url, folder=tmp_path, **options).trust) == expected
        assert witnesses(log_reader(url, None).trust) == expected


def test_a_network_is_added_only_if_its_log_meets_the_policy(tmp_path: Path) -> None:
    with WitnessGroup(tmp_path, 1) as ring:
        policy = ring.policy("all")
        with cosigned(ring, policy) as ledger:
            wait_until_published(ledger, policy, 1)
            (tmp_path / "other").write_text(policy_text("stranger"))
            refused = run("add", ledger.url, "--trust", str(tmp_path / "other")).exception
            assert isinstance(refused, UserFacingError)
            assert f"the log at {ledger.url} does not meet the policy" in str(refused)
            assert "lacks the quorum 'stranger'" in str(refused)
            assert networks.known_networks() == ()
            (tmp_path / "odd").write_bytes(
                policy.read_bytes().replace(b" w0\n", b" \xff\n").replace(b" w0 ", b" \xff ")
            )
            odd = run("add", ledger.url, "--trust", str(tmp_path / "odd")).exception
            assert isinstance(odd, UserFacingError)
            assert "names that are not UTF-8" in str(odd)
            added = run("add", ledger.url, "--trust", str(policy))
            assert added.exit_code == 0, added.output
            assert "(its log needs outside witnesses)" in run("list").output
            assert witnesses(networks.read_policy(None, ledger.url)) == ["w0"]
            log_reader(ledger.url, None).read()
            networks.add_network(
                KnownNetwork(name="n", url=ledger.url, policy=policy_text("stranger"))
            )
            with pytest.raises(UserFacingError, match="lacks the quorum 'stranger'"):
                log_reader(ledger.url, None).read()


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        ("[]", "is not a list of networks"),
        ('{"networks": [{"name": "n", "url": "file:///x"}]}', "'file:///x' is not the address of"),
        (
            '{"networks": [{"name": "n", "url": "https://n.example", "policy": "quorum w"}]}',
            "that of n is not a valid policy: line 1",
        ),
    ],
)
def test_a_list_is_checked_before_it_is_published(
    tmp_path: Path, content: str, problem: str
) -> None:
    (tmp_path / "list.json").write_text(content)
    words = ["add", str(tmp_path), "--version", "1.0.0", "--networks", str(tmp_path / "list.json")]
    error = CliRunner().invoke(release, words).exception
    assert isinstance(error, UserFacingError)
    assert problem in str(error)


DAMAGE = [b"{", b"[1]", b'{"networks":[{"name":1}]}', b"\xff"]


@pytest.mark.parametrize("content", DAMAGE)
def test_a_damaged_list_is_told_and_kept(content: bytes, settings: Path) -> None:
    settings.mkdir()
    path = settings / networks.NETWORKS_FILE
    path.write_bytes(content)
    for use in (
        networks.known_networks,
        chosen_ledger,
        lambda: networks.add_network(ONE),
        lambda: networks.remove_network("one"),
        lambda: networks.read_policy(None, ONE.url),
    ):
        with pytest.raises(UserFacingError, match=f"{path} is not a list .* move it away"):
            use()
    assert path.read_bytes() == content


@pytest.mark.parametrize("content", [b"", *DAMAGE])
def test_damaged_settings_choose_no_network(content: bytes, settings: Path) -> None:
    settings.mkdir()
    (settings / networks.APP_FILE).write_bytes(content)
    assert chosen_ledger() == ""


def test_the_ledger_chosen_in_the_app_counts_before_the_only_network(
    settings: Path, tmp_path: Path
) -> None:
    assert chosen_ledger() == ""
    networks.add_network(ONE)
    assert chosen_ledger() == ONE.url
    networks.add_network(TWO)
    assert chosen_ledger() == ""
    SettingsStore(settings).change(ledger=TWO.url)
    assert chosen_ledger() == TWO.url
    SettingsStore(tmp_path / "worker" / "settings").change(ledger="https://other.example")
    assert chosen_ledger(tmp_path / "worker") == "https://other.example"
    assert chosen_ledger(tmp_path / "elsewhere") == TWO.url


def test_a_command_uses_the_chosen_ledger_and_says_what_to_do_without_one(
    settings: Path, tmp_path: Path
) -> None:
    done = CliRunner().invoke(standing, ["--dir", str(tmp_path)])
    assert done.exit_code == 2
    assert "no network was chosen yet" in done.stderr
    assert "tequio network add URL" in done.stderr
    SettingsStore(settings).change(ledger=ONE.url)
    assert standing.make_context("standing", []).params["ledger"] == ONE.url
    named = standing.make_context("standing", ["--ledger", TWO.url])
    assert named.params["ledger"] == TWO.url
    SettingsStore(tmp_path / "settings").change(ledger=TWO.url)
    there = standing.make_context("standing", ["--dir", str(tmp_path)])
    assert there.params["ledger"] == TWO.url
    help_text = CliRunner().invoke(standing, ["--help"]).output
    assert "TEQUIO_LEDGER" in help_text
    assert "tequio network list" in " ".join(help_text.split())


def test_of_several_networks_a_command_asks_for_one_by_name(tmp_path: Path) -> None:
    networks.add_network(ONE)
    networks.add_network(TWO)
    done = CliRunner().invoke(standing, ["--dir", str(tmp_path)])
    assert done.exit_code == 2
    told = " ".join(done.stderr.split())
    assert f"several networks are listed ({ONE.name}, {TWO.name})" in told
    assert "tequio network remove" in told
    assert "network add" not in told
    networks.remove_network(TWO.name)
    assert standing.make_context("standing", []).params["ledger"] == ONE.url


def test_every_command_with_a_ledger_uses_the_chosen_one(settings: Path) -> None:
    SettingsStore(settings).change(ledger=ONE.url)
    used = {}
    for path, command in commands(cli):
        context = click.Context(command)
        context.params = {str(one.name): "given" for one in command.params if one.required}
        for option in command.params:
            if option.name == "ledger" and option.callback:  # others read the choice later
                used[path] = option.process_value(context, None)
    assert {("audit",), ("chat",), ("worker",), ("invite", "close")} <= used.keys()
    assert not {path for path, ledger in used.items() if ledger != ONE.url}


def test_the_environment_counts_before_the_choice(
    settings: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    SettingsStore(settings).change(ledger=ONE.url)
    monkeypatch.setenv("TEQUIO_LEDGER", TWO.url)
    assert standing.make_context("standing", []).params["ledger"] == TWO.url


def test_the_app_starts_a_worker_that_has_no_network_yet() -> None:
    words = ["--link", "--ledger", networks.NO_LEDGER]
    assert worker.make_context("worker", words).params["ledger"] == networks.NO_LEDGER


@pytest.mark.parametrize(
    ("typed", "address", "is_one"),
    [
        ("ledger.example", "https://ledger.example", True),
        (" https://ledger.example/ ", "https://ledger.example", True),
        ("http://127.0.0.1:8600", "http://127.0.0.1:8600", True),
        ("https://ledger.example/path", "https://ledger.example/path", True),
        ("ftp://ledger.example", "ftp://ledger.example", False),
        ("tequio://join?ledger", "tequio://join?ledger", False),
        ("https://me:secret@ledger.example", "https://me:secret@ledger.example", False),
        ("", "", False),
    ],
)
def test_what_is_an_address(typed: str, address: str, is_one: bool) -> None:  # noqa: FBT001
    assert networks.clean_ledger_address(typed) == address
    assert networks.is_ledger_address(address) is is_one


# --- the command


def test_a_network_is_added_by_its_own_name_and_listed(tmp_path: Path) -> None:
    assert "no networks yet" in run("list").output
    with served(tmp_path / "ledger") as ledger:
        added = run("add", ledger.url, "--description", "For tests")
        assert added.exit_code == 0, added.output
        (known,) = networks.known_networks()
        assert added.output.startswith(f"added: {known.name} at {ledger.url}\n")
        assert known.name
        networks.add_network(ONE)
        assert "commands need --ledger" in run("add", ledger.url, "--description", "x").output
        run("remove", ONE.name)
        run("add", ledger.url, "--description", "For tests")
        assert run("list").output == f"* {known.name}  {ledger.url}  For tests\n"
        named = run("add", ledger.url, "--name", "mine")
        assert named.output.startswith("added: mine at")
    assert run("remove", "mine").output.startswith("removed: mine at")
    assert networks.known_networks() == ()


def test_what_is_no_ledger_is_not_added(tmp_path: Path) -> None:
    for typed, problem in (
        ("ftp://x.example", "'ftp://x.example' is not the address of a ledger"),
        ("https://x..example", "'https://x..example' is not the address of a ledger"),
        ("https://xn--a.example", "'https://xn--a.example' is not the address of a ledger"),
        ("http://127.0.0.1:9", "no ledger answers at http://127.0.0.1:9"),
    ):
        error = run("add", typed).exception
        assert isinstance(error, UserFacingError)
        assert problem in str(error)
    missing = run("remove", "nope").exception
    assert isinstance(missing, UserFacingError)
    assert "tequio network list" in str(missing)
    assert networks.known_networks() == ()


def test_a_folder_that_cannot_be_written_is_named(settings: Path) -> None:
    settings.parent.mkdir(exist_ok=True)
    settings.write_text("in the way")
    with pytest.raises(OSError, match="tequio"):
        networks.add_network(ONE)
