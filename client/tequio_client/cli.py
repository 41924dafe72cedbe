"""Building blocks of the command line: lazily imported command groups, and shared options."""

from __future__ import annotations

import functools
import importlib
import math
import os
import re
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, NoReturn, TypeVar

import click
import platformdirs

from tequio_shared.errors import UserFacingError

F = TypeVar("F", bound="Callable[..., object]")
GIB = 1 << 30
LISTEN_EVERYWHERE = ("/ip4/0.0.0.0/tcp/0", "/ip6/::/tcp/0")
"""Multiaddrs of every interface of a computer, at any free port."""
_UNAVAILABLE = 3
"""Exit status of a check that found nothing wrong, but lacks something."""
_WHOLE_SENTENCE = 1_000
"""Characters after which a command's first sentence is cut."""
_OPTION = re.compile(r"-[a-z]|--[a-z]+(-[a-z]+)*(=.*)?", re.ASCII)


class PlainGroup(click.Group):
    """A group that lists its commands with their whole first sentence; click would cut it."""

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        commands = [(name, self.get_command(ctx, name)) for name in self.list_commands(ctx)]
        rows = [
            (name, command.get_short_help_str(_WHOLE_SENTENCE))
            for name, command in commands
            if command is not None and not command.hidden
        ]
        with formatter.section("Commands"):
            formatter.write_dl(rows)


class LazyGroup(click.Group):
    """A group whose commands are imported when they are called, and listed in sections.

    `sections` maps a heading to its commands: name to (`module:attribute`, one line of help).
    """

    def __init__(
        self,
        *,
        sections: Mapping[str, Mapping[str, tuple[str, str]]],
        **rest: Any,  # noqa: ANN401 - click's own
    ) -> None:
        super().__init__(**rest)
        self._sections = sections
        self._targets = {
            name: target for commands in sections.values() for name, (target, _) in commands.items()
        }

    def list_commands(self, ctx: click.Context) -> list[str]:
        return sorted(self._targets)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        target = self._targets.get(cmd_name)
        if target is None:
            return None
        module, _, attribute = target.partition(":")
        command = getattr(importlib.import_module(module), attribute)
        if not isinstance(command, click.Command):
            raise TypeError(f"{target} is not a command")
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        # click would import every command for its help, and list all of them under one heading.
        width = max(map(len, self._targets))
        for title, commands in self._sections.items():
            with formatter.section(title):
                formatter.write_dl(
                    [(name.ljust(width), help_) for name, (_, help_) in commands.items()]
                )


class LogIdArgument(click.Argument):
    """A key, a hash or a run of the log. One in 64 of them begins with a dash.

    An unknown option may therefore be such a name, and is accepted as one unless it is spelt like
    an option.
    """

    def add_to_parser(self, parser: Any, ctx: click.Context) -> None:  # noqa: ANN401 - click's own type is private
        super().add_to_parser(parser, ctx)
        parser.ignore_unknown_options = True

    def type_cast_value(self, ctx: click.Context, value: Any) -> Any:  # noqa: ANN401 - click's own
        if isinstance(value, str) and _OPTION.fullmatch(value):
            raise click.NoSuchOption(value, ctx=ctx)
        if value == "":  # an unset shell variable; every name begins with it, so any would match
            raise click.BadParameter("the value is empty", ctx=ctx, param=self)
        return super().type_cast_value(ctx, value)


def log_id_argument(name: str) -> Callable[[F], F]:
    return click.argument(name, cls=LogIdArgument)


class NonEmptyText(click.ParamType):  # type: ignore[type-arg]  # generic for the checker alone
    """The name of one thing; an empty one is refused, because it would match any."""

    name = "text"

    def convert(
        self, value: object, param: click.Parameter | None, ctx: click.Context | None
    ) -> str:
        text = str(value)
        if not text.strip():
            self.fail("the value is empty: give a name, or leave the option out", param, ctx)
        return text


class OutputFile(click.Path):
    """A file that is written at the end of long work, so its folder is checked at the start."""

    def __init__(self) -> None:
        super().__init__(dir_okay=False, writable=True, path_type=Path)

    def convert(
        self,
        value: Any,  # noqa: ANN401 - click's own
        param: click.Parameter | None,
        ctx: click.Context | None,
    ) -> Path:
        path = Path(os.fsdecode(super().convert(value, param, ctx)))
        if not os.access(path.parent, os.W_OK):
            self.fail(f"the folder {path.parent} does not exist or is not writable", param, ctx)
        return path


def write_output(path: Path, content: bytes) -> None:
    """Write the file that an option asked for; raises UserFacingError."""
    try:
        path.write_bytes(content)
    except OSError as err:
        raise UserFacingError(f"cannot write {path}: {err.strerror}") from err


