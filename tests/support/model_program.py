"""The command `tequio` with all that runs a model: forked, it need not load torch, for seconds."""

from __future__ import annotations

import tequio_client.checkpoint.serving.service
import tequio_client.trainer.conversation  # noqa: F401 - as above
from tequio_client.__main__ import main

__all__ = ["main"]
