"""A private D-Bus for tests, with services that answer, lie, hang or are missing.

The daemon and every service are processes: the tested code talks to them as it does on a desktop.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pathlib import Path
    from typing import Self

Typed = tuple[str, Any]
"""A D-Bus signature and its value."""
_CONFIG = """
<busconfig>
  <type>session</type>
  <listen>unix:path={socket}</listen>
  <auth>EXTERNAL</auth>
  <policy context="default">
    <allow user="root"/>
    <allow send_destination="*" eavesdrop="true"/>
    <allow eavesdrop="true"/>
    <allow own="*"/>
  </policy>
</busconfig>
"""


class PrivateBus:
    """One bus; leaving the block ends it and all its services."""

    def __init__(self, folder: Path, owner: int | None = None) -> None:
        """`owner`: the user who may use it besides root; None: the one that starts it."""
        socket = folder / "bus"
        config = folder / "bus.conf"
        config.write_text(_CONFIG.format(socket=socket))
        command = ["dbus-daemon", f"--config-file={config}", "--nofork", "--print-address=1"]
        self._daemon = subprocess.Popen(
            command, stdout=subprocess.PIPE, text=True, user=owner, group=owner
        )
        assert self._daemon.stdout is not None
        self._daemon.stdout.readline()
        self.address = f"unix:path={socket}"
        self._services: dict[str, subprocess.Popen[str]] = {}

    def serve(
        self,
        name: str,
        *,
        properties: dict[str, Typed] | None = None,
        methods: dict[str, Typed] | None = None,
        hangs: bool = False,
    ) -> None:
        """Own that name and answer at every path; replaces an earlier service of that name."""
        self.stop(name)
        described = {"properties": properties or {}, "methods": methods or {}, "hangs": hangs}
        command = [sys.executable, "-m", "tests.support.bus_service", name, json.dumps(described)]
        service = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env=os.environ | {"DBUS_SESSION_BUS_ADDRESS": self.address},
        )
        assert service.stdout is not None
        assert service.stdout.readline() == "ready\n"
        self._services[name] = service

    def signal(self, name: str, path: str, interface: str, member: str, value: Typed) -> None:
        """Have the service of that name broadcast a signal."""
        stdin = self._services[name].stdin
        assert stdin is not None
        stdin.write(json.dumps([path, interface, member, *value]) + "\n")
        stdin.flush()

    def wait_called(self, name: str, member: str, timeout_s: float) -> bool:
        """Wait until that method is called; False after `timeout_s` without a call."""
        called, output = threading.Event(), self._services[name].stdout

        def read() -> None:
            for line in output or ():
                if line.strip() == member:
                    called.set()
                    return

        threading.Thread(target=read, daemon=True).start()
        return called.wait(timeout_s)

    def calls(self, name: str) -> list[str]:
        """Every called method of the service, in order; ends the service."""
        service = self._services.pop(name)
        output, _ = service.communicate(timeout=10)
        return output.split()

    def stop(self, name: str) -> None:
        """End the service of that name, if it runs."""
        if service := self._services.pop(name, None):
            service.kill()
            service.communicate()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        for name in list(self._services):
            self.stop(name)
        self._daemon.kill()
        self._daemon.communicate()
