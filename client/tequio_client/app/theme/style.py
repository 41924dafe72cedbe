"""The style sheet of the whole application, with its fonts, lengths and colours.

The sheet colours and spaces what Qt draws; `font` sets the type, and code that paints asks for the
tokens itself. A widget selects its style by its property `kind`.
"""

from __future__ import annotations

import tomllib
from dataclasses import asdict, dataclass
from enum import Enum
from functools import cache
from importlib.resources import as_file, files
from pathlib import Path
from string import Template

from PySide6.QtGui import QFont, QFontDatabase

import tequio_assets

FAMILY = "Hanken Grotesk"
FILES = tuple(f"HankenGrotesk-{cut}.otf" for cut in ("Regular", "Medium", "SemiBold", "Bold"))


class TextStyle(Enum):
    """Styles of text, as (pixels, weight). Figures always have one width."""

    TITLE = (21, 700)
    FIGURE = (26, 700)
    HEADING = (14, 600)
    BODY = (13, 400)
    STRONG = (13, 600)
    CAPTION = (12, 400)
    LABEL = (12, 500)
    SMALL = (11, 500)


def load_typeface() -> None:
    """Register the typeface with Qt; without it the system's font is used."""
    folder = files("font_hanken_grotesk") / "files"
    for name in FILES:
        with as_file(folder / name) as path:
            QFontDatabase.addApplicationFont(str(path))


@cache
def fixed_font() -> QFont:
    """The system's font of one width, for machine output."""
    made = QFontDatabase.systemFont(QFontDatabase.SystemFont.FixedFont)
    made.setPixelSize(12)
    return made


@cache
def font(kind: TextStyle) -> QFont:
    pixels, weight = kind.value
    made = QFont(FAMILY)
    made.setPixelSize(pixels)
    made.setWeight(QFont.Weight(weight))
    made.setFeature(QFont.Tag("tnum"), 1)
    made.setHintingPreference(QFont.HintingPreference.PreferNoHinting)
    return made


# Lengths in pixels at scale 1: Qt multiplies them on screens of higher density.
WINDOW = (1120, 720)
LEAST_WINDOW = (760, 520)
SIDE_BAR = 206

CARD_RADIUS = 14
BUTTON_RADIUS = 9

PAGE_MARGINS = (26, 22, 26, 22)
CARD_MARGINS = (16, 14, 16, 14)
GAP = 14
"""Between cards."""

RING = 92
RING_STROKE = 8
BAR = 8
FOCUS = 2
ICON = 18
ICON_STROKE = 1.8
LINE = 2.2
"""Of a chart's curve."""


PICTURES = ("check", "dot", "open")


def style_sheet(tokens: ColourTokens) -> str:
    values = asdict(tokens) | {name: _path(name) for name in PICTURES}
    values |= {"card_radius": CARD_RADIUS, "button_radius": BUTTON_RADIUS}
    return Template(SURFACES + TEXT + BUTTONS + INPUTS + LISTS).substitute(values)


def _path(name: str) -> str:
    """Path of a picture; Qt's style sheets read files only."""
    return (Path(tequio_assets.__file__).parent / "icons" / f"{name}.svg").as_posix()


