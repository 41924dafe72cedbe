"""The parts of py-libp2p that Tequio neither installs nor loads; import this before libp2p.

`libp2p/__init__` of 0.8.1 imports every transport, key type and discovery service, and with them
packages that a host with TCP, Noise, Yamux and gossip never calls: a C library for keys of another
kind, a QUIC stack, a WebSocket server, mDNS, UPnP. They are not in our lock (installer/uv.toml),
and in their place the library finds empty modules. Whatever it imports from one of them is an
exception class, because the library names some in `except` and `isinstance`; nothing matches it,
and creating one raises it. docs/decisions/0025 proposes upstream what would end this file.
"""

from __future__ import annotations

import importlib.abc
import importlib.machinery
import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence
    from types import ModuleType

PARTS = (
    "libp2p.crypto.secp256k1",  # keys of this kind are refused anyway: ours are Ed25519
    "libp2p.discovery.mdns",
    "libp2p.discovery.upnp",
    "libp2p.kad_dht",
    "libp2p.security.secio",
    "libp2p.security.tls",
    "libp2p.transport.quic",
    "libp2p.transport.websocket",
)


class _Placeholder(type):
    """The type of a class that stands for something of a part: calls and attributes raise it."""

    def __call__(cls, *_args: object, **_names: object) -> object:
        missing = f"{cls.__module__}.{cls.__name__} is not installed: no part of Tequio uses it"
        raise super().__call__(missing)

    def __getattr__(cls, name: str) -> _Placeholder:
        if name.startswith("__"):
            raise AttributeError(name)
        return _placeholder(cls.__module__, f"{cls.__name__}.{name}")


class _Parts(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Finds each of the parts, and every module in it, as an empty module."""

    def find_spec(
        self, fullname: str, _path: Sequence[str] | None, _target: ModuleType | None = None
    ) -> importlib.machinery.ModuleSpec | None:
        if not any(fullname == part or fullname.startswith(f"{part}.") for part in PARTS):
            return None
        return importlib.machinery.ModuleSpec(fullname, self, is_package=True)

    def create_module(self, _spec: importlib.machinery.ModuleSpec) -> None:
        """Leave it to the import system."""

    def exec_module(self, module: ModuleType) -> None:
        def find(name: str) -> _Placeholder:
            if name.startswith("__"):  # the import system asks for __path__ and __file__
                raise AttributeError(name)
            return _placeholder(module.__name__, name)

        module.__getattr__ = find  # type: ignore[method-assign]  # as PEP 562 has it


def _placeholder(module: str, name: str) -> _Placeholder:
    return _Placeholder(name, (Exception,), {"__module__": module})


sys.meta_path.insert(0, _Parts())
