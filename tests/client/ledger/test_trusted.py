"""Certificates are read once, however many servers a program talks to."""

from __future__ import annotations

import ssl
from typing import Any

import httpx
import pytest

from tequio_client.ledger.http import ApiLimits, LedgerHttp
from tequio_client.worker.swarm.mirrors import DataMirrors
from tequio_ledger.monitor.remote import RemoteLedger
from tequio_ledger.outgoing import http_client

ADDRESS = "https://ledger.example"


def recorded(monkeypatch: pytest.MonkeyPatch, kind: str) -> list[object]:
    """Record what each client of that kind is told to trust."""
    told: list[object] = []
    usual: Any = getattr(httpx, kind)

    def make(*, verify: object = True, **options: object) -> object:
        told.append(verify)
        return usual(verify=verify, **options)

    monkeypatch.setattr(httpx, kind, make)
    return told


@pytest.mark.trio
async def test_two_ledgers_and_the_mirrors_trust_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    told = recorded(monkeypatch, "AsyncClient")
    for one in (LedgerHttp(ADDRESS, ApiLimits()), LedgerHttp(ADDRESS, ApiLimits()), DataMirrors()):
        await one.aclose()
    check_strict(told, 3)


@pytest.mark.trio
async def test_requests_of_a_ledger_and_of_a_monitor_trust_the_same(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    asked, watched = recorded(monkeypatch, "AsyncClient"), recorded(monkeypatch, "Client")
    for _ in range(2):
        await http_client({}).aclose()
        with RemoteLedger(ADDRESS):
            pass
    check_strict([*asked, *watched], 4)


def check_strict(told: list[object], count: int) -> None:
    first = told[0]
    assert isinstance(first, ssl.SSLContext)
    assert first.check_hostname
    assert first.verify_mode is ssl.CERT_REQUIRED
    assert first.get_ca_certs()
    assert len(told) == count
    assert all(one is first for one in told)
