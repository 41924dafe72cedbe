"""Task files of multiple-choice questions: from lm-evaluation-harness, or from JSON lines.

The harness builds the prompts of its own tasks, so that a file holds the very requests that it
would send to a model. Its package is not among our requirements (docs/scoring.md says why, and how
to install it beside them); a file that was built once needs it no longer.
"""

from __future__ import annotations

import importlib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from importlib import metadata
from itertools import groupby
from pathlib import Path
from typing import Annotated, Any

import msgspec

from tequio_client.names import clean_text
from tequio_shared import encoding
from tequio_shared.errors import MalformedError, UserFacingError
from tequio_shared.ids import sha256, to_text
from tequio_shared.limits import BLOB_BYTES
from tequio_shared.multiple_choice import CHOICES, ChoiceQuestion, ChoiceTask, MeasuredTask

SUFFIX = ".task"
_WHY_CHARS = 300
_OUTPUT = "multiple_choice"
_FEWSHOT_SEED = 1234  # the default of lm_eval.simple_evaluate
_THEIRS = (OSError, ValueError, LookupError, TypeError, AttributeError, ImportError, RuntimeError)
"""Errors of the harness, of its tasks' code, and of the library that reads their data sets."""


class ChoiceLine(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """A question as a person writes it; choices follow the context after a blank."""

    context: str
    choices: Annotated[
        tuple[Annotated[str, msgspec.Meta(min_length=1)], ...],
        msgspec.Meta(min_length=2, max_length=CHOICES),
    ]
    right: Annotated[int, msgspec.Meta(ge=0)]


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskFile:
    hash: str
    """SHA-256 of the file."""
    task: ChoiceTask
    raw: bytes

    @property
    def described(self) -> MeasuredTask:
        return MeasuredTask.of(self.raw)

    @property
    def texts(self) -> list[str]:
        """Each question with its right choice."""
        return ["".join(one.requests[one.right]) for one in self.task.questions]


def read_task_files(paths: Sequence[Path]) -> tuple[TaskFile, ...]:
    """Read task files; raises UserFacingError for one that is not valid, or given twice."""
    found: dict[str, TaskFile] = {}
    for path in paths:
        try:
            if path.stat().st_size > BLOB_BYTES:
                raise UserFacingError(
                    f"{path} has {path.stat().st_size:,} bytes, but a task may have at most "
                    f"{BLOB_BYTES:,}; draw fewer questions (tequio data tasks --questions)"
                )
            raw = path.read_bytes()
        except OSError as err:
            raise UserFacingError(f"cannot read {path}: {err.strerror}") from err
        try:
            one = TaskFile(hash=to_text(sha256(raw)), task=ChoiceTask.parse(raw), raw=raw)
        except MalformedError as err:
            raise UserFacingError(
                f"{path} is not a task ({err}); write one with `tequio data tasks`"
            ) from err
        if one.hash in found:
            raise UserFacingError(f"{path} is given twice, or equals another task: leave one out")
        found[one.hash] = one
    return tuple(found.values())


def read_lines(path: Path, name: str) -> ChoiceTask:
    """Make a task of JSON lines; raises UserFacingError with the number of a wrong line."""
    try:
        lines = path.read_bytes().splitlines()
    except OSError as err:
        raise UserFacingError(f"cannot read {path}: {err.strerror}") from err
    questions = []
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        try:
            questions.append(_question(encoding.read(line, ChoiceLine)))
        except (ValueError, MalformedError) as err:
            raise UserFacingError(
                f"{path}: line {number} is not a question ({err}); expected an object such as "
                '{"context": "Two and two are", "choices": ["three", "four"], "right": 1}'
            ) from err
    return _task(name, path.name, questions)


def harness_tasks(name: str, shots: int | None) -> Iterator[ChoiceTask]:
    """Build the tasks of a name of lm-evaluation-harness, which may be a group of several.

    `shots` is the number of examples before each question; None: what the task itself says. The
    harness downloads what it needs. Raises UserFacingError.
    """
    try:
        library: Any = importlib.import_module("lm_eval.tasks")
    except ImportError as err:
        raise UserFacingError(
            f"lm-evaluation-harness cannot be used here ({err}): docs/scoring.md says how to "
            "install it, or give your own questions with --lines"
        ) from err
    try:
        found: dict[str, Any] = library.TaskManager().load([name])["tasks"]
    except _THEIRS as err:
        raise UserFacingError(
            f"lm-evaluation-harness cannot load {clean_text(name, 60)}: {_why(err)}"
        ) from err
    for task in found.values():
        yield harness_task(task, shots)


def harness_task(
    task: Any,  # noqa: ANN401 - lm_eval.api.task.Task: the library is not always installed
    shots: int | None,
) -> ChoiceTask:
    """Turn a task of lm-evaluation-harness into a file's content; raises UserFacingError."""
    name = str(task.config.task)
    if task.OUTPUT_TYPE != _OUTPUT or callable(task.config.process_results):
        raise UserFacingError(
            f"{name} is a task of the kind {task.OUTPUT_TYPE} with its own way to count: only "
            f"{_OUTPUT} with the harness's accuracy can be used; name another task"
        )
    # As lm_eval.simple_evaluate does it: a task that states 0 examples keeps them.
    if shots is not None and task.config.num_fewshot != 0:
        task.set_config(key="num_fewshot", value=shots)
    task.set_fewshot_seed(seed=_FEWSHOT_SEED)
    try:
        task.build_all_requests()
        questions = [
            _of_instances(task, list(group))
            for _, group in groupby(task.instances, key=lambda one: one.doc_id)
        ]
    except _THEIRS as err:
        raise UserFacingError(
            f"lm-evaluation-harness cannot build the questions of {name}: {_why(err)}"
        ) from err
    examples = task.config.num_fewshot or 0
    source = (
        f"lm-evaluation-harness {metadata.version('lm_eval')}, {name} version {task.VERSION}, "
        f"{examples} examples"
    )
    return _task(name, source, questions)


def _of_instances(task: Any, instances: Sequence[Any]) -> ChoiceQuestion:  # noqa: ANN401 - as above
    doc = instances[0].doc
    choices = [str(one) for one in task.doc_to_choice(doc)]
    ordered = sorted(instances, key=lambda one: one.idx)
    # A task may ask for the choices without their context too, behind those with it.
    requests = [one.args for one in ordered[: len(choices)]]
    if any(len(one) != 2 for one in requests):  # noqa: PLR2004 - context and continuation
        raise UserFacingError(
            f"{task.config.task} has pictures or sounds beside its text: name another task"
        )
    right = task.doc_to_text(doc) if task.multiple_input else task.doc_to_target(doc)
    if isinstance(right, str) and right in choices:
        right = choices.index(right)
    if not isinstance(right, int) or isinstance(right, bool) or not 0 <= right < len(choices):
        raise UserFacingError(
            f"{task.config.task} has no single right choice for a question ({right!r:.60}): name "
            "another task"
        )
    contexts, continuations = zip(*requests, strict=True)
    return ChoiceQuestion(
        characters=tuple(map(len, choices)),
        contexts=_once(contexts),
        continuations=_once(continuations),
        right=right,
    )


def _question(line: ChoiceLine) -> ChoiceQuestion:
    return ChoiceQuestion(
        characters=tuple(map(len, line.choices)),
        contexts=(line.context,),
        continuations=tuple(f" {one}" for one in line.choices),
        right=line.right,
    )


def _once(texts: Sequence[str]) -> tuple[str, ...]:
    return tuple(texts[:1]) if len(set(texts)) == 1 else tuple(texts)


def _task(name: str, source: str, questions: Iterable[ChoiceQuestion]) -> ChoiceTask:
    built = ChoiceTask(name=name, source=source, questions=tuple(questions))
    try:
        # The constructor checks no field: names and counts are checked where bytes become a task.
        return ChoiceTask.parse(built.encode())
    except MalformedError as err:
        raise UserFacingError(f"no task can be made of {clean_text(source, 60)}: {err}") from err


def _why(err: Exception) -> str:
    return str(err).partition("\n")[0][:_WHY_CHARS] or type(err).__name__
