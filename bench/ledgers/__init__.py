"""The measurements of `bench/ledger.py`, one module each."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))  # the tests' own PostgreSQL
