"""The command `tequio network`: the networks to choose from, and the one in use."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

import click

from tequio_client.ledger import networks
from tequio_client.ledger.networks import KnownNetwork
from tequio_shared.errors import TequioError, UserFacingError, first_error

if TYPE_CHECKING:
    from tequio_shared.log.policy import Policy

T = TypeVar("T")
_CHECK_TIMEOUT_S = 20.0


@click.group()
def network() -> None:
    """List, add and remove the networks that you can join.

    The app offers them, and commands without --ledger use the network that you chose in the app.
    Without such a choice they use the only network in this list.
    """


@network.command("add")
@click.argument("address", metavar="URL")
@click.option("--name", help="Name to list it under. Default: the network's own.")
@click.option("--description", default="", help="One line about it.")
@click.option(
    "--trust",
    "trust_file",
    type=click.Path(path_type=Path, dir_okay=False),
    help="Policy file of the log's witnesses, which app and commands then require.",
)
def add(address: str, name: str | None, description: str, trust_file: Path | None) -> None:
    """Add the network whose ledger is at URL, if a ledger answers there."""
    url = networks.clean_ledger_address(address)
    if not networks.is_ledger_address(url):
        raise UserFacingError(
            f"{address!r} is not the address of a ledger, such as https://example.org"
        )
    policy = networks.read_policy(trust_file)
    own_name = _name_of(url, policy)
    try:
        text = policy.encode().decode() if policy else ""
    except UnicodeDecodeError:  # the format allows any bytes in a name
        raise UserFacingError(f"{trust_file} has names that are not UTF-8: rename them") from None
    found = KnownNetwork(name=name or own_name, url=url, description=description, policy=text)
    _saved(lambda: networks.add_network(found))
    click.echo(f"added: {found.name} at {url}")
    chosen = networks.chosen_ledger()
    if chosen == url:
        click.echo("commands without --ledger use it")
    elif not chosen:
        click.echo(
            "several networks are listed now: commands need --ledger, or a choice in the app"
        )


@network.command("list")
def list_() -> None:
    """List the networks; the one in use is marked with an asterisk."""
    known, chosen = networks.known_networks(), networks.chosen_ledger()
    if chosen and all(one.url != chosen for one in known):
        known = (KnownNetwork(name="(chosen in the app)", url=chosen), *known)
    if not known:
        click.echo("no networks yet; add one: tequio network add URL")
    width = max((len(one.name) for one in known), default=0)
    for one in known:
        mark = "*" if one.url == chosen else " "
        cosigned = "  (its log needs outside witnesses)" if one.policy else ""
        click.echo(f"{mark} {one.name:{width}}  {one.url}  {one.description}".rstrip() + cosigned)


@network.command("remove")
@click.argument("name", metavar="NAME|URL")
def remove(name: str) -> None:
    """Remove a network from the list. Its points and your key stay."""
    found = _saved(lambda: networks.remove_network(name))
    if found is None:
        raise UserFacingError(f"no network is called {name!r}: see tequio network list")
    click.echo(f"removed: {found.name} at {found.url}")


def _name_of(url: str, policy: Policy | None) -> str:
    """Ask the ledger for its network's name.

    Raises UserFacingError if none answers, and if its log does not meet the policy.
    """
    import trio

    from tequio_client.ledger.api import LedgerApi
    from tequio_shared.log.policy import NoQuorumError, UntrustedLogError

    async def ask() -> str:
        async with LedgerApi(url, trust=policy) as ledger:
            with trio.fail_after(_CHECK_TIMEOUT_S):
                if policy is not None:
                    await ledger.checkpoint()
                return (await ledger.network()).genesis.name

    try:
        return trio.run(ask)
    except* (NoQuorumError, UntrustedLogError) as group:
        raise UserFacingError(
            f"the log at {url} does not meet the policy: {first_error(group)}"
        ) from None
    except* (TequioError, trio.TooSlowError) as group:
        raise UserFacingError(
            f"no ledger answers at {url} ({first_error(group)}): check the address, or try again "
            "later"
        ) from None


def _saved(change: Callable[[], T]) -> T:
    try:
        return change()
    except OSError as err:
        folder = networks.user_settings_folder()
        raise UserFacingError(f"cannot write to {folder} ({err.strerror or err})") from err
