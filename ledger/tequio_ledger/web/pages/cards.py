"""GET /card/...: the pictures that chats and social networks show beside a shared link.

A card is drawn from the same figures as its page, in the colours and the font of the pages. It
takes some tenths of a second of a core, and is drawn again only when its figures changed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache, partial
from typing import TYPE_CHECKING

from starlette.requests import Request
from starlette.responses import Response

from tequio_ledger.ledger import Ledger
from tequio_ledger.store import queries, ranking
from tequio_ledger.web.answers import snapshot
from tequio_ledger.web.pages import competition_text, render, text
from tequio_ledger.web.pages.drawing import (
    Canvas,
    circle,
    polygon,
    rectangle,
    ring,
    rounded,
    stroke,
)
from tequio_ledger.web.pages.outlines import Font, font
from tequio_ledger.web.pages.peers import named_key
from tequio_ledger.web.pages.run_view import run_snapshot
from tequio_ledger.web.pages.runs import MeasureReader, headline, run_quality, sorted_runs
from tequio_ledger.web.pages.static import THEMES
from tequio_ledger.web.routing import get
from tequio_shared import avatar
from tequio_shared.errors import RefusedError
from tequio_shared.ids import PeerKey, RunId, digest_from_text, from_text, to_text
from tequio_shared.round.points import comparison, points
from tequio_shared.served.competitions import competition_snapshot
from tequio_shared.wording import noun, short_count

if TYPE_CHECKING:
    from sqlalchemy import Connection

    from tequio_ledger.web.pages.charts import Chart

PNG = "image/png"
REMEMBERED = 32
"""Cards that are kept in memory, each of some 40 KiB."""
WIDTH, HEIGHT = 1_200, 630
"""The size that social networks show without cutting anything off."""
_MARGIN, _COLUMN = 64, 540
_CHART = (668.0, 196.0, 468.0, 216.0)
"""Left, top, width and height of the curve."""
_AVATAR = (888.0, 152.0, 248.0)
_TITLE_SIZES = (68, 60, 52, 44)
_TITLE_LINES, _TEXT_LINES = 3, 2
_MAX_FIGURES = 4
_DIGITS = 16
_LOGO_DOTS = ((50, 17), (78.6, 33.5), (78.6, 66.5), (50, 83), (21.4, 66.5), (21.4, 33.5))
"""Of static/logo.svg, in a square of 100."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PreviewCard:
    """The content of a card; `figures` are values, each with the name of its unit."""

    network: str
    title: str
    text: str
    figures: tuple[tuple[str, str], ...]
    curve: Chart | None = None
    reached: str = ""
    """The last value of the curve, in words."""
    face: PeerKey | None = None
    """The key whose avatar is shown."""


_Read = Callable[["Connection"], PreviewCard]
_Reader = Callable[[Ledger, str], _Read]


@get("/card/network.png")
async def get_network_card(
    request: Request, ledger: Ledger, measure_reader: MeasureReader
) -> Response:
    """Draw the card of the first page."""
    await ledger.sequencer.settled()
    listed = sorted_runs(ledger.state)
    members = sum(run.members for run in listed if not run.is_over)
    tokens = sum(run.tokens for run in listed)

    def read(connection: Connection) -> PreviewCard:
        quality = run_quality(connection, measure_reader, listed[0]) if listed else None
        return PreviewCard(
            network=ledger.genesis.name,
            title=headline(listed[0] if listed and not listed[0].is_over else None),
            text="People lend idle graphics cards and train open language models together.",
            figures=(
                (text.count(members), noun(members, "volunteer") + " taking part"),
                (short_count(tokens), "tokens trained"),
                *(((text.count(listed[0].closed), "rounds closed"),) if listed else ()),
            ),
            curve=quality.curve if quality else None,
            reached=quality.reached if quality else "",
        )

    return await _answer(request, ledger, read)


@get("/card/{kind}/{name}.png")
async def get_card(
    request: Request, ledger: Ledger, measure_reader: MeasureReader, kind: str, name: str
) -> Response:
    """Draw the card of a run, competition, peer or team."""
    await ledger.sequencer.settled()
    readers: dict[str, _Reader] = {"runs": partial(_run, measure_reader), **_READERS}
    if kind not in readers:
        kinds = ", ".join(readers)
        raise RefusedError("not-found", f"no cards of {kind[:40]!r}: there are some of {kinds}")
    return await _answer(request, ledger, readers[kind](ledger, name))


async def _answer(request: Request, ledger: Ledger, read: _Read) -> Response:
    def make() -> Response:
        with snapshot(ledger) as (connection, _):
            card = read(connection)
        return render.finish(request, draw(card), cache=render.CACHE_CARD, media_type=PNG)

    return await render.enqueue(request, make, is_card=True)


# --- What each kind of card shows. Each reads the state in the event loop, and tables in a thread.


