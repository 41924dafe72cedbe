"""`tequio chat`: talks with a model in a terminal."""

from __future__ import annotations

import os
import sys
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from tequio_client import cli

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from tequio_client.trainer.conversation import ModelChat
    from tequio_client.trainer.device import ComputeDevice

_WORKER = cli.default_folder("worker")


@click.command()
@click.argument("model", required=False, metavar="[MODEL]")
@click.option("--run", "run_name", help="Name of a run, or the beginning of its id.")
@cli.measured_option
@click.option("--prompt", help="Answer this, and end.")
@cli.answer_tokens_option
@click.option(
    "--temperature",
    type=float,
    default=0.8,
    show_default=True,
    help="Variety of the words; 0 always takes the likeliest.",
)
@click.option(
    "--top-p",
    type=float,
    default=0.95,
    show_default=True,
    help="Choose among the likeliest words that have this probability together.",
)
@click.option("--seed", type=click.IntRange(0, (1 << 32) - 1), help="Same seed, same text.")
@click.option("--revision", help="Branch, tag or commit of a MODEL on the Hub.")
@cli.device_option
@cli.threads_option
@cli.stores_option
@click.option(
    "--seeds", "also_seeds", is_flag=True, help="Fetch what the --store folders lack from seeds."
)
@click.option("--json", "is_json", is_flag=True, help="Converse in JSON lines, for a program.")
@cli.folder_option("chat", "Folder for the newest head of each run.")
@cli.consents_option
@cli.ledger_option_unless("model")
@cli.trust_option
def chat(  # noqa: PLR0913 - one parameter an option
    *,
    model: str | None,
    run_name: str | None,
    is_measured: bool,
    prompt: str | None,
    tokens: int,
    temperature: float,
    top_p: float,
    seed: int | None,
    revision: str | None,
    device: str,
    threads: int | None,
    stores: tuple[Path, ...],
    also_seeds: bool,
    is_json: bool,
    folder: Path,
    consents: Path,
    ledger: str,
    trust_file: Path | None,
) -> None:
    """Talk with the newest model of a run, or with any MODEL.

    MODEL is a folder or a name on the Hub. A model that was trained on conversations answers; any
    other continues what you write. With --run, the newest head, or with --measured the newest fine
    one, is checked against the log; it comes from this computer's worker, from --store or from the
    ledger's seeds.
    """
    from rich.console import Console

    from tequio_client.checkpoint import chat as program
    from tequio_client.checkpoint.export import ExportOptions, WeightsOrigin
    from tequio_client.ledger.networks import read_policy
    from tequio_client.organiser import verdicts
    from tequio_client.verify.report import ProgressBars

    if (model is None) == (run_name is None):
        raise click.UsageError("name either a MODEL or a run (--run)")
    for name, is_given in (("--json", is_json), ("--measured", is_measured)):
        if is_given and run_name is None:
            raise click.UsageError(f"{name} needs a run (--run)")
    if is_json:
        from tequio_client.platform import child

        child.end_with_parent()
        child.lower_priority(os.getpid())
    cli.set_up_logs(log_json=False, log_level="warning")
    style = {"tokens": tokens, "temperature": temperature, "top_p": top_p, "seed": seed}
    opened = partial(_open, device, threads)
    load = partial(_load, style=style, opened=opened, work=folder, consents=consents)
    if not is_json:
        # Before anything is fetched: a package without its runtime cannot load a model. The app
        # has it, and first learns without seconds of imports whether the weights are here.
        opened()
    if run_name is None:
        from tequio_client.scoring import hub

        place = hub.model_folder(model or "", revision)
        program.talk(load(place), prompt, is_terminal=sys.stdin.isatty())
        return
    known = stores or ((_WORKER,) if _WORKER.is_dir() else ())
    origin = WeightsOrigin(
        ledger=ledger,
        stores=known,
        also_seeds=also_seeds or not stores,
        trust=read_policy(trust_file, ledger),
    )
    find_fine = partial(verdicts.find_fine_head, run_name, ledger, origin.trust)
    number = find_fine() if is_measured else None
    options = ExportOptions(origin=origin, run=run_name, round=number, target=folder)
    if is_json:
        from tequio_client.checkpoint import chat_lines

        chat_lines.converse(
            lambda progress: program.newest_model(options, progress),
            load,
            sys.stdin.buffer,
            sys.stdout.buffer,
        )
        return
    with ProgressBars(Console(stderr=True)) as bars:
        place = program.newest_model(options, bars)
    program.talk(load(place), prompt, is_terminal=sys.stdin.isatty())


def _open(device: str, threads: int | None) -> ComputeDevice:
    """As `devices.open_device`, and compute with that many threads."""
    from tequio_client.trainer import device as devices

    chosen = devices.open_device(device)
    if threads:
        devices.limit_threads(threads)
    return chosen


def _load(
    place: Path,
    *,
    style: Mapping[str, Any],
    opened: Callable[[], ComputeDevice],
    work: Path,
    consents: Path,
) -> ModelChat:
    """Load a model, and start what splits its texts until the command ends; as `ModelChat`."""
    from tequio_client.checkpoint import chat as program
    from tequio_client.trainer.conversation import ModelChat, WritingStyle

    context = click.get_current_context()
    texts = context.with_resource(program.own_texts(place, work, consents))
    return ModelChat(place, WritingStyle(**style), opened(), texts)
