"""The style sheet of the whole application, made of tokens and sizes.

It colours and spaces what Qt draws; type is set by `fonts`, and what we paint asks for the tokens
itself. A widget chooses its looks by its property `kind`.
"""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from string import Template
from typing import TYPE_CHECKING

import tequio_assets
from tequio_client.app.theme import sizes

if TYPE_CHECKING:
    from tequio_client.app.theme.tokens import Tokens


PICTURES = ("check", "dot", "open")


def sheet(tokens: Tokens) -> str:
    """The style sheet for these colours."""
    values = asdict(tokens) | {name: _path(name) for name in PICTURES}
    values |= {"card_radius": sizes.CARD_RADIUS, "button_radius": sizes.BUTTON_RADIUS}
    return Template(SURFACES + TEXT + BUTTONS + INPUTS + LISTS).substitute(values)


def _path(name: str) -> str:
    """Where a picture lies; Qt's style sheets read files only."""
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
