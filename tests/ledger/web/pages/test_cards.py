"""Cards beside shared links: real pictures, named by the pages, with words that are drawn."""

from __future__ import annotations

import re
import struct
import zlib
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

import numpy as np
import pytest

from tequio_ledger.web.pages import drawing
from tequio_ledger.web.pages.cards import HEIGHT, WIDTH, PreviewCard, draw, work_in_words
from tequio_ledger.web.pages.outlines import Font, Segments, font
from tequio_ledger.web.pages.run_view import run_snapshot
from tequio_ledger.web.pages.runs import MeasureReader, run_quality
from tequio_ledger.web.pages.static import THEMES
from tequio_shared.ids import peer_id_text, to_text

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from tests.ledger.web.pages.conftest import PageSite

BLACK, WHITE = "#000000", "#ffffff"


def pixels(png: bytes) -> NDArray[np.uint8]:
    """Decode what `drawing` encodes, checking every chunk."""
    assert png[:8] == b"\x89PNG\r\n\x1a\n"
    at, chunks = 8, dict[bytes, bytes]()
    while at < len(png):
        (size,) = struct.unpack_from(">I", png, at)
        kind, content = png[at + 4 : at + 8], png[at + 8 : at + 8 + size]
        assert struct.unpack_from(">I", png, at + 8 + size)[0] == zlib.crc32(kind + content)
        chunks[kind], at = content, at + 12 + size
    width, height, depth, colours, *rest = struct.unpack(">IIBBBBB", chunks[b"IHDR"])
    assert (depth, colours, rest) == (8, 2, [0, 0, 0])
    rows = np.frombuffer(zlib.decompress(chunks[b"IDAT"]), np.uint8).reshape(height, -1)
    assert not rows[:, 0].any(), "no filter"
    return rows[:, 1:].reshape(height, width, 3)


def bold() -> Font:
    found = font("HankenGrotesk-Bold.otf")
    assert found is not None
    return found


def ink(shape: Segments, width: int, height: int) -> NDArray[np.float32]:
    """The share of each pixel that a shape covers."""
    canvas = drawing.Canvas(width, height, BLACK)
    canvas.fill(shape, WHITE)
    return canvas.pixels[:, :, 0] / np.float32(255)


def test_shapes_cover_their_area_and_overlaps_count_once() -> None:
    square = drawing.rectangle(2.5, 3, 4, 5)
    assert ink(square, 12, 12).sum() == pytest.approx(20, abs=0.01)
    assert ink(square, 12, 12)[5, 2] == pytest.approx(0.5, abs=0.01), "half a pixel"
    both = np.concatenate([square, drawing.rectangle(4.5, 3, 4, 5)])
    assert ink(both, 12, 12).sum() == pytest.approx(30, abs=0.01)
    assert ink(drawing.circle(20, 20, 10), 40, 40).sum() == pytest.approx(314, rel=0.01)
    assert ink(drawing.ring(20, 20, 10, 4), 40, 40)[20, 20] < 1e-6
    assert ink(drawing.rectangle(-5, -5, 8, 8), 10, 10).sum() == pytest.approx(9, abs=0.01)


def test_letters_have_their_shape() -> None:
    face = bold()
    o = ink(face.outline("o", 100, 10, 90), 100, 100)
    rows, columns = np.nonzero(o > 0.5)
    middle = (rows.min() + rows.max()) // 2, (columns.min() + columns.max()) // 2
    assert o[middle] < 1e-6, "an o has a hole"
    assert o[rows.min() : rows.max(), columns.min() : columns.max()].mean() > 0.3
    bar = ink(face.outline("I", 100, 10, 90), 60, 100)
    rows, columns = np.nonzero(bar > 0.5)
    assert bar[rows.min() : rows.max(), columns.min() + 1 : columns.max()].min() > 0.999
    assert face.width("ll", 100) == 2 * face.width("l", 100)
    assert face.covers("Zoë 35 µm")
    assert not face.covers("נועה")


def test_every_glyph_of_every_font_is_drawn() -> None:
    for weight in ("Regular", "Bold"):
        face = font(f"HankenGrotesk-{weight}.otf")
        assert face is not None
        every = "".join(filter(face.covers, map(chr, range(33, 0x2200))))
        assert len(every) > 300
        for char in every.replace("\xa0", "").replace("\xad", ""):
            shape = face.outline(char, 40, 0, 60)
            assert np.isfinite(shape).all()
            assert shape.size == 0 or abs(shape).max() < 200, char


