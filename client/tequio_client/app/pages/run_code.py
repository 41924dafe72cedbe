"""Code that a run brings: what the app says about it, and the consent it asks for."""

from __future__ import annotations

from PySide6.QtCore import QCoreApplication, Signal
from PySide6.QtWidgets import QCheckBox, QWidget

from tequio_client.app.keys.dialogs import QuestionDialog
from tequio_client.app.widgets import figures
from tequio_client.app.widgets.base import TOP, Label, WrappedLabel, hbox
from tequio_client.ipc.runs import RequestPluginConsent, RunPlugin, RunRow
from tequio_client.names import name_with_id, short_id


def code_text(plugin: RunPlugin) -> str:
    """Name the code, and tell whether it is allowed here."""
    words = QCoreApplication.translate(
        "RunCode", "This run brings its own code: {name} {version} ({hash})."
    )
    spec = plugin.spec
    text = words.format(name=spec.name, version=spec.version, hash=short_id(spec.archive))
    allowed = QCoreApplication.translate("RunCode", "You allowed it.")
    asked = QCoreApplication.translate("RunCode", "It needs your consent before it trains here.")
    return f"{text} {allowed if plugin.is_allowed else asked}"


def organiser_names(run: RunRow) -> str:
    """Name each organiser, with the short key, which nobody can choose; empty: none is known."""
    return ", ".join(
        name_with_id(one.name, one.key) if one.name else short_id(one.key) for one in run.organisers
    )


def consent_for(plugin: RunPlugin, *, is_allowed: bool) -> RequestPluginConsent:
    return RequestPluginConsent(
        archive=plugin.spec.archive, label=plugin.spec.label, is_allowed=is_allowed
    )


class CodeConsentDialog(QuestionDialog):
    """Says what a run's own code may do on this computer, and asks for consent."""

    allowed = Signal()

    def __init__(self, run: RunRow, plugin: RunPlugin, parent: QWidget | None = None) -> None:
        super().__init__(
            self.tr("Allow the code of {run}?").format(run=run.name),
            self.tr(
                "This run brings code that is not part of Tequio. It was written or chosen by the "
                "run's organisers ({keys})."
            ).format(keys=organiser_names(run) or "?"),
            self.tr("Allow this code"),
            self.tr("Not now"),
            parent,
        )
        self.setObjectName("run-code")
        self.points = [WrappedLabel(words) for words in self._points(plugin)]
        self.body.setSpacing(8)
        for text in self.points:
            self.body.addLayout(hbox((Label("•"), TOP), (text, 1), spacing=8))
        self.tick = QCheckBox(self.tr("I trust the author of this code"))
        self.tick.setVisible(not plugin.is_confined)
        self.body.addWidget(self.tick)
        self.main.setEnabled(plugin.is_confined)
        self.tick.toggled.connect(self.main.setEnabled)
        self.main.clicked.connect(self._allow)
        self.leave.setDefault(True)

    def _allow(self) -> None:
        self.allowed.emit()
        self.accept()

    def _points(self, plugin: RunPlugin) -> tuple[str, ...]:
        named = self.tr("{name} {version}, {size}, archive {archive}").format(
            name=plugin.spec.name,
            version=plugin.spec.version,
            size=figures.data(plugin.spec.size_bytes),
            archive=plugin.spec.archive,
        )
        runs = self.tr(
            "It runs in the trainer: it computes on your device, and reads what belongs to the run."
        )
        signs = self.tr(
            "It makes what your key signs in this run. Bad code can cost points, or your key's "
            "standing."
        )
        once = self.tr(
            "Your consent is for these exact bytes. A new version asks again; you can take the "
            "consent back here at any time."
        )
        return named, runs, self._limits(plugin), signs, once

    def _limits(self, plugin: RunPlugin) -> str:
        if plugin.is_confined:
            return self.tr(
                "The sandbox keeps it from your key, your home folder, the network and other "
                "programs."
            )
        return self.tr(
            "This computer has no sandbox for it: it could read your files and your key, and use "
            "the network."
        )
