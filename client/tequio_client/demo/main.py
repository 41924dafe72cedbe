"""The demo's composition: network, terminal, and outcome."""

from __future__ import annotations

import math
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import trio
from rich.console import Console, Group, RenderableType
from rich.live import Live
from rich.panel import Panel
from rich.table import Table
from rich.text import Text

from tequio_client.demo import play
from tequio_client.demo.play import DemoNetwork, DemoResult
from tequio_client.demo.script import DemoScript
from tequio_client.worker.shutdown import STOP_SIGNALS
from tequio_shared.api.runs import RunAnswer
from tequio_shared.errors import UserFacingError
from tequio_shared.ids import digest_from_text, key_from_text, peer_id_text
from tequio_shared.round.points import points
from tequio_shared.wording import plural

MIB = 1 << 20
REFRESH_S = 0.5
AUDIT_RESULTS = {0: "ok", 2: "MISMATCH", 3: "incomplete"}


def _headline(network: DemoNetwork, now: float) -> RenderableType:
    grid = Table.grid(padding=(0, 2))
    run = network.run
    grid.add_row("act", network.act)
    if network.url:
        grid.add_row("ledger", f"{network.url} (tequio app --ledger {network.url} joins it)")
    if run is not None and network.opened_at:
        seconds = max(now - network.opened_at, 1e-9)
        state = run.state.replace("_", " ")
        grid.add_row(
            "round", f"{min(run.round, network.script.rounds)} of {network.script.rounds}, {state}"
        )
        grid.add_row("tokens", f"{run.tokens:,} accepted, {run.tokens / seconds:,.0f} a second")
        grid.add_row("head", (run.head or "")[:16])
    verdicts = [one.verdict for one in network.statuses() if one.verdict]
    if verdicts:
        grid.add_row("witnesses", verdicts[0])
    loss = [one.loss for one in network.statuses() if one.loss]
    if loss:
        mean = sum(loss) / len(loss) / math.log(2)
        grid.add_row("training", f"{mean:.3f} bits per byte, as the trainers read it")
    return Panel(grid, title="Tequio demo", title_align="left")


def _peers(network: DemoNetwork) -> RenderableType:
    table = Table(expand=True)
    numbers = ("head of", "peers", "sent", "received", "rounds", "proofs", "points")
    for column in ("peer", "doing", *numbers, "memory MiB"):
        table.add_column(column, justify="left" if column in ("peer", "doing") else "right")
    for one in network.statuses():
        table.add_row(
            one.peer[-8:],
            one.problem or one.duty,
            f"round {one.head_round}" if one.head_round >= 0 else "-",
            str(one.peers),
            f"{one.sent_bytes / MIB:.1f}",
            f"{one.received_bytes / MIB:.1f}",
            str(one.rounds_trained),
            str(one.proofs),
            points(network.gflop.get(one.key, 0)),
            f"{one.resident_mb} + {one.trainer_resident_mb}",
        )
    return table


def print_summary(result: DemoResult, console: Console) -> None:
    tally = result.tally
    facts = Table.grid(padding=(0, 2))
    facts.add_row("rounds", f"{tally.committed} closed, {tally.void} void")
    agreement = "all equal on all peers" if tally.all_agree else "PEERS DISAGREE"
    facts.add_row("heads", f"{len(tally.heads)}, {agreement}")
    facts.add_row(
        "held out",
        f"{result.start.bits_per_byte:.3f} -> {result.end.bits_per_byte:.3f} bits per byte, "
        f"perplexity {result.end.perplexity:.2f} per token",
    )
    facts.add_row("log", f"{plural(tally.size, 'entry', 'entries')}, root {tally.root[:16]}…")
    facts.add_row("audit", f"{AUDIT_RESULTS.get(result.audit_exit, 'failed')}")
    facts.add_row("time", f"{result.seconds:.0f} s")
    console.print(Panel(facts, title="What came out", title_align="left"))
    earned = Table("volunteer", "points")
    for key, gflop in sorted(result.gflop.items(), key=lambda pair: -pair[1]):
        earned.add_row(peer_id_text(key_from_text(key)), points(gflop))
    console.print(earned)
    console.print(Panel(Text(result.end.sample), title="The model writes", title_align="left"))


