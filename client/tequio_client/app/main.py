"""The app's composition root: builds every part, connects them, and shuts them down in order.

Settings, theme and tray icon come first, because they are visible first. Session probes, the worker
and the window follow once the event loop runs.
"""

from __future__ import annotations

import logging
import os
import sys
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, QTimer

from tequio_client import clock, heap
from tequio_client.app.application import (
    SingleInstance,
    TerminationSignals,
    instance_path,
    make_application,
)
from tequio_client.app.errors import ErrorHooks, ErrorReports
from tequio_client.app.first_run.draft import has_lent, is_first_run, worker_preferences
from tequio_client.app.keys.service import KeyService
from tequio_client.app.language import Language
from tequio_client.app.model import AppModel
from tequio_client.app.presence import WindowController
from tequio_client.app.registration import BACKGROUND
from tequio_client.app.settings_file import AppSettings, SettingsStore
from tequio_client.app.theme.look import Appearance, Theme
from tequio_client.app.tray import Tray
from tequio_client.app.worker.process import WorkerProcess, worker_command
from tequio_client.ipc.session_rules import against_download, against_trial, is_at_work
from tequio_client.keys.state import KeyProtection
from tequio_client.ledger.networks import NO_LEDGER, KnownNetwork, add_network
from tequio_client.links import SCHEME
from tequio_client.platform import programs
from tequio_shared.errors import UserFacingError

if TYPE_CHECKING:
    from PySide6.QtWidgets import QApplication

    from tequio_client.app.first_run.first_run import FirstRunController
    from tequio_client.app.invitation import InvitationFlow
    from tequio_client.app.ledger_queries import InvitationOffer
    from tequio_client.app.notifications import NoticeStrip, Notifier
    from tequio_client.app.pages.page import ProgramContext
    from tequio_client.app.registration import LinkHandler
    from tequio_client.app.releases import ReleaseService
    from tequio_client.app.session.monitor import SessionMonitor
    from tequio_client.app.window import AppWindow


log = logging.getLogger(__name__)
SETTLED_MS = 8_000
PLACED_MS = 400
"""Time for the window manager to place the window: a dialog opens over its middle."""
"""After a hidden start: what was needed for it alone is given back then."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AppOptions:
    ledger: str | None
    """None: the address in the settings."""
    folder: Path
    """The worker's folder: key, store and state."""
    settings: Path
    """Folder of the app's own settings."""
    is_background: bool = False
    """Start without a window."""
    restart_options: tuple[str, ...] = ()
    """Options that a start at login passes on, to start the same app."""
    link: str = ""
    """An invitation or a competition to open."""
    link_handler: LinkHandler | None = None
    """Registers this app for `tequio:` links; None: it is not registered."""


def run(options: AppOptions) -> int:
    """Run the app until it quits; raises UserFacingError when another instance does not answer."""
    qt = make_application()
    instance = SingleInstance(instance_path(options.folder))
    if not instance.acquire():
        if (options.is_background and not options.link) or instance.notify_first(options.link):
            return 0
        raise UserFacingError(
            "Tequio runs already and does not answer: end its process, then start it again"
        )
    faults = ErrorHooks()
    faults.install()
    signals = TerminationSignals()
    app = App(qt, options, faults)
    instance.show_requested.connect(app.presence.open)
    instance.link_received.connect(app.open_link)
    qt.link_received.connect(app.open_link)
    signals.received.connect(app.quit)
    qt.quit_requested.connect(app.shut_down)
    app.start()
    code = qt.exec()
    app.close()
    signals.close()
    instance.close()
    faults.uninstall()
    if app.restart_words:
        programs.start_again(*app.restart_words)
    return code


