"""The command tree of the tequio program: each command is imported when it is called."""

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
    """A group whose commands are named as `module:attribute` and imported on demand."""

    def __init__(self, *, commands_at: Mapping[str, str], **rest: Any) -> None:  # noqa: ANN401 - click's own
        super().__init__(**rest)
        self._commands_at = commands_at

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Names of all commands."""
        return sorted({*self._commands_at, *super().list_commands(ctx)})

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """The command of that name, imported now."""
        target = self._commands_at.get(cmd_name)
        if target is None:
            return super().get_command(ctx, cmd_name)
        module, _, attribute = target.partition(":")
        command = getattr(importlib.import_module(module), attribute)
        if not isinstance(command, click.Command):
            raise TypeError(f"{target} is not a command")
        return command


# --- Options that several commands share, declared once.

F = TypeVar("F", bound="Callable[..., object]")
LEDGER = "http://127.0.0.1:8600"
GIB = 1 << 30
_OPTION = re.compile(r"-[a-z]|--[a-z]+(-[a-z]+)*(=.*)?", re.ASCII)


class Named(click.Argument):
    """What names a thing of the log: a key, a hash, a run. One in 64 of them begins with a dash.

    So what a command with such an argument does not know as an option may be one; a word that looks
    like an option and like no name is still told to be none.
    """

    def add_to_parser(self, parser: Any, ctx: click.Context) -> None:  # noqa: ANN401 - click's own type is private
        """Have the parser pass on what it does not know."""
        super().add_to_parser(parser, ctx)
        parser.ignore_unknown_options = True

    def type_cast_value(self, ctx: click.Context, value: Any) -> Any:  # noqa: ANN401 - click's own
        """Refuse an option that is spelt wrongly."""
        if isinstance(value, str) and _OPTION.fullmatch(value):
            raise click.NoSuchOption(value, ctx=ctx)
        if value == "":  # as a variable of a shell that is not set: it would mean any
            raise click.BadParameter("it is empty: say which one", ctx=ctx, param=self)
        return super().type_cast_value(ctx, value)


def named(name: str) -> Callable[[F], F]:
    """An argument that names a thing of the log."""
    return click.argument(name, cls=Named)


class Name(click.ParamType):  # type: ignore[type-arg]  # generic for the checker alone
    """What names one thing, if the option is given: an empty text would mean any, or none."""

    name = "text"

    def convert(
        self, value: object, param: click.Parameter | None, ctx: click.Context | None
    ) -> str:
        text = str(value)
        if not text.strip():
            self.fail("it is empty: say which one, or leave the option out", param, ctx)
        return text


class OutputFile(click.Path):
    """A file to be written at the end of long work: whether that can be is checked now."""

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
            self.fail(f"the folder {path.parent} is not there or may not be written", param, ctx)
        return path


class _Number(click.FloatRange):
    """A number in a range; NaN, which compares with nothing, is in none."""

    def convert(
        self,
        value: Any,  # noqa: ANN401 - click's own
        param: click.Parameter | None,
        ctx: click.Context | None,
    ) -> float:
        """Read it, or say what it must be."""
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
    help="Policy file (C2SP tlog-policy): who must have cosigned the log.",
)


def place(name: str) -> Path:
    """Where the folder of that program usually is."""
    return Path(platformdirs.user_data_dir("tequio")) / name


seed_folder = click.option(
    "--seed-dir",
    "seed_folder",
    type=click.Path(path_type=Path, file_okay=False),
    default=place("seed"),
    show_default=True,
    help="Folder of the seed that is to serve head and shards.",
)


def folder(name: str) -> Callable[[F], F]:
    """The folder of a program, with its usual place."""
    return click.option(
        "--dir",
        "folder",
        type=click.Path(path_type=Path, file_okay=False),
        default=place(name),
        show_default=True,
        help="Where key, store and state are kept.",
    )


others = click.option(
    "--with",
    "others",
    multiple=True,
    type=click.Path(path_type=Path, exists=True, file_okay=False),
    help="Folder of another organiser who signs too; repeat.",
)


def signing(command: F) -> F:
    """As which organisers a command signs, and where what too few signed is left."""
    for option in (
        click.option(
            "--out",
            type=OutputFile(),
            help="Write a half-signed statement here when more organisers have to sign.",
        ),
        others,
        folder("organiser"),
    ):
        command = option(command)
    return command


def logging(command: F) -> F:
    """`--log-json` and `--log-level`."""
    command = click.option("--log-json", is_flag=True, help="Log as JSON lines, for machines.")(
        command
    )
    return click.option(
        "--log-level",
        type=click.Choice(["debug", "info", "warning", "error"]),
        default="info",
        show_default=True,
    )(command)


def networking(command: F) -> F:
    """Where a node listens, whom it dials and believes, and what it may store and transfer."""
    for option in reversed(
        (
            trust,
            click.option(
                "--listen",
                multiple=True,
                default=("/ip4/0.0.0.0/tcp/0",),
                show_default=True,
                help="Multiaddr to listen on; repeat.",
            ),
            click.option(
                "--announce", multiple=True, help="Multiaddr that others should dial; repeat."
            ),
            click.option(
                "--peer", "bootstrap", multiple=True, help="Multiaddr of a peer to dial; repeat."
            ),
            click.option(
                "--wait-for-ledger",
                "wait_for_ledger_s",
                metavar="SECONDS",
                type=_Number(0.0, 1e9),
                default=60.0,
                show_default=True,
                help="How long the ledger may be away at the start before we give up.",
            ),
            click.option("--quota-gib", type=_Number(0.0, 1e6), default=20.0, show_default=True),
            click.option("--upload-mbit", type=_RATE, help="Most to send, in Mbit/s."),
            click.option("--download-mbit", type=_RATE, help="Most to receive, in Mbit/s."),
            click.option(
                "--status", "status_lines", is_flag=True, help="Status as JSON lines on stdout."
            ),
        )
    ):
        command = option(command)
    return command


def bytes_per_s(mbit: float | None) -> float | None:
    """Mbit/s as bytes/s; None stays None."""
    return None if mbit is None else mbit * 1e6 / 8


def set_up_logs(*, log_json: bool, log_level: str) -> None:
    """Configure logging as the options say."""
    from tequio_client.runtime import (
        configure_logging,  # the app is installed without what it needs
    )

    configure_logging(style="json" if log_json else "console", level=log_level)
