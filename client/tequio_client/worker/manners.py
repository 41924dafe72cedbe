"""The manners: whether the volunteer's computer lends now, why, until when, and how much.

A pure function of facts, preferences, the wish, a small memory and the time. `RULES` is the order
of precedence: the first rule that speaks decides, and where none does the computer is lent. What
is unknown is never taken for fine by a rule that is switched on; a rule that is switched off (a
threshold of 100 %, no idle minutes, games allowed) needs no facts.

Three rules are about who may use the line, not the device, and hold whatever else decides:
`may_transfer` is false before consent, beyond the month's quota and on a metered network.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from tequio_client.link.decision import Decision, Reason, State
from tequio_client.worker import (
    manners_hand,
    manners_machine,
    manners_others,
    manners_swarm,
    manners_user,
)
from tequio_client.worker.manners_case import Case
from tequio_client.worker.manners_facts import chosen_devices, lent_devices

if TYPE_CHECKING:
    from collections.abc import Callable

    from tequio_client.link.decision import Value
    from tequio_client.link.preferences import Preferences
    from tequio_client.link.wish import Wish
    from tequio_client.worker.manners_facts import Device, Facts
    from tequio_client.worker.manners_traces import Traces
    from tequio_client.worker.moment import Moment

RULES: tuple[Callable[[Case], Decision | None], ...] = (
    manners_hand.consent,
    manners_hand.by_hand,
    manners_hand.snoozed,
    manners_hand.finished,
    manners_machine.broken,
    manners_swarm.ledger,
    manners_machine.no_device,
    manners_machine.disk,
    manners_swarm.run,
    manners_machine.power,
    manners_machine.heat,
    manners_user.game,
    manners_user.hours,
    manners_user.quota,
    manners_user.metered,
    manners_user.blind,
    manners_user.in_use,
    manners_others.gpu_load,
    manners_others.cpu_load,
    manners_others.memory,
    manners_others.slowed,
)
"""In the order of precedence."""


def decide(
    facts: Facts, preferences: Preferences, wish: Wish, traces: Traces, now: Moment
) -> Decision:
    """Decide; `traces` are those of `traced` for the same values."""
    machine = facts.known_machine()
    devices = chosen_devices(machine, preferences)
    case = Case(
        facts=facts,
        preferences=preferences,
        wish=wish,
        traces=traces,
        now=now,
        session=facts.known_session(),
        machine=machine,
        devices=devices,
        lent=lent_devices(devices, facts.need_mb),
    )
    found = next((said for rule in RULES if (said := rule(case)) is not None), None) or _lend(case)
    if wish.finish and found.may_compute:
        values: dict[str, Value] = {"round": facts.round or 0}
        found = msgspec.structs.replace(
            found, state=State.FINISHING, reason=Reason.FINISHING, values=values
        )
    return msgspec.structs.replace(found, may_transfer=_may_transfer(case))


def _lend(case: Case) -> Decision:
    share = min((_share(case, one) for one in case.lent), default=0)
    if not manners_user.is_used(case):
        return Decision(state=State.LENDING, reason=Reason.LENDING, share_percent=share)
    share = min(share, case.preferences.used_share_percent)
    return Decision(
        state=State.LENDING,
        reason=Reason.LENDING_WHILE_USED,
        values={"share": share},
        share_percent=share,
    )


def _share(case: Case, device: Device) -> int:
    """How much of the time one device may compute: as chosen, and as its heat and power allow."""
    choice = case.preferences.device(device.gpu.id)
    pace = case.traces.paces.get(device.gpu.id)
    return choice.share_percent if pace is None else min(choice.share_percent, pace.percent)


def _may_transfer(case: Case) -> bool:
    return (
        case.preferences.consent
        and manners_user.quota(case) is None
        and manners_user.metered(case) is None
    )
