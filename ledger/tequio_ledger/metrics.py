"""The counters and timers of the process, for Prometheus.

Instruments belong to the process, as loggers do: the code that does the work updates them, in one
line. Values that can be computed from the ledger on request are in `web.metrics_api`. Names end in
their unit; a label has few values, and never one that a stranger chooses.
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

# They would be one more series for each instrument, which no dashboard shows.
disable_created_metrics()  # type: ignore[no-untyped-call]
REGISTRY = CollectorRegistry()
ProcessCollector(registry=REGISTRY)
PlatformCollector(registry=REGISTRY)
GCCollector(registry=REGISTRY)

_PREFIX = "tequio_ledger"
_QUICK_S = (0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)

STATEMENTS = Counter(
    "statements",
    "Statements posted, by outcome; code is the reason of a refusal.",
    ("outcome", "code"),
    namespace=_PREFIX,
    registry=REGISTRY,
)
RECEIPT_S = Histogram(
    "receipt_seconds",
    "Time from a request with statements to its answer, when all is on the disk and signed.",
    namespace=_PREFIX,
    buckets=_QUICK_S,
    registry=REGISTRY,
)
BATCH_ENTRIES = Histogram(
    "batch_entries",
    "Entries committed together.",
    namespace=_PREFIX,
    buckets=(1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024, 2048),
    registry=REGISTRY,
)
BATCH_S = Histogram(
    "batch_seconds",
    "Time to commit a batch and sign its checkpoint.",
    namespace=_PREFIX,
    buckets=_QUICK_S,
    registry=REGISTRY,
)
DATABASE_S = Histogram(
    "database_seconds",
    "Time for which a transaction held its connection.",
    ("engine",),
    namespace=_PREFIX,
    buckets=_QUICK_S,
    registry=REGISTRY,
)
REQUESTS = Counter(
    "requests",
    "HTTP requests answered, by route.",
    ("method", "route", "status"),
    namespace=_PREFIX,
    registry=REGISTRY,
)
REQUEST_S = Histogram(
    "request_seconds",
    "Time from an HTTP request to the first byte of its answer, by route.",
    ("route",),
    namespace=_PREFIX,
    buckets=_QUICK_S,
    registry=REGISTRY,
)
RATE_LIMITED = Counter(
    "rate_limited",
    "Requests refused by a rate limit, by limit.",
    ("limit",),
    namespace=_PREFIX,
    registry=REGISTRY,
)
