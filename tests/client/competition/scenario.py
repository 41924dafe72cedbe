"""A whole competition against a real ledger, run by the real programs, in a few seconds."""

from __future__ import annotations

import time
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import trio

from tequio_client.clock import now_ms
from tequio_client.competition import listing as competition_outcome
from tequio_client.competition import participation, plan
from tequio_client.competition.evaluator import Evaluator, EvaluatorContext
from tequio_client.competition.participation import FolderSubmitter
from tequio_client.dataset import rows
from tequio_client.keys import identity
from tequio_client.ledger.api import LedgerApi
from tequio_client.organiser import opening, sealing
from tequio_client.runtime import locked
from tequio_client.trainer import device
from tequio_client.verify.reader import LedgerReader
from tequio_client.verify.report import NoProgress
from tequio_client.worker.ledger.outbox import Outbox
from tests.support.timing_slack import allowed_s

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from pathlib import Path

    from tequio_shared.competition.rules import CompetitionOutcome, CompetitionRules
    from tequio_shared.competition.state import CompetitionView
    from tests.support.settable_clock import SettableClock


SHARES, NEEDED = 3, 2
DOCUMENTS, DRAWN = 6, 4
DATES = {"opens": "0s", "deadline": "30d", "draw": "1d", "scored": "7d", "result": "3d"}
EVALUATORS = ("ana", "bo", "cleo")
PROMISED_S, LOOK_S = 12.0, 0.1


@dataclass(slots=True, kw_only=True)
class CompetitionScenario:
    """The ledger, everybody's folders, and the messages of all commands."""

    url: str
    clock: SettableClock
    folder: Path
    organisers: tuple[Path, Path]
    messages: list[str] = field(default_factory=list)

    @property
    def log(self) -> LedgerReader:
        """A log that nobody has read yet."""
        return LedgerReader(self.url)

    def view(self) -> CompetitionView:
        """The competition as the log has it now."""
        return self.log.wait_for(None)

    def go_to(self, date: str) -> None:
        """Let that date of the rules be over, and the ledger look at its clock."""
        dates = self.view().rules.dates
        self.clock.go_to(getattr(dates, date) + 1_000)
        folder = self.folder / f"passer-by-{date}"
        folder.mkdir(mode=0o700)
        trio.run(_pass_by, self.url, folder)

    def until(self, is_so: Callable[[CompetitionView], bool]) -> CompetitionView:
        """Wait for the log to say so."""
        reader, deadline_s = self.log, time.monotonic() + allowed_s(PROMISED_S)
        while not is_so(view := reader.wait_for(None)):
            assert time.monotonic() < deadline_s, view.phase
            time.sleep(LOOK_S)
        return view

    def opened(self, **dates: str) -> CompetitionRules:
        """Seal, make the rules, and open as two organisers."""
        sealed = self.folder / "sealed"
        texts = self.folder / "texts"
        texts.mkdir()
        for number in range(DOCUMENTS):
            body = "".join(f"    x = {number} + {at}\n" for at in range(12))
            (texts / f"{number}.txt").write_text(f"def f_{number}():\n{body}")
        source = rows.open_documents(str(texts), rows.ReadOptions(), 1_000)
        sealing.seal(source, sealed, needed=NEEDED, shares=SHARES)
        keys = [opening.organiser_key(self.custodian(at)) for at in range(1, SHARES + 1)]
        lines = [f'{name} = "{length}"' for name, length in (DATES | dates).items()]
        text = "\n".join(
            (
                'name = "Small"',
                f"custodians = {keys}",
                "[dates]",
                *lines,
                f"[scoring]\nwindow = 32\nstride = 16\ndocuments = {DRAWN}\nevaluators = 3",
            )
        )
        (self.folder / "plan.toml").write_text(text)
        rules_file = self.folder / "rules.json"
        plan.write_rules(self.folder / "plan.toml", sealed, rules_file, now_ms())
        rules, said = plan.open_competition(self.url, rules_file, sealed, self.organisers, None)
        self.messages.append(said)
        return rules

    def custodian(self, number: int) -> Path:
        """A custodian's folder."""
        return self.folder / f"custodian-{number}"

    def share(self, number: int) -> Path:
        """A custodian's share."""
        return self.folder / "sealed" / f"share-{number}-of-{SHARES}.txt"

    def enter(self, name: str, repo: str) -> None:
        """Enter with a model from elsewhere, and submit it."""
        folder = self.folder / name
        self.messages.append(participation.enter(self.log, None, name, None, folder))
        said = participation.submit_repository(self.log, None, name, repo, None, folder)
        self.messages.append(said)

    def reveal(self, number: int) -> None:
        """Show a share."""
        said = participation.reveal(self.log, None, self.share(number), self.custodian(number))
        self.messages.append(said)

    def evaluate(self, name: str) -> bool:
        """Let an evaluator's program take one step; whether it would go on."""
        return self.step(name, NoProgress())

    def step(self, name: str, progress: NoProgress) -> bool:
        """The same, with a callback for progress."""
        with self.at_work(name, progress) as (evaluator, view):
            return evaluator.step(view)

    def follow(self, name: str) -> None:
        """Let a program that follows all competitions see this one."""
        with self.at_work(name, NoProgress()) as (evaluator, view):
            evaluator.offer(view)

    @contextmanager
    def at_work(
        self, name: str, progress: NoProgress
    ) -> Iterator[tuple[Evaluator, CompetitionView]]:
        """An evaluator who has just read the log."""
        folder = self.folder / name
        with locked(folder):
            reader = self.log
            view = reader.wait_for(None)
            means = EvaluatorContext(
                folder=folder,
                device=device.open_device("cpu"),
                progress=progress,
                report=lambda line: self.messages.append(f"{name}: {line}"),
            )
            yield Evaluator(reader, means, FolderSubmitter(self.url, folder)), view

    def decide(self, organisers: Sequence[Path]) -> CompetitionOutcome:
        """Compute the outcome and state it."""
        log = self.log
        view, outcome = competition_outcome.compute_from_log(log, None)
        self.messages.append(competition_outcome.log_outcome(log, view, outcome, organisers, None))
        return outcome


async def _pass_by(url: str, folder: Path) -> None:
    """Register a key, for the ledger to look up from its sleep."""
    async with LedgerApi(url) as api:
        signer = identity.load_or_create(folder)
        async with Outbox(api, folder, signer) as outbox:
            await outbox.register()
