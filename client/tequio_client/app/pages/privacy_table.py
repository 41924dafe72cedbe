"""Everything that leaves this computer and its receiver, as data.

The lists follow docs/protocol.md: statements and requests to the ledger, messages between peers.
`tests/client/app/test_privacy.py` holds them against every statement that a worker can sign.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Mapping


class PrivacyItem(NamedTuple):
    """One kind of data that is sent."""

    name: str
    title: str
    note: str


TELEMETRY = PrivacyItem(
    "telemetry",
    "Telemetry",
    "No usage data and no crash reports are ever sent. After an error you can copy a report and "
    "send it yourself.",
)
_LEDGER = (
    PrivacyItem(
        "ledger-key",
        "Your public key, and the work that a new key costs",
        "Once, so that points have an owner.",
    ),
    PrivacyItem(
        "ledger-ready",
        "That you are ready, in which roles, with which model",
        "Run, roles, the hash of the model you hold, a commitment for the draw.",
    ),
    PrivacyItem(
        "ledger-leave",
        "That you leave, with a reason code",
        "When lending stops. The code never says why you stopped.",
    ),
    PrivacyItem(
        "ledger-work",
        "The header of each update that you trained",
        "Run, round, windows of data, tokens, steps, two losses, hashes of model and update.",
    ),
    PrivacyItem(
        "ledger-head",
        "Which model you hold or computed for a round",
        "Hashes of its parts, the opened commitment for the draw, and the next commitment.",
    ),
    PrivacyItem(
        "ledger-witness",
        "What you found as a witness",
        "Which updates arrived, which were refused and by which rule, hashes, the hash of the next "
        "model.",
    ),
    PrivacyItem(
        "ledger-measure",
        "How good a model is, where you were drawn to measure it",
        "Its hash, how many bits it needs for text that the run keeps aside, and how it continues "
        "a given beginning of a text.",
    ),
    PrivacyItem(
        "ledger-judging",
        "Your offer to judge competitions, and your scores",
        "If you switched it on: a commitment, a secret for the draw, the bits of each text, the "
        "program's version, the device's name and its threads.",
    ),
    PrivacyItem(
        "ledger-fault",
        "Proofs that a key contradicted itself",
        "Two statements signed by that key; and your appeal, if you make one.",
    ),
    PrivacyItem(
        "ledger-commands",
        "What you publish by a command",
        "The team that you earn for; entries and challenges in competitions.",
    ),
    PrivacyItem(
        "ledger-envelope",
        "With each statement",
        "Its number, the time on your clock, the statement before it, your signature.",
    ),
)
_OPERATOR = (
    PrivacyItem(
        "operator-address",
        "Your internet address and your requests",
        "As with every web server: log entries, runs, your own points and ranking.",
    ),
    PrivacyItem(
        "operator-appeal",
        "The text of an appeal, if you write one",
        "With your key, the time and your signature.",
    ),
)
_PEERS = (
    PrivacyItem(
        "peers-address",
        "Your peer id, addresses and ports",
        "Including those of this computer in its local network, and the version of the network "
        "library.",
    ),
    PrivacyItem(
        "peers-bytes",
        "Updates, models and training data",
        "What you trained, and pieces of the public model and data that others ask for.",
    ),
    PrivacyItem(
        "peers-statements",
        "Your statements of the current round",
        "The same statements that the ledger gets.",
    ),
)
_NEVER = (
    PrivacyItem(
        "never-files",
        "Your files, programs, games and windows",
        "Tequio checks them on this computer only, to decide whether to lend.",
    ),
    PrivacyItem(
        "never-machine",
        "User name, computer name and device readings",
        "Others see how fast you train. Judges also publish the name of the device that scored.",
    ),
    PrivacyItem(
        "never-choices",
        "Your settings, nickname and hours",
        "They stay in the app's folder.",
    ),
)
LISTS: Mapping[str, tuple[PrivacyItem, ...]] = {
    "To the public ledger (permanent, readable by anyone)": _LEDGER,
    "To the ledger's operator": _OPERATOR,
    "To other volunteers in your runs": _PEERS,
    "Never sent": _NEVER,
}
"""Items sent, by receiver."""
