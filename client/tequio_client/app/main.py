"""The app's composition root: builds every part, connects them, and shuts them down in order.

Settings, theme and tray icon come first, because they are visible first. Session probes, the worker
and the window follow once the event loop runs.
"""

from __future__ import annotations

import importlib
import logging
import os
import pkgutil
import sys
import tempfile
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, QTimer

import tequio_client.app
from tequio_client import clock
from tequio_client.app.application import EndSignals, SingleInstance, application, place_of
from tequio_client.app.errors import Faults
from tequio_client.app.first_run.draft import has_lent, is_wanted
from tequio_client.app.keys.service import KeyDesk
from tequio_client.app.language import Language
from tequio_client.app.model import Model
from tequio_client.app.pages import PAGES
from tequio_client.app.presence import Presence
from tequio_client.app.settings_file import AppSettings, SettingsBook
from tequio_client.app.theme.look import Choice, Look
from tequio_client.app.tray import Tray
from tequio_client.app.worker.process import WorkerProcess, worker_command
from tequio_shared.errors import UserFacingError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from PySide6.QtWidgets import QApplication

    from tequio_client.app.errors import Reports
    from tequio_client.app.first_run.first_run import Guide
    from tequio_client.app.invitation import Joining
    from tequio_client.app.ledger_queries import Offer
    from tequio_client.app.links import LinkOpener
    from tequio_client.app.notifications import Notices, Notifications
    from tequio_client.app.pages.page import Own
    from tequio_client.app.session.monitor import SessionLink
    from tequio_client.app.window import Window


log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """The command line, parsed."""

    ledger: str | None
    """None: the address in the settings, or else `usual_ledger`."""
    usual_ledger: str
    folder: Path
    """The worker's folder: key, store and state."""
    settings: Path
    """Folder of the app's own settings."""
    is_background: bool = False
    """Start without a window."""
    again: tuple[str, ...] = ()
    """Options that a start at login passes on, to start the same app."""
    link: str = ""
    """An invitation or a competition to open."""
    links: LinkOpener | None = None
    """How this app registers for `tequio:` links; None: it does not."""


def run(options: Options) -> int:
    """Run the app until it quits; raises UserFacingError when another instance does not answer."""
    qt = application()
    instance = SingleInstance(place_of(options.folder))
    if not instance.is_first():
        if (options.is_background and not options.link) or instance.raise_first(options.link):
            return 0
        raise UserFacingError(
            "Tequio runs already and does not answer: end its process, then start it again"
        )
    faults = Faults()
    faults.install()
    signals = EndSignals()
    app = App(qt, options, faults)
    instance.raised.connect(app.presence.open)
    instance.handed.connect(app.open_link)
    qt.handed.connect(app.open_link)
    signals.told.connect(app.quit)
    qt.quitting.connect(app.leave)
    app.begin()
    code = qt.exec()
    app.close()
    signals.close()
    instance.close()
    faults.uninstall()
    return code


