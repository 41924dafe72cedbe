"""The beginning of a network: its keys, its genesis document, and entry 0."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

from sqlalchemy.exc import DatabaseError

from tequio_ledger.config.settings import DEFAULT_ORIGIN, LedgerSettings
from tequio_ledger.data_folder import DataFolder
from tequio_ledger.log.log import AdmittedEntry, Log
from tequio_ledger.signing import client
from tequio_ledger.store import log_rows
from tequio_ledger.store.database import Database
from tequio_ledger.store.derived import Changes, derive, write
from tequio_ledger.store.files import UnwritableError
from tequio_shared import encoding, limits
from tequio_shared.addresses import is_loopback_host
from tequio_shared.errors import MalformedError, TequioError, UserFacingError
from tequio_shared.ids import from_text, sha256, to_text
from tequio_shared.log.notes import KeyKind, VerifierKey
from tequio_shared.network.genesis import Genesis
from tequio_shared.served.coordinator import Coordinator
from tequio_shared.served.state import State
from tequio_shared.statements.runs import NetGenesis
from tequio_shared.statements.statement import Entry

COORDINATOR_KEY = "coordinator"


def key_paths(folder: DataFolder) -> list[Path]:
    """Give the paths of the keys that belong to a ledger's folder."""
    return [client.key_path(folder), folder.key_file(COORDINATOR_KEY)]


def rules() -> bytes:
    """Write the rule set that a genesis pins: the limits that both ends agree on."""
    names = [name for name in vars(limits) if name.isupper()]
    return encoding.encode({name.lower(): getattr(limits, name) for name in sorted(names)})


def open_genesis(settings: LedgerSettings, folder: DataFolder, database: Database) -> Genesis:
    """Read the genesis from the log, or make the one that these settings describe.

    Raises UserFacingError when the database belongs to another network or to other keys.
    """
    found = read_own_genesis(folder, database)
    if found is None:
        return _make(settings, folder)
    if found.name != settings.network:
        raise UserFacingError(
            f"{folder.path} holds the network {found.name!r}, not {settings.network!r}: "
            "choose another --dir or the network's own name"
        )
    return found


def read_own_genesis(folder: DataFolder, database: Database) -> Genesis | None:
    """Read the genesis of the network in a folder and check its keys; None without a network.

    Raises UserFacingError when entry 0 or the keys are not what they must be.
    """
    found = read_genesis(database)
    if found is not None:
        check_keys(found, folder)
    return found


@contextmanager
def existing_ledger(settings: LedgerSettings) -> Iterator[tuple[DataFolder, Database]]:
    """Open the database of a ledger and lock its folder; raises UserFacingError without a ledger.

    Then nothing is made, not even the folder.
    """
    folder = DataFolder(settings.folder)
    with closing(Database(settings.database or folder.database)) as database:
        existing_genesis(folder, database)
        with folder:
            yield folder, database


def existing_genesis(folder: DataFolder, database: Database) -> Genesis:
    """Read the genesis of the network in a database; raises UserFacingError without a network."""
    has_tables = database.revision() if database.is_shared else Path(database.name).exists()
    try:
        found = read_genesis(database) if has_tables else None
    except DatabaseError as err:
        raise UserFacingError(database.dialect.explain(err)) from err
    if found is None:
        raise UserFacingError(
            f"{database.name} holds no ledger: choose its database with --database"
            if database.is_shared
            else f"{folder.path} holds no ledger: choose its folder with --dir"
        )
    return found


def read_genesis(database: Database) -> Genesis | None:
    """Read the genesis in entry 0; None without one. Raises UserFacingError."""
    with database.reader.begin() as connection:
        leaves = log_rows.read_leaves(connection, 0, 1)
    if not leaves:
        return None
    try:
        body = Entry.parse(leaves[0]).statement.body
        if not isinstance(body, NetGenesis):
            raise MalformedError("it is not a genesis")
        found = Genesis.parse(from_text(body.doc, None))
        VerifierKey.parse(found.log_key)
    except TequioError as err:
        raise UserFacingError(f"the stored log is damaged: entry 0 ({err})") from err
    return found


def check_keys(found: Genesis, folder: DataFolder) -> None:
    """Raise UserFacingError unless the folder holds the network's keys, readable by us alone."""
    log_key = client.public_key(folder)
    if log_key is None or not folder.holds_key(COORDINATOR_KEY):
        raise UserFacingError(
            f"{folder.path} holds the network {found.name!r} but not its keys: restore them"
        )
    keys = log_key, folder.signer(COORDINATOR_KEY).key
    if keys != (VerifierKey.parse(found.log_key).key, found.coordinator_key):
        raise UserFacingError(
            f"the keys in {folder.path} are not those of its network {found.name!r}: restore them"
        )


def log_genesis(log: Log, state: State, coordinator: Coordinator, now_ms: int) -> None:
    """Make the genesis entry 0 of an empty log."""
    body = NetGenesis(doc=to_text(state.genesis.encode()))
    entry = coordinator.sign(body, now_ms, None, None)
    state.apply(0, entry, now_ms)
    changes = Changes()
    derive(changes, 0, entry, state)
    log.append(
        [AdmittedEntry.of(entry, state.net, now_ms)],
        lambda connection: write(connection, changes, state),
    )


def has_default_name(origin: str, host: str) -> bool:
    """Return whether others can reach a log that still has the default name."""
    return origin == DEFAULT_ORIGIN and not is_loopback_host(host)


def _make(settings: LedgerSettings, folder: DataFolder) -> Genesis:
    _check(settings)
    if client.has_no_memory(folder):
        raise UserFacingError(
            f"{client.key_path(folder)} exists without {client.MEMORY}, so it may have signed "
            "another log: move it away, and the network gets a new key"
        )
    try:
        log_key = client.open_signer(folder, settings.signer).key
    except UnwritableError as err:
        raise UserFacingError(str(err)) from err
    client.store_public_key(folder, log_key)
    return Genesis(
        name=settings.network,
        origin=settings.origin,
        log_key=VerifierKey(name=settings.origin, kind=KeyKind.LOG, key=log_key).text(),
        coordinator=to_text(folder.signer(COORDINATOR_KEY).key),
        organisers=tuple(to_text(key) for key in settings.organisers),
        threshold=settings.threshold,
        rules=to_text(sha256(rules())),
        work_bits=settings.work_bits,
    )


def _check(settings: LedgerSettings) -> None:
    # Both are permanent: a genesis cannot be changed after it was logged.
    if not settings.organisers:
        raise UserFacingError(
            "a network without organisers can never open a run: name their public keys with "
            "--organiser (`tequio run key` makes one)"
        )
    if has_default_name(settings.origin, settings.host):
        raise UserFacingError(
            f"a network that others reach at {settings.host} needs a name of its own: set --origin "
            "to an address that belongs to you, without a scheme, such as ledger.example/net1"
        )
