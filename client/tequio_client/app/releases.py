"""Keeps a packaged app complete and new: the trainer's runtime, and updates.

`tequio runtime install` and `tequio update` do the work in a program of their own, at low priority,
and report as JSON lines; a restart of the app interrupts it, and the next start goes on from there.
Updates are looked for once a day unless the user has switched that off; a fetched one starts with
the next start of the app, which restarts itself while it is hidden and the worker computes nothing.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import msgspec
from PySide6.QtCore import QObject, QProcess, QProcessEnvironment, QTimer, Signal

from tequio_client.app.widgets import figures
from tequio_client.ipc import releases
from tequio_client.ipc.releases import Fetching, Installed, Offer, ReleaseFailed
from tequio_client.platform import child, programs, versions
from tequio_shared.version import BUILD

PROVEN_MS = 30_000
"""An app that has run for this long works."""
FIRST_LOOK_MS, DAY_MS = 60_000, 86_400_000
RETRY_MS = 15 * 60_000

LEDGER_VARIABLE = "TEQUIO_LEDGER"
RUNTIME, UPDATE = ("runtime", "install"), ("update",)


@dataclass(frozen=True, slots=True)
class ReleaseNote:
    """A sentence for a banner; `button` is the label of its button, if it has one."""

    level: str
    words: str
    button: str = ""


class ReleaseService(QObject):
    """Looks for what is missing or new, and fetches it when told to; `start` begins."""

    changed = Signal()
    runtime_installed = Signal()
    """The trainer can be started now."""
    restart_wanted = Signal()
    """A newer version is complete, and nothing would be interrupted."""

    def __init__(
        self,
        may_look: Callable[[], bool],
        is_idle: Callable[[], bool],
        parent: QObject | None = None,
        *,
        ledger: Callable[[], str] = str,
        command: Callable[..., tuple[str, ...]] = programs.tequio,
        has_runtime: Callable[[], bool] = programs.has_runtime,
    ) -> None:
        """`may_look`: updates may be looked for. `is_idle`: a restart would disturb nobody.

        `ledger` gives the address of the ledger whose log is compared with the mirror.
        """
        super().__init__(parent)
        self._may_look, self._is_idle = may_look, is_idle
        self._command, self._has_runtime, self._ledger = command, has_runtime, ledger
        self.offer: Offer | None = None
        self.progress: Fetching | None = None
        self.problem = ""
        self._must_tell = False  # of the problem, also if nothing is missing
        self.ready = ""
        """Version that the next start brings."""
        self._process: QProcess | None = None
        self._words: tuple[str, ...] = ()
        self._is_wanted = False
        self._look_again = QTimer(self, singleShot=True)
        self._look_again.timeout.connect(self.check_mirrors)
        self._proven = QTimer(self, singleShot=True, interval=PROVEN_MS)
        self._proven.timeout.connect(self._confirm)

    @property
    def needs_runtime(self) -> bool:
        return not self._has_runtime()

    @property
    def is_fetching(self) -> bool:
        return self._process is not None and "--check" not in self._words

    def start(self) -> None:
        """Begin: look for a missing runtime at once, and for updates a little later."""
        self._proven.start()
        if self.needs_runtime:
            self.check_mirrors()
        else:
            self._look_again.start(FIRST_LOOK_MS)

    def close(self) -> None:
        """End what runs; what was fetched stays for the next time."""
        self._look_again.stop()
        if self._process is not None:
            self._process.kill()
            self._process.waitForFinished(2_000)

    def check_mirrors(self) -> None:
        """Ask the mirrors for a missing runtime, or for an update, and fetch nothing."""
        if self._process is not None:
            return
        if self.needs_runtime:
            self._run(*RUNTIME, "--check")
        elif self.ready and self._is_idle():
            self.restart_wanted.emit()
        elif self._may_look():
            self._run(*UPDATE, "--check")
        self._look_again.start(RETRY_MS if self.ready else DAY_MS)

    def fetch(self) -> None:
        """Fetch what was offered, or what is missing."""
        if self.is_fetching:
            return
        self._is_wanted = True
        if self._process is None:
            self._run(*(RUNTIME if self.needs_runtime else UPDATE))

    def fetch_runtime(self) -> None:
        """Fetch the runtime if it is missing, as the user wants to train."""
        if self.needs_runtime:
            self.fetch()

    def current_note(self) -> ReleaseNote | None:
        """Tell a user what matters now."""
        offer = self.offer
        if self.problem and (self.needs_runtime or offer or self._must_tell):
            return ReleaseNote("warning", self.problem, self.tr("Try again"))
        if self.ready:
            words = self.tr("Version {version} is ready, and starts the next time Tequio starts.")
            return ReleaseNote("good", words.format(version=self.ready), self.tr("Restart now"))
        if self.is_fetching:
            return ReleaseNote("info", self._fetching_words())
        if self.needs_runtime and offer is not None:
            words = self.tr(
                "Before this computer can train, it needs a download of {size}, which takes "
                "{disk} on the disk."
            )
            size, disk = figures.data(offer.download_bytes), figures.data(offer.disk_bytes)
            return ReleaseNote("info", words.format(size=size, disk=disk), self.tr("Download"))
        return None

    def _fetching_words(self) -> str:
        if self.needs_runtime:
            what = self.tr("Downloading what training needs")
        else:
            version = self.offer.version if self.offer else ""
            what = self.tr("Downloading version {version}").format(version=version)
        now = self.progress
        if now is None or not now.total:
            return f"{what}…"
        if now.done == now.total:
            return self.tr("Testing what was downloaded…")
        done, total = figures.data(now.done), figures.data(now.total)
        return self.tr("{what}: {done} of {total}").format(what=what, done=done, total=total)

    def _run(self, *words: str) -> None:
        self._words, self.problem, self.progress = words, "", None
        self._must_tell = self._is_wanted
        process = QProcess(self)
        # Not with --ledger, which would keep updates from coming while the ledger does not answer.
        environment = QProcessEnvironment.systemEnvironment()
        if self._ledger():
            environment.insert(LEDGER_VARIABLE, self._ledger())
        process.setProcessEnvironment(environment)
        program, *rest = (*self._command(*words), "--json")
        process.setProgram(program)
        process.setArguments(rest)
        process.started.connect(self._lower_priority)
        process.readyReadStandardOutput.connect(self._read)
        process.finished.connect(self._finished)
        process.errorOccurred.connect(self._failed_to_start)
        self._process = process
        process.start()
        self.changed.emit()

    def _read(self) -> None:
        process = self._process
        while process is not None and process.canReadLine():
            try:
                event = releases.decode(bytes(process.readLine().data()))
            except msgspec.DecodeError:
                continue
            if isinstance(event, Offer):
                self.offer = event if event.is_update or self.needs_runtime else None
            elif isinstance(event, Fetching):
                self.progress = event
            elif isinstance(event, ReleaseFailed):
                self.problem = event.reason
                self._must_tell |= event.is_alarm
            else:
                self._installed(event)
            self.changed.emit()

    def _installed(self, event: Installed) -> None:
        self.offer = None
        if event.is_update:
            self.ready = event.version
        else:
            self.runtime_installed.emit()

    def _finished(self) -> None:
        process, self._process = self._process, None
        was_check = "--check" in self._words
        if process is not None:
            process.deleteLater()
        self.progress = None
        if was_check and self._should_fetch():
            self.fetch()
        elif not was_check:
            if self._words == UPDATE and not (self.ready or self.problem):
                self.problem = self.tr("There is no newer version of Tequio yet.")
            self._is_wanted = False
        self._look_again.start(RETRY_MS if self.problem or self.ready else DAY_MS)
        self.changed.emit()

    def _should_fetch(self) -> bool:
        """An update comes by itself; a runtime, which is large, when the user wants to train."""
        offer = None if self.problem else self.offer
        return self._is_wanted or (offer is not None and offer.is_update and not offer.was_skipped)

    def _failed_to_start(self, error: QProcess.ProcessError) -> None:
        if error is QProcess.ProcessError.FailedToStart and self._process is not None:
            self.problem = self._process.errorString()
            self._finished()

    def _lower_priority(self) -> None:
        if self._process is not None:
            child.lower_priority(self._process.processId())

    def _confirm(self) -> None:
        try:
            versions.confirm(BUILD)
        except OSError:
            return  # the next start falls back to what works
        versions.clean_up(BUILD)
