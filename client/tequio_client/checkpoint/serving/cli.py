"""`tequio checkpoint serve`: lets visitors of a page, and programs, try the newest head."""

from __future__ import annotations

import ipaddress
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import click

from tequio_client import cli

if TYPE_CHECKING:
    from tequio_client.checkpoint.export import ExportOptions
    from tequio_client.checkpoint.serving.connections import HttpServer, Network
    from tequio_client.checkpoint.serving.host import ModelHost, Prepare
    from tequio_client.trainer.conversation import WritingModel
    from tequio_client.trainer.device import ComputeDevice

_WORKER = cli.default_folder("worker")
_MOST_PORT = 65_535


@dataclass(frozen=True, slots=True)
class ListenAddress:
    host: str
    port: int


class _Listen(click.ParamType):  # type: ignore[type-arg]  # generic for the checker alone
    name = "HOST:PORT"

    def convert(
        self, value: object, param: click.Parameter | None, ctx: click.Context | None
    ) -> ListenAddress:
        if isinstance(value, ListenAddress):
            return value
        host, _, port = str(value).rpartition(":")
        if not (host and port.isascii() and port.isdecimal() and int(port) <= _MOST_PORT):
            self.fail(f"invalid address {value!r}: expected HOST:PORT, as 127.0.0.1:7870")
        return ListenAddress(host.strip("[]"), int(port))


class _Proxy(click.ParamType):  # type: ignore[type-arg]  # generic for the checker alone
    name = "ADDRESS"

    def convert(
        self, value: object, param: click.Parameter | None, ctx: click.Context | None
    ) -> Network:
        try:
            return ipaddress.ip_network(str(value))
        except ValueError:
            self.fail(f"{value!r} is neither an IP address nor a network, as 10.0.0.0/8")


@click.command()
@cli.run_option
@cli.measured_option
@click.option(
    "--listen",
    type=_Listen(),
    default="127.0.0.1:7870",
    show_default=True,
    help="Address to listen at; port 0 is any free one.",
)
@click.option(
    "--trusted-proxy",
    "proxies",
    type=_Proxy(),
    multiple=True,
    help="Reverse proxy, by address or network, that states in X-Forwarded-For who asks; may be "
    "repeated.",
)
@cli.answer_tokens_option
@click.option(
    "--prompt-tokens",
    type=click.IntRange(1, 1 << 20),
    default=1024,
    show_default=True,
    help="Longest prompt.",
)
@click.option(
    "--answer-seconds",
    type=cli.Number(1, 3600),
    default=120,
    show_default=True,
    help="Longest time for writing an answer.",
)
@click.option(
    "--queue",
    type=click.IntRange(0, 1000),
    default=8,
    show_default=True,
    help="Questions that may wait while one is answered.",
)
@click.option(
    "--per-minute",
    type=cli.Number(0.01, 6000),
    default=6,
    show_default=True,
    help="Questions a minute of one visitor.",
)
@click.option(
    "--check-seconds",
    type=cli.Number(1, 86_400),
    default=60,
    show_default=True,
    help="How often to ask the ledger for a newer head.",
)
@cli.device_option
@cli.threads_option
@cli.stores_option
@cli.folder_option("served", "Folder for the head that is served.")
@cli.consents_option
@cli.ledger_option
@cli.trust_option
@cli.logging_options
def serve(  # noqa: PLR0913 - one parameter an option
    *,
    run_name: str,
    is_measured: bool,
    listen: ListenAddress,
    proxies: tuple[Network, ...],
    tokens: int,
    prompt_tokens: int,
    answer_seconds: float,
    queue: int,
    per_minute: float,
    check_seconds: float,
    device: str,
    threads: int | None,
    stores: tuple[Path, ...],
    folder: Path,
    consents: Path,
    ledger: str,
    trust_file: Path | None,
    log_json: bool,
    log_level: str,
) -> None:
    """Let visitors try the newest head of a run, on a page and over OpenAI's API.

    The head is checked against the log, and replaced between two answers when there is a newer one.
    One answer is written at a time. Nothing that visitors write is stored or logged. Only this
    computer reaches the service unless --listen says otherwise; put a reverse proxy with TLS before
    it, and name that with --trusted-proxy.
    """
    import trio

    from tequio_client.checkpoint.export import ExportOptions, WeightsOrigin
    from tequio_client.checkpoint.serving.connections import HttpServer
    from tequio_client.checkpoint.serving.host import Limits, ModelHost
    from tequio_client.checkpoint.serving.page import VisitorPage
    from tequio_client.checkpoint.serving.service import ChatService, refuse_request
    from tequio_client.ledger.networks import read_policy
    from tequio_client.trainer import conversation
    from tequio_client.trainer import device as devices
    from tequio_client.worker import shutdown

    cli.set_up_logs(log_json=log_json, log_level=log_level)
    limits = Limits(
        tokens=tokens, prompt_tokens=prompt_tokens, queue=queue, answer_s=answer_seconds
    )
    chosen = devices.open_device(device)
    if threads:
        devices.limit_threads(threads)
    known = stores or ((_WORKER,) if _WORKER.is_dir() else ())
    origin = WeightsOrigin(
        ledger=ledger,
        stores=known,
        also_seeds=True,
        trust=read_policy(trust_file, ledger),
    )
    options = ExportOptions(origin=origin, run=run_name, target=folder)
    load = partial(_load, device=chosen, work=folder, consents=consents, split_s=limits.answer_s)
    host = ModelHost(load, conversation.seed_chance, limits)
    service = ChatService(host, VisitorPage(), ledger, conversation.WritingStyle, per_minute)
    server = HttpServer(service.handle, refuse_request, proxies=proxies)
    prepare = partial(_prepare, options, is_measured=is_measured)
    run = partial(_run, host, server, prepare, check_seconds, listen)
    trio.run(shutdown.StoppableProgram().run, run)


