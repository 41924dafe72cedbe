"""Most memory that tensors on the CPU take at once, as torch's profiler records it."""

from __future__ import annotations

import json
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

import torch

if TYPE_CHECKING:
    from collections.abc import Callable


def peak_bytes(work: Callable[[], None]) -> int:
    """Most bytes that tensors had at once during the work."""
    with torch.profiler.profile(
        activities=[torch.profiler.ProfilerActivity.CPU], profile_memory=True
    ) as profile:
        work()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "trace.json"
        profile.export_chrome_trace(str(path))
        events = json.loads(path.read_bytes())["traceEvents"]
    changes = [(one["ts"], one["args"]["Bytes"]) for one in events if one["name"] == "[memory]"]
    now = most = 0
    for _, change in sorted(changes, key=lambda one: one[0]):
        now += change
        most = max(most, now)
    return most