SURFACES = """
QMainWindow, QDialog { background: $page; }
QWidget[kind="page"], QWidget[kind="page"] > QWidget > QWidget[kind="body"] { background: $page; }
QScrollArea { background: transparent; border: none; }
QFrame[kind="side"] { background: $side; border: none; border-right: 1px solid $hairline; }
QFrame[kind="card"], QFrame[kind="foot"] {
  background: $card; border: 1px solid $hairline; border-radius: ${card_radius}px;
}
QFrame[kind="banner"][level="info"] { background: $accent_soft; }
QFrame[kind="banner"][level="good"] { background: $ok_soft; }
QFrame[kind="banner"][level="warning"] { background: $warn_soft; }
QFrame[kind="banner"][level="error"] { background: $danger_soft; }
QFrame[kind="banner"] { border: 1px solid $hairline; border-radius: ${card_radius}px; }
QFrame[kind="rule"] { background: $hairline; border: none; max-height: 1px; min-height: 1px; }
QFrame[kind="toast"] {
  background: $card; border: 1px solid $edge; border-radius: ${button_radius}px;
}
QToolTip {
  background: $card; color: $text; border: 1px solid $edge; padding: 5px 8px; border-radius: 6px;
}
"""
TEXT = """
QLabel { background: transparent; color: $text; }
QLabel[tone="sub"] { color: $text_sub; }
QLabel[tone="accent"] { color: $text_accent; }
QLabel[tone="ok"] { color: $ok; }
QLabel[tone="warn"] { color: $warn; }
QLabel[tone="danger"] { color: $danger; }
QLabel[focusable="true"]:focus { border: 2px solid $ring; border-radius: 4px; }
"""
BUTTONS = """
QPushButton {
  background: $card; color: $text; border: 1px solid $edge; border-radius: ${button_radius}px;
  padding: 7px 15px;
}
QPushButton:hover { background: $hover; }
QPushButton:pressed { background: $down; }
QPushButton:disabled { color: $text_off; border-color: $hairline; }
QPushButton:focus { border: 2px solid $ring; padding: 6px 14px; }
QPushButton::menu-indicator { image: none; width: 0; }
QPushButton[kind="primary"] {
  background: $button; color: $on_button; border: 1px solid $button; padding: 9px 21px;
}
QPushButton[kind="primary"]:hover { background: $button_hover; border-color: $button_hover; }
QPushButton[kind="primary"]:pressed { background: $button_down; border-color: $button_down; }
QPushButton[kind="primary"]:disabled {
  background: $hover; color: $text_off; border-color: $hover;
}
QPushButton[kind="primary"]:focus { border: 2px solid $text; padding: 8px 20px; }
QPushButton[kind="danger"] { color: $danger; }
QPushButton[kind="quiet"] {
  background: transparent; border: 1px solid transparent; color: $text_accent;
}
QPushButton[kind="quiet"]:hover { background: $hover; }
QPushButton[kind="quiet"]:pressed { background: $down; }
QPushButton[kind="quiet"]:disabled { color: $text_off; }
QPushButton[kind="quiet"]:focus { border: 2px solid $ring; }
QMenu {
  background: $card; color: $text; border: 1px solid $hairline; border-radius: ${button_radius}px;
  padding: 6px;
}
QMenu::item { padding: 7px 26px 7px 14px; border-radius: 6px; background: transparent; }
QMenu::item:selected { background: $hover; }
QMenu::item:disabled { color: $text_off; }
QMenu::separator { height: 1px; background: $hairline; margin: 6px 8px; }
QMenu::icon { padding-left: 8px; }
"""
INPUTS = """
QLineEdit, QSpinBox, QDoubleSpinBox, QComboBox, QPlainTextEdit, QTextEdit {
  background: $page; color: $text; border: 1px solid $edge; border-radius: ${button_radius}px;
  padding: 6px 10px; selection-background-color: $button; selection-color: $on_button;
}
QLineEdit:focus, QSpinBox:focus, QDoubleSpinBox:focus, QComboBox:focus,
QPlainTextEdit:focus, QTextEdit:focus { border: 2px solid $ring; padding: 5px 9px; }
QLineEdit:disabled, QSpinBox:disabled, QDoubleSpinBox:disabled, QComboBox:disabled {
  color: $text_off; border-color: $hairline;
}
QComboBox::drop-down { border: none; width: 26px; }
QComboBox QAbstractItemView {
  background: $card; border: 1px solid $hairline; selection-background-color: $hover;
  selection-color: $text; outline: none; padding: 4px;
}
QAbstractSpinBox::up-button, QAbstractSpinBox::down-button { width: 0; border: none; }
QComboBox::down-arrow { image: url($open); width: 16px; height: 16px; }
QCheckBox::indicator, QRadioButton::indicator {
  width: 16px; height: 16px; border: 1px solid $edge; border-radius: 5px; background: $page;
}
QRadioButton::indicator { border-radius: 9px; }
QCheckBox::indicator:checked, QRadioButton::indicator:checked {
  background: $button; border-color: $button; image: url($check);
}
QRadioButton::indicator:checked { image: url($dot); }
QCheckBox::indicator:focus, QRadioButton::indicator:focus { border: 2px solid $ring; }
QCheckBox, QRadioButton { color: $text; spacing: 9px; background: transparent; }
QCheckBox:focus, QRadioButton:focus { color: $text_accent; }
QSlider { min-height: 24px; background: transparent; }
QSlider::groove:horizontal { height: 6px; border-radius: 3px; background: $track; }
QSlider::sub-page:horizontal { height: 6px; border-radius: 3px; background: $accent; }
QSlider::handle:horizontal {
  width: 14px; height: 14px; margin: -5px 0; border-radius: 8px;
  background: $card; border: 2px solid $accent;
}
QSlider::handle:horizontal:focus { border: 2px solid $ring; background: $ring; }
QSlider::sub-page:horizontal:disabled { background: $edge; }
QSlider::handle:horizontal:disabled { border-color: $edge; }
"""
LISTS = """
QTableView, QListView, QTreeView {
  background: transparent; border: none; color: $text; outline: none; gridline-color: $hairline;
  selection-background-color: $hover; selection-color: $text;
}
QTableView:focus, QListView:focus { border: 2px solid $ring; border-radius: 6px; }
QHeaderView { background: transparent; border: none; }
QHeaderView::section {
  background: transparent; color: $text_sub; border: none; border-bottom: 1px solid $hairline;
  padding: 4px 3px; font-size: 11px; font-weight: 500;
}
QTableCornerButton::section { background: transparent; border: none; }
QScrollBar:vertical { background: transparent; width: 10px; margin: 2px; }
QScrollBar:horizontal { background: transparent; height: 10px; margin: 2px; }
QScrollBar::handle { background: $edge; border-radius: 3px; }
QScrollBar::handle:vertical { min-height: 32px; }
QScrollBar::handle:horizontal { min-width: 32px; }
QScrollBar::handle:hover { background: $text_sub; }
QScrollBar::add-line, QScrollBar::sub-line { width: 0; height: 0; }
QScrollBar::add-page, QScrollBar::sub-page { background: transparent; }
QProgressBar {
  background: $track; border: none; border-radius: 4px; max-height: 8px; min-height: 8px;
  color: transparent;
}
QProgressBar::chunk { background: $accent; border-radius: 4px; }
"""


