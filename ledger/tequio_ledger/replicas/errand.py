"""Work in a thread that is seen to its end even when nobody wants its result any more."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, ParamSpec, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable

PATIENCE_S = 1.0
P = ParamSpec("P")
R = TypeVar("R")


async def run(work: Callable[P, R], *given: P.args, **named: P.kwargs) -> R:
    """Run it in a thread; when cancelled, wait a little until it has put its connection back."""
    errand = asyncio.ensure_future(asyncio.to_thread(work, *given, **named))
    try:
        return await asyncio.shield(errand)
    except asyncio.CancelledError:
        done, _ = await asyncio.wait({errand}, timeout=PATIENCE_S)
        for one in done:
            one.exception()  # asked for: nobody else will
        raise
