"""The demo on a terminal: one table while it plays, one page when it is over."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from rich.console import Console, Group
from rich.panel import Panel
from rich.table import Table
from rich.text import Text

from tequio_shared.ids import key_from_text, peer_id_text

if TYPE_CHECKING:
    from rich.console import RenderableType

    from tequio_client.demo.play import Played, Stage

MIB = 1 << 20
AUDIT_WORDS = {0: "ok", 2: "MISMATCH", 3: "incomplete"}


def live(stage: Stage, now: float) -> RenderableType:
    """The picture of this moment."""
    return Group(_headline(stage, now), _peers(stage))


def _headline(stage: Stage, now: float) -> RenderableType:
    grid = Table.grid(padding=(0, 2))
    run = stage.run
    grid.add_row("act", stage.act)
    if stage.url:
        grid.add_row("ledger", f"{stage.url} (tequio app --ledger {stage.url} joins it)")
    if run is not None and stage.opened_at:
        seconds = max(now - stage.opened_at, 1e-9)
        state = run.state.replace("_", " ")
        grid.add_row("round", f"{_round(stage, run.round)}, {state}")
        grid.add_row("tokens", f"{run.tokens:,} accepted, {run.tokens / seconds:,.0f} a second")
        grid.add_row("head", (run.head or "")[:16])
    verdicts = [one.verdict for one in stage.statuses() if one.verdict]
    if verdicts:
        grid.add_row("witnesses", verdicts[0])
    loss = [one.loss for one in stage.statuses() if one.loss]
    if loss:
        mean = sum(loss) / len(loss) / math.log(2)
        grid.add_row("training", f"{mean:.3f} bits per byte, as the trainers read it")
    return Panel(grid, title="Tequio demo", title_align="left")


def _round(stage: Stage, number: int) -> str:
    """The number that follows the last round only gathers the last head."""
    return f"{min(number, stage.script.rounds)} of {stage.script.rounds}"


def _peers(stage: Stage) -> RenderableType:
    table = Table(expand=True)
    for column in ("peer", "doing", "head of", "peers", "sent", "received", "rounds", "proofs"):
        table.add_column(column, justify="left" if column in ("peer", "doing") else "right")
    for column in ("points (micro)", "memory MiB"):
        table.add_column(column, justify="right")
    for one in stage.statuses():
        table.add_row(
            one.peer[-8:],
            one.problem or one.duty,
            f"round {one.head_round}" if one.head_round >= 0 else "-",
            str(one.peers),
            f"{one.sent_bytes / MIB:.1f}",
            f"{one.received_bytes / MIB:.1f}",
            str(one.rounds_trained),
            str(one.proofs),
            f"{stage.micropoints.get(one.key, 0):,}",
            f"{one.resident_mb} + {one.trainer_resident_mb}",
        )
    return table


def final(played: Played, console: Console) -> None:
    """Print what came out."""
    tally = played.tally
    facts = Table.grid(padding=(0, 2))
    facts.add_row("rounds", f"{tally.committed} closed, {tally.void} void")
    facts.add_row("heads", f"{len(tally.heads)}, {_agreement(played)}")
    facts.add_row(
        "held out",
        f"{played.start.bits_per_byte:.3f} -> {played.end.bits_per_byte:.3f} bits per byte, "
        f"perplexity {played.end.perplexity:.2f} per token",
    )
    facts.add_row("log", f"{tally.size} entries, root {tally.root[:16]}…")
    facts.add_row("audit", f"{AUDIT_WORDS.get(played.audit_exit, 'failed')}")
    facts.add_row("time", f"{played.seconds:.0f} s")
    console.print(Panel(facts, title="What came out", title_align="left"))
    points = Table("volunteer", "points (micro)")
    for key, micropoints in sorted(played.micropoints.items(), key=lambda pair: -pair[1]):
        points.add_row(peer_id_text(key_from_text(key)), f"{micropoints:,}")
    console.print(points)
    console.print(Panel(Text(played.end.sample), title="The model writes", title_align="left"))


def _agreement(played: Played) -> str:
    return "all equal on all peers" if played.tally.all_agree else "PEERS DISAGREE"
