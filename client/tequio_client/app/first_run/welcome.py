"""Step 1: what Tequio does, what that costs in power, and that it stops for games.

Training draws between about 60 % of a card's power limit and all of it. Without a limit, and for a
processor, the range covers common devices: nobody knows a draw before it is measured.
"""

from __future__ import annotations

from dataclasses import dataclass

from PySide6.QtCore import QLocale
from PySide6.QtWidgets import QWidget

from tequio_client.app.first_run.draft import FirstRunStep, StepContext
from tequio_client.app.language import join_sentences
from tequio_client.app.theme.style import TextStyle
from tequio_client.app.widgets import figures
from tequio_client.app.widgets.base import (
    TOP,
    Card,
    Columns,
    Label,
    WrappedLabel,
    caption,
    fill,
    hbox,
    holding,
    vbox,
)
from tequio_client.app.widgets.cards import IconTile
from tequio_client.app.widgets.inputs import NumberBox, SliderRow
from tequio_client.ipc.facts import MachineFacts

MOST_TARIFF = 1_000_000.0
CARD_WIDTH = 180
LEAST_POWER_SHARE = 0.6
UNKNOWN_CARD_W = (80.0, 350.0)
PROCESSOR_W = (35.0, 150.0)
DAYS_PER_MONTH = 30.4
USUAL_TARIFFS = {
    "EUR": 0.30,
    "USD": 0.18,
    "GBP": 0.25,
    "CHF": 0.30,
    "MXN": 2.0,
    "JPY": 31.0,
    "CAD": 0.17,
}
"""Rough household prices of a kWh; the app labels them as a guess."""


class WelcomeStep(FirstRunStep):
    """Step 1: three promises, and the cost in power."""

    def __init__(self, context: StepContext) -> None:
        super().__init__(
            context,
            self.tr("Lend your idle computer to open models"),
            self.tr(
                "Tequio trains open language models on the computers of volunteers, while nobody "
                "needs them. Nothing is lent before you agree to it at the end."
            ),
        )
        promises = Columns()
        promises.set_parts(
            (
                PromiseCard(
                    "gamepad-2",
                    self.tr("Stops when you play"),
                    self.tr(
                        "Starting a game or going full screen stops it within seconds and "
                        "frees all GPU memory."
                    ),
                ),
                PromiseCard(
                    "coins",
                    self.tr("Points you can check"),
                    self.tr("Each round gives compute points. Your computer checks every proof."),
                ),
                PromiseCard(
                    "shield-check",
                    self.tr("Keeps to itself"),
                    self.tr("It reads none of your files. Settings lists all that it sends."),
                ),
            )
        )
        self.cost = CostCard(context)
        fill(self.body, promises, self.cost, None)

    def refresh(self) -> None:
        self.cost.refresh()


class PromiseCard(Card):
    def __init__(self, picture: str, heading: str, words: str) -> None:
        super().__init__()
        self.setMinimumWidth(CARD_WIDTH)
        head = hbox(IconTile(picture), (WrappedLabel(heading, TextStyle.HEADING), 1), spacing=10)
        fill(self.body, head, WrappedLabel(words, tone="sub"), None)


