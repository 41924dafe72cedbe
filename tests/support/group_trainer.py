"""A stand-in for the trainer of private texts, which does what the name of its data folder says.

`well`: deltas of the request's number; `fails`: a refusal; `dies`: an exit; `hangs`: no answer;
`short`: a delta with one number too few.
"""

from __future__ import annotations

import sys
import time
from pathlib import Path

import numpy as np

from tequio_client.ipc import private
from tequio_client.ipc.private import LocalTrained, LocalTraining, PrivateFailed, PrivateHello


def main() -> None:
    write(PrivateHello(pid=1, software="stub"))
    for line in sys.stdin.buffer:
        request = private.decode_request(line)
        with (Path(request.state) / "asked").open("a") as file:
            file.write(f"{request.command}\n")
        (Path(request.state) / "tokenizer").write_text(request.tokenizer or "none")
        match Path(request.data).name:
            case "dies":
                sys.exit(3)
            case "hangs":
                time.sleep(60)
            case "fails":
                write(
                    PrivateFailed(
                        command=request.command, code="input", reason=f"nothing in {request.data}"
                    )
                )
            case name:
                train(request, short=name == "short")


def train(request: LocalTraining, *, short: bool) -> None:
    size = Path(request.weights).stat().st_size // 4 - short
    np.full(size, request.command, "<i4").tofile(request.delta_out)
    write(
        LocalTrained(
            command=request.command,
            round=request.round,
            loss=2.5,
            loss_first=3.0,
            samples=1,
            tokens=1,
            dataset=1,
            epsilon=None,
            delta=None,
            seconds=0.0,
        )
    )


def write(report: private.PrivateReport) -> None:
    sys.stdout.buffer.write(private.encode(report))
    sys.stdout.buffer.flush()


if __name__ == "__main__":
    main()
