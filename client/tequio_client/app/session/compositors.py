"""The full screen under Sway and Hyprland, by the sockets that they open for their user."""

from __future__ import annotations

import json
import socket
import struct
from pathlib import Path
from typing import TYPE_CHECKING

from tequio_client.app.session.programs import name_of
from tequio_client.system.errors import AbsentError, UnknownError

if TYPE_CHECKING:
    from collections.abc import Mapping

TIMEOUT_S = 1.0
_MAGIC = b"i3-ipc"
_GET_TREE = 4
_MOST_BYTES = 8 << 20
_WINDOWS = {"con", "floating_con"}
_FULL = 2  # of Hyprland; 1 is only maximised


class SwayFullscreen:
    """The program of the focused container, if it fills its screen."""

    source = "sway"

    def __init__(self, environ: Mapping[str, str], timeout_s: float = TIMEOUT_S) -> None:
        self._environ, self._timeout_s = environ, timeout_s

    def read(self) -> str:
        """See Probe."""
        path = self._environ.get("SWAYSOCK", "")
        if not path:
            raise AbsentError("this session is not Sway's")
        asked = _MAGIC + struct.pack("=II", 0, _GET_TREE)
        head_size = len(_MAGIC) + 8
        said = _exchanged(path, asked, self._timeout_s, head_size)
        return _focused(_parsed(said[head_size:]))


class HyprlandFullscreen:
    """The program of the active window, if it fills its screen."""

    source = "hyprland"

    def __init__(self, environ: Mapping[str, str], timeout_s: float = TIMEOUT_S) -> None:
        self._environ, self._timeout_s = environ, timeout_s

    def read(self) -> str:
        """See Probe."""
        instance = self._environ.get("HYPRLAND_INSTANCE_SIGNATURE", "")
        if not instance:
            raise AbsentError("this session is not Hyprland's")
        folder = Path(self._environ.get("XDG_RUNTIME_DIR", "/")) / "hypr" / instance
        said = _exchanged(str(folder / ".socket.sock"), b"j/activewindow", self._timeout_s, None)
        window = _parsed(said)
        state = window.get("fullscreen")  # true in older versions, where 1 is no truth
        if state is not True and state != _FULL:
            return ""
        return _named(window.get("pid"), window.get("class"))


def _focused(tree: dict[str, object]) -> str:
    """Follow the focus down the tree: any container on the way may be what fills the screen."""
    node: dict[str, object] | None = tree
    is_full = False
    while node is not None:
        if node.get("type") in _WINDOWS:  # a workspace always calls itself full screen
            is_full = is_full or bool(node.get("fullscreen_mode"))
        if node.get("focused"):
            return _named(node.get("pid"), node.get("app_id")) if is_full else ""
        focus = _listed(node, "focus")[:1]
        children = _listed(node, "nodes") + _listed(node, "floating_nodes")
        below = (child for child in children if isinstance(child, dict))
        node = next((child for child in below if [child.get("id")] == focus), None)
    return ""


def _listed(node: dict[str, object], key: str) -> list[object]:
    found = node.get(key)
    return found if isinstance(found, list) else []


def _named(pid: object, fallback: object) -> str:
    return (name_of(pid) if isinstance(pid, int) else "") or str(fallback or "?")[:256]


def _parsed(content: bytes) -> dict[str, object]:
    try:
        value = json.loads(content)
    except (ValueError, RecursionError) as err:
        raise UnknownError(f"the compositor answered no JSON: {err}") from err
    if not isinstance(value, dict):
        raise UnknownError("the compositor answered something else than an object")
    return value


def _exchanged(path: str, asked: bytes, timeout_s: float, head_size: int | None) -> bytes:
    """Say that; all that is answered: as much as its head tells, or until the other side ends."""
    said = b""
    try:
        with socket.socket(socket.AF_UNIX) as line:
            line.settimeout(timeout_s)
            line.connect(path)
            line.sendall(asked)
            while len(said) < _MOST_BYTES and (more := line.recv(65_536)):
                said += more
                if head_size and len(said) >= head_size:
                    (length,) = struct.unpack_from("=I", said, len(_MAGIC))
                    if len(said) >= head_size + length:
                        break
    except FileNotFoundError as err:
        raise AbsentError(f"no compositor at {path}") from err
    except OSError as err:
        raise UnknownError(f"the compositor did not answer: {err}") from err
    return said