class CostCard(Card):
    """Power, and its monthly cost for the given hours and price."""

    def __init__(self, context: StepContext) -> None:
        super().__init__()
        self._context = context
        self._device, self._note = caption(), caption()
        self.power, self.energy, self.money = (CostFigure() for _ in range(3))
        code = QLocale().currencySymbol(QLocale.CurrencySymbolFormat.CurrencyIsoCode)
        self._usual_tariff = USUAL_TARIFFS.get(code)
        self.hours = SliderRow(
            self.tr("Hours per day"), 1, 24, lambda hours: self.tr("%n hour(s)", "", hours)
        )
        name = self.tr("Price per kWh")
        self.tariff = NumberBox(
            name, 0.0, MOST_TARIFF, code, places=2, nothing=self.tr("not entered")
        )
        self.tariff.set_number(self._tariff() or 0.0)
        self.hours.set_value(context.draft_store.draft.hours)
        self.hours.chosen.connect(lambda hours: self._change(hours=hours))
        self.tariff.chosen.connect(lambda price: self._change(tariff=price))
        self.add_heading(self.tr("What it costs in power"))
        cost_figures = Columns(gap=20)
        cost_figures.set_parts((self.power, self.energy, self.money))
        price = holding(vbox(Label(name), self.tariff, spacing=4))
        inputs = hbox((self.hours, 1), (price, TOP), spacing=26)
        fill(self.body, self._device, cost_figures, inputs, self._note)
        self.refresh()

    def refresh(self) -> None:
        found, draft = power_range(self._context.machine), self._context.draft_store.draft
        least, most = found.month_kwh(draft.hours)
        tariff = self._tariff()
        self._device.setText(self._device_text(found))
        self.power.set_texts(
            _range(figures.count(round(found.least_w)), figures.power(found.most_w)),
            self.tr("while it trains"),
        )
        kwh = self.tr("{energy} kWh")
        self.energy.set_texts(
            _range(figures.count(round(least)), kwh.format(energy=figures.count(round(most)))),
            self.tr("per month"),
        )
        money = _range(_money(least * (tariff or 0)), _money(most * (tariff or 0)))
        self.money.set_texts(money if tariff else figures.ABSENT, self.tr("per month"))
        self._note.setText(self._price_text())

    def _device_text(self, found: PowerRange) -> str:
        if not found.device:
            return self.tr(
                "Checking this computer. Until then, the range covers most graphics cards."
            )
        if found.is_processor:
            text = self.tr(
                "{device}: no graphics card was found. The range covers most processors."
            )
        elif found.is_known:
            text = self.tr("{device}: from 60% of its power limit to all of it.")
        else:
            text = self.tr("{device} does not report its limit. The range covers most cards.")
        return text.format(device=found.device)

    def _price_text(self) -> str:
        rest = self.tr(
            "For this device only. If your PC would otherwise be asleep, add 40 to 90 W."
        )
        if self._context.draft_store.draft.tariff is None and self._usual_tariff:
            guess = self.tr("This is a rough household price: enter yours.")
            return join_sentences(guess, rest)
        return rest

    def _tariff(self) -> float | None:
        chosen = self._context.draft_store.draft.tariff
        return self._usual_tariff if chosen is None else chosen

    def _change(self, **changes: float) -> None:
        self._context.draft_store.change(**changes)
        self.refresh()


class CostFigure(QWidget):
    def __init__(self) -> None:
        super().__init__()
        self.figure = Label("", TextStyle.TITLE)
        self._caption = Label("", TextStyle.CAPTION, "sub")
        vbox(self.figure, self._caption, spacing=0, margins=(0, 2, 0, 2), parent=self)

    def set_texts(self, figure: str, caption: str) -> None:
        self.figure.setText(figure)
        self._caption.setText(caption)
        self.setAccessibleName(f"{figure} {caption}")


@dataclass(frozen=True, slots=True, kw_only=True)
class PowerRange:
    """The power that a device draws while it trains, as a range."""

    device: str = ""
    """Empty: not known yet."""
    least_w: float = UNKNOWN_CARD_W[0]
    most_w: float = UNKNOWN_CARD_W[1]
    is_known: bool = False
    """The card reports its limit."""
    is_processor: bool = False

    def month_kwh(self, hours: int) -> tuple[float, float]:
        """Energy in a month with that many hours a day, least and most."""
        return (
            self.least_w * hours * DAYS_PER_MONTH / 1_000,
            self.most_w * hours * DAYS_PER_MONTH / 1_000,
        )


def power_range(machine: MachineFacts) -> PowerRange:
    """The range of the machine's best accelerator, or of its processor if there is none."""
    if machine.gpus is None:
        return PowerRange()
    if not machine.gpus:
        least, most = PROCESSOR_W
        return PowerRange(device=machine.cpu_name, least_w=least, most_w=most, is_processor=True)
    card = max(machine.gpus, key=lambda one: (one.memory_mb or 0, one.watts_limit or 0.0))
    if not card.watts_limit:
        return PowerRange(device=card.name)
    return PowerRange(
        device=card.name,
        least_w=card.watts_limit * LEAST_POWER_SHARE,
        most_w=card.watts_limit,
        is_known=True,
    )


def _range(least: str, most: str) -> str:
    return f"{least} – {most}"


def _money(amount: float) -> str:
    places = 0 if amount >= 100 else 2  # noqa: PLR2004 - cents matter below
    return QLocale().toCurrencyString(amount, QLocale().currencySymbol(), places)
