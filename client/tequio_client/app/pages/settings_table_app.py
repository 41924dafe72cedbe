"""The specs of settings, the settings of the app itself, and everything that leaves this computer.

The privacy lists follow docs/protocol.md: statements and requests to the ledger, messages between
peers. `tests/client/app/test_privacy.py` holds them against every statement that a worker can sign.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from tequio_client.app.theme.look import Appearance
from tequio_client.ipc.snapshot import LendingReason

if TYPE_CHECKING:
    from collections.abc import Mapping

PauseCause: TypeAlias = LendingReason | tuple[LendingReason, str]
"""A reason of a decision, or that reason combined with one fact."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SwitchSpec:
    """A field that is on or off."""


@dataclass(frozen=True, slots=True, kw_only=True)
class NumberSpec:
    """A number with its range and unit; an optional one is None at its minimum."""

    least: float
    most: float
    unit: str
    nothing: str = ""
    """Name of the minimum, where it has one."""
    places: int = 0
    is_optional: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class PercentSpec:
    """A percentage on a slider, whose title is beside its value."""

    least: int
    step: int
    enabled_by: str
    """The field without which this one has no effect."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ChoiceSpec:
    """One of several values by name: side by side, or in a list."""

    choices: Mapping[str, str]
    names: Mapping[str, str] = field(default_factory=dict)
    """More choices, whose names are the same in every language."""
    is_list: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class ChipSpec:
    """A fact, shown as a chip, instead of a choice."""

    words: str
    picture: str
    tone: str


@dataclass(frozen=True, slots=True, kw_only=True)
class CustomSpec:
    """A control of its own class, found in `settings.CUSTOM` by the field's name."""

    is_wide: bool = False
    """Placed below its title and note, not beside them."""


ControlSpec: TypeAlias = SwitchSpec | NumberSpec | PercentSpec | ChoiceSpec | ChipSpec | CustomSpec


@dataclass(frozen=True, slots=True, kw_only=True)
class SettingSpec:
    """One row."""

    field: str
    """A field of the preferences or of the app's settings; the name of a row that shows a fact."""
    title: str = ""
    note: str = ""
    control: ControlSpec | None = None
    default: str = ""
    """The default in words, if it does not follow from the value."""
    found_by: str = ""
    """Further words that the search finds it by."""
    causes: tuple[PauseCause, ...] = ()
    """The decisions to pause that this setting causes."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CardSpec:
    """Settings on one card, below its heading."""

    heading: str = ""
    settings: tuple[SettingSpec, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class SectionSpec:
    """A section of the page, and its entry in the list."""

    name: str
    title: str
    picture: str
    note: str
    is_of_app: bool = False
    """Its fields belong to the app's own settings, not to the lending preferences."""
    cards: tuple[CardSpec, ...]


