"""Opening a link to a competition: the page of competitions, on that one."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tequio_client.app.competition_notes import PAGE
from tequio_client.link.competition_link import CompetitionLink
from tequio_shared.errors import UserFacingError
from tequio_shared.ids import to_text

if TYPE_CHECKING:
    from tequio_client.app.notices import Notices
    from tequio_client.app.window import Window


def open_link(text: str, ledger: str, window: Window, notices: Notices) -> None:
    """Show the competition that the link names, or say why not; `ledger` is the one in use."""
    try:
        link = CompetitionLink.parse(text)
    except UserFacingError as err:
        notices.say("no-competition", str(err.__cause__ or err))
        return
    if link.ledger.rstrip("/") != ledger.rstrip("/"):
        notices.say("other-ledger", link.ledger)
        return
    window.open_page(PAGE)
    window.page.go_to(to_text(link.competition))
