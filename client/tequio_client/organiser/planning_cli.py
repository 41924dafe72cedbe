"""`tequio run new` and `tequio run check`."""

from __future__ import annotations

import re
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from tequio_client import cli

if TYPE_CHECKING:
    from tequio_client.organiser.plan import ParentPlan
    from tequio_client.organiser.planning import NewPlanOptions

_SUFFIXES = {"": 1, "k": 10**3, "m": 10**6, "b": 10**9, "t": 10**12}
_MOST = 10**15
_EXPECTED = ("peers", "upload_mbit", "vram_gib", "disk_gib", "tflops", "cell")
_NEEDED = {"plan": "'PLAN'", "data": "'--data'"}
"""Parameters that a script has to give; in a terminal, questions replace them."""
_TIERS = {"anybody": 0, "vouched": 1, "invited": 2}


class Amount(click.ParamType):  # type: ignore[type-arg]  # generic for the checker alone
    """A whole number that may be written with K, M, B or T."""

    name = "number"

    def convert(
        self, value: object, param: click.Parameter | None, ctx: click.Context | None
    ) -> int:
        found = re.fullmatch(r"([0-9]{1,15}(?:\.[0-9]{1,9})?)([kmbt]?)", str(value).lower())
        amount = round(float(found[1]) * _SUFFIXES[found[2]]) if found else 0
        if not 1 <= amount <= _MOST:
            self.fail(f"invalid number {value!r}: expected 125M, 1.5B or the like", param, ctx)
        return amount


@click.command("new")
@click.argument("plan", required=False, type=click.Path(path_type=Path, dir_okay=False))
@click.option(
    "--data",
    type=click.Path(path_type=Path, file_okay=False),
    help="Folder written by `tequio data build`.",
)
@click.option("--parameters", type=Amount(), help="Size of a new Llama model: 125M, 1.5B.")
@click.option(
    "--from",
    "source",
    help="Model to continue training: a folder, or a repository of the Hub. With --plugin, also "
    "the configuration of its model.",
)
@click.option(
    "--revision", default="", help="Commit, branch or tag of the repository given with --from."
)
@click.option(
    "--from-run",
    type=cli.NonEmptyText(),
    help="Run to continue from one of its heads: its name, or the beginning of its id.",
)
@click.option(
    "--round",
    "head_round",
    type=click.IntRange(0),
    help="Round that made the head given with --from-run (default: the last certified one).",
)
@click.option(
    "--ledger",
    envvar="TEQUIO_LEDGER",
    show_envvar=True,
    help="Ledger of the run given with --from-run (default: that of the network in use).",
)
@click.option(
    "--lora-rank",
    default=0,
    type=click.IntRange(0, 1_024),
    help="Freeze the model given with --from, and train adapters of this rank.",
)
@click.option(
    "--lora-bits",
    default="16",
    show_default=True,
    type=click.Choice(["4", "16"]),
    help="Bits of each number of the frozen matrices in memory: with 4, a 7B model fits 12 GiB.",
)
@click.option(
    "--plugin",
    type=click.Path(exists=True, path_type=Path),
    help="The run's own code: a folder with plugin.toml, or an archive of `tequio plugin build`.",
)
@click.option("--name", help="Name of the run (default: the name of the file PLAN).")
@click.option("--tokens", type=Amount(), help="Tokens to train on in the whole run: 2.5B.")
@click.option(
    "--days",
    default=0.0,
    type=cli.Number(0, 3_650),
    help="Length of the run in days, in place of --tokens.",
)
@click.option(
    "--admit",
    default="anybody",
    show_default=True,
    type=click.Choice(list(_TIERS)),
    help="Keys that may take part: vouched by a connector, or invited by organisers.",
)
@click.option(
    "--peers",
    default=8,
    show_default=True,
    type=click.IntRange(2, 4_095),
    help="Number of peers expected.",
)
@click.option(
    "--upload-mbit",
    default=10.0,
    show_default=True,
    type=cli.Number(0, 1e6, min_open=True),
    help="Upload speed of the slowest connection that should be able to train, Mbit/s.",
)
@click.option(
    "--vram-gib",
    default=8.0,
    show_default=True,
    type=cli.Number(0, 1e4, min_open=True),
    help="Memory of the smallest graphics card that should be able to train, GiB.",
)
@click.option(
    "--disk-gib",
    default=30.0,
    show_default=True,
    type=cli.Number(0, 1e6, min_open=True),
    help="Disk space that each volunteer lends, GiB.",
)
@click.option(
    "--cell",
    default=1,
    show_default=True,
    type=click.IntRange(1, 8),
    help="Computers of each peer, which train together in a cell.",
)
@click.option(
    "--tflops",
    default=0.0,
    type=cli.Number(0, 1e5),
    help="Speed of that card in 16 bits, TFLOP/s (default: estimated from its memory).",
)
def new(**values: Any) -> None:  # noqa: ANN401 - of many types
    """Write a commented plan to the file PLAN.

    The values are chosen for the model, the data and the peers expected. Nothing is written if the
    run cannot work. In a terminal, without --data, the command asks for what the plan needs.
    """
    from tequio_client.organiser import planning

    context = click.get_current_context()
    if values["data"] is None and sys.stdin.isatty() and sys.stdout.isatty():
        from tequio_client.organiser import assistant

        plan, outline = assistant.Interview(context, values, new_plan_options).run()
        planning.save_plan(plan, outline)
    else:
        for param in context.command.params:
            if (hint := _NEEDED.get(param.name or "")) and values[param.name] is None:
                raise click.MissingParameter(ctx=context, param=param, param_hint=hint)
        plan = values["plan"]
        planning.write_new_plan(plan, new_plan_options(context, values))
    click.echo(f"written to {plan}; read it, then run: tequio run open {plan}")


