"""Loaded by Python in every program that the tests start: Windows' rules for our own code there."""

import importlib.util
from pathlib import Path

_spec = importlib.util.spec_from_file_location(
    "tests.support.windows_rules", Path(__file__).parents[1] / "windows_rules.py"
)
if _spec is not None and _spec.loader is not None:
    _rules = importlib.util.module_from_spec(_spec)
    _spec.loader.exec_module(_rules)
    _rules.follow()