def _run(measure_reader: MeasureReader, ledger: Ledger, name: str) -> _Read:
    now = run_snapshot(ledger.state, RunId(from_text(name)))
    size, rounds = short_count(now.manifest.model.parameters), now.manifest.rounds

    def read(connection: Connection) -> PreviewCard:
        quality = run_quality(connection, measure_reader, now)
        return PreviewCard(
            network=ledger.genesis.name,
            title=now.name if now.is_over else headline(now),
            text=f"A language model of {size} parameters. {now.mark.word}.",
            figures=(
                (text.count(rounds.shown(now.number)), f"of {text.count(rounds.most)} rounds"),
                (text.count(now.members), noun(now.members, "volunteer") + " taking part"),
                (short_count(now.tokens), "tokens trained"),
            ),
            curve=quality.curve,
            reached=quality.reached,
        )

    return read


def _competition(ledger: Ledger, name: str) -> _Read:
    now_ms = ledger.clock()
    found = competition_snapshot(ledger.state, digest_from_text(name), now_ms)
    summary = competition_text.summary(found, now_ms)
    entrants, evaluators = len(found.entrants), len(found.evaluators)
    card = PreviewCard(
        network=ledger.genesis.name,
        title=found.rules.name,
        text=summary.tagline,
        figures=(
            (text.count(entrants), noun(entrants, "entrant")),
            (text.count(evaluators), noun(evaluators, "evaluator")),
            (summary.mark.word, "a competition of models"),
        ),
    )
    return lambda _: card


def _peer(ledger: Ledger, name: str) -> _Read:
    key = named_key(ledger.state.names, name)
    if key not in ledger.state.peers:
        raise RefusedError("not-found", f"no key {name[:60]} is registered in this network")
    shown, number = ledger.state.names.of(key), ledger.state.teams.of(key)
    team = _team_name(ledger, number) if number else ""

    def read(connection: Connection) -> PreviewCard:
        row = queries.key(connection, key)
        gflop = row.peer.gflop if row else 0
        near = ranking.around(connection, key, 0) if gflop else None
        rank = next((one.rank for one in near or () if one.key == key), None)
        return PreviewCard(
            network=ledger.genesis.name,
            title=shown if shown and _is_drawn(shown) else text.short_key(to_text(key)),
            text=work_in_words(gflop)
            or "Lends a graphics card to train open language models together with others.",
            figures=(
                (points(gflop), "points"),
                *(((f"#{text.count(rank)}", "on the leaderboard"),) if rank else ()),
                *(((team, "team"),) if team else ()),
            ),
            face=key,
        )

    return read


def _team(ledger: Ledger, name: str) -> _Read:
    is_number = name.isdecimal() and name.isascii() and len(name) <= _DIGITS
    number = int(name) if is_number else 0
    record = ledger.state.teams.records.get(number)
    if record is None:
        raise RefusedError("not-found", f"there is no team {name[:40]}")
    members, gflop = len(record.members), ledger.state.team_orders.of(number).gflop
    card = PreviewCard(
        network=ledger.genesis.name,
        title=_team_name(ledger, number),
        text=work_in_words(gflop)
        or "A team that trains open language models together with others.",
        figures=(
            (text.count(members), noun(members, "member")),
            (points(gflop), "points"),
        ),
        face=record.owner,
    )
    return lambda _: card


def work_in_words(gflop: int) -> str:
    """Compare the work of a key or team with that of a known card; empty for next to nothing."""
    same = comparison(gflop)
    return f"Trains language models with others: {same}." if same else ""


def _team_name(ledger: Ledger, number: int) -> str:
    """Name of a team, if the pictures' font has its letters."""
    name = ledger.state.teams.name_of(number)
    return name if _is_drawn(name) else f"Team {number}"


_READERS: dict[str, _Reader] = {
    "competitions": _competition,
    "peers": _peer,
    "teams": _team,
}


# --- The drawing.

_DARK = THEMES["dark"]


def _bold() -> Font | None:
    return font("HankenGrotesk-Bold.otf")


def _is_drawn(name: str) -> bool:
    face = _bold()
    return face is not None and face.covers(name)