def exit_checked(status: int, json_file: Path | None, findings: bytes) -> NoReturn:
    """End a check with its exit status, or as unavailable if its findings cannot be written."""
    try:
        if json_file is not None:
            write_output(json_file, findings)
    except UserFacingError as err:
        click.echo(str(err), err=True)
        status = min(status or _UNAVAILABLE, _UNAVAILABLE)  # 2, a mismatch, weighs more
    sys.exit(status)


class Number(click.FloatRange):  # noqa: TID251 - itself
    """A number in a range; NaN, which passes every comparison of click's, is refused."""

    def convert(
        self,
        value: Any,  # noqa: ANN401 - click's own
        param: click.Parameter | None,
        ctx: click.Context | None,
    ) -> float:
        number = float(super().convert(value, param, ctx))
        if math.isnan(number):
            self.fail(f"{value!r} is not a number", param, ctx)
        return number


_RATE = Number(0.001, 1e9)


def resolve_ledger(
    context: click.Context, _option: click.Parameter | None, ledger: str | None
) -> str | None:
    """The ledger given, or the one in use; raises UsageError if there is none."""
    if ledger is not None or context.resilient_parsing:
        return ledger
    from tequio_client.ledger import networks

    chosen = networks.chosen_ledger(context.params.get("folder"))
    if not chosen and (known := networks.known_networks()):
        raise click.UsageError(
            f"several networks are listed ({', '.join(one.name for one in known)}): name a ledger "
            "with --ledger URL or TEQUIO_LEDGER, choose one in the app, or remove the others with "
            "`tequio network remove NAME`"
        )
    if not chosen:
        raise click.UsageError(
            "no network was chosen yet: name its ledger with --ledger URL, add it with "
            "`tequio network add URL`, or choose one in the app"
        )
    return chosen


def _ledger_option(callback: Callable[..., str | None]) -> Callable[[F], F]:
    return click.option(
        "--ledger",
        show_default="the network in use, see `tequio network list`",
        callback=callback,
        envvar="TEQUIO_LEDGER",
        show_envvar=True,
        help="Address of the ledger.",
    )


ledger_option = _ledger_option(resolve_ledger)


def ledger_option_unless(name: str, needs_none: Callable[[Any], object] = bool) -> Callable[[F], F]:
    """The ledger's option where the parameter `name` may name a ledger itself, or need none."""

    def resolve(context: click.Context, option: click.Parameter, ledger: str | None) -> str | None:
        if ledger is None and needs_none(context.params.get(name)):
            return ""
        return resolve_ledger(context, option, ledger)

    return _ledger_option(resolve)


trust_option = click.option(
    "--trust",
    "trust_file",
    type=click.Path(path_type=Path, dir_okay=False),
    envvar="TEQUIO_TRUST",
    show_envvar=True,
    show_default="that listed with the network, if any",
    help="Policy file (C2SP tlog-policy) that names the witnesses the log needs.",
)


def default_folder(name: str) -> Path:
    """Path of the folder that a program uses unless another is given."""
    return Path(platformdirs.user_data_dir("tequio")) / name


seed_folder_option = click.option(
    "--seed-dir",
    "seed_folder",
    type=click.Path(path_type=Path, file_okay=False),
    default=default_folder("seed"),
    show_default=True,
    help="Folder of the seed that will serve the first head and the data.",
)


def folder_option(
    name: str, help_text: str = "Folder of the key, the store and the state."
) -> Callable[[F], F]:
    return click.option(
        "--dir",
        "folder",
        type=click.Path(path_type=Path, file_okay=False),
        default=default_folder(name),
        show_default=True,
        help=help_text,
    )


consents_option = click.option(
    "--consents",
    type=click.Path(path_type=Path, file_okay=False),
    default=default_folder("worker"),
    show_default=True,
    help="Folder of the worker that has allowed the run's code, if that splits texts.",
)


other_organisers_option = click.option(
    "--with",
    "others",
    multiple=True,
    type=click.Path(path_type=Path, exists=True, file_okay=False),
    help="Folder of another organiser that also signs; may be repeated.",
)


stores_option = click.option(
    "--store",
    "stores",
    multiple=True,
    type=click.Path(path_type=Path, exists=True, file_okay=False),
    help="Folder of a worker or seed, or its store, that has the weights; may be repeated.",
)
run_option = click.option(
    "--run", "run_name", required=True, help="Name of the run, or the beginning of its id."
)
measured_option = click.option(
    "--measured",
    "is_measured",
    is_flag=True,
    help="The newest head that members measured and found no worse than those before it.",
)
device_option = click.option(
    "--device", default="auto", show_default=True, help="cpu, cuda, cuda:1, xpu, mps."
)
threads_option = click.option(
    "--threads", type=click.IntRange(1, 1024), help="CPU threads to compute with."
)
answer_tokens_option = click.option(
    "--tokens",
    type=click.IntRange(1, 1 << 20),
    default=200,
    show_default=True,
    help="Longest answer.",
)
sure_option = click.option("--yes", "is_sure", is_flag=True, help="Do not ask for confirmation.")