# The colours, for dark and for light surroundings, are those of the ledger's pages. Text contrasts
# with every surface by 4.5 to 1, graphics and edges of controls by 3 to 1; hairlines and the tracks
# of bars are decoration. A test checks each pair.


@dataclass(frozen=True, slots=True, kw_only=True)
class ColourTokens:
    """One set of colours, `#rrggbb`."""

    name: str
    # surfaces
    page: str
    side: str
    card: str
    hover: str
    down: str
    # lines
    hairline: str
    track: str
    edge: str
    # text
    text: str
    text_sub: str
    text_accent: str
    text_off: str
    """For disabled controls, which need no contrast."""
    # graphics
    accent: str
    accent2: str
    ring: str
    """Around the widget with the keyboard focus."""
    # the primary button, and what is written on it
    button: str
    button_hover: str
    button_down: str
    on_button: str
    # meanings, as text and as graphics
    ok: str
    warn: str
    danger: str
    # soft grounds of those meanings
    accent_soft: str
    ok_soft: str
    warn_soft: str
    danger_soft: str


def _read(name: str) -> ColourTokens:
    text = (files("tequio_assets") / "theme.toml").read_text(encoding="utf-8")
    return ColourTokens(name=name, **tomllib.loads(text)[name])


DARK = _read("dark")
LIGHT = _read("light")
