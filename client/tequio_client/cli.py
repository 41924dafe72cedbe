"""Foundations of the command line: lazily imported groups, and options shared by commands."""

from __future__ import annotations

import importlib
import math
import os
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click
import platformdirs

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping


class LazyGroup(click.Group):
    """A click group whose commands, given as `module:attribute`, are imported on demand."""

    def __init__(self, *, commands_at: Mapping[str, str], **rest: Any) -> None:  # noqa: ANN401 - click's own
        super().__init__(**rest)
        self._commands_at = commands_at

    def list_commands(self, ctx: click.Context) -> list[str]:

        return sorted({*self._commands_at, *super().list_commands(ctx)})

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:

        target = self._commands_at.get(cmd_name)
        if target is None:
            return super().get_command(ctx, cmd_name)
        module, _, attribute = target.partition(":")
        command = getattr(importlib.import_module(module), attribute)
        if not isinstance(command, click.Command):
            raise TypeError(f"{target} is not a command")
        return command


F = TypeVar("F", bound="Callable[..., object]")
LEDGER = "http://127.0.0.1:8600"
GIB = 1 << 30
_OPTION = re.compile(r"-[a-z]|--[a-z]+(-[a-z]+)*(=.*)?", re.ASCII)


class Named(click.Argument):
    """Argument that takes base64url text from the log: a key, a hash, or the id of a run.

    One in 64 of them begins with a dash. So unknown options are passed through as arguments, except
    those that look like an option and cannot be such text.
    """

    def add_to_parser(self, parser: Any, ctx: click.Context) -> None:  # noqa: ANN401 - click's own type is private

        super().add_to_parser(parser, ctx)
        parser.ignore_unknown_options = True

    def type_cast_value(self, ctx: click.Context, value: Any) -> Any:  # noqa: ANN401 - click's own

        if isinstance(value, str) and _OPTION.fullmatch(value):
            raise click.NoSuchOption(value, ctx=ctx)
        if value == "":  # usually an unset shell variable; as a prefix it would match anything
            raise click.BadParameter("must not be empty", ctx=ctx, param=self)
        return super().type_cast_value(ctx, value)


def named(name: str) -> Callable[[F], F]:
    """Declare a `LogIdArgument`."""
    return click.argument(name, cls=Named)


class Name(click.ParamType):  # type: ignore[type-arg]  # generic for the checker alone
    """Option value that must not be empty: an empty text would match anything, or nothing."""

    name = "text"

    def convert(
        self, value: object, param: click.Parameter | None, ctx: click.Context | None
    ) -> str:
        text = str(value)
        if not text.strip():
            self.fail("must not be empty; leave the option out instead", param, ctx)
        return text


class OutputFile(click.Path):
    """A file that is written at the end of long work; checked for write access at the start."""

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


class _Number(click.FloatRange):
    """A number in a range; rejects NaN, which passes every range check."""

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


_RATE = _Number(0.001, 1e9)

ledger = click.option(
    "--ledger",
    default=LEDGER,
    show_default=True,
    envvar="TEQUIO_LEDGER",
    help="Address of the ledger.",
)


trust = click.option(
    "--trust",
    "trust_file",
    type=click.Path(path_type=Path, dir_okay=False),
    envvar="TEQUIO_TRUST",
    help="Policy file (C2SP tlog-policy) that names the required cosigners of the log.",
)


def place(name: str) -> Path:
    """Give the default folder of a program."""
    return Path(platformdirs.user_data_dir("tequio")) / name


seed_folder = click.option(
    "--seed-dir",
    "seed_folder",
    type=click.Path(path_type=Path, file_okay=False),
    default=place("seed"),
    show_default=True,
    help="Folder of the seed node that serves head and shards.",
)


def folder(name: str) -> Callable[[F], F]:
    """Declare `--dir`, with the default folder of that program."""
    return click.option(
        "--dir",
        "folder",
        type=click.Path(path_type=Path, file_okay=False),
        default=place(name),
        show_default=True,
        help="Folder for the key, the store and all state.",
    )


others = click.option(
    "--with",
    "others",
    multiple=True,
    type=click.Path(path_type=Path, exists=True, file_okay=False),
    help="Folder of another organiser who also signs; repeatable.",
)


def signing(command: F) -> F:
    """Declare which organisers sign, and where a statement with too few signatures is written."""
    for option in (
        click.option(
            "--out",
            type=OutputFile(),
            help="File for the partly signed statement, if more organisers have to sign.",
        ),
        others,
        folder("organiser"),
    ):
        command = option(command)
    return command


def logging(command: F) -> F:
    """Declare `--log-json` and `--log-level`."""
    command = click.option("--log-json", is_flag=True, help="Log as JSON lines.")(command)
    return click.option(
        "--log-level",
        type=click.Choice(["debug", "info", "warning", "error"]),
        default="info",
        show_default=True,
        help="Least severe messages to log.",
    )(command)


def networking(command: F) -> F:
    """Declare the options of a node: addresses, peers, trust, and limits of disk and network."""
    for option in reversed(
        (
            trust,
            click.option(
                "--listen",
                multiple=True,
                default=("/ip4/0.0.0.0/tcp/0",),
                show_default=True,
                help="Multiaddr to listen on; repeatable.",
            ),
            click.option(
                "--announce", multiple=True, help="Multiaddr that others should dial; repeatable."
            ),
            click.option(
                "--peer",
                "bootstrap",
                multiple=True,
                help="Multiaddr of a peer to dial at the start; repeatable.",
            ),
            click.option(
                "--wait-for-ledger",
                "wait_for_ledger_s",
                metavar="SECONDS",
                type=_Number(0.0, 1e9),
                default=60.0,
                show_default=True,
                help="How long to wait for an unreachable ledger at the start.",
            ),
            click.option(
                "--quota-gib",
                type=_Number(0.0, 1e6),
                default=20.0,
                show_default=True,
                help="Disk space for the store, in GiB.",
            ),
            click.option("--upload-mbit", type=_RATE, help="Upload limit in Mbit/s."),
            click.option("--download-mbit", type=_RATE, help="Download limit in Mbit/s."),
            click.option(
                "--status",
                "status_lines",
                is_flag=True,
                help="Print the status as JSON lines on standard output.",
            ),
        )
    ):
        command = option(command)
    return command


def bytes_per_s(mbit: float | None) -> float | None:
    """Convert Mbit/s to bytes/s; None stays None."""
    return None if mbit is None else mbit * 1e6 / 8


def set_up_logs(*, log_json: bool, log_level: str) -> None:
    # Imported here because the app is installed without structlog.
    from tequio_client.runtime import configure_logging

    configure_logging(style="json" if log_json else "console", level=log_level)
