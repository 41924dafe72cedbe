"""The settings of every program that answers over HTTP."""

from __future__ import annotations

from tequio_ledger.settings.setting import Form, Setting, host, many, network, number

HOST = Setting(
    name="host",
    default="127.0.0.1",
    parse=host,
    help="Address to listen on.",
)
TRUSTED_PROXY = Setting(
    name="trusted-proxy",
    default="",
    parse=many(network),
    help="Network whose x-forwarded-for is believed; repeat.",
    form=Form.LIST,
)


def port(default: int) -> Setting[int]:
    """Where it listens."""
    return Setting(
        name="port",
        default=str(default),
        parse=number(0, 65_535),
        help="Port; 0 takes a free one.",
        form=Form.NUMBER,
    )


def request_rate(default: int) -> Setting[int]:
    """How often one address may ask."""
    return Setting(
        name="request-rate",
        default=str(default),
        parse=number(0, 1 << 20),
        help="HTTP requests/s of a network address; 0: any.",
        form=Form.NUMBER,
    )
