"""Imports whole packages, for the self-tests of an installation: a package may lack a file."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Iterable, Iterator


def import_problems(packages: Iterable[str], *modules: str) -> Iterator[str]:
    """Import every module of the packages, and those that code imports late; yield each failure."""
    for package in packages:
        yield from _import_one(package)
        path = getattr(importlib.import_module(package), "__path__", [])
        for found in pkgutil.walk_packages(path, f"{package}."):
            yield from _import_one(found.name)
    for name in modules:
        yield from _import_one(name)


def _import_one(name: str) -> Iterator[str]:
    try:
        importlib.import_module(name)
    except Exception as err:  # noqa: BLE001 - whatever it is, it is what we look for
        yield f"{name}: {type(err).__name__}: {err}"