class App(QObject):
    """All parts of one app; `start` starts them, `close` ends them."""

    def __init__(self, qt: QApplication, options: AppOptions, faults: ErrorHooks) -> None:
        super().__init__()
        self._qt, self._options = qt, options
        self.settings_store = SettingsStore(options.settings, self)
        settings = self.settings_store.settings
        self.theme = Theme(qt, _choice(settings.appearance))
        self.theme.reduce_motion(is_wanted=settings.reduced_motion)
        self._language = Language(qt, settings.language)
        self.keys = KeyService(options.folder, clock.now_ms, self._has_never_lent, self)
        self.worker = WorkerProcess(self._command(settings), options.folder, self.keys.seed, self)
        self.model = AppModel(self.worker, self, stored=worker_preferences(options.folder))
        self.tray = Tray(self.model, clock.now_ms, self)
        self.presence = WindowController(self._new_window, self.tray, self.settings_store, self)
        self.releases: ReleaseService | None = None
        self.restart_words: tuple[str, ...] = ()
        """Words with which the app starts again once it has ended; none: it does not."""
        self.error_reports = ErrorReports()
        faults.reported.connect(self.error_reports.present)
        self.notifications: Notifier | None = None
        self.session: SessionMonitor | None = None
        self.invitation: InvitationFlow | None = None
        self._first_run: FirstRunController | None = None
        self._notices: NoticeStrip | None = None
        if programs.is_packaged():
            self.releases = self._release_service()
        self._connect()

    def start(self) -> None:
        """Show the tray icon, and start everything else as soon as the event loop runs."""
        self.tray.start()
        if self._options.is_background:
            self.presence.wait_for_panel()
            QTimer.singleShot(SETTLED_MS, heap.return_memory)
        else:
            QTimer.singleShot(0, self.presence.open)
        QTimer.singleShot(0, self._begin_work)

    def open_link(self, link: str) -> None:
        """Show the competition or team that the link names, or ask whether to join its network."""
        from tequio_client.app import notifications  # noqa: PLC0415 - not at every start
        from tequio_client.links import (  # noqa: PLC0415 - as above
            is_competition_link,
            is_network_link,
            is_team_link,
        )

        self.presence.open()
        window = self.presence.window
        if is_network_link(link):
            self._open_join(link)
        elif is_team_link(link):
            self._open_team(link)
        elif self._notices is not None and is_competition_link(link):
            notifications.open_link(link, self._ledger(), window, self._notices)
        else:
            self._invitation_flow().open(link, window)

    def quit(self) -> None:
        self.shut_down()
        self._qt.quit()

    def shut_down(self) -> None:
        """Hide the window and the tray icon, and end the worker; Qt's loop still runs."""
        self.presence.close_window()
        self.tray.stop()
        self.worker.close()

    def close(self) -> None:
        """Stop the remaining parts in order, after the loop has ended."""
        self.shut_down()
        if self.releases is not None:
            self.releases.close()
        if self.session is not None:
            self.session.close()
        if self.notifications is not None:
            self.notifications.close()
        self.error_reports.close()
        self.keys.close()
        self.settings_store.write_pending()

    def _release_service(self) -> ReleaseService:
        from tequio_client.app.releases import ReleaseService, UpdateRules  # noqa: PLC0415 - packages alone

        model = self.model
        rules = UpdateRules(
            may_look=lambda: self.settings_store.settings.looks_for_updates,
            against_download=lambda: against_download(
                model.snapshot, model.session, model.preferences
            ),
            against_trial=lambda: against_trial(model.snapshot, model.session, model.preferences),
            may_restart=self._would_not_disturb,
            most_mbit=lambda: model.preferences.download_mbit,
        )
        made = ReleaseService(rules, self, ledger=self._ledger)
        made.runtime_installed.connect(self.worker.restart)
        made.restart_wanted.connect(self._restart)
        made.changed.connect(lambda: model.set_yielding("update", is_running=made.is_automatic))
        model.snapshot_changed.connect(made.follow_trainer)
        return made

    def _connect(self) -> None:
        self.tray.page_requested.connect(self.presence.open)
        self.tray.quit_requested.connect(self.quit)
        self.worker.external_changed.connect(self.tray.set_external_worker)
        self.presence.quit_requested.connect(self.quit)
        self.settings_store.changed.connect(self._follow)
        self.keys.key_changed.connect(self.worker.restart)
        self.keys.passphrase_needed.connect(self._ask_passphrase)
        if self.settings_store.preferences is not None:
            self.model.set_preferences(self.settings_store.preferences)
        self.model.preferences_changed.connect(self.settings_store.save_preferences)

    def _begin_work(self) -> None:
        from tequio_client.app.notifications import (  # noqa: PLC0415 - after the icon
            DBusNotifications,
            NotificationService,
            Notifier,
            TrayNotifications,
        )
        from tequio_client.app.session.monitor import (  # noqa: PLC0415 - as above
            SessionMonitor,
            SessionProbes,
        )
        from tequio_client.app.session.table import (  # noqa: PLC0415 - as above
            SessionEnvironment,
            session_sources,
        )

        self.worker.start()
        if self.releases is not None:
            self.releases.start()
        self.keys.refresh(lambda _: None, lambda _: None)
        place = SessionEnvironment(system=sys.platform, environ=os.environ, home=Path.home())
        probes = SessionProbes(session_sources(place))
        self.session = SessionMonitor(self.model, self.worker, probes, self)
        self.session.ending.connect(self.quit)
        self.session.start()
        service: NotificationService = (
            DBusNotifications(parent=self)
            if sys.platform == "linux"
            else TrayNotifications(lambda: self.tray.icon, self)
        )
        service.activated.connect(self.presence.open)
        self.notifications = Notifier(self.model, self.settings_store, service, clock.now_ms, self)
        self.worker.gave_up.connect(self.notifications.notify_worker_stopped)
        self.presence.hidden.connect(self.notifications.notify_hidden)
        if self._options.link_handler is not None:
            _register_for_links(self._options.link_handler)
        if self._options.link:
            QTimer.singleShot(PLACED_MS, self, partial(self.open_link, self._options.link))

    def _new_window(self) -> AppWindow:
        from tequio_client.app.notifications import NoticeStrip  # noqa: PLC0415 - made when first seen
        from tequio_client.app.window import AppWindow  # noqa: PLC0415 - as above

        window = AppWindow(self.model, self.theme, clock.now_ms, own=self.program_context())
        self._notices = notices = NoticeStrip()
        window.setMenuWidget(notices)
        for kind, detail in self.settings_store.load_problems:
            notices.add(kind, detail)
        self.settings_store.problem.connect(notices.add)
        self.presence.minimised.connect(lambda: notices.add("no-tray"))
        self.worker.external_changed.connect(
            lambda is_external: (notices.add if is_external else notices.dismiss)("visiting")
        )
        if self.worker.is_external:
            notices.add("visiting")
        window.action_requested.connect(self._handle_action)
        options = self._options
        if is_first_run(options.folder, options.settings, self.settings_store.preferences):
            self._first_run_controller(window).open()
        return window

    def _first_run_controller(self, window: AppWindow | None = None) -> FirstRunController:
        from tequio_client.app.first_run.first_run import FirstRunController  # noqa: PLC0415 - seen once, as a rule

        if self._first_run is None:
            window = window or self.presence.window
            self._first_run = FirstRunController(
                window, self.keys, self._options.folder, self._options.settings
            )
            self._first_run.finished.connect(self._keep_ledger)
            if invitation := self._first_run.draft_store.draft.invitation:
                self._invitation_flow().wait_for_key(invitation, window)
        return self._first_run

    def _ask_passphrase(self) -> None:
        from tequio_client.app.keys.dialogs import UnlockDialog  # noqa: PLC0415 - few have one

        self.presence.open()
        dialog = UnlockDialog(self.keys, self.presence.window)
        dialog.accepted.connect(self.worker.retry)
        dialog.finished.connect(dialog.deleteLater)
        dialog.open()

    def _invitation_flow(self) -> InvitationFlow:
        from tequio_client.app.invitation import InvitationFlow  # noqa: PLC0415 - few are invited

        if self.invitation is None:
            self.invitation = InvitationFlow(
                worker=self.worker,
                model=self.model,
                settings_store=self.settings_store,
                keys=self.keys,
                folder=self._options.folder,
                now_ms=clock.now_ms,
                ledger=self._ledger,
                command=lambda ledger: self._command(self.settings_store.settings, ledger),
                parent=self,
            )
            self.invitation.joined.connect(self._follow_invitation)
            self.invitation.key_wanted.connect(self._want_key)
        return self.invitation

    def _follow_invitation(self, offer: InvitationOffer, ledger: str) -> None:
        """From now on the ledger of the invitation applies, whatever the command line named."""
        self._options = replace(self._options, ledger=None)
        if self._first_run is not None:
            draft = self._first_run.draft_store
            draft.change(invitation="", invited_to="", run=offer.run or draft.draft.run)
        # The flow saves the ledger after this signal.
        QTimer.singleShot(0, self, partial(self._announce_network, ledger, offer.network))

    def _use_network(self, ledger: str, name: str) -> None:
        """From now on work for that network, whatever the command line named."""
        if self.worker.is_external:
            self._add_notice("external")
            return
        self._options = replace(self._options, ledger=None)
        self.settings_store.change(ledger=ledger)
        self._follow(self.settings_store.settings)
        self._announce_network(ledger, name)

    def _announce_network(self, ledger: str, name: str) -> None:
        """Forget everything that the previous ledger said, and its errors."""
        with suppress(OSError, UserFacingError):  # the list is a convenience
            add_network(KnownNetwork(name=name, url=ledger), self.settings_store.folder)
        self.model.forget_network()
        if self.presence.has_window:
            self.presence.window.rebuild()
        self._add_notice("joined", name)

    def _add_notice(self, kind: str, detail: str = "") -> None:
        if self._notices is not None:
            self._notices.add(kind, detail)

    def _keep_ledger(self) -> None:
        """Remember the ledger with which the first run was finished."""
        self.settings_store.change(ledger=self._ledger())

    def _want_key(self, link: str, network: str) -> None:
        """Make a key first; the invitation waits in the draft of the first run."""
        controller = self._first_run_controller()
        controller.draft_store.change(invitation=link, invited_to=network)
        controller.open()

    def _open_join(self, link: str = "") -> None:
        from tequio_client.app.networks import JoinNetworkDialog, offered_networks  # noqa: PLC0415 - as above

        window, known = self.presence.window, offered_networks(self.settings_store.folder)
        dialog = JoinNetworkDialog(known, self._options.folder, self._ledger(), window, link)
        dialog.chooser.chosen.connect(self._use_network)
        dialog.chooser.chosen.connect(lambda: self._show_run(dialog.chooser.run))
        dialog.chooser.link_given.connect(self.open_link)
        dialog.finished.connect(dialog.deleteLater)
        dialog.open()

    def _open_team(self, link: str) -> None:
        from tequio_client.app.keys.account import KeyAccount  # noqa: PLC0415 - as above
        from tequio_client.app.keys.team import TeamDialog  # noqa: PLC0415 - as above

        account = KeyAccount(self.model, clock.now_ms, self)
        account.poll()
        dialog = TeamDialog(account, self.keys, self.presence.window, link)
        dialog.finished.connect(account.deleteLater)
        dialog.finished.connect(dialog.deleteLater)
        dialog.open()

    def _show_run(self, run: str) -> None:
        """Show the run that a link named; the first run chooses it in step 5."""
        if run and self._first_run is not None:
            self._first_run.draft_store.change(run=run)
        if run:
            self.presence.window.open_page("runs")
            self.presence.window.page.restore_location(run)

    def program_context(self) -> ProgramContext:
        from tequio_client.app.pages.page import ProgramContext  # noqa: PLC0415 - as above
        from tequio_client.app.registration import app_command, system_autostart  # noqa: PLC0415 - with the window
        from tequio_client.app.session.programs import running_programs  # noqa: PLC0415 - as above

        return ProgramContext(
            settings=self.settings_store,
            autostart=system_autostart(
                app_command(*self._options.restart_options),
                system=sys.platform,
                home=Path.home(),
                environ=os.environ,
            ),
            folder=self._options.folder,
            ledger=self._ledger,
            use_network=self._use_network,
            programs=running_programs,
            keys=self.keys,
            releases=self.releases,
        )

    def _restart(self) -> None:
        hidden = (BACKGROUND,) if self.presence.is_hidden else ()
        self.restart_words = ("app", *self._options.restart_options, *hidden)
        self.quit()

    def _would_not_disturb(self) -> bool:
        """Return whether a restart goes unseen, ends no round, and asks for no passphrase."""
        snapshot = self.model.snapshot
        is_working = snapshot is not None and is_at_work(snapshot)
        asks = self.keys.state.protection is KeyProtection.PASSPHRASE
        return self.presence.is_hidden and not is_working and not asks

    def _handle_action(self, action: str) -> None:
        if action == "try-again":
            self.worker.retry()
        elif action == "releases" and self.releases is not None:
            self._restart() if self.releases.ready else self.releases.fetch()
        elif action == "first-run":
            self._first_run_controller().open()
        elif action == "join":
            self._open_join()
        elif action == "invitation":
            self.open_link(self._first_run_controller().draft_store.draft.invitation)
        elif action.startswith(f"{SCHEME}:"):
            self.open_link(action)
        elif action == "key-backup":
            from tequio_client.app.keys.backup import BackupDialog  # noqa: PLC0415 - as above

            dialog = BackupDialog(self.keys, self.presence.window)
            dialog.finished.connect(dialog.deleteLater)
            dialog.open()

    def _follow(self, settings: AppSettings) -> None:
        self.theme.choose(_choice(settings.appearance))
        self.theme.reduce_motion(is_wanted=settings.reduced_motion)
        self._language.choose(settings.language)
        self.worker.set_command(self._command(settings))

    def _ledger(self) -> str:
        """The ledger in use; empty: no network was chosen yet."""
        return self._options.ledger or self.settings_store.settings.ledger

    def _command(self, settings: AppSettings, ledger: str = "") -> tuple[str, ...]:
        listen = [word for one in settings.listen.split() for word in ("--listen", one)]
        level = () if settings.log_level == "info" else ("--log-level", settings.log_level)
        command = worker_command(ledger or self._ledger() or NO_LEDGER, self._options.folder)
        return (*command, *listen, *level)

    def _has_never_lent(self) -> bool:
        return not has_lent(self._options.folder, self.settings_store.preferences)


def _register_for_links(handler: LinkHandler) -> None:
    """If the system refuses, links are pasted by hand."""
    try:
        if not handler.is_on():
            handler.turn_on()
    except OSError as err:
        log.warning("links do not open this app: %s", err)


def _choice(appearance: str) -> Appearance:
    """The appearance of that name; a name from another version counts as the system's."""
    return Appearance(appearance) if appearance in list(Appearance) else Appearance.SYSTEM
