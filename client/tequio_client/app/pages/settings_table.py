"""Every setting of the app as data: its section, title, note, control, default and effect.

The pages are built from these tables (`settings`), and the search looks through them. All
texts are English and are translated in the context `settings`; defaults come from `Preferences` and
`AppSettings` and are never repeated here.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from tequio_client.app.pages.settings_table_app import (
    ACCOUNT,
    ADVANCED,
    APPEARANCE,
    NOTIFICATIONS,
    PRIVACY,
    STARTUP,
    CardSpec,
    ChipSpec,
    ChoiceSpec,
    CustomSpec,
    NumberSpec,
    PercentSpec,
    SectionSpec,
    SettingSpec,
    SwitchSpec,
)
from tequio_client.ipc.snapshot import LendingReason, LendingState

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from tequio_client.app.pages.settings_table_app import ControlSpec, PauseCause
    from tequio_client.ipc.snapshot import Decision

CONTEXT = "settings"
MOST_MBIT = 100_000.0
MOST_GB = 1_000_000
DAY_MINUTES = 1_440
_PRESENCE = CardSpec(
    heading="While you're using the computer",
    settings=(
        SettingSpec(
            field="idle_minutes",
            title="Idle time before starting",
            note="Starts after this long without input, or as soon as the screen is locked.",
            control=NumberSpec(least=0, most=DAY_MINUTES, unit="min", nothing="Immediately"),
            causes=(LendingReason.IN_USE, LendingReason.CANNOT_TELL),
        ),
        SettingSpec(
            field="while_used",
            title="Lend while I use the computer",
            note="Tequio then works for part of the time. Games still pause it.",
            control=CustomSpec(),
        ),
        SettingSpec(
            field="used_share_percent",
            title="Share of the time",
            note="How much of the time Tequio works while you use the computer.",
            control=PercentSpec(least=5, step=5, enabled_by="while_used"),
        ),
        SettingSpec(
            field="keep_awake",
            title="Keep the computer awake",
            note="Keeps the computer from going to sleep while something is lent.",
            control=SwitchSpec(),
        ),
    ),
)
_GAMES = CardSpec(
    heading="Games and films",
    settings=(
        SettingSpec(
            field="pause_for_games",
            title="Pause for games",
            note="Nothing is lent while a game runs or fills the screen, and for 60 s afterwards.",
            control=SwitchSpec(),
            causes=(
                LendingReason.GAME,
                LendingReason.FULLSCREEN,
                LendingReason.AFTER_GAME,
                (LendingReason.CANNOT_TELL, "fullscreen"),
                (LendingReason.CANNOT_TELL, "game"),
            ),
        ),
        SettingSpec(
            field="pause_for_films",
            title="Pause for films",
            note="Nothing is lent while a browser or a video player fills the screen.",
            control=SwitchSpec(),
            causes=(LendingReason.FILM,),
        ),
        SettingSpec(
            field="exclusive",
            title="Exclusive programs",
            note="Nothing is lent while one of these runs: video editing, calls, recording.",
            control=CustomSpec(is_wide=True),
            default="none",
            causes=(LendingReason.EXCLUSIVE, (LendingReason.CANNOT_TELL, "programs")),
        ),
    ),
)
_POWER = CardSpec(
    heading="Power",
    settings=(
        SettingSpec(
            field="on_battery",
            title="Lend on battery",
            note="Continues when the computer is unplugged.",
            control=SwitchSpec(),
            causes=(LendingReason.BATTERY, LendingReason.BATTERY_UNKNOWN),
        ),
        SettingSpec(
            field="while_saving_power",
            title="Lend in power saving mode",
            note="Continues when power saving is switched on, by you or by the system.",
            control=SwitchSpec(),
            causes=(LendingReason.SAVING_POWER, (LendingReason.BATTERY_UNKNOWN, "saver")),
        ),
    ),
)
_OTHERS = CardSpec(
    heading="Other programs",
    settings=(
        SettingSpec(
            field="others_gpu_percent",
            title="Other programs on the GPU",
            note="Pauses while other programs keep the GPU busier than this for 3 s.",
            control=NumberSpec(least=1, most=100, unit="%"),
            causes=(LendingReason.OTHERS_GPU, LendingReason.GPU_UNKNOWN, LendingReason.SLOWED),
        ),
        SettingSpec(
            field="others_cpu_percent",
            title="Other programs on the CPU",
            note="Pauses while other programs keep all CPU cores together busier than this.",
            control=NumberSpec(least=1, most=100, unit="%"),
            causes=(LendingReason.OTHERS_CPU,),
        ),
    ),
)
_LENDING = SectionSpec(
    name="lending",
    title="When to lend",
    picture="calendar-clock",
    note="Tequio runs only when every rule allows it. Changes apply immediately.",
    cards=(
        CardSpec(
            settings=(
                SettingSpec(
                    field="preset",
                    title="Preset",
                    note="Default: Balanced. A preset changes only the settings named on its card.",
                    control=CustomSpec(is_wide=True),
                ),
            )
        ),
        _PRESENCE,
        CardSpec(
            settings=(
                SettingSpec(
                    field="week",
                    title="Hours of the week",
                    note="Drag to select hours, or use Shift+arrow keys; Space toggles an hour.",
                    control=CustomSpec(is_wide=True),
                    default="all hours",
                    causes=(LendingReason.SCHEDULE,),
                ),
            )
        ),
        _GAMES,
        _POWER,
        _OTHERS,
        CardSpec(
            heading="Competitions",
            settings=(
                SettingSpec(
                    field="judge",
                    title="Help judge competitions",
                    note="Needs about five bytes of memory for each parameter of a model, and some "
                    "minutes of computing for each model once the texts are open. It follows the "
                    "same rules as training, so it pauses for you and your games. A judge cannot "
                    "win with their own entry, nor judge a run they trained in.",
                    control=SwitchSpec(),
                ),
            ),
        ),
    ),
)
_NETWORK = SectionSpec(
    name="network",
    title="Network",
    picture="wifi",
    note="How much bandwidth Tequio may use.",
    cards=(
        CardSpec(
            heading="Bandwidth",
            settings=(
                SettingSpec(
                    field="upload_mbit",
                    title="Upload",
                    note="Upload limit. Stay below half your connection speed to keep games and "
                    "calls smooth.",
                    control=NumberSpec(
                        least=0,
                        most=MOST_MBIT,
                        unit="Mbit/s",
                        nothing="No limit",
                        places=1,
                        is_optional=True,
                    ),
                ),
                SettingSpec(
                    field="download_mbit",
                    title="Download",
                    note="Download limit.",
                    control=NumberSpec(
                        least=0,
                        most=MOST_MBIT,
                        unit="Mbit/s",
                        nothing="No limit",
                        places=1,
                        is_optional=True,
                    ),
                ),
            ),
        ),
        CardSpec(
            heading="Per month",
            settings=(
                SettingSpec(
                    field="month_gb",
                    title="Monthly quota",
                    note="Upload and download together. Once it is used up, lending resumes on the "
                    "first of the next month.",
                    control=NumberSpec(least=0, most=MOST_GB, unit="GB", nothing="No limit"),
                    causes=(LendingReason.QUOTA,),
                ),
                SettingSpec(
                    field="month_used", control=CustomSpec(is_wide=True), found_by="Used this month"
                ),
            ),
        ),
        CardSpec(
            heading="Metered networks",
            settings=(
                SettingSpec(
                    field="on_metered",
                    title="Lend on metered networks",
                    note="On a phone's hotspot, or where the system marks the network as metered.",
                    control=SwitchSpec(),
                    causes=(LendingReason.METERED,),
                ),
            ),
        ),
    ),
)
_STORAGE = SectionSpec(
    name="storage",
    title="Storage",
    picture="hard-drive",
    note="How much disk space Tequio may use.",
    cards=(
        CardSpec(
            heading="Tequio's files",
            settings=(
                SettingSpec(
                    field="disk_gib",
                    title="Storage limit",
                    note="For the model, data and updates of your runs. The oldest are deleted "
                    "first.",
                    control=NumberSpec(least=1, most=MOST_GB, unit="GiB"),
                    causes=((LendingReason.DISK, "store"),),
                ),
                SettingSpec(
                    field="disk_used", control=CustomSpec(is_wide=True), found_by="Used by Tequio"
                ),
            ),
        ),
        CardSpec(
            heading="Disk",
            settings=(
                SettingSpec(
                    field="disk_free_gib",
                    title="Always keep free",
                    note="Lending waits when less disk space than this is free.",
                    control=NumberSpec(least=0, most=MOST_GB, unit="GiB"),
                    causes=(LendingReason.DISK,),
                ),
                SettingSpec(
                    field="disk_left",
                    title="Free now",
                    note="On the disk that holds Tequio's files.",
                    control=CustomSpec(),
                ),
            ),
        ),
    ),
)
SECTIONS = (
    _LENDING,
    _NETWORK,
    _STORAGE,
    NOTIFICATIONS,
    APPEARANCE,
    ACCOUNT,
    STARTUP,
    PRIVACY,
    ADVANCED,
)
DEVICE_STOPS: Mapping[PauseCause, str] = {
    LendingReason.HOT: "temperature_c",
    LendingReason.NO_DEVICE: "use",
    LendingReason.GPU_MEMORY: "memory_mb",
    (LendingReason.NO_DEVICE, "small"): "memory_mb",
}
"""Decisions caused by a device's limit on the Hardware page."""
NO_SETTING: Mapping[PauseCause, str] = {
    (LendingReason.BATTERY_UNKNOWN, "probe"): "",
    (LendingReason.GPU_UNKNOWN, "memory"): "",
}
"""Decisions that no setting can change, unlike others with the same reason."""


