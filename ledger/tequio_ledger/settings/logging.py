"""The settings of every program's own log."""

from __future__ import annotations

from tequio_ledger import logs
from tequio_ledger.settings.setting import Form, Setting, choice, flag

LOG_JSON = Setting(
    name="log-json",
    default="false",
    parse=flag,
    help="Log as JSON lines, for machines.",
    form=Form.FLAG,
)
LOG_LEVEL = Setting(
    name="log-level",
    default="info",
    parse=choice(logs.LEVELS),
    help="Least weight of what is logged.",
    choices=logs.LEVELS,
)
