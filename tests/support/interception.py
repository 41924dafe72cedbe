"""Hooks before and after a real function, for programs that a test kills at a named place.

A program wraps its own functions from outside: the code under test has no test hooks. Places hold
the functions themselves, not their names, so that a rename reaches them.
"""

from __future__ import annotations

import functools
import inspect
import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

    Hook = Callable[..., object]


@dataclass(frozen=True, slots=True, kw_only=True)
class CallPlace:
    """Before or after the n-th call of a function whose arguments match."""

    function: Callable[..., Any]
    is_after: bool
    passage: int = 1
    matches: Callable[..., bool] = lambda *_: True

    def arm(self, strike: Callable[[], None]) -> None:
        """Call `strike` when the program gets to this place."""
        left = [self.passage]

        def pass_(*arguments: object) -> None:
            if self.matches(*arguments):
                left[0] -= 1
                if left[0] == 0:
                    strike()

        if self.is_after:
            intercept_function(self.function, after=pass_)
        else:
            intercept_function(self.function, before=pass_)


def before(
    function: Callable[..., Any],
    matches: Callable[..., bool] = lambda *_: True,
    *,
    passage: int = 1,
) -> CallPlace:
    """Name the place just before a call."""
    return CallPlace(function=function, is_after=False, passage=passage, matches=matches)


def after(
    function: Callable[..., Any],
    matches: Callable[..., bool] = lambda *_: True,
    *,
    passage: int = 1,
) -> CallPlace:
    """Name the place where a call has done its work and its caller has no answer yet."""
    return CallPlace(function=function, is_after=True, passage=passage, matches=matches)


def intercept(
    owner: object, name: str, *, before: Hook | None = None, after: Hook | None = None
) -> None:
    """Replace `owner.name` with a wrapper; the hooks get the positional arguments.

    After two interceptions of one function, the hooks of both run.
    """
    real = getattr(owner, name)
    first, last = before or _do_nothing, after or _do_nothing

    @functools.wraps(real)
    def call(*arguments: object, **named: object) -> object:
        first(*arguments)
        outcome = real(*arguments, **named)
        last(*arguments)
        return outcome

    @functools.wraps(real)
    async def call_async(*arguments: object, **named: object) -> object:
        first(*arguments)
        outcome = await real(*arguments, **named)
        last(*arguments)
        return outcome

    setattr(owner, name, call_async if inspect.iscoroutinefunction(real) else call)


def intercept_function(
    function: Callable[..., Any], *, before: Hook | None = None, after: Hook | None = None
) -> None:
    """Replace a function in the module or class that defines it."""
    intercept(*_owner_and_name(function), before=before, after=after)


def _do_nothing(*_: object) -> None:
    pass


def _owner_and_name(function: Callable[..., Any]) -> tuple[object, str]:
    *path, name = function.__qualname__.split(".")
    owner: object = sys.modules[function.__module__]
    for part in path:
        owner = getattr(owner, part)
    return owner, name