class App(QObject):
    """All parts of one app; `begin` starts them, `close` ends them."""

    def __init__(self, qt: QApplication, options: Options, faults: Faults) -> None:
        super().__init__()
        self._qt, self._options, self._faults = qt, options, faults
        self.book = SettingsBook(options.settings, self)
        settings = self.book.settings
        self.look = Look(qt, _choice(settings.appearance))
        self.look.keep_still(is_wanted=settings.reduced_motion)
        self._language = Language(qt, settings.language)
        self.keys = KeyDesk(options.folder, clock.now_ms, self._may_begin, self)
        self.worker = WorkerProcess(self._command(settings), options.folder, self.keys.seed, self)
        self.model = Model(self.worker, self)
        self.tray = Tray(self.model, clock.now_ms, self)
        self.presence = Presence(self._new_window, self.tray, self.book, self)
        self.notifications: Notifications | None = None
        self.session: SessionLink | None = None
        self._reports: Reports | None = None
        self._guide: Guide | None = None
        self._joining: Joining | None = None
        self._notices: Notices | None = None
        self._connect()

    def begin(self) -> None:
        """Show the tray icon, and start everything else as soon as the event loop runs."""
        self.tray.show()
        if self._options.is_background:
            self.presence.wait_for_panel()
        else:
            QTimer.singleShot(0, self.presence.open)
        QTimer.singleShot(0, self._begin_work)

    def open_link(self, link: str) -> None:
        """Show the competition that the link names, or ask whether to join by that invitation."""
        from tequio_client.app import links as app_links  # noqa: PLC0415 - not at every start
        from tequio_client.ipc import competitions  # noqa: PLC0415 - as above

        self.presence.open()
        window = self.presence.window
        if self._notices is not None and competitions.is_meant(link):
            app_links.open_link(link, self._ledger(), window, self._notices)
        else:
            self._join().open(link, window)

    def quit(self) -> None:
        self.leave()
        self._qt.quit()

    def leave(self) -> None:
        """Hide the window and the tray icon, and end the worker; Qt's loop still runs."""
        self.presence.leave()
        self.tray.hide()
        self.worker.close()

    def close(self) -> None:
        """Stop the remaining parts in order, after the loop has ended."""
        self.leave()
        if self.session is not None:
            self.session.close()
        if self.notifications is not None:
            self.notifications.close()
        if self._reports is not None:
            self._reports.close()
        self.keys.close()
        self.book.save()

    def _connect(self) -> None:
        self.tray.opened.connect(self.presence.open)
        self.tray.left.connect(self.quit)
        self.worker.visiting.connect(self.tray.set_visiting)
        self.presence.left.connect(self.quit)
        self.book.changed.connect(self._follow)
        self._faults.reported.connect(self._report)
        self.keys.renewed.connect(self.worker.renew)
        self.keys.locked.connect(self._ask_passphrase)
        if self.book.preferences is not None:
            self.model.choose(self.book.preferences)
        self.model.preferred.connect(self.book.keep)

    def _begin_work(self) -> None:
        from tequio_client.app.notifications import (  # noqa: PLC0415 - after the icon
            BalloonDesk,
            BusDesk,
            Desk,
            Notifications,
        )
        from tequio_client.app.session.monitor import SessionLink  # noqa: PLC0415 - as above

        self.worker.start()
        self.keys.look(lambda _: None, lambda _: None)
        self.session = SessionLink(self.model, self.worker, self)
        self.session.ending.connect(self.quit)
        self.session.start()
        is_linux = sys.platform == "linux"
        desk: Desk = BusDesk(parent=self) if is_linux else BalloonDesk(lambda: self.tray.icon, self)
        desk.activated.connect(self.presence.open)
        self.notifications = Notifications(
            self.model,
            self.book,
            desk,
            now_ms=clock.now_ms,
            is_fullscreen=self._is_fullscreen,
            parent=self,
        )
        self.worker.gave_up.connect(self.notifications.tell_given_up)
        self.presence.hidden.connect(self.notifications.tell_hiding)
        if self._options.links is not None:
            _offer_links(self._options.links)
        if self._options.link:
            self.open_link(self._options.link)

    def _new_window(self) -> Window:
        from tequio_client.app.notifications import Notices  # noqa: PLC0415 - made when first seen
        from tequio_client.app.window import Window  # noqa: PLC0415 - as above

        window = Window(self.model, self.look, clock.now_ms, own=self._own())
        self._notices = notices = Notices()
        window.setMenuWidget(notices)
        for kind, detail in self.book.found:
            notices.say(kind, detail)
        self.book.trouble.connect(notices.say)
        self.presence.minimised.connect(lambda: notices.say("no-tray"))
        self.worker.visiting.connect(
            lambda is_visiting: (notices.say if is_visiting else notices.dismiss)("visiting")
        )
        if self.worker.is_visiting:
            notices.say("visiting")
        window.wanted.connect(self._do)
        options = self._options
        if is_wanted(options.folder, options.settings, self.book.preferences):
            self._open_first_run(window)
        return window

    def _open_first_run(self, window: Window) -> None:
        from tequio_client.app.first_run.first_run import Guide  # noqa: PLC0415 - seen once, as a rule

        self._guide = self._guide or Guide(
            window, self.keys, self._options.folder, self._options.settings
        )
        self._guide.open()

    def _ask_passphrase(self) -> None:
        from tequio_client.app.keys.dialogs import UnlockDialog  # noqa: PLC0415 - few have one

        self.presence.open()
        dialog = UnlockDialog(self.keys, self.presence.window)
        dialog.accepted.connect(self.worker.retry)
        dialog.finished.connect(dialog.deleteLater)
        dialog.open()

    def _join(self) -> Joining:
        from tequio_client.app.invitation import Joining  # noqa: PLC0415 - few are invited

        if self._joining is None:
            self._joining = Joining(
                worker=self.worker,
                model=self.model,
                book=self.book,
                keys=self.keys,
                folder=self._options.folder,
                now_ms=clock.now_ms,
                ledger=self._ledger,
                command=lambda ledger: self._command(self.book.settings, ledger),
                parent=self,
            )
            self._joining.joined.connect(self._settle)
            self._joining.key_wanted.connect(lambda: self._open_first_run(self.presence.window))
        return self._joining

    def _settle(self, offer: Offer) -> None:
        """From now on the ledger of the invitation applies, whatever the command line named."""
        self._options = replace(self._options, ledger=None)
        if self._guide is not None and offer.run:
            self._guide.choose_run(offer.run)

    def _back_up_key(self) -> None:
        from tequio_client.app.keys.backup import BackupDialog  # noqa: PLC0415 - as above

        dialog = BackupDialog(self.keys, self.presence.window)
        dialog.finished.connect(dialog.deleteLater)
        dialog.open()

    def _own(self) -> Own:
        from tequio_client.app.autostart import app_command, autostart  # noqa: PLC0415 - with the window
        from tequio_client.app.pages.page import Own  # noqa: PLC0415 - as above
        from tequio_client.app.session.programs import running_programs  # noqa: PLC0415 - as above

        return Own(
            book=self.book,
            autostart=autostart(
                app_command(*self._options.again),
                system=sys.platform,
                home=Path.home(),
                environ=os.environ,
            ),
            folder=self._options.folder,
            usual_ledger=self._options.usual_ledger,
            programs=running_programs,
            keys=self.keys,
        )

    def _do(self, wanted: str) -> None:
        if wanted == "try-again":
            self.worker.retry()
        elif wanted == "first-run":
            self._open_first_run(self.presence.window)
        elif wanted == "key-backup":
            self._back_up_key()

    def _follow(self, settings: AppSettings) -> None:
        self.look.choose(_choice(settings.appearance))
        self.look.keep_still(is_wanted=settings.reduced_motion)
        self._language.choose(settings.language)
        self.worker.use(self._command(settings))

    def _report(self, line: str, report: str) -> None:
        from tequio_client.app.errors import Reports  # noqa: PLC0415 - not needed, one hopes

        self._reports = self._reports or Reports()
        self._reports.show(line, report)

    def _ledger(self) -> str:
        options = self._options
        return options.ledger or self.book.settings.ledger or options.usual_ledger

    def _command(self, settings: AppSettings, ledger: str = "") -> tuple[str, ...]:
        where = ("--listen", settings.listen) if settings.listen else ()
        level = () if settings.log_level == "info" else ("--log-level", settings.log_level)
        command = worker_command(ledger or self._ledger(), self._options.folder)
        return (*command, *where, *level)

    def _may_begin(self) -> bool:
        """True if a missing key loses nothing, so that a new one may be made."""
        return not has_lent(self._options.folder, self.book.preferences)

    def _is_fullscreen(self) -> bool:
        return self.session is not None and bool(
            self.session.facts.fullscreen or self.session.facts.game
        )