async def _run(
    host: ModelHost, server: HttpServer, prepare: Prepare, check_s: float, listen: ListenAddress
) -> None:
    import structlog
    import trio

    from tequio_client.checkpoint.serving import connections

    log = structlog.get_logger(__name__)
    # Before the head is fetched, which takes minutes: a busy port is reported at once.
    listeners = await connections.listen(listen.host, listen.port)
    log.info("preparing the newest head")
    async with trio.open_nursery() as nursery:
        await host.begin(prepare)
        nursery.start_soon(host.follow, prepare, check_s)
        nursery.start_soon(host.run)
        for one in listeners:
            name, port = one.socket.getsockname()[:2]
            log.info("serving", url=f"http://{f'[{name}]' if ':' in name else name}:{port}/")
        await server.serve(listeners)


def _prepare(options: ExportOptions, *, is_measured: bool) -> Path:
    """Bring the folder of the head to serve; runs in a thread."""
    from dataclasses import replace

    from tequio_client.checkpoint import chat
    from tequio_client.organiser import verdicts
    from tequio_client.verify.report import NoProgress

    origin = options.origin
    find_fine = partial(verdicts.find_fine_head, options.run, origin.ledger, origin.trust)
    number = find_fine() if is_measured else None
    return chat.newest_model(replace(options, round=number), NoProgress())


@contextmanager
def _load(
    folder: Path, *, device: ComputeDevice, work: Path, consents: Path, split_s: float
) -> Iterator[WritingModel]:
    """Load a model, with what splits its texts; raises UserFacingError."""
    import psutil

    from tequio_client.checkpoint import chat, chat_lines
    from tequio_client.trainer.conversation import WritingModel

    chat_lines.check_memory(folder, psutil.virtual_memory().available)
    with chat.own_texts(folder, work, consents, split_s) as texts:
        yield WritingModel(folder, device, texts)
