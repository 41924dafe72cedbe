"""The specs of settings, the settings of the app itself, and everything that leaves this computer.

The privacy lists follow docs/protocol.md: statements and requests to the ledger, messages between
peers. `tests/client/app/pages/test_settings_privacy.py` holds them against every statement that a
worker can sign.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import KW_ONLY, dataclass, field
from typing import TypeAlias

from tequio_client.app.releases import AUTOMATIC_NOTE
from tequio_client.app.theme.look import Appearance
from tequio_client.ipc.snapshot import LendingReason

PauseCause: TypeAlias = LendingReason | tuple[LendingReason, str]
"""A reason of a decision, or that reason combined with one fact."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SwitchSpec:
    """A field that is on or off."""


@dataclass(frozen=True, slots=True)
class NumberSpec:
    """A number with its range and unit; an optional one is None at its minimum."""

    least: float
    most: float
    unit: str
    _: KW_ONLY
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


@dataclass(frozen=True, slots=True)
class SettingSpec:
    field: str
    """A field of the preferences or of the app's settings; the name of a row that shows a fact."""
    title: str = ""
    note: str = ""
    control: ControlSpec | None = None
    _: KW_ONLY
    default: str = ""
    """The default in words, if it does not follow from the value."""
    found_by: str = ""
    """Further words that the search finds it by."""
    causes: tuple[PauseCause, ...] = ()
    """The decisions to pause that this setting causes."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CardSpec:
    heading: str = ""
    settings: tuple[SettingSpec, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class SectionSpec:
    name: str
    title: str
    picture: str
    note: str
    is_of_app: bool = False
    """The fields belong to the app's own settings, not to the lending preferences."""
    cards: tuple[CardSpec, ...]


def switch(name: str, title: str, note: str, *, causes: tuple[PauseCause, ...] = ()) -> SettingSpec:
    return SettingSpec(name, title, note, SwitchSpec(), causes=causes)


def card(heading: str, *settings: SettingSpec) -> CardSpec:
    return CardSpec(heading=heading, settings=settings)


def section(
    name: str, title: str, picture: str, note: str, *cards: CardSpec, is_of_app: bool = False
) -> SectionSpec:
    return SectionSpec(
        name=name, title=title, picture=picture, note=note, is_of_app=is_of_app, cards=cards
    )


