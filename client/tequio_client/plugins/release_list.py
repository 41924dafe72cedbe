"""Plug-ins that were reviewed with a release: volunteers of this version need not allow them.

A row is the SHA-256 of an archive, as its run's manifest names it. Adding one is a decision about
every volunteer's computer: somebody who did not write the plug-in reads it whole, and the commit
names both. The list ships with the package, whose bytes the maintainers' keys sign.
"""

from __future__ import annotations

REVIEWED: frozenset[str] = frozenset()
