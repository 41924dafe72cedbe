"""The real `tequio`, and the evaluator that its worker starts, with a clock that a test sets.

    python -m tests.support.worker_with_clock CLOCK ARGUMENTS...

It polls the ledger at short intervals. The evaluator scores one document at a time and then waits
until there is a file `free` beside the clock; it writes a line to the file `scored` there for each
document in its journal.
"""

from __future__ import annotations

import os
import sys
import time
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from tequio_client.platform import sandbox

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from tequio_client.trainer.likelihood import ScoredModel, ScoringDevice
    from tequio_shared.scoring import DocumentScore, ScoringRules


_EVALUATOR = "evaluator"


def program(clock: Path, *arguments: str) -> list[str]:
    """The command, with the clock in that file."""
    return [sys.executable, "-m", "tests.support.worker_with_clock", str(clock), *arguments]


def main() -> None:
    """Run `tequio`, or its evaluator."""
    file = Path(sys.argv.pop(1))
    confined = _confine(file.parent) if sys.argv[1:] == [_EVALUATOR] else ""
    from tequio_client import clock  # noqa: PLC0415 - only as a program
    from tests.support.settable_clock import SettableClock  # noqa: PLC0415 - after the sandbox

    vars(clock)["time"] = SettableClock(file)
    if sys.argv[1:] == [_EVALUATOR]:
        _evaluate(file.with_name("scored"), confined)
    from tequio_client.__main__ import cli  # noqa: PLC0415 - as above
    from tequio_client.worker import evaluate  # noqa: PLC0415 - as above
    from tequio_client.worker.children import evaluator  # noqa: PLC0415 - as above

    vars(evaluator)["EVALUATOR"] = tuple(program(file, _EVALUATOR))
    evaluate.POLL_S = evaluate.POLL_SOON_S = evaluate.RETRY_S = 0.3
    cli()


def _confine(journals: Path) -> str:
    """Enter the sandbox with the worker's own rules, and the folder of the journals to write."""
    rules = sandbox.SandboxRules.parse(os.environ[sandbox.VARIABLE])
    rules = replace(rules, writes=(*rules.writes, str(journals)))
    return sandbox.enter({sandbox.VARIABLE: rules.encode()})


def _evaluate(scored: Path, confined: str) -> None:
    from tequio_client.competition import child  # noqa: PLC0415 - brings torch
    from tequio_client.platform import child as platform_child  # noqa: PLC0415 - as above
    from tequio_client.trainer import likelihood  # noqa: PLC0415 - as above

    platform_child.end_with_parent()
    child.POLL_S, child.IDLE_S = 0.2, 0.5
    likelihood.score_documents = partial(_one_by_one, likelihood.score_documents, scored)
    child.main(sandbox=confined)


def _one_by_one(
    score: Callable[..., Iterator[DocumentScore]],
    scored: Path,
    model: ScoredModel,
    texts: Iterable[str],
    rules: ScoringRules,
    means: ScoringDevice,
) -> Iterator[DocumentScore]:
    for text in texts:
        if "(" not in text:  # random text, on which the model is tried: not of the set
            yield from score(model, [text], rules, means)
            continue
        for found in score(model, [text], rules, means):
            yield found
            with scored.open("a") as file:
                file.write(f"{model.folder.parent.name} {text.split('(')[0]}\n")
            while not scored.with_name("free").exists():
                time.sleep(0.05)


if __name__ == "__main__":
    main()