def _offer_links(links: LinkOpener) -> None:
    """Register for links; if the system refuses, links are pasted by hand."""
    try:
        if not links.is_on():
            links.turn_on()
    except OSError as err:
        log.warning("links do not open this app: %s", err)


def _choice(appearance: str) -> Choice:
    """The appearance of that name; a name from another version counts as the system's."""
    return Choice(appearance) if appearance in list(Choice) else Choice.SYSTEM


OTHERS = (
    "tequio_client.keys.identity",
    "tequio_client.keys.sealing",
    "tequio_client.keys.store",
    "tequio_client.keys.words",
    "mnemonic",
    "keyring",
    "keyring.backends",
)
FORBIDDEN = ("numpy", "torch", "trio", "libp2p", "httpx")


def selftest_run() -> int:
    """Import every module and open every page; 1 on errors, which go to stderr."""
    problems = [f"{name}: {why}" for name, why in _missing()]
    problems += [f"{name} was imported" for name in FORBIDDEN if name in sys.modules]
    problems += _unopened()
    for problem in problems:
        sys.stderr.write(f"tequio: selftest: {problem}\n")
    return 1 if problems else 0


def modules() -> list[str]:
    """Every module of the app, and those that it imports late."""
    package = tequio_client.app
    found = pkgutil.walk_packages(package.__path__, f"{package.__name__}.")
    return [*(one.name for one in found), *OTHERS]


def _missing() -> Iterator[tuple[str, str]]:
    for name in modules():
        try:
            importlib.import_module(name)
        except Exception as err:  # noqa: BLE001 - whatever it is, it is what we look for
            yield name, f"{type(err).__name__}: {err}"


def _unopened() -> list[str]:
    problems: list[str] = []
    with tempfile.TemporaryDirectory() as place:
        folder, qt, faults = Path(place), application(), Faults()
        faults.reported.connect(lambda line, _: problems.append(line))
        faults.install()
        options = Options(ledger=None, usual_ledger="", folder=folder, settings=folder)
        app = App(qt, options, faults)
        for entry in PAGES:
            try:
                app.presence.open(entry.name)
                qt.processEvents()
            except Exception as err:  # noqa: BLE001 - as above
                problems.append(f"page {entry.name}: {type(err).__name__}: {err}")
        app.close()
        faults.uninstall()
    return problems
