"""What is counted and timed while the ledger works, in the words of Prometheus.

Instruments belong to the process, as loggers do: whoever does the work observes it here, in one
line. What can be read off the ledger when somebody asks (`web.metrics_api`) is not counted twice.
Names end in their unit; a label takes few values, and never one that a stranger chooses.
"""

from __future__ import annotations

from prometheus_client import (
    CollectorRegistry,
    Counter,
    GCCollector,
    Histogram,
    PlatformCollector,
    ProcessCollector,
    disable_created_metrics,
)

# a series more for each instrument, which nobody draws
disable_created_metrics()  # type: ignore[no-untyped-call]
REGISTRY = CollectorRegistry()
ProcessCollector(registry=REGISTRY)
PlatformCollector(registry=REGISTRY)
GCCollector(registry=REGISTRY)

_PREFIX = "tequio_ledger"
_QUICK_S = (0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)

STATEMENTS = Counter(
    "statements",
    "Statements that were posted, by what became of them; code says why one was refused.",
    ("outcome", "code"),
    namespace=_PREFIX,
    registry=REGISTRY,
)
RECEIPT_S = Histogram(
    "receipt_seconds",
    "From a request with statements to its answer, all of it on the disk and signed.",
    namespace=_PREFIX,
    buckets=_QUICK_S,
    registry=REGISTRY,
)
BATCH_ENTRIES = Histogram(
    "batch_entries",
    "Entries that were committed together.",
    namespace=_PREFIX,
    buckets=(1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024, 2048),
    registry=REGISTRY,
)
BATCH_S = Histogram(
    "batch_seconds",
    "To commit a batch and sign its checkpoint.",
    namespace=_PREFIX,
    buckets=_QUICK_S,
    registry=REGISTRY,
)
DATABASE_S = Histogram(
    "database_seconds",
    "How long a transaction held its connection.",
    ("engine",),
    namespace=_PREFIX,
    buckets=_QUICK_S,
    registry=REGISTRY,
)
REQUESTS = Counter(
    "requests",
    "HTTP requests that were answered, by route.",
    ("method", "route", "status"),
    namespace=_PREFIX,
    registry=REGISTRY,
)
REQUEST_S = Histogram(
    "request_seconds",
    "From an HTTP request to the first byte of its answer, by route.",
    ("route",),
    namespace=_PREFIX,
    buckets=_QUICK_S,
    registry=REGISTRY,
)
RATE_LIMITED = Counter(
    "rate_limited",
    "What was refused because a sender has had its share, by the limit that it met.",
    ("limit",),
    namespace=_PREFIX,
    registry=REGISTRY,
)