def settings_of(section: SectionSpec) -> Iterator[SettingSpec]:
    for card in section.cards:
        yield from card.settings


_FIELDS: Mapping[PauseCause, str] = {
    **{
        cause: one.field
        for section in SECTIONS
        for one in settings_of(section)
        for cause in one.causes
    },
    **DEVICE_STOPS,
    **NO_SETTING,
}


def field_pausing(decision: Decision) -> str:
    """The setting that pauses lending now; empty: none."""
    if decision.state not in {LendingState.WAITING, LendingState.ATTENTION}:
        return ""
    exact = decision.reason, str(decision.values.get("fact", ""))
    return _FIELDS.get(exact, _FIELDS.get(decision.reason, ""))


def device_pausing(decision: Decision) -> str:
    """The name of the device that a decision is about; empty: none, or all."""
    return str(decision.values.get("device", ""))


def section_pausing(field_name: str) -> str:
    """The section with a field that can pause lending; empty: none."""
    for section in SECTIONS:
        if any(one.field == field_name and one.causes for one in settings_of(section)):
            return section.name
    return ""


def translatable_texts() -> Iterator[str]:
    """Every text of the tables, to be translated; some more than once."""
    for section in SECTIONS:
        yield from (section.title, section.note)
        for card in section.cards:
            yield card.heading
            for one in card.settings:
                yield from (one.title, one.note, one.default, one.found_by)
                yield from _control_texts(one.control)


def _control_texts(control: ControlSpec | None) -> Iterator[str]:
    match control:
        case NumberSpec(unit=unit, nothing=nothing):
            yield from (unit, nothing)
        case ChoiceSpec(choices=choices):
            yield from choices.values()
        case ChipSpec(words=words):
            yield words
