"""As `windows_program`, with all that runs a model: forked, it need not load torch, for seconds."""

from __future__ import annotations

import tequio_client.checkpoint.serving.service
import tequio_client.trainer.conversation  # noqa: F401 - as above
from tests.support.windows_program import main

__all__ = ["main"]
