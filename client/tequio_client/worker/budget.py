"""A byte budget: a token bucket that caps what goes up or comes down in a second."""

from __future__ import annotations

import trio

from tequio_shared.errors import RefusedError


class ByteBudget:
    """At most `bytes_per_s` over time, and `burst_bytes` at once; None is no cap.

    Takers are served in order. More than a burst may be taken: it is paid off afterwards, so
    that one piece larger than the burst still passes.
    """

    def __init__(self, bytes_per_s: float | None = None, *, burst_bytes: int = 1 << 20) -> None:
        self._burst = burst_bytes
        self._free_at = -1e9  # when the bucket was or will be full again, in trio's time
        self._rate: float | None = None
        self.limit(bytes_per_s)

    def limit(self, bytes_per_s: float | None) -> None:
        """Have another rate from now on; who waits already waits as long as it was told."""
        if bytes_per_s is not None and bytes_per_s <= 0:
            raise RefusedError("bad-budget", f"{bytes_per_s} bytes a second")
        self._rate = bytes_per_s

    def wait_s(self) -> float:
        """How long a taker would have to wait now."""
        if self._rate is None:
            return 0.0
        return max(0.0, self._free_at - self._burst / self._rate - trio.current_time())

    async def take(self, size_bytes: int) -> None:
        """Return when `size_bytes` may pass."""
        if self._rate is None:
            await trio.lowlevel.checkpoint()
            return
        wait = self.wait_s()
        self._free_at = max(self._free_at, trio.current_time()) + size_bytes / self._rate
        await trio.sleep(wait)
