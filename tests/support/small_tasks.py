"""Tasks of multiple-choice questions that are written in a moment."""

from __future__ import annotations

from tequio_shared.multiple_choice import ChoiceQuestion, ChoiceTask

_WORDS = ("milpa", "mano", "metate", "masa", "camino", "cargo", "pueblo", "monte")


def small_task(questions: int = 20, *, name: str = "words", choices: int = 4) -> ChoiceTask:
    """A task whose questions differ in context and right choice; the same ones every time."""
    return ChoiceTask(
        name=name,
        source="a test",
        questions=tuple(_question(number, choices) for number in range(questions)),
    )


def _question(number: int, choices: int) -> ChoiceQuestion:
    words = [_WORDS[(number + 3 * at) % len(_WORDS)] for at in range(choices)]
    return ChoiceQuestion(
        characters=tuple(map(len, words)),
        contexts=(f"{number} {_WORDS[number % 5]} {_WORDS[number % 7]}",),
        continuations=tuple(f" {word}" for word in words),
        right=number % choices,
    )
