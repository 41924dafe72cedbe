"""Every setting of the app as data: its section, title, note, control, default and effect.

The pages are built from these tables (`settings`), and the search looks through them. All
texts are English and are translated in the context `settings`; defaults come from `Preferences` and
`AppSettings` and are never repeated here.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from tequio_client.app.pages.settings_table_app import (
    ACCOUNT,
    ADVANCED,
    APPEARANCE,
    NOTIFICATIONS,
    PRIVACY,
    STARTUP,
    CustomSpec,
    NumberSpec,
    PauseCause,
    PercentSpec,
    SectionSpec,
    SettingSpec,
    card,
    section,
    switch,
)
from tequio_client.ipc.snapshot import Decision, LendingReason, LendingState

CONTEXT = "settings"
MOST_MBIT = 100_000.0
MOST_GB = 1_000_000
DAY_MINUTES = 1_440
_MBIT = NumberSpec(0, MOST_MBIT, "Mbit/s", nothing="No limit", places=1, is_optional=True)
_PRESENCE = card(
    "While you're using the computer",
    SettingSpec(
        "idle_minutes",
        "Idle time before starting",
        "Starts after this long without input, or as soon as the screen is locked.",
        NumberSpec(0, DAY_MINUTES, "min", nothing="Immediately"),
        causes=(LendingReason.IN_USE, LendingReason.CANNOT_TELL),
    ),
    SettingSpec(
        "while_used",
        "Lend while I use the computer",
        "Tequio then works for part of the time. The rules for games and films still apply.",
        CustomSpec(),
    ),
    SettingSpec(
        "used_share_percent",
        "Share of the time",
        "How much of the time Tequio works while you use the computer.",
        PercentSpec(least=5, step=5, enabled_by="while_used"),
    ),
    switch(
        "keep_awake",
        "Keep the computer awake",
        "Keeps the computer from going to sleep while something is lent.",
    ),
)
_GAMES = card(
    "Games and films",
    switch(
        "pause_for_games",
        "Pause for games",
        "Nothing is lent while a game runs or fills the screen, and for 60 s afterwards.",
        causes=(
            LendingReason.GAME,
            LendingReason.FULLSCREEN,
            LendingReason.AFTER_GAME,
            (LendingReason.CANNOT_TELL, "fullscreen"),
            (LendingReason.CANNOT_TELL, "game"),
        ),
    ),
    switch(
        "pause_for_films",
        "Pause for films",
        "Nothing is lent while a browser or a video player fills the screen.",
        causes=(LendingReason.FILM,),
    ),
    SettingSpec(
        "exclusive",
        "Exclusive programs",
        "Nothing is lent while one of these runs: video editing, calls, recording.",
        CustomSpec(is_wide=True),
        default="none",
        causes=(LendingReason.EXCLUSIVE, (LendingReason.CANNOT_TELL, "programs")),
    ),
)
_POWER = card(
    "Power",
    switch(
        "on_battery",
        "Lend on battery",
        "Continues when the computer is unplugged.",
        causes=(LendingReason.BATTERY, LendingReason.BATTERY_UNKNOWN),
    ),
    switch(
        "while_saving_power",
        "Lend in power saving mode",
        "Continues when power saving is switched on, by you or by the system.",
        causes=(LendingReason.SAVING_POWER, (LendingReason.BATTERY_UNKNOWN, "saver")),
    ),
)
_OTHERS = card(
    "Other programs",
    SettingSpec(
        "others_gpu_percent",
        "Other programs on the GPU",
        "Pauses while other programs keep the GPU busier than this for 3 s.",
        NumberSpec(1, 100, "%"),
        causes=(LendingReason.OTHERS_GPU, LendingReason.GPU_UNKNOWN, LendingReason.SLOWED),
    ),
    SettingSpec(
        "others_cpu_percent",
        "Other programs on the CPU",
        "Pauses while other programs keep all CPU cores together busier than this.",
        NumberSpec(1, 100, "%"),
        causes=(LendingReason.OTHERS_CPU,),
    ),
)
_LENDING = section(
    "lending",
    "When to lend",
    "calendar-clock",
    "Tequio runs only when every rule allows it. Changes apply immediately.",
    card(
        "",
        SettingSpec(
            "preset",
            "Preset",
            "Default: Balanced. A preset changes only the settings named on its card.",
            CustomSpec(is_wide=True),
        ),
    ),
    _PRESENCE,
    card(
        "",
        SettingSpec(
            "week",
            "Hours of the week",
            "Drag to select hours, or use Shift+arrow keys; Space toggles an hour.",
            CustomSpec(is_wide=True),
            default="all hours",
            causes=(LendingReason.SCHEDULE,),
        ),
    ),
    _GAMES,
    _POWER,
    _OTHERS,
    card(
        "Competitions",
        switch(
            "judge",
            "Help judge competitions",
            "Needs about five bytes of memory for each parameter of a model, and some "
            "minutes of computing for each model once the texts are open. It follows the "
            "same rules as training. A judge cannot win with their own entry, nor judge a run "
            "they trained in.",
        ),
    ),
)
_NETWORK = section(
    "network",
    "Network",
    "wifi",
    "The network that you work for, and how much bandwidth that may take.",
    card(
        "Your network",
        SettingSpec(
            "ledger",
            "Ledger",
            "The server that keeps the public log of the network's work and points.",
            CustomSpec(is_wide=True),
            causes=(LendingReason.LEDGER_UNKNOWN, LendingReason.LEDGER_AWAY),
        ),
    ),
    card(
        "Bandwidth",
        SettingSpec(
            "upload_mbit",
            "Upload",
            "Upload limit. Stay below half your connection speed to keep games and calls smooth.",
            _MBIT,
        ),
        SettingSpec(
            "download_mbit",
            "Download",
            "Download limit. It does not slow the models that you score for competitions.",
            _MBIT,
        ),
    ),
    card(
        "Per month",
        SettingSpec(
            "month_gb",
            "Monthly quota",
            "Upload and download together. Once it is used up, lending resumes on the "
            "first of the next month.",
            NumberSpec(0, MOST_GB, "GB", nothing="No limit"),
            causes=(LendingReason.QUOTA,),
        ),
        SettingSpec("month_used", control=CustomSpec(is_wide=True), found_by="Used this month"),
    ),
    card(
        "Connections from others",
        SettingSpec(
            "reach",
            "Others can connect to this computer",
            "Found out by asking other computers of the network to try.",
            CustomSpec(),
        ),
        switch(
            "opens_router_port",
            "Open a port on the router",
            "Asks your router by UPnP or NAT-PMP to let other computers of the network connect to "
            "this one. The port is closed when Tequio ends.",
        ),
        switch(
            "finds_lan_peers",
            "Find members in the local network",
            "Computers behind the same router exchange directly instead of through the internet. "
            "Everyone in the local network can see that this computer runs Tequio.",
        ),
    ),
    card(
        "Metered networks",
        switch(
            "on_metered",
            "Lend on metered networks",
            "On a phone's hotspot, or where the system marks the network as metered.",
            causes=(LendingReason.METERED,),
        ),
    ),
)
_STORAGE = section(
    "storage",
    "Storage",
    "hard-drive",
    "How much disk space Tequio may use.",
    card(
        "Tequio's files",
        SettingSpec(
            "disk_gib",
            "Storage limit",
            "For the model, data and updates of your runs. The oldest are deleted first.",
            NumberSpec(1, MOST_GB, "GB"),
            causes=((LendingReason.DISK, "store"),),
        ),
        SettingSpec("disk_used", control=CustomSpec(is_wide=True), found_by="Used by Tequio"),
    ),
    card(
        "Disk",
        SettingSpec(
            "disk_free_gib",
            "Always keep free",
            "Lending waits when less disk space than this is free.",
            NumberSpec(0, MOST_GB, "GB"),
            causes=(LendingReason.DISK,),
        ),
        SettingSpec(
            "disk_left", "Free now", "On the disk that holds Tequio's files.", CustomSpec()
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


def settings_of(part: SectionSpec) -> Iterator[SettingSpec]:
    for one in part.cards:
        yield from one.settings


_FIELDS: Mapping[PauseCause, str] = {
    **{cause: one.field for part in SECTIONS for one in settings_of(part) for cause in one.causes},
    **DEVICE_STOPS,
    **NO_SETTING,
}


def field_pausing(decision: Decision) -> str:
    """The setting that pauses lending now; empty: none."""
    if decision.state not in {LendingState.WAITING, LendingState.ATTENTION}:
        return ""
    exact = decision.reason, str(decision.values.get("fact", ""))
    return _FIELDS.get(exact, _FIELDS.get(decision.reason, ""))


def rule_page(decision: Decision) -> str:
    """The page, and its section, with the setting that pauses lending now; empty: none."""
    name = field_pausing(decision)
    section_name = section_pausing(name)
    if section_name:
        return f"settings/{section_name}"
    return "hardware" if name in DEVICE_STOPS.values() else ""


def device_pausing(decision: Decision) -> str:
    """The name of the device that a decision is about; empty: none, or all."""
    return str(decision.values.get("device", ""))


def section_pausing(field_name: str) -> str:
    """The section with a field that can pause lending; empty: none."""
    found = (
        part.name
        for part in SECTIONS
        for one in settings_of(part)
        if one.field == field_name and one.causes
    )
    return next(found, "")