@lru_cache(REMEMBERED)
def draw(card: PreviewCard) -> bytes:
    """Draw a card as PNG; raises RefusedError("not-found") without the package of the fonts."""
    bold, plain = _bold(), font("HankenGrotesk-Regular.otf")
    if bold is None or plain is None:
        raise RefusedError("not-found", "this ledger is installed without fonts to draw cards with")
    canvas = Canvas(WIDTH, HEIGHT, _DARK["page"])
    canvas.fill(rectangle(0, 0, WIDTH, 8), _DARK["accent"], _DARK["accent2"])
    _draw_brand(canvas, bold, plain, card.network)
    has_curve = card.curve is not None and len(card.curve.readings) > 1
    is_split = has_curve or card.face is not None
    width = _COLUMN if is_split else WIDTH - 2 * _MARGIN
    size, lines = _fitted(bold, card.title, width)
    y = 200.0
    for line in lines:
        canvas.fill(bold.outline(line, size, _MARGIN, y), _DARK["text"])
        y += 1.12 * size
    y += 2
    for line in _wrapped(plain, card.text, 28, width)[:_TEXT_LINES]:
        canvas.fill(plain.outline(line, 28, _MARGIN, y), _DARK["text_sub"])
        y += 38
    if has_curve and card.curve is not None:
        _draw_curve(canvas, plain, card.curve, card.reached)
    elif card.face is not None:
        _draw_face(canvas, card.face)
    _draw_figures(canvas, bold, plain, card.figures[:_MAX_FIGURES])
    return canvas.png()


def _draw_brand(canvas: Canvas, bold: Font, plain: Font, network: str) -> None:
    left, top, scale = 60, 58, 0.6
    colours = _DARK["accent"], "#22a6d8"
    for x, y in _LOGO_DOTS:
        canvas.fill(circle(left + x * scale, top + y * scale, 14 * scale), *colours)
    canvas.fill(ring(left + 50 * scale, top + 50 * scale, 20 * scale, 9 * scale), *colours)
    canvas.fill(bold.outline("Tequio", 36, 138, 100), _DARK["text"])
    if network.casefold() != "tequio":
        x = 138 + bold.width("Tequio", 36) + 16
        canvas.fill(plain.outline(network, 28, x, 100), _DARK["text_sub"])


def _draw_curve(canvas: Canvas, plain: Font, curve: Chart, reached: str) -> None:
    left, top, width, height = _CHART
    readings = curve.readings
    first, last = readings[0].at, readings[-1].at
    values = [one.value for one in readings]
    low, high = min(values), max(values)
    points = [
        (
            left + (one.at - first) / ((last - first) or 1) * width,
            top + height - (one.value - low) / ((high - low) or 1) * height,
        )
        for one in readings
    ]
    area = polygon([*points, (left + width, top + height + 18), (left, top + height + 18)])
    colours = _DARK["accent"], _DARK["accent2"]
    canvas.fill(area, *colours, opacity=0.16)
    canvas.fill(stroke(points, 6), *colours)
    canvas.fill(circle(*points[-1], 11), _DARK["accent2"])
    size = min(28.0, 28 * width / max(plain.width(reached, 28), 1))
    x = left + width - plain.width(reached, size)
    canvas.fill(plain.outline(reached, size, x, top - 32), _DARK["text"])


def _draw_face(canvas: Canvas, key: PeerKey) -> None:
    left, top, side = _AVATAR
    ground, figures = avatar.polygons(key)
    canvas.fill(rounded(left, top, side, side / 4), ground)
    unit, inset = side * 0.75 / avatar.SIDE, side / 8
    for figure in figures:
        placed = [(left + inset + x * unit, top + inset + y * unit) for x, y in figure]
        canvas.fill(polygon(placed), avatar.INK)


def _draw_figures(
    canvas: Canvas, bold: Font, plain: Font, figures: Iterable[tuple[str, str]]
) -> None:
    canvas.fill(rectangle(_MARGIN, 472, WIDTH - 2 * _MARGIN, 2), _DARK["hairline"])
    x = float(_MARGIN)
    for value, what in figures:
        canvas.fill(bold.outline(value, 50, x, 542), _DARK["text"])
        canvas.fill(plain.outline(what, 25, x, 582), _DARK["text_sub"])
        x += max(bold.width(value, 50), plain.width(what, 25)) + 56


def _fitted(face: Font, title: str, width: float) -> tuple[int, list[str]]:
    """Choose the largest size at which a title has room; the smallest cuts the rest off."""
    for size in _TITLE_SIZES:
        lines = _wrapped(face, title, size, width)
        is_whole = all(face.width(line, size) <= width for line in lines)
        if len(lines) <= _TITLE_LINES - (size == _TITLE_SIZES[0]) and is_whole:
            return size, lines
    smallest = _TITLE_SIZES[-1]
    lines = [_cut(face, one, smallest, width) for one in _wrapped(face, title, smallest, width)]
    return smallest, lines[:_TITLE_LINES]


def _cut(face: Font, line: str, size: int, width: float) -> str:
    if face.width(line, size) <= width:
        return line
    while face.width(line + "…", size) > width:
        line = line[:-1]
    return line + "…"


def _wrapped(face: Font, words: str, size: int, width: float) -> list[str]:
    return list(_lines(face, words.split(), size, width))


def _lines(face: Font, words: Sequence[str], size: int, width: float) -> Iterator[str]:
    line = ""
    for word in words:
        longer = f"{line} {word}".lstrip()
        if line and face.width(longer, size) > width:
            yield line
            longer = word
        line = longer
    yield line