NOTIFICATIONS = section(
    "notifications",
    "Notifications",
    "bell",
    "What Tequio notifies you of.",
    card(
        "",
        switch("notify_points", "First points", "Once, when your first points are verified."),
        switch("notify_rank", "Weekly rank", "Once a week, how your rank has changed."),
        switch(
            "notify_attention", "Attention", "When lending cannot continue until you do something."
        ),
        switch(
            "notify_runs", "Runs", "When a run you are in ends, or goes back to an earlier model."
        ),
        switch(
            "notify_competitions",
            "Competitions",
            "When one begins, when its deadline is near and when it is decided; when "
            "you are drawn to judge, and when all your scores are in.",
        ),
        switch(
            "notify_announcements",
            "Announcements",
            "When the organisers of the network announce something to everybody.",
        ),
        SettingSpec("notify_never", note="Notifications wait while a program fills the screen."),
    ),
    is_of_app=True,
)
APPEARANCE = section(
    "appearance",
    "Appearance",
    "palette",
    "Colours, language and motion.",
    card(
        "",
        SettingSpec(
            "appearance",
            "Colours",
            "A light or a dark theme.",
            ChoiceSpec(
                choices={
                    Appearance.SYSTEM: "Same as system",
                    Appearance.LIGHT: "Light",
                    Appearance.DARK: "Dark",
                }
            ),
        ),
        SettingSpec(
            "language",
            "Language",
            "For texts, dates and numbers. Texts without a translation are in English.",
            ChoiceSpec(
                choices={"": "Same as system"},
                names={
                    "en": "English",
                    "de": "Deutsch",
                    "es": "Español",
                    "fr": "Français",
                    "ja": "日本語",
                    "pt": "Português",
                    "zh": "简体中文",
                },
                is_list=True,
            ),
        ),
        switch(
            "reduced_motion",
            "Reduced motion",
            "No sliding or fading. The system's own setting has the same effect.",
        ),
    ),
    is_of_app=True,
)
ACCOUNT = section(
    "account",
    "Account and keys",
    "key-round",
    "Your identity on the network.",
    card(
        "Name and team",
        SettingSpec(
            "name",
            "Public name",
            "Shown instead of your key in rankings and on pages. Unique in this network.",
            CustomSpec(),
            default="none",
            found_by="nickname rename",
        ),
        SettingSpec(
            "team",
            "Team",
            "Join one with a link from its owner, or found your own. What you earn also counts for "
            "your team.",
            CustomSpec(),
            default="none",
            found_by="group friends",
        ),
    ),
    card(
        "Key",
        SettingSpec(
            "peer",
            "Peer id",
            "How other computers find yours; visible to everyone.",
            CustomSpec(is_wide=True),
        ),
        SettingSpec(
            "key",
            "Key fingerprint",
            "The public half of your key, shown with your points and in the ranking. "
            "The secret half never leaves this computer; nobody who helps you will ask "
            "for it.",
            CustomSpec(is_wide=True),
        ),
        SettingSpec(
            "connect",
            "Linked account",
            "Shows the network that a person is behind your key. Some runs ask for it.",
            CustomSpec(),
            found_by="connect vouch github tier",
        ),
        SettingSpec("standing", "Standing", "Your key is in good standing.", CustomSpec()),
        SettingSpec(
            "appeal",
            "Appeal",
            "If your key was restricted by mistake, ask the organisers to review it.",
            CustomSpec(),
            found_by="quarantine ban suspected review",
        ),
        SettingSpec("backup", "Backup and restore", control=CustomSpec(is_wide=True)),
        SettingSpec(
            "first-run",
            "Setup",
            "Run the setup again. Nothing changes until you finish it.",
            CustomSpec(),
        ),
    ),
    card(
        "If this computer is lost or the key is stolen",
        SettingSpec(
            "recovery",
            "Recovery key",
            "Stops this computer's key and moves your points to a new one, even if a thief has "
            "the computer. Keep it somewhere else.",
            CustomSpec(),
            found_by="stolen lost theft words paper",
        ),
        SettingSpec(
            "replace-key",
            "Replace this computer's key",
            "A new key gets your points, standing, name and team. The present one can never "
            "be used again.",
            CustomSpec(),
            found_by="new key rotate stolen",
        ),
        SettingSpec(
            "lost-key",
            "A lost or stolen computer",
            "Stop the key of another computer of yours, or move its points to this one.",
            CustomSpec(),
            found_by="revoke stolen thief",
        ),
    ),
    is_of_app=True,
)
STARTUP = section(
    "startup",
    "Startup",
    "power",
    "Whether Tequio starts when you log in.",
    card(
        "",
        SettingSpec(
            "login",
            "Start at login",
            "Starts minimised to the tray; the window stays closed.",
            CustomSpec(),
            default="your choice during setup",
            found_by="autostart background hidden",
        ),
    ),
    is_of_app=True,
)
ADVANCED = section(
    "advanced",
    "Advanced",
    "wrench",
    "Most people never need these.",
    card(
        "Worker",
        SettingSpec(
            "folder",
            "Folder",
            "Key, store and state. To move it: quit, move the folder, and start with --dir.",
            CustomSpec(is_wide=True),
        ),
        SettingSpec(
            "listen",
            "Listen address",
            "Where peers reach this computer, for example /ip4/0.0.0.0/tcp/4001.",
            CustomSpec(),
            default="any free port",
        ),
        SettingSpec(
            "log_level",
            "Log level",
            "How much is written to worker.log in the folder. A change restarts the worker.",
            ChoiceSpec(
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
    card(
        "Updates",
        switch(
            "looks_for_updates",
            "Update automatically",
            AUTOMATIC_NOTE,
        ),
    ),
    card(
        "Reset",
        SettingSpec(
            "reset",
            "Reset all settings",
            "Restores every default. Key, points, consent and chosen runs stay, except the "
            "processor's.",
            CustomSpec(),
        ),
    ),
    is_of_app=True,
)


_LEDGER = card(
    "To the public ledger (permanent, readable by anyone)",
    SettingSpec(
        "ledger-key",
        "Your public key, and the work that a new key costs",
        "Once, so that points have an owner.",
    ),
    SettingSpec(
        "ledger-ready",
        "That you are ready, in which roles, with which model",
        "Run, roles, the hash of the model you hold, a commitment for the draw.",
    ),
    SettingSpec(
        "ledger-leave",
        "That you leave, with a reason code",
        "When lending stops. The code never says why you stopped.",
    ),
    SettingSpec(
        "ledger-work",
        "The header of each update that you trained",
        "Run, round, windows of data, tokens, steps, two losses, hashes of model and update.",
    ),
    SettingSpec(
        "ledger-head",
        "Which model you hold or computed for a round",
        "Hashes of its parts, and your lot for the draw of witnesses.",
    ),
    SettingSpec(
        "ledger-witness",
        "What you found as a witness",
        "Which updates arrived, which were refused and by which rule, hashes, the hash of the next "
        "model.",
    ),
    SettingSpec(
        "ledger-audit",
        "What you found when you repeated another volunteer's work",
        "How far its result is from yours, in a few numbers, and a sketch of yours.",
    ),
    SettingSpec(
        "ledger-measure",
        "How good a model is, where you were drawn to measure it",
        "Its hash, how many bits it needs for text that the run keeps aside, and how it continues "
        "a given beginning of a text.",
    ),
    SettingSpec(
        "ledger-judging",
        "Your offer to judge competitions, and your scores",
        "If you switched it on: a lot for the draw, commitments, the bits of each text, the "
        "program's version, the device's name and its threads.",
    ),
    SettingSpec(
        "ledger-fault",
        "Proofs that a key contradicted itself",
        "Two statements signed by that key; and your appeal, if you make one.",
    ),
    SettingSpec(
        "ledger-keys",
        "That a key has a recovery key, was replaced or was revoked",
        "If you do that: the public halves of the keys, which shows that they have one owner.",
    ),
    SettingSpec(
        "ledger-commands",
        "What you publish yourself",
        "Your public name; the team that you earn for; entries and challenges in competitions.",
    ),
    SettingSpec(
        "ledger-envelope",
        "With each statement",
        "Its number, the time on your clock, the statement before it, your signature.",
    ),
)
_OPERATOR = card(
    "To the ledger's operator",
    SettingSpec(
        "operator-address",
        "Your internet address and your requests",
        "As with every web server: log entries, runs, your own points and ranking.",
    ),
    SettingSpec(
        "operator-appeal",
        "The text of an appeal, if you write one",
        "With your key, the time and your signature.",
    ),
)
_PEERS = card(
    "To other volunteers in your runs",
    SettingSpec(
        "peers-address",
        "Your peer id, addresses and ports",
        "Including those of this computer in its local network, and the version of the network "
        "library.",
    ),
    SettingSpec(
        "peers-bytes",
        "Updates, models, training data and Tequio itself",
        "What you trained, and what others ask for: pieces of the public model and data, and of "
        "the versions of Tequio that you have fetched.",
    ),
    SettingSpec(
        "peers-statements",
        "Your statements of the current round",
        "The same statements that the ledger gets.",
    ),
)
_ROUTER = card(
    "To your router",
    SettingSpec(
        "router-port",
        "A port, and the name Tequio",
        "Only if you let Tequio open a port on the router, in Network.",
    ),
)
_LOCAL_NETWORK = card(
    "To your local network",
    SettingSpec(
        "local-network",
        "That this computer runs Tequio, and its port",
        "Only if you let Tequio find members there, in Network. Your key is not named.",
    ),
)
_MIRRORS = card(
    "To servers that offer Tequio or a run's data",
    SettingSpec(
        "mirrors-address",
        "Your internet address and what you fetch",
        "When Tequio looks for a newer version, or fetches it or what training needs.",
    ),
    SettingSpec(
        "mirrors-data",
        "Your internet address and the parts you fetch",
        "When the organiser of a run keeps its data on a web server.",
    ),
)
_NEVER = card(
    "Never sent",
    SettingSpec(
        "never-files",
        "Your files, programs, games and windows",
        "Tequio checks them on this computer only, to decide whether to lend.",
    ),
    SettingSpec(
        "never-machine",
        "User name, computer name and device readings",
        "Others see how fast you train. Judges also publish the name of the device that scored.",
    ),
    SettingSpec("never-choices", "Your settings and hours", "They stay in the app's folder."),
)
PRIVACY = section(
    "privacy",
    "Privacy",
    "shield-check",
    "Everything that leaves this computer, and where it goes.",
    card(
        "",
        SettingSpec(
            "telemetry",
            "Telemetry",
            "No usage data and no crash reports are ever sent. After an error you can copy a "
            "report and send it yourself.",
            ChipSpec(words="None", picture="shield-check", tone="ok"),
        ),
    ),
    _LEDGER,
    _OPERATOR,
    _PEERS,
    _ROUTER,
    _LOCAL_NETWORK,
    _MIRRORS,
    _NEVER,
)
