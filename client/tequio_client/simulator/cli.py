"""`tequio simulate`: a planned run with thousands of peers, before anybody joins it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click
import msgspec

from tequio_client import cli
from tequio_shared.errors import UserFacingError

if TYPE_CHECKING:
    from tequio_client.ipc.cell import Division
    from tequio_client.simulator.cell_hosts import Place

_HOURS = cli.Number(0, 24 * 3_650)


@click.command()
@click.argument("plan", type=click.Path(path_type=Path))
@click.option(
    "--peers",
    default=1_000,
    show_default=True,
    type=click.IntRange(2, 100_000),
    help="Number of volunteers, of whom about a quarter are online at a time.",
)
@click.option(
    "--days",
    default=1.0,
    show_default=True,
    type=cli.Number(0.001, 3_650),
    help="Days to simulate.",
)
@click.option("--seed", default=0, show_default=True, help="Another number gives other chances.")
@click.option(
    "--liars",
    multiple=True,
    metavar="SHARE",
    help="Share of the peers that cheat in every known way, such as 0.2; or of one way, such as "
    "copy=0.05. May be repeated.",
)
@click.option(
    "--outage",
    "outages",
    multiple=True,
    nargs=2,
    type=_HOURS,
    metavar="START LENGTH",
    help="Outage of the ledger, in hours. May be repeated.",
)
@click.option("--always-on", is_flag=True, help="Let no peer ever leave.")
@click.option(
    "--tokens-per-s",
    default=0.0,
    type=cli.Number(0, 1e9),
    help="Measured training speed of every peer (default: by common cards).",
)
@click.option(
    "--mbit",
    default=0.0,
    type=cli.Number(0, 1e6),
    help="Connection of every peer, both ways (default: as in a survey of home connections).",
)
@click.option(
    "--cells",
    default=0.0,
    show_default=True,
    type=cli.Number(0, 1),
    help="Share of the peers that are cells of several computers.",
)
@click.option(
    "--cell-ranks",
    default=4,
    show_default=True,
    type=click.IntRange(2, 64),
    help="Computers of each cell.",
)
@click.option(
    "--cell-kind",
    default="pipeline",
    show_default=True,
    type=click.Choice(["none", "pipeline"]),
    help="Division of the model in cells.",
)
@click.option(
    "--cell-place",
    default="lan",
    show_default=True,
    type=click.Choice(["lan", "internet"]),
    help="Lines between the computers of a cell: 1 Gbit/s, and all on together; or those of homes, "
    "and each on when its owner is.",
)
@click.option(
    "--followers",
    default=0.0,
    show_default=True,
    type=cli.Number(0, 1),
    help="Share of the peers that start with --role trainer, and so follow steps in a run with a "
    "down link. Workers offer both roles unless told otherwise.",
)
@click.option(
    "--json", "json_file", type=cli.OutputFile(), help="Write the report to this file as JSON."
)
@click.option(
    "--picture", "picture_file", type=cli.OutputFile(), help="Draw the report into this SVG file."
)
def simulate(  # noqa: PLR0913 - one parameter an option
    *,
    plan: Path,
    peers: int,
    days: float,
    seed: int,
    liars: tuple[str, ...],
    outages: tuple[tuple[float, float], ...],
    always_on: bool,
    tokens_per_s: float,
    mbit: float,
    cells: float,
    cell_ranks: int,
    cell_kind: Division,
    cell_place: Place,
    followers: float,
    json_file: Path | None,
    picture_file: Path | None,
) -> None:
    """Simulate the run described by the TOML file PLAN with many peers.

    The rules are those of the real programs; training and transfers only take time. Nothing is
    sent, and no model is made.
    """
    from tequio_client.ipc.cell_division import parse_fields, why_no_cell, why_undivided
    from tequio_client.organiser.outline import read_outline
    from tequio_client.simulator import lies, picture
    from tequio_client.simulator.cell_hosts import CellPopulation
    from tequio_client.simulator.hosts import HostPopulation
    from tequio_client.simulator.network import Simulation, SimulationSetup
    from tequio_client.simulator.report import make_report, report_lines

    if picture_file is not None and picture_file.suffix != ".svg":
        raise UserFacingError(
            f"cannot draw into {picture_file}: pictures are SVG files, so give a name ending in "
            ".svg"
        )
    shares = lies.parse_shares(liars)
    outline = read_outline(plan)
    manifest = msgspec.structs.replace(outline.manifest, admission=msgspec.UNSET)
    if followers and not manifest.algorithm.down_k:
        raise UserFacingError(
            f"--followers {followers:g}, but the run has no down link, so there are no steps to "
            "follow: set down_k = 512 under [algorithm] in the plan, or leave out --followers"
        )
    if cells and (why := why_no_cell(manifest)):
        raise UserFacingError(f"{why}: leave out --cells")
    fields = parse_fields(outline.source.config)
    if cells and why_undivided(cell_kind, manifest, fields, cell_ranks):
        raise UserFacingError(
            f"--cell-kind pipeline divides Llama networks with a layer for each of {cell_ranks} "
            "ranks, of which all weights are trained: use --cell-kind none or fewer --cell-ranks"
        )
    setup = SimulationSetup(
        manifest=manifest,
        corpus=outline.corpus,
        peers=peers,
        days=days,
        seed=seed,
        liars=shares,
        outages=outages,
        population=HostPopulation(is_always_on=always_on, tokens_per_s=tokens_per_s, mbit=mbit),
        cells=CellPopulation(share=cells, ranks=cell_ranks, division=cell_kind, place=cell_place),
        followers=followers,
    )
    report = make_report(Simulation(setup).run())
    for line in report_lines(report):
        click.echo(line)
    if json_file is not None:
        content = msgspec.json.format(msgspec.json.encode(report), indent=1) + b"\n"
        cli.write_output(json_file, content)
    if picture_file is not None:
        cli.write_output(picture_file, picture.draw_picture(report).encode())
