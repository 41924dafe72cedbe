"""The newest head of a run as a model folder, and a conversation with a model in a terminal."""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import click
import trio

from tequio_client.checkpoint import export, layout
from tequio_client.checkpoint.export import ExportOptions
from tequio_client.dataset import own_tokenizer
from tequio_client.dataset.own_tokenizer import PluginTokenizer
from tequio_client.ledger import runs
from tequio_client.plugins import archive
from tequio_client.plugins.consents import PluginConsents
from tequio_client.runtime import locked
from tequio_client.worker import shutdown
from tequio_shared.errors import MalformedError, UserFacingError
from tequio_shared.ids import STEERING
from tequio_shared.round.manifest import Manifest

if TYPE_CHECKING:
    from tequio_client.trainer.conversation import ModelChat
    from tequio_client.verify.report import WorkProgress
    from tequio_shared.api.runs import RunAnswer

HEADS = "heads"
"""Folder of the exported heads, one for each run."""
RESTART, END = "/new", "/quit"
_STEERING = re.compile(f"(?!\t)[{STEERING}]")


def newest_model(options: ExportOptions, progress: WorkProgress) -> Path:
    """Export the newest head of a run, or that of `options.round`, below `options.target`.

    Nothing happens if it is there already; other heads of the run go, also unfinished ones. The log
    must continue the newest checkpoint that was seen here, and the ledger name the newest head that
    is in it. Raises UserFacingError, PeerError.
    """
    heads = options.target / HEADS
    heads.mkdir(parents=True, exist_ok=True)
    origin = replace(options.origin, seen=heads)
    with locked(heads), shutdown.explain_unreachable_ledger(origin.ledger):
        find = origin.find_newest if options.round is None else origin.find_run
        run = trio.run(find, options.run)
        number = run.head_round if options.round is None else options.round
        target = heads / f"{run.run}-{number}"
        if _is_head(target, run, number):
            return target
        shutil.rmtree(target, ignore_errors=True)
        export.remove_unfinished(target, f"{run.run}-*")
        wanted = replace(
            options,
            origin=origin,
            run=run.run,
            round=number,
            target=target,
            merges_adapters=True,
        )
        export.export_weights(wanted, progress)
        for other in heads.glob(f"{run.run}-*"):
            if other != target:
                shutil.rmtree(other, ignore_errors=True)
    return target


def _is_head(folder: Path, run: RunAnswer, number: int | None) -> bool:
    """Raises PeerError if the ledger lists the run by another name than its rules have."""
    try:
        claim = layout.HeadClaim.parse((folder / layout.CLAIM).read_bytes())
        manifest = Manifest.parse((folder / layout.MANIFEST).read_bytes())
    except (OSError, MalformedError):
        return False
    runs.check_name(run, manifest)
    is_newest = number != run.head_round or claim.head == run.head
    return (claim.run, claim.round) == (run.run, number) and is_newest


@contextmanager
def own_texts(
    model: Path, work: Path, consents: Path, answer_s: float = own_tokenizer.ANSWER_S
) -> Iterator[PluginTokenizer | None]:
    """Start the tokenizer of the plug-in in a model's folder; None for a model without.

    Its code runs in a confined child, which writes below `work`, if the worker's folder `consents`
    allows it; `answer_s` is its time for one text. Raises UserFacingError.
    """
    table = model / layout.TABLE
    if not table.is_file():
        yield None
        return
    if not (model / layout.PLUGIN).is_file():
        raise UserFacingError(
            f"the texts of {model} are split by code of a plug-in, and it has no {layout.PLUGIN}: "
            "export the head again (tequio checkpoint export)"
        )
    found = archive.read(model / layout.PLUGIN)
    name = found.spec.archive
    if not PluginConsents(consents).covers(name):
        raise UserFacingError(
            f"the texts of this model are split by code of the plug-in {found.spec.label}, which "
            f"is not allowed on this computer: read it with `tequio plugin show {name} --code`, "
            f"and allow it with `tequio plugin allow {name}`"
        )
    place = work / "plugins" / name
    with own_tokenizer.run_tokenizer(
        found, place, hidden=(consents,), answer_s=answer_s
    ) as started:
        if started.file != table.read_bytes():
            raise UserFacingError(
                f"the tokens of {found.spec.label} are not those of {table}: export the head again"
            )
        yield started


def talk(conversation: ModelChat, prompt: str | None, *, is_terminal: bool) -> None:
    """Answer one prompt, or each line of standard input; Ctrl-C stops an answer only."""
    if prompt is not None:
        _answer(conversation, prompt)
        return
    if is_terminal:
        kind = "It answers." if conversation.has_turns else "It continues what you write."
        click.echo(f"{kind} {RESTART} starts over, {END} ends; Ctrl-C stops an answer.", err=True)
    while True:
        try:
            text = input("> " if is_terminal else "").strip()
        except (EOFError, KeyboardInterrupt):
            return
        if text == END:
            return
        if text == RESTART:
            conversation.forget()
        elif text:
            _answer(conversation, text)


def _answer(conversation: ModelChat, text: str) -> None:
    if not conversation.has_turns:
        _write(text)
    try:
        conversation.answer(text, _write)
    except KeyboardInterrupt:
        _write(" […]")
    click.echo()


def _write(text: str) -> None:
    click.echo(clean_piece(text), nl=False)


def clean_piece(text: str) -> str:
    """Replace what would steer a terminal, or the direction of the text around it."""
    return _STEERING.sub("\ufffd", text)
