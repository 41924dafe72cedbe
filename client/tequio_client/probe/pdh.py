"""DXGI and the performance counters of Windows, by ctypes.

One query lasts as long as the probe: a rate needs two samples. A wildcard takes in programs that
start later. Structures and numbers are those of dxgi.h and pdh.h, for 64-bit programs.
"""

from __future__ import annotations

import ctypes
from typing import TYPE_CHECKING, cast

from tequio_client.probe.windows_cards import Adapter, Counters
from tequio_client.system.errors import UnknownError
from tequio_client.system.libraries import windows_library

if TYPE_CHECKING:
    from collections.abc import Callable

ENGINES = r"\GPU Engine(*)\Utilization Percentage"
USED = r"\GPU Adapter Memory(*)\Dedicated Usage"
_DOUBLE, _UNCAPPED = 0x200, 0x8000
_MORE_DATA = 0x800007D2
_NOTHING_YET = {0xC0000BC6, 0xC0000BBA, 0x800007D5}  # invalid until the second sample; no data
_VALID = {0, 1}
_FACTORY1 = bytes.fromhex("78ae0a77 6ff2 ba4d a829 253c83d1b387")
_ENUM_ADAPTERS1, _GET_DESC1, _RELEASE = 12, 10, 2
_NOT_FOUND = 0x887A0002
_MOST = 64


class _Luid(ctypes.Structure):
    _fields_ = [  # type: ignore[mutable-override]  # typeshed's declaration is wider
        ("low", ctypes.c_uint32),
        ("high", ctypes.c_int32),
    ]


class _AdapterDesc1(ctypes.Structure):
    _fields_ = [  # type: ignore[mutable-override]  # typeshed's declaration is wider
        ("name", ctypes.c_uint16 * 128),
        ("maker", ctypes.c_uint32),
        ("device", ctypes.c_uint32),
        ("subsystem", ctypes.c_uint32),
        ("revision", ctypes.c_uint32),
        ("own_bytes", ctypes.c_size_t),
        ("system_bytes", ctypes.c_size_t),
        ("shared_bytes", ctypes.c_size_t),
        ("luid", _Luid),
        ("flags", ctypes.c_uint32),
    ]


class _CounterItem(ctypes.Structure):
    _fields_ = [  # type: ignore[mutable-override]  # typeshed's declaration is wider
        ("name", ctypes.c_wchar_p),
        ("status", ctypes.c_uint32),
        ("value", ctypes.c_double),
    ]


class WindowsLibraries:
    """The lasting query; see Windows."""

    def __init__(self) -> None:
        self._pdh = windows_library("pdh")
        self._dxgi = windows_library("dxgi")
        self._query = ctypes.c_void_p()
        self._engines = ctypes.c_void_p()
        self._used = ctypes.c_void_p()
        self._done("PdhOpenQueryW", self._pdh.PdhOpenQueryW(None, 0, ctypes.byref(self._query)))
        for path, counter in ((ENGINES, self._engines), (USED, self._used)):
            added = self._pdh.PdhAddEnglishCounterW(
                self._query, ctypes.c_wchar_p(path), 0, ctypes.byref(counter)
            )
            self._done(f"the counter {path}", added)

    def adapters(self) -> tuple[Adapter, ...]:
        """See Windows."""
        factory = ctypes.c_void_p()
        made = self._dxgi.CreateDXGIFactory1(
            ctypes.create_string_buffer(_FACTORY1, 16), ctypes.byref(factory)
        )
        self._done("CreateDXGIFactory1", made)
        found = []
        try:
            for index in range(_MOST):
                adapter = ctypes.c_void_p()
                result = _method(factory, _ENUM_ADAPTERS1, ctypes.c_uint32, ctypes.c_void_p)(
                    factory, index, ctypes.addressof(adapter)
                )
                if result & 0xFFFFFFFF == _NOT_FOUND:
                    break
                self._done("EnumAdapters1", result)
                found.append(_described(adapter))
        finally:
            _method(factory, _RELEASE)(factory)
        return tuple(found)

    def counters(self) -> Counters | None:
        """See Windows."""
        collected = self._pdh.PdhCollectQueryData(self._query) & 0xFFFFFFFF
        if collected in _NOTHING_YET:
            return None
        self._done("PdhCollectQueryData", collected)
        engines, used = self._array(self._engines), self._array(self._used)
        if engines is None or used is None:
            return None
        return Counters(engines=engines, used_bytes=used)

    def _array(self, counter: ctypes.c_void_p) -> dict[str, float] | None:
        size, count = ctypes.c_uint32(0), ctypes.c_uint32(0)
        buffer = None
        for _ in range(4):  # it may grow between asking for its size and for itself
            result = self._pdh.PdhGetFormattedCounterArrayW(
                counter, _DOUBLE | _UNCAPPED, ctypes.byref(size), ctypes.byref(count), buffer
            )
            if result & 0xFFFFFFFF != _MORE_DATA:
                break
            buffer = ctypes.create_string_buffer(size.value)
        if result & 0xFFFFFFFF in _NOTHING_YET:
            return None
        self._done("PdhGetFormattedCounterArrayW", result)
        items = ctypes.cast(buffer, ctypes.POINTER(_CounterItem)) if buffer else ()
        read = [items[index] for index in range(count.value)]
        values: dict[str, float] = {}
        for item in read:
            if item.status in _VALID:  # two programs' instances may have one name
                values[item.name] = values.get(item.name, 0.0) + item.value
        return values

    def _done(self, what: str, result: int) -> None:
        if result & 0xFFFFFFFF:
            raise UnknownError(f"{what} failed with 0x{result & 0xFFFFFFFF:08X}")


def _described(adapter: ctypes.c_void_p) -> Adapter:
    desc = _AdapterDesc1()
    try:
        _method(adapter, _GET_DESC1, ctypes.c_void_p)(adapter, ctypes.addressof(desc))
    finally:
        _method(adapter, _RELEASE)(adapter)
    name = bytes(desc.name).decode("utf-16-le", "replace").partition("\0")[0]
    return Adapter(
        luid=f"luid_0x{desc.luid.high & 0xFFFFFFFF:08X}_0x{desc.luid.low:08X}",
        name=name,
        maker=desc.maker,
        memory_bytes=desc.own_bytes,
    )


def _method(of: ctypes.c_void_p, index: int, *kinds: type) -> Callable[..., int]:
    """The method at that place of a COM object's table."""
    table = ctypes.cast(of, ctypes.POINTER(ctypes.POINTER(ctypes.c_void_p))).contents
    prototype = ctypes.CFUNCTYPE(ctypes.c_int32, ctypes.c_void_p, *kinds)
    return cast("Callable[..., int]", prototype(table[index] or 0))
