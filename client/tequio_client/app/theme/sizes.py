"""Lengths at scale 1, in pixels: Qt multiplies them where the screen is finer."""

from __future__ import annotations

WINDOW = (1120, 720)
LEAST_WINDOW = (760, 520)
SIDE_BAR = 206

CARD_RADIUS = 14
BUTTON_RADIUS = 9
BAR_RADIUS = 4

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