NOTIFICATIONS = SectionSpec(
    name="notifications",
    title="Notifications",
    picture="bell",
    note="What Tequio notifies you of while its window is closed.",
    is_of_app=True,
    cards=(
        CardSpec(
            settings=(
                SettingSpec(
                    field="notify_points",
                    title="First points",
                    note="Once, when your first points are verified.",
                    control=SwitchSpec(),
                ),
                SettingSpec(
                    field="notify_rank",
                    title="Weekly rank",
                    note="Once a week, how your rank has changed.",
                    control=SwitchSpec(),
                ),
                SettingSpec(
                    field="notify_attention",
                    title="Attention",
                    note="When lending cannot continue until you do something.",
                    control=SwitchSpec(),
                ),
                SettingSpec(
                    field="notify_runs",
                    title="Runs",
                    note="When a run you are in begins or ends.",
                    control=SwitchSpec(),
                ),
                SettingSpec(
                    field="notify_competitions",
                    title="Competitions",
                    note="When one begins, when its deadline is near and when it is decided; when "
                    "you are drawn to judge, and when all your scores are in.",
                    control=SwitchSpec(),
                ),
                SettingSpec(
                    field="notify_never",
                    note="Notifications wait while a program fills the screen.",
                ),
            )
        ),
    ),
)
APPEARANCE = SectionSpec(
    name="appearance",
    title="Appearance",
    picture="palette",
    note="Colours, language and motion.",
    is_of_app=True,
    cards=(
        CardSpec(
            settings=(
                SettingSpec(
                    field="appearance",
                    title="Colours",
                    note="A light or a dark theme.",
                    control=ChoiceSpec(
                        choices={
                            Appearance.SYSTEM: "Same as system",
                            Appearance.LIGHT: "Light",
                            Appearance.DARK: "Dark",
                        }
                    ),
                ),
                SettingSpec(
                    field="language",
                    title="Language",
                    note="For texts, dates and numbers. Texts without a translation are in "
                    "English.",
                    control=ChoiceSpec(
                        choices={"": "Same as system"},
                        names={"en": "English", "es": "Español"},
                        is_list=True,
                    ),
                ),
                SettingSpec(
                    field="reduced_motion",
                    title="Reduced motion",
                    note="No sliding or fading. The system's own setting has the same effect.",
                    control=SwitchSpec(),
                ),
            )
        ),
    ),
)
ACCOUNT = SectionSpec(
    name="account",
    title="Account and keys",
    picture="key-round",
    note="Your identity on the network.",
    is_of_app=True,
    cards=(
        CardSpec(
            heading="Key",
            settings=(
                SettingSpec(
                    field="peer",
                    title="Peer id",
                    note="Your name on the network, visible to everyone.",
                    control=CustomSpec(is_wide=True),
                ),
                SettingSpec(
                    field="key",
                    title="Key fingerprint",
                    note="The public half of your key, shown with your points and in the ranking. "
                    "The secret half never leaves this computer; nobody who helps you will ask "
                    "for it.",
                    control=CustomSpec(is_wide=True),
                ),
                SettingSpec(
                    field="standing",
                    title="Standing",
                    note="Your key is in good standing.",
                    control=CustomSpec(),
                ),
                SettingSpec(
                    field="backup", title="Backup and restore", control=CustomSpec(is_wide=True)
                ),
                SettingSpec(
                    field="first-run",
                    title="Setup",
                    note="Run the setup again. Nothing changes until you finish it.",
                    control=CustomSpec(),
                ),
            ),
        ),
        CardSpec(
            heading="Name",
            settings=(
                SettingSpec(
                    field="nickname",
                    title="Nickname",
                    note="How this app greets you. It stays on this computer; others see your key.",
                    control=CustomSpec(),
                    default="none",
                ),
            ),
        ),
    ),
)
STARTUP = SectionSpec(
    name="startup",
    title="Startup",
    picture="power",
    note="Whether Tequio starts when you log in.",
    is_of_app=True,
    cards=(
        CardSpec(
            settings=(
                SettingSpec(
                    field="login",
                    title="Start at login",
                    note="Starts minimised to the tray; the window stays closed.",
                    control=CustomSpec(),
                    default="your choice during setup",
                    found_by="autostart background hidden",
                ),
            )
        ),
    ),
)
ADVANCED = SectionSpec(
    name="advanced",
    title="Advanced",
    picture="wrench",
    note="Most people never need these.",
    is_of_app=True,
    cards=(
        CardSpec(
            heading="Ledger",
            settings=(
                SettingSpec(
                    field="ledger",
                    title="Address",
                    note="Of the server that keeps the public log of work and points. The address "
                    "is tested before it's used.",
                    control=CustomSpec(is_wide=True),
                    causes=(LendingReason.LEDGER_UNKNOWN,),
                ),
            ),
        ),
        CardSpec(
            heading="Worker",
            settings=(
                SettingSpec(
                    field="folder",
                    title="Folder",
                    note="Key, store and state. To move it: quit, move the folder, and start with "
                    "--dir.",
                    control=CustomSpec(is_wide=True),
                ),
                SettingSpec(
                    field="listen",
                    title="Listen address",
                    note="Where peers reach this computer, for example /ip4/0.0.0.0/tcp/4001.",
                    control=CustomSpec(),
                    default="any free port",
                ),
                SettingSpec(
                    field="log_level",
                    title="Log level",
                    note="How much is written to worker.log in the folder. A change restarts the "
                    "worker.",
                    control=ChoiceSpec(
                        choices={
                            "debug": "Everything",
                            "info": "Events",
                            "warning": "Warnings",
                            "error": "Errors",
                        },
                        is_list=True,
                    ),
                ),
            ),
        ),
        CardSpec(
            heading="Reset",
            settings=(
                SettingSpec(
                    field="reset",
                    title="Reset all settings",
                    note="Restores every default. Key, points, consent and run stay.",
                    control=CustomSpec(),
                ),
            ),
        ),
    ),
)


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
PRIVACY_LISTS: Mapping[str, tuple[PrivacyItem, ...]] = {
    "To the public ledger (permanent, readable by anyone)": _LEDGER,
    "To the ledger's operator": _OPERATOR,
    "To other volunteers in your runs": _PEERS,
    "Never sent": _NEVER,
}
"""Items sent, by receiver."""
PRIVACY = SectionSpec(
    name="privacy",
    title="Privacy",
    picture="shield-check",
    note="Everything that leaves this computer, and where it goes.",
    cards=(
        CardSpec(
            settings=(
                SettingSpec(
                    field="telemetry",
                    title=TELEMETRY.title,
                    note=TELEMETRY.note,
                    control=ChipSpec(words="None", picture="shield-check", tone="ok"),
                ),
            )
        ),
        *(
            CardSpec(
                heading=heading,
                settings=tuple(
                    SettingSpec(field=item.name, title=item.title, note=item.note) for item in items
                ),
            )
            for heading, items in PRIVACY_LISTS.items()
        ),
    ),
)