def new_plan_options(context: click.Context, values: Mapping[str, Any]) -> NewPlanOptions:
    """The options of `tequio run new`, by name; raises UsageError if they exclude each other."""
    from tequio_client.organiser.plan import ExpectPlan, LoraPlan
    from tequio_client.organiser.planning import NewPlanOptions
    from tequio_shared.round.manifest import Admission

    parameters, source, rank = values["parameters"], values["source"], values["lora_rank"]
    revision, is_narrow = values["revision"], values["lora_bits"] == "4"
    run, number = values["from_run"], values["head_round"]
    if sum(one is not None for one in (parameters, source, run)) != 1:
        raise click.UsageError(
            "give --parameters for a new model, --from to continue training one, or --from-run to "
            "continue from a head of another run"
        )
    if number is not None and run is None:
        raise click.UsageError(f"--round {number} is a round of another run: give --from-run")
    if rank and source is None:
        raise click.UsageError("--lora-rank trains adapters of a model: give the model with --from")
    if is_narrow and not rank:
        raise click.UsageError("--lora-bits 4 is for the base of adapters: give --lora-rank")
    if revision and (source is None or Path(source).is_dir()):
        raise click.UsageError(
            f"--revision {revision} needs a repository of the Hub: give it with --from"
        )
    if values["tokens"] and values["days"]:
        raise click.UsageError("the length of a run follows from --tokens or --days: give one")
    tier = _TIERS[values["admit"]]
    chosen = {"admission": Admission(trainer_tier=tier, witness_tier=tier)} if tier else {}
    return NewPlanOptions(
        name=values["name"],
        data=values["data"],
        parameters=parameters or 0,
        source=source or "",
        revision=revision,
        tokens=values["tokens"],
        days=values["days"],
        parent=_parent(context, values) if run else None,
        lora=LoraPlan(rank=rank, bits=4 if is_narrow else 16) if rank else None,
        plugin=values["plugin"],
        expect=ExpectPlan(**{name: values[name] for name in _EXPECTED}),
        **chosen,
    )


def _parent(context: click.Context, values: Mapping[str, Any]) -> ParentPlan:
    from tequio_client.organiser.heads import choose_head

    ledger = cli.resolve_ledger(context, None, values["ledger"])
    return choose_head(ledger or "", values["from_run"], values["head_round"])


@click.command()
@click.argument("plan", type=click.Path(path_type=Path))
def check(plan: Path) -> None:
    """Estimate what PLAN requires of volunteers.

    Also reports what cannot work, and how to change the plan.
    """
    from tequio_client.organiser import planning

    planning.check_plan(plan)
