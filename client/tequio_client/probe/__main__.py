"""Start a probe: `python -m tequio_client.probe [--every-s 1]`, driven over pipes."""

import argparse
import signal
from pathlib import Path

from tequio_client.platform import child


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="tequio_client.probe", description=__doc__)
    parser.add_argument(
        "--every-s",
        type=float,
        default=1.0,
        help="seconds between two lines while the worker computes",
    )
    parser.add_argument("--sys", type=Path, default=Path("/sys"), help="root of sysfs")
    parser.add_argument("--proc", type=Path, default=Path("/proc"), help="root of procfs")
    return parser.parse_args()


if __name__ == "__main__":
    arguments = _arguments()
    child.end_with_parent()  # before the imports
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the parent, whose end is ours

    from tequio_client.probe.machine import Machine, serve
    from tequio_client.probe.sources import sources

    serve(Machine(sources(arguments.sys, arguments.proc)), max(arguments.every_s, 0.05))