def json_report(result: DemoResult, run: RunAnswer) -> dict[str, object]:
    """The outcome as plain values; sizes in bytes, memory in MiB, points in GFLOP."""
    tally = result.tally
    return {
        "rounds_committed": tally.committed,
        "rounds_void": tally.void,
        "heads": tally.heads,
        "heads_agree": tally.all_agree,
        "peers": [
            {
                "peer_id": one.peer,
                "roles": list(one.roles),
                "head": digest_from_text(one.head).hex() if one.head else "",
                "gflop": result.gflop.get(one.key, 0),
                "bytes_sent": one.sent_bytes,
                "bytes_received": one.received_bytes,
                "worker_rss_mb": one.resident_mb,
                "trainer_rss_mb": result.trainer_mb[one.key],
                "compute_fraction": round(one.compute_fraction, 4),
            }
            for one in result.statuses
        ],
        "held_out": {
            "bits_per_byte_start": round(result.start.bits_per_byte, 6),
            "bits_per_byte_end": round(result.end.bits_per_byte, 6),
            "perplexity_end": round(result.end.perplexity, 6),
        },
        "tokens_accepted": run.tokens,
        "tokens_per_s": round(run.tokens / max(result.seconds, 1e-9), 1),
        "log": {"size": tally.size, "root": tally.root},
        "audit_exit": result.audit_exit,
        "ledger_rss_mb": result.ledger_resident_mb,
        "seed_rss_mb": result.seed_resident_mb,
        "seconds": round(result.seconds, 1),
    }


def run_demo(script: DemoScript) -> dict[str, object]:
    """Run the demo; returns its outcome as plain values. Raises UserFacingError."""
    return trio.run(_perform, script)


def keep_running(script: DemoScript) -> None:
    """Let the network train on until a signal says stop. Raises UserFacingError."""
    trio.run(_keep_running, script)


async def _perform(script: DemoScript) -> dict[str, object]:
    console = Console(stderr=True)
    network = DemoNetwork(script=script)
    results: list[DemoResult] = []
    async with _screen(network, console):
        results.append(await play.run_network(network))
    if not results or network.run is None:  # a signal ended it
        raise UserFacingError("the demo ended before its run did")
    (result,) = results
    print_summary(result, console)
    if result.audit_exit:
        console.print(result.audit_text)
    return json_report(result, network.run)


async def _keep_running(script: DemoScript) -> None:
    network = DemoNetwork(script=script)
    async with _screen(network, Console(stderr=True)):
        await play.keep_running(network)


@asynccontextmanager
async def _screen(network: DemoNetwork, console: Console) -> AsyncIterator[None]:
    """Draw the network while it runs; a signal ends it."""
    async with trio.open_nursery() as nursery:
        nursery.start_soon(cancel_at_signal, nursery.cancel_scope)
        nursery.start_soon(_draw, network, console)
        yield
        nursery.cancel_scope.cancel()


async def cancel_at_signal(scope: trio.CancelScope) -> None:
    """End every program in order when we are asked to stop."""
    with trio.open_signal_receiver(*STOP_SIGNALS) as signals:
        async for _ in signals:
            scope.cancel()


async def _draw(network: DemoNetwork, console: Console) -> None:
    if not console.is_terminal:
        await _draw_lines(network)
        return
    with Live(console=console, refresh_per_second=4, transient=True) as screen:
        while True:
            screen.update(Group(_headline(network, trio.current_time()), _peers(network)))
            await trio.sleep(REFRESH_S)


async def _draw_lines(network: DemoNetwork) -> None:
    """For pipes and CI: a line when the act or the round changes."""
    last = ("", -1)
    while True:
        now = (network.act, min(network.run.round, network.script.rounds) if network.run else -1)
        if now != last:
            last = now
            where = f" round {now[1]} of {network.script.rounds}" if now[1] > 0 else ""
            at = f" at {network.url}" if network.url else ""
            print(f"demo: {now[0]}{at}{where}", file=sys.stderr, flush=True)  # noqa: T201 - this is the screen
        await trio.sleep(REFRESH_S)
