"""Numbers, amounts and times as people read them, by the current locale.

Points are never rounded up.
"""

from __future__ import annotations

import math

from PySide6.QtCore import QCoreApplication, QDate, QDateTime, QLocale

from tequio_shared.round import points
from tequio_shared.scoring import power_of_two
from tequio_shared.wording import three_digits

MINUTE_S, HOUR_S, DAY_S = 60, 3_600, 86_400
WH_J, KWH_J = 3_600.0, 3_600_000.0
translate = QCoreApplication.translate
SCALES = {12: "{number}T", 9: "{number}B", 6: "{number}M", 3: "{number}k"}
"""The suffixes of powers of ten."""
ABSENT = "–"
LEAST_SHORTENED = 10_000_000
"""Points from here on are too wide for a card."""
MOST_EXACT = 1_000
"""A perplexity from here on is shown in three digits."""


def short_points(gflop: int) -> str:
    """Points by the rule for all programs: 18,930 or 41.2 or 0.0123; cut, not rounded."""
    return _amount(points.digits(gflop))


def card_points(gflop: int) -> str:
    """Points as `short_points` writes them, in three digits if a card has no room for all."""
    whole, _ = points.digits(gflop)
    if whole < LEAST_SHORTENED:
        return short_points(gflop)
    shortened = 10 ** (len(str(whole)) - 3)
    return short_count(whole // shortened * shortened)


def exact_points(gflop: int) -> str:
    """Points to the last GFLOP, without trailing zeros."""
    return _amount(points.exact_digits(gflop))


def comparison(gflop: int) -> str:
    """Compare points with the work of a well-known card; empty for next to nothing."""
    return _compared(gflop, translate("figures", "about what an {card} does in {time}"))


def short_comparison(gflop: int) -> str:
    """The same comparison in fewer words, for a line of a small card."""
    return _compared(gflop, translate("figures", "about {time} on an {card}"))


def _compared(gflop: int, template: str) -> str:
    found = points.card_time(gflop)
    if found is None:
        return ""
    time = {
        "second": translate("figures", "{n} s"),
        "minute": translate("figures", "{n} min"),
        "hour": translate("figures", "{n} h"),
        "day": translate("figures", "{n} days"),
    }[found.unit].format(n=count(found.number))
    return template.format(card=found.card, time=time)


def _amount(parts: tuple[int, str]) -> str:
    locale, (whole, decimals) = QLocale(), parts
    if not decimals:
        return locale.toString(whole)
    zero = ord(locale.zeroDigit())
    written = "".join(chr(zero + int(digit)) for digit in decimals)
    return locale.toString(whole) + locale.decimalPoint() + written


def count(number: int) -> str:
    return QLocale().toString(number)


def short_count(number: int) -> str:
    """A large number in three digits: 950, 12.4k, 350M, 1.31B."""
    part, places, power = three_digits(number)
    if not power:
        return count(number)
    return translate("figures", SCALES[power]).format(number=decimal(part, places))


def decimal(number: float | None, places: int) -> str:
    return ABSENT if number is None else QLocale().toString(number, "f", places)


def perplexity(number: float | None) -> str:
    """Perplexity per token, with one decimal; `ABSENT` for an unknown or infinite one."""
    return _perplexity(number, 1)


def byte_perplexity(bits_per_byte: float) -> str:
    """2 to the bits per byte, with three decimals: it is near 2 where that per token is near 20."""
    return _perplexity(power_of_two(bits_per_byte), 3)


def _perplexity(number: float | None, places: int) -> str:
    if number is None or not math.isfinite(number):
        return ABSENT
    return decimal(number, places) if number < MOST_EXACT else short_count(int(number))


def percent(number: float) -> str:
    return translate("figures", "{number}%").format(number=count(round(number)))


def unit_suffix(unit: str) -> str:
    """The unit as it follows a number: after a space, or by the language's rule for percent."""
    if unit == "%":
        return translate("figures", "{number}%").format(number="")
    return f" {unit}" if unit else ""


def data(size_bytes: int) -> str:
    """Traffic or files, in decimal units like disks and connections."""
    return _scaled(size_bytes, 1_000, QLocale.DataSizeFormat.DataSizeSIFormat)


def memory(size_mib: int) -> str:
    """Memory, in binary units like graphics cards."""
    return _scaled(size_mib << 20, 1_024, QLocale.DataSizeFormat.DataSizeTraditionalFormat)


def storage(size_bytes: int) -> str:
    """Space on the disk, in the binary units of its limits."""
    return _scaled(size_bytes, 1_024, QLocale.DataSizeFormat.DataSizeTraditionalFormat)


def _scaled(size_bytes: int, base: int, form: QLocale.DataSizeFormat) -> str:
    """One decimal for a single digit, from mega on."""
    if size_bytes < base:  # Qt writes "1 bytes"
        return translate("figures", "%n byte(s)", "", size_bytes)
    first = size_bytes
    while first >= base**3:
        first //= base
    places = 1 if base**2 <= first < 10 * base**2 else 0
    return QLocale().formattedDataSize(size_bytes, places, form)


def rate(bytes_per_s: float) -> str:
    """The speed of a connection, in Mbit/s."""
    return translate("figures", "{rate} Mbit/s").format(rate=decimal(bytes_per_s * 8 / 1e6, 1))


def duration(seconds: float) -> str:
    """A duration in at most two units: 38 s, 12 min, 2 h 14 min, 3 d 4 h."""
    whole = max(0, int(seconds))
    days, hours, minutes = whole // DAY_S, whole % DAY_S // HOUR_S, whole % HOUR_S // MINUTE_S
    if days:
        return translate("figures", "{days} d {hours} h").format(days=count(days), hours=hours)
    if hours:
        return translate("figures", "{hours} h {minutes} min").format(hours=hours, minutes=minutes)
    if minutes:
        return translate("figures", "{minutes} min").format(minutes=minutes)
    return translate("figures", "{seconds} s").format(seconds=whole)


def energy(joules: float) -> str:
    if joules >= KWH_J / 10:
        kwh = decimal(joules / KWH_J, 2 if joules < 10 * KWH_J else 1)
        return translate("figures", "{energy} kWh").format(energy=kwh)
    wh = decimal(joules / WH_J, 1 if joules < 10 * WH_J else 0)
    return translate("figures", "{energy} Wh").format(energy=wh)


def temperature(celsius: float) -> str:
    return translate("figures", "{degrees} °C").format(degrees=count(round(celsius)))


def power(watts: float) -> str:
    return translate("figures", "{watts} W").format(watts=count(round(watts)))


def day(at_ms: int) -> str:
    """The day of the month by the local clock: 22 Oct."""
    date = QDateTime.fromMSecsSinceEpoch(at_ms).date()
    return _written(date, translate("figures", "{day} {month}"))


def weekday(at_ms: int) -> str:
    """The day of the week with the time: Mon 08:00."""
    date = QDateTime.fromMSecsSinceEpoch(at_ms).date()
    return f"{QLocale().toString(date, 'ddd')} {clock(at_ms)}"


def moment(at_ms: int, now_ms: int) -> str:
    """The time alone today, with the weekday within a week, else the date."""
    date, today = (QDateTime.fromMSecsSinceEpoch(ms).date() for ms in (at_ms, now_ms))
    time, away = clock(at_ms), today.daysTo(date)
    if away == 0:
        return time
    if away == 1:
        return translate("figures", "tomorrow {time}").format(time=time)
    if 1 < away < 7:  # noqa: PLR2004  # days of a week
        return f"{QLocale().toString(date, 'dddd')} {time}"
    return f"{day(at_ms)} {time}"


def clock(at_ms: int) -> str:
    """The time of day by the local clock: 18:30."""
    at = QDateTime.fromMSecsSinceEpoch(at_ms)
    return QLocale().toString(at.time(), QLocale.FormatType.ShortFormat)


def stamp(at_ms: int) -> str:
    """Day and time to the second by the local clock: Sat 21 Nov 2026, 18:30:00."""
    at, locale = QDateTime.fromMSecsSinceEpoch(at_ms), QLocale()
    time = locale.toString(at.time(), "HH:mm:ss")
    template = translate("figures", "{weekday} {day} {month} {year}, {time}")
    return _written(at.date(), template, time=time)


def ago(at_ms: int, now_ms: int) -> str:
    """The time since: just now, 6 min ago, 2 h 14 min ago; a future time counts as now."""
    passed_s = (now_ms - at_ms) // 1_000
    if passed_s < MINUTE_S:
        return translate("figures", "just now")
    return translate("figures", "{time} ago").format(time=duration(passed_s))


def day_name(at_ms: int, now_ms: int) -> str:
    """The day in words: today, yesterday, or Friday 20 November."""
    at, now = (QDateTime.fromMSecsSinceEpoch(ms).date() for ms in (at_ms, now_ms))
    away = at.daysTo(now)
    if away == 0:
        return translate("figures", "Today")
    if away == 1:
        return translate("figures", "Yesterday")
    template = translate("figures", "{weekday} {day} {month}")
    if at.year() != now.year():
        template = translate("figures", "{weekday} {day} {month} {year}")
    # Chinese spells its long names of months out: 十一月, which never stands before a figure
    month = "MMM" if QLocale().language() is QLocale.Language.Chinese else "MMMM"
    words = _written(at, template, weekday="dddd", month=month)
    return words[:1].upper() + words[1:]


def _written(
    date: QDate, template: str, *, weekday: str = "ddd", month: str = "MMM", time: str = ""
) -> str:
    """A date in the order of its language."""
    forms = {"weekday": weekday, "day": "d", "month": month, "year": "yyyy"}
    parts = {name: QLocale().toString(date, form) for name, form in forms.items()}
    return template.format(**parts, time=time)