def together(*options: Callable[[Any], Any]) -> Callable[[F], F]:
    """Combine options, in the order of the help."""

    def decorate(command: F) -> F:
        for option in reversed(options):
            command = option(command)
        return command

    return decorate


texts_options = together(
    click.option(
        "--pattern", default="*", show_default=True, help="Which files of a folder to read."
    ),
    click.option("--config", help="Configuration of a dataset."),
    click.option("--split", default="train", show_default=True, help="Split of a dataset."),
    click.option(
        "--column", default="text", show_default=True, help="Column or field that holds the text."
    ),
)
"""The part of a file, a folder or a dataset that is read."""


def organisers_option(command: Callable[..., None]) -> Callable[..., None]:
    """Folders of the organisers that sign; the command gets all of them as `folders`.

    What it logs goes to standard error.
    """

    @folder_option("organiser")
    @other_organisers_option
    @functools.wraps(command)
    def signed(*, folder: Path, others: tuple[Path, ...], **values: object) -> None:
        set_up_logs(log_json=False, log_level="warning")
        command(folders=(folder, *others), **values)

    return signed


signing_options = together(
    organisers_option,
    click.option(
        "--out",
        type=OutputFile(),
        help="File for the half-signed decision, if more organisers have to sign.",
    ),
)
"""Options of a decision that several organisers may have to sign."""

logging_options = together(
    click.option(
        "--log-level",
        type=click.Choice(["debug", "info", "warning", "error"]),
        default="info",
        show_default=True,
        help="Least severe messages to log.",
    ),
    click.option("--log-json", is_flag=True, help="Log as JSON lines."),
)


def _bytes_per_s(
    _context: click.Context, _option: click.Parameter, mbit: float | None
) -> float | None:
    return None if mbit is None else mbit * 1e6 / 8


listen_option = click.option(
    "--listen",
    multiple=True,
    default=LISTEN_EVERYWHERE,
    show_default=True,
    help="Multiaddr to listen on; may be repeated. Port 0 is one that follows from the key, the "
    "same for IPv4 and IPv6.",
)

# These give the fields of `NetSettings`.
network_options = together(
    trust_option,
    listen_option,
    click.option(
        "--announce",
        multiple=True,
        help="Multiaddr that other peers should dial; may be repeated.",
    ),
    click.option(
        "--peer",
        "bootstrap",
        multiple=True,
        help="Multiaddr of a peer to dial; may be repeated.",
    ),
    click.option(
        "--public-only",
        is_flag=True,
        help="Dial only public addresses that other peers or the ledger name, also when these seem "
        "to be in the local network: for a node in a container or behind a forwarded port.",
    ),
    click.option(
        "--open-router-port",
        "opens_router_port",
        is_flag=True,
        help="Ask the home's router by UPnP or NAT-PMP to pass a port on to this computer, "
        "so that other peers can connect to it. The port is closed when the program ends.",
    ),
    click.option(
        "--find-lan-peers",
        "finds_lan_peers",
        is_flag=True,
        help="Find members of the run in the local network, and exchange with them there. Others "
        "in that network can see that this computer runs Tequio.",
    ),
    click.option(
        "--wait-for-ledger",
        "wait_for_ledger_s",
        metavar="SECONDS",
        type=Number(0.0, 1e9),
        default=60.0,
        show_default=True,
        help="How long to wait at the start for a ledger that does not answer.",
    ),
    click.option(
        "--quota-gib",
        "quota_bytes",
        type=Number(0.0, 1e6),
        default=20.0,
        show_default=True,
        callback=lambda _context, _option, gib: int(gib * GIB),
        help="Storage limit.",
    ),
    click.option(
        "--upload-mbit",
        "upload_bytes_per_s",
        type=_RATE,
        callback=_bytes_per_s,
        help="Upload limit, Mbit/s.",
    ),
    click.option(
        "--download-mbit",
        "download_bytes_per_s",
        type=_RATE,
        callback=_bytes_per_s,
        help="Download limit, Mbit/s.",
    ),
    click.option(
        "--metrics-port",
        type=click.IntRange(0, 65_535),
        help="Serve metrics for Prometheus at this port (0 = any free port). Default: none.",
    ),
    click.option(
        "--metrics-host",
        default="127.0.0.1",
        show_default=True,
        help="Address to serve the metrics at; anybody who reaches it can read them.",
    ),
    click.option(
        "--otlp-endpoint",
        envvar="OTEL_EXPORTER_OTLP_ENDPOINT",
        show_envvar=True,
        metavar="URL",
        help="Push metrics to the OpenTelemetry collector at this address, such as "
        "http://127.0.0.1:4318 (OTLP over HTTP). Default: none.",
    ),
    click.option("--status", "status_lines", is_flag=True, help="Print status as JSON lines."),
)


def set_up_logs(*, log_json: bool, log_level: str) -> None:
    from tequio_client.runtime import configure_logging  # the app is installed without structlog

    configure_logging(style="json" if log_json else "console", level=log_level)
