"""Cut Qt's Unicode data (libicudata) down to what Qt reads of it: sorting, normal forms, zones.

Qt brings all 32 MB of ICU's data, but has names, units, currencies and line breaks of its own, and
runs on UTF-8 alone. To ICU a missing table is a language without data.
"""

from __future__ import annotations

import struct
import subprocess
from pathlib import Path

_HEADER = struct.Struct("<H2s8x4s")
"""Size of the header, magic number, format; padding and a copyright follow."""
_LEFT_OUT = ("brkitr/", "curr/", "lang/", "rbnf/", "region/", "translit/", "unit/", "zone/")
_OLD_ENCODING = ".cnv"
_ALIGNED = 16
_SOURCE = """
    .section .rodata
    .balign {aligned}
    .globl {symbol}
    .type {symbol}, %object
{symbol}:
    .incbin "{file}"
    .size {symbol}, . - {symbol}
    .section .note.GNU-stack, "", %progbits
"""


def cut(library: Path, work: Path) -> Path:
    """Write a library with less data into the folder `work`; return its path.

    Needs `as` and `ld`, which PyInstaller's `objdump` comes with on Linux.
    """
    content = library.read_bytes()
    header, items = _decode(content[content.index(b"CmnD") - 12 :])
    package = next(iter(items)).partition("/")[0]  # such as icudt73l; the symbol has no l
    kept = {name: item for name, item in items.items() if _is_kept(name.removeprefix(package))}
    work.mkdir(parents=True, exist_ok=True)
    data, made = work / "icu.dat", work / library.name
    data.write_bytes(_encode(header, kept))
    symbol = f"{package[:-1]}_dat"
    source = _SOURCE.format(aligned=_ALIGNED, symbol=symbol, file=data)
    subprocess.run(("as", "-o", work / "icu.o"), input=source.encode(), check=True)
    options = ("-shared", "-z", "noexecstack", "-soname", library.name)
    subprocess.run(("ld", *options, "-o", made, work / "icu.o"), check=True)
    return made


def _is_kept(name: str) -> bool:
    return not name[1:].startswith(_LEFT_OUT) and not name.endswith(_OLD_ENCODING)


def _decode(data: bytes) -> tuple[bytes, dict[str, bytes]]:
    """Header and items. Their table is a number, then the places of each item's name and bytes."""
    start, magic, _ = _HEADER.unpack_from(data)
    if magic != b"\xda\x27":
        raise ValueError(f"these are not ICU's data: they begin with {data[:4].hex()}")
    (number,) = struct.unpack_from("<I", data, start)
    table = list(struct.iter_unpack("<II", data[start + 4 : start + 4 + 8 * number]))
    ends = [place for _, place in table[1:]] + [len(data) - start]
    return data[:start], {
        data[start + name : data.index(b"\0", start + name)].decode(): data[
            start + place : start + end
        ]
        for (name, place), end in zip(table, ends, strict=True)
    }


def _encode(header: bytes, items: dict[str, bytes]) -> bytes:
    """The inverse of _decode; places count from the end of the header."""
    name_at = 4 + 8 * len(items)
    names = b"".join(name.encode() + b"\0" for name in items)
    place = name_at + len(names)
    table, body = [struct.pack("<I", len(items))], bytearray()
    for name, item in items.items():
        gap = -place % _ALIGNED
        table.append(struct.pack("<II", name_at, place + gap))
        body += bytes(gap) + item
        name_at, place = name_at + len(name.encode()) + 1, place + gap + len(item)
    return header + b"".join(table) + names + bytes(body)