@pytest.mark.parametrize("kind", ["/", "RUN", "PEER", "PEER ID", "NAME", "TEAM", "/leaderboard"])
def test_a_page_names_a_card_that_is_there(seen: PageSite, kind: str) -> None:
    run, key = to_text(seen.shown.rules.run_id), to_text(seen.shown.peers[0].key)
    team = seen.shown.ledger.state.teams.of(seen.shown.peers[0].key)
    own = {"RUN": f"runs/{run}", "PEER": f"peers/{key}", "TEAM": f"teams/{team}"}
    own["PEER ID"] = f"peers/{peer_id_text(seen.shown.peers[0].key)}"
    own["NAME"] = "peers/Ana%20Sof%C3%ADa"
    path = f"/{own[kind]}" if kind in own else kind
    meta = {
        one.attributes.get("property", one.attributes.get("name")): one.attributes.get("content")
        for one in seen.pages.get(path).all("meta")
    }
    assert meta["twitter:card"] == "summary_large_image"
    assert meta["og:url"] == f"http://ledger.example{path}"
    assert meta["og:image"] == meta["twitter:image"]
    url = urlsplit(meta["og:image"] or "")
    assert url.netloc == "ledger.example"
    assert url.path == f"/card/{own.get(kind, 'network')}.png"
    answer = seen.pages.get(url.path).answer
    assert answer.headers["content-type"] == "image/png"
    assert answer.headers["cache-control"] == "public, max-age=600"
    assert pixels(answer.content).shape == (HEIGHT, WIDTH, 3)
    again = seen.pages.get(url.path, if_none_match=answer.headers["etag"]).answer
    assert (again.status_code, again.content) == (304, b"")


def test_a_card_shows_bits_per_byte_and_perplexity_above_the_curve(seen: PageSite) -> None:
    ledger = seen.shown.ledger
    now = run_snapshot(ledger.state, seen.shown.rules.run_id)
    with ledger.database.reader.begin() as connection:
        found = run_quality(connection, MeasureReader(), now)
    assert re.fullmatch(r"\d\.\d+ bits per byte, perplexity [\d.]+k? per token", found.reached)
    card = PreviewCard(
        network="", title="", text="", figures=(), curve=found.curve, reached=found.reached
    )
    ground = drawing.parse_colour(THEMES["dark"]["page"])
    written = (pixels(draw(card))[136:176] != ground).any(axis=(0, 2)).nonzero()[0]
    assert 668 <= written.min() < 780, "it begins at the left of the curve"
    assert written.max() <= 1_137, "and ends with it"


def test_a_card_compares_points_with_a_known_card_in_two_lines() -> None:
    plain = font("HankenGrotesk-Regular.otf")
    assert plain is not None
    assert work_in_words(3_000_000_000) == (
        "Trains language models with others: about what an RTX 4070 does in 2 days."
    )
    assert work_in_words(1) == ""
    for power in range(5, 20):
        words = work_in_words(4 * 10**power).rpartition(": ")[2]
        assert plain.width(words.removeprefix("about "), 28) < 540, "the second of its two lines"


@pytest.mark.parametrize(
    "path",
    [
        "runs/AAAA",
        "peers/nobody",
        "teams/nobody",
        "teams/999999",
        "competitions/x",
        "cats/x",
        "peers/%00",
    ],
)
def test_there_is_no_card_of_what_is_not_there(seen: PageSite, path: str) -> None:
    assert seen.pages.get(f"/card/{path}.png").answer.status_code == 404


@pytest.mark.parametrize(
    "title", ["x" * 500, "a title of many words that goes on " * 9, "", "נועה", "\x00\n\ud7ff"]
)
def test_no_title_leaves_its_column(title: str) -> None:
    card = PreviewCard(network="test", title=title, text="text " * 99, figures=(("1", "one"),) * 9)
    shown = pixels(draw(card))
    ground = drawing.parse_colour(THEMES["dark"]["page"])
    assert (shown[120:440, WIDTH - 60 :] == ground).all(), "the margin is empty"
    assert (shown[440:470] == ground).all(), "nothing between text and figures"
