"""Tests of a built package: `make test-package`."""
