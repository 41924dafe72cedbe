"""Keeps a packaged app complete and new: the trainer's runtime, and updates.

`tequio runtime install` and `tequio update` do the work in a program of their own, at low priority,
and report as JSON lines; a restart of the app interrupts it, and the next start goes on from there.
Updates are looked for once a day unless the user has switched that off. By itself one is downloaded
when the rules for the network allow it, and tried out and installed while nobody needs the computer
and no round is under way; a step that a rule comes to speak against ends at once and is taken again
later. A person who asks for the update is not made to wait. It starts with the next start of the
app, which restarts itself while it is hidden and the worker computes nothing, unless a passphrase
protects the key: then the next start is the user's.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from PySide6.QtCore import (
    QCoreApplication,
    QObject,
    QProcess,
    QProcessEnvironment,
    QTimer,
    Signal,
)

from tequio_client import clock
from tequio_client.app import worker_texts
from tequio_client.app.language import join_sentences
from tequio_client.app.widgets import figures
from tequio_client.ipc import releases
from tequio_client.ipc.releases import Downloaded, Fetching, Installed, Offer, ReleaseFailed
from tequio_client.ipc.snapshot import Decision, LendingReason, Snapshot
from tequio_client.platform import child, programs, versions
from tequio_shared.errors import MalformedError
from tequio_shared.version import BUILD

PROVEN_MS = 30_000
"""An app that has run for this long works."""
FIRST_LOOK_MS, DAY_MS = 60_000, 86_400_000
RETRY_MS = 15 * 60_000
HELD_MS = 60_000
"""An update that is held back looks again whether it may go on: in memory, so it costs nothing."""
WATCH_MS = 1_000
"""The rules are watched so often during an automatic step: a game ends it as soon as lending."""

LEDGER_VARIABLE = "TEQUIO_LEDGER"
RUNTIME, UPDATE = ("runtime", "install"), ("update",)
CHECK, DOWNLOAD = "--check", "--download"
UPDATE_NOW = "Update now"
AUTOMATIC_NOTE = (
    "Once a day Tequio looks for a newer version, fetches it, and tests it. It starts "
    "while you are away and no round is running; if a passphrase protects your key, the next "
    "time Tequio starts."
)
"""Note of the setting, and of an update that waits for the end of a round."""


@dataclass(frozen=True, slots=True, kw_only=True)
class UpdateRules:
    """Rules for what happens by itself; each is asked again before and during every step."""

    may_look: Callable[[], bool]
    """Updates may be looked for."""
    against_download: Callable[[], Decision | None]
    """Why an update may not be downloaded now; None: it may."""
    against_trial: Callable[[], Decision | None]
    """Why a downloaded update may not be tried out and installed now; None: it may."""
    may_restart: Callable[[], bool]
    """A restart would disturb nobody."""
    most_mbit: Callable[[], float | None] = lambda: None
    """Limit of the download; None: no limit."""


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
        rules: UpdateRules,
        parent: QObject | None = None,
        *,
        ledger: Callable[[], str] = str,
        command: Callable[..., tuple[str, ...]] = programs.tequio,
        has_runtime: Callable[[], bool] = programs.has_runtime,
    ) -> None:
        """`ledger` gives the address of the ledger whose log is compared with the mirror."""
        super().__init__(parent)
        self._rules = rules
        self._command, self._has_runtime, self._ledger = command, has_runtime, ledger
        self.offer: Offer | None = None
        self.progress: Fetching | None = None
        self.problem = ""
        self._must_tell = False  # of the problem, also if nothing is missing
        self.ready = ""
        """Version that the next start brings."""
        self.held: Decision | None = None
        """Why the update on offer waits; None: none is held back."""
        self._downloaded = ""  # version that was downloaded by itself, and is still to be tried out
        self._must_look = False
        self._was_broken = False  # the trainer, at the last snapshot
        self._process: QProcess | None = None
        self._words: tuple[str, ...] = ()
        self._is_wanted = False
        self._look_again = QTimer(self, singleShot=True)
        self._look_again.timeout.connect(self.check_mirrors)
        self._watch = QTimer(self, interval=WATCH_MS)
        self._watch.timeout.connect(self._interrupt)
        self._proven = QTimer(self, singleShot=True, interval=PROVEN_MS)
        self._proven.timeout.connect(self._confirm)

    @property
    def needs_runtime(self) -> bool:
        return not self._has_runtime()

    @property
    def is_fetching(self) -> bool:
        return self._process is not None and CHECK not in self._words

    @property
    def is_automatic(self) -> bool:
        """True during a step that nobody asked for, which the rules may end."""
        return self.is_fetching and not self._is_wanted

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
        self._watch.stop()
        if self._process is not None:
            self._process.kill()
            self._process.waitForFinished(2_000)

    def check_mirrors(self) -> None:
        """Ask the mirrors for a missing runtime, or for an update; go on with one that was held."""
        if self._process is not None:
            return
        self._look_again.start(RETRY_MS if self.ready else DAY_MS)
        if self.needs_runtime:
            self._run(*RUNTIME, CHECK)
        elif self.ready and self._rules.may_restart():
            self.restart_wanted.emit()
        elif self._rules.may_look():
            if self.held is None:
                self._run(*UPDATE, CHECK)
            else:
                self._go_on()
        elif self.held is not None:
            self.held = None
            self.changed.emit()

    def follow_trainer(self, snapshot: Snapshot | None) -> None:
        """Have the version before ready if the worker has put this one's runtime aside."""
        is_broken = snapshot is not None and (
            snapshot.decision.reason is LendingReason.TRAINER_BROKEN
        )
        if is_broken and not self._was_broken and BUILD in versions.state().skipped:
            self.ready = versions.state().current
            self._look_again.start(HELD_MS)
            self.changed.emit()
        self._was_broken = is_broken

    def fetch(self) -> None:
        """Fetch what was offered, or the newest version.

        A missing runtime without an offer yet is only looked for: nobody downloads gigabytes before
        the app has shown how many.
        """
        if self.needs_runtime and self.offer is None:
            self._must_look = self._process is not None  # again, once it has ended
            self.check_mirrors()
            return
        self._is_wanted = True
        if self._process is None:
            self._run(*(RUNTIME if self.needs_runtime else UPDATE))

    def fetch_runtime(self) -> None:
        """Fetch the runtime if it is missing and its size was shown, as the user wants to train."""
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
        if self.held is not None:
            button = QCoreApplication.translate("remedies", UPDATE_NOW)
            return ReleaseNote("info", self._held_words(self.held), button)
        if self.needs_runtime and offer is not None:
            words = self.tr(
                "Before this computer can train, it needs a download of {size}, which takes "
                "{disk} on the disk."
            )
            size, disk = figures.data(offer.download_bytes), figures.data(offer.disk_bytes)
            return ReleaseNote("info", words.format(size=size, disk=disk), self.tr("Download"))
        return None

    def _held_words(self, held: Decision) -> str:
        if held.reason is LendingReason.LENDING:
            return QCoreApplication.translate("settings", AUTOMATIC_NOTE)
        testing = self.tr("Testing what was downloaded…")
        what = testing if self._is_downloaded else f"{self._downloading_words()}…"
        return join_sentences(what, worker_texts.decision_reason(held, clock.now_ms()))

    def _downloading_words(self) -> str:
        if self.needs_runtime:
            return self.tr("Downloading what training needs")
        version = self.offer.version if self.offer else ""
        return self.tr("Downloading version {version}").format(version=version)

    def _fetching_words(self) -> str:
        what, now = self._downloading_words(), self.progress
        if now is None or not now.total:
            return f"{what}…"
        if now.done == now.total:
            return self.tr("Testing what was downloaded…")
        done, total = figures.data(now.done), figures.data(now.total)
        return self.tr("{what}: {done} of {total}").format(what=what, done=done, total=total)

    def _run(self, *words: str) -> None:
        self._words, self.problem, self.progress, self.held = words, "", None, None
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
            except MalformedError:
                continue
            if isinstance(event, Offer):
                self.offer = event if event.is_update or self.needs_runtime else None
            elif isinstance(event, Fetching):
                self.progress = event
            elif isinstance(event, ReleaseFailed):
                self.problem = event.reason
                self._must_tell |= event.is_alarm
            elif isinstance(event, Downloaded):
                self._downloaded = event.version
            else:
                self._installed(event)
            self.changed.emit()

    def _installed(self, event: Installed) -> None:
        self.offer = None
        if event.is_update:
            self.ready = event.version
        else:
            self.runtime_installed.emit()

    def _finished(self, code: int, status: QProcess.ExitStatus) -> None:
        is_failure = code != 0 or status is QProcess.ExitStatus.CrashExit
        if is_failure and self.held is None and not self.problem:
            self.problem = self.tr("The updater stopped unexpectedly.")
        process, self._process = self._process, None
        self._watch.stop()
        if process is not None:
            process.deleteLater()
        self.progress = None
        was_step = CHECK in self._words or DOWNLOAD in self._words
        if self.held is not None and not self._is_wanted:
            self._look_again.start(HELD_MS)  # it was interrupted
        elif self._is_wanted and was_step:
            self.fetch()
        elif was_step and self._comes_by_itself(self.offer):
            self._go_on()
        else:
            if self._is_wanted and self._words == UPDATE and not (self.ready or self.problem):
                self.problem = self.tr("There is no newer version of Tequio yet.")
            self._is_wanted = False
            self._look_again.start(RETRY_MS if self.problem or self.ready else DAY_MS)
        if self._must_look:
            self._must_look = False
            self.check_mirrors()
        self.changed.emit()

    def _comes_by_itself(self, offer: Offer | None) -> bool:
        """An update does; a runtime, which is large, comes when the user wants to train."""
        if self.problem or offer is None or not offer.is_update or offer.was_skipped:
            return False
        if offer.version == self.ready:
            return False
        return CHECK in self._words or self._is_downloaded  # else a step died, and says no more

    @property
    def _is_downloaded(self) -> bool:
        return self.offer is not None and self.offer.version == self._downloaded

    def _go_on(self) -> None:
        """Take the next step of the update by itself, or hold it back."""
        held, self.held = self.held, self._rule_against()
        if self.held is not None:
            self._look_again.start(HELD_MS)
            if self.held != held:
                self.changed.emit()
            return
        if self._is_downloaded:
            self._run(*UPDATE)
        else:
            most = self._rules.most_mbit()
            self._run(*UPDATE, DOWNLOAD, *(("--most-mbit", str(most)) if most else ()))
        self._watch.start()

    def _rule_against(self) -> Decision | None:
        rules = self._rules
        return rules.against_trial() if self._is_downloaded else rules.against_download()

    def _interrupt(self) -> None:
        """End an automatic step that a rule speaks against; what was fetched stays."""
        if self._process is None or self._is_wanted:
            return
        self.held = self._rule_against()
        if self.held is not None:
            self._process.kill()

    def _failed_to_start(self, error: QProcess.ProcessError) -> None:
        if error is QProcess.ProcessError.FailedToStart and self._process is not None:
            self.problem = self._process.errorString()
            self._finished(-1, QProcess.ExitStatus.CrashExit)

    def _lower_priority(self) -> None:
        if self._process is not None:
            child.lower_priority(self._process.processId())

    def _confirm(self) -> None:
        try:
            versions.confirm(BUILD)
        except OSError:
            return  # the next start falls back to what works
        versions.clean_up(BUILD)
