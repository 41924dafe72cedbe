"""`tequio run rollback`: find the head in the log, explain what follows, and log the decision."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from tequio_client.ledger.runs import find_promotion
from tequio_client.names import short_id
from tequio_client.organiser import heads, opening
from tequio_client.worker import shutdown
from tequio_client.worker.lending.needs import MAX_HEADS
from tequio_shared.api.runs import RunAnswer
from tequio_shared.errors import UserFacingError
from tequio_shared.network.run_states import RunState
from tequio_shared.statements.runs import HeadPromote, RunRollback


def roll_back(
    name: str,
    ledger: str,
    folders: Sequence[Path],
    head_round: int,
    agrees: Callable[[str], bool],
) -> str:
    """Let the next round of a paused run start from the head of an earlier round.

    `agrees` asks a person about the description; nothing is signed without consent. Returns a
    sentence about the result. Raises UserFacingError.
    """
    one = heads.named_run(name, ledger)
    if one.state != RunState.PAUSED:
        why = f"{one.name} is {opening.state_name(one.state)}, and only a paused run can go back"
        pause = f"run `tequio run pause {short_id(one.run)}`, and wait until its round is over"
        raise UserFacingError(why if one.state in opening.ENDING else f"{why}: {pause}")
    head = shutdown.ask_ledger(ledger, lambda api: find_promotion(api, one, head_round)).body
    if one.head == head.head and one.resume.close is None:
        raise UserFacingError(f"{one.name} is at the head of round {head_round} already")
    if not agrees("\n".join(_explain(one, head, head_round))):
        return "nothing was signed"
    body = RunRollback(
        head_round=head_round,
        head=head.head,
        parent=head.parent,
        set_root=head.set_root,
        weights_root=head.weights_root,
        aux_root=head.aux_root,
        last_round=one.round,
    )
    opening.log_steering(body, one, ledger, folders)
    return (
        f"{one.name}: goes on from the head of round {head_round}; when members have it, run "
        f"`tequio run resume {short_id(one.run)}`"
    )


def _explain(one: RunAnswer, head: HeadPromote, head_round: int) -> Iterator[str]:
    given_up = one.round - head_round
    yield f"{one.name} goes back to the head of round {head_round}, {head.head[:10]}:"
    yield (
        f"- Round {one.round + 1} is the next one, and starts from that head. What the {given_up} "
        f"rounds after round {head_round} made is no longer part of the model."
        if given_up != 1
        else f"- Round {one.round + 1} is the next one, and starts from that head. What round "
        f"{one.round} made is no longer part of the model."
    )
    yield "- Points stay, and vest as before. Open audits of those rounds go on."
    yield (
        "- The learning rate and the data go on with the next round: the data of those rounds is "
        "not trained on again."
    )
    yield "- Members drop the error feedback of those rounds, and train without it at first."
    if given_up < MAX_HEADS:
        yield "- Members that took part in those rounds still have that head; others fetch it."
    else:
        yield (
            f"- Members may have deleted that head: they store their last {MAX_HEADS}. No round "
            "opens until somebody has it, such as a seed. `tequio checkpoint export` with "
            f"--round {head_round} shows that it can be fetched."
        )
    yield "- The run stays paused until you resume it. You can go to any certified head again."
