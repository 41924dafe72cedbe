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

_QUICK_S = (0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)

STATEMENTS = Counter(
    "tequio_ledger_statements",
    "Statements posted, by outcome; code is the reason of a refusal.",
    ("outcome", "code"),
    registry=REGISTRY,
)
RECEIPT_S = Histogram(
    "tequio_ledger_receipt_seconds",
    "Time from a request with statements to its answer, when all is on the disk and signed.",
    buckets=_QUICK_S,
    registry=REGISTRY,
)
BATCH_ENTRIES = Histogram(
    "tequio_ledger_batch_entries",
    "Entries committed together.",
    buckets=(1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024, 2048),
    registry=REGISTRY,
)
BATCH_S = Histogram(
    "tequio_ledger_batch_seconds",
    "Time to commit a batch and sign its checkpoint.",
    buckets=_QUICK_S,
    registry=REGISTRY,
)
DATABASE_S = Histogram(
    "tequio_ledger_database_seconds",
    "Time for which a transaction held its connection.",
    ("engine",),
    buckets=_QUICK_S,
    registry=REGISTRY,
)
REQUESTS = Counter(
    "tequio_ledger_requests",
    "HTTP requests answered, by route.",
    ("method", "route", "status"),
    registry=REGISTRY,
)
# Without a label it is exported as 0 from the start, so an alarm sees the first failure as a rise.
FAILURES = Counter(
    "tequio_ledger_failures",
    "HTTP requests answered 500.",
    registry=REGISTRY,
)
REQUEST_S = Histogram(
    "tequio_ledger_request_seconds",
    "Time from an HTTP request to the first byte of its answer, by route.",
    ("route",),
    buckets=_QUICK_S,
    registry=REGISTRY,
)
RATE_LIMITED = Counter(
    "tequio_ledger_rate_limited",
    "Requests refused by a rate limit, by limit.",
    ("limit",),
    registry=REGISTRY,
)
