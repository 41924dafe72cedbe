"""Settings, Privacy: everything that leaves this computer, to whom, and what never does.

The lists follow docs/protocol.md: statements and requests to the ledger, messages between peers.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from tequio_client.app.pages.settings_section import Section
from tequio_client.app.widgets.chip import Chip
from tequio_client.app.widgets.setting_row import SettingRow

if TYPE_CHECKING:
    from tequio_client.app.pages.edits import Edits
    from tequio_client.app.pages.page import Means
    from tequio_client.app.widgets.undo_toast import UndoToast


class PrivacySection(Section):
    """What is sent."""

    def __init__(self, means: Means, edits: Edits, toast: UndoToast) -> None:
        super().__init__(means, edits, toast)
        self.card()
        none = Chip(self.tr("None"), "shield-check", "ok")
        self.add(
            "telemetry",
            SettingRow(
                self.tr("Telemetry"),
                self.tr(
                    "No usage figures and no crash reports are sent, to anybody, ever. After "
                    "an error you may copy a report and send it yourself."
                ),
                none,
            ),
        )
        self._list(
            self.tr("To the ledger, where everybody can read it for ever"),
            (
                (
                    "ledger-key",
                    self.tr("Your public key, and the work that a new key costs"),
                    self.tr("Once, so that points have an owner."),
                ),
                (
                    "ledger-ready",
                    self.tr("That you are ready, in which roles, with which model"),
                    self.tr(
                        "Run, roles, the hash of the model you hold, a commitment for the draw."
                    ),
                ),
                (
                    "ledger-leave",
                    self.tr("That you leave, with a reason's code"),
                    self.tr("When lending stops; the code never says why you stopped."),
                ),
                (
                    "ledger-work",
                    self.tr("The header of each update that you trained"),
                    self.tr(
                        "Run, round, windows of data, tokens, steps, two losses, hashes of "
                        "model and update."
                    ),
                ),
                (
                    "ledger-head",
                    self.tr("Which model you hold or computed for a round"),
                    self.tr(
                        "Hashes of its parts, the commitment for the draw opened, and the next one."
                    ),
                ),
                (
                    "ledger-witness",
                    self.tr("What you found as a witness"),
                    self.tr(
                        "Which updates arrived, which were refused and by which rule, hashes, "
                        "the hash of the next model."
                    ),
                ),
                (
                    "ledger-measure",
                    self.tr("How good a model is, where you were drawn to measure it"),
                    self.tr(
                        "Its hash, how many bits it needs for text that the run holds out, and "
                        "what it writes after a beginning of it."
                    ),
                ),
                (
                    "ledger-judging",
                    self.tr("Your offer to judge competitions, and your scores"),
                    self.tr(
                        "If you switched it on: a commitment, a secret for the draw, the bits of "
                        "each text, the program's version, the device's name and its threads."
                    ),
                ),
                (
                    "ledger-fault",
                    self.tr("Proofs that somebody contradicted themselves"),
                    self.tr("Two statements that they signed; and your appeal, if you make one."),
                ),
                (
                    "ledger-commands",
                    self.tr("What you say by a command of your own"),
                    self.tr("The team that you earn for; entries and challenges in competitions."),
                ),
                (
                    "ledger-envelope",
                    self.tr("Beside each statement"),
                    self.tr(
                        "Its number, your clock's time, the statement before it, your signature."
                    ),
                ),
            ),
        )
        self._list(
            self.tr("To the ledger's operator"),
            (
                (
                    "operator-address",
                    self.tr("Your internet address, and what you ask for"),
                    self.tr(
                        "As with every web server: log entries, runs, your own points and ranking."
                    ),
                ),
                (
                    "operator-appeal",
                    self.tr("The text of an appeal, if you write one"),
                    self.tr("With your key, the time and your signature."),
                ),
            ),
        )
        self._list(
            self.tr("To other volunteers in your runs"),
            (
                (
                    "peers-address",
                    self.tr("Your peer id, addresses and ports"),
                    self.tr(
                        "Of this computer in its own network too, and the version of the "
                        "network library."
                    ),
                ),
                (
                    "peers-bytes",
                    self.tr("Updates, models and training data"),
                    self.tr(
                        "What you trained, and pieces of public model and data that others ask for."
                    ),
                ),
                (
                    "peers-statements",
                    self.tr("Your statements of the round under way"),
                    self.tr("The same that the ledger gets."),
                ),
            ),
        )
        self._list(
            self.tr("Never, to nobody"),
            (
                (
                    "never-files",
                    self.tr("Your files, programs, games and windows"),
                    self.tr("Looked at here, to decide here whether to lend."),
                ),
                (
                    "never-machine",
                    self.tr("Names of user and computer, and readings of devices"),
                    self.tr(
                        "Others see how fast you train; who judges names the device that scored."
                    ),
                ),
                (
                    "never-choices",
                    self.tr("Your settings, nickname and hours"),
                    self.tr("They stay in the app's folder."),
                ),
            ),
        )

    def _list(self, heading: str, fields: tuple[tuple[str, str, str], ...]) -> None:
        self.card(heading)
        for field, name, note in fields:
            self.add(field, SettingRow(name, note))
