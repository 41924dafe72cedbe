"""The process with the log's key has nothing in it that it does not need."""

from __future__ import annotations

import subprocess
import sys

HEAVY = {"starlette", "uvicorn", "sqlalchemy", "httpx", "jinja2", "psycopg", "obstore", "numpy"}
PROGRAM = "import sys; sys.argv = ['tequio-ledger', '{}', '--help']\n"
RUN = """
from tequio_ledger.__main__ import main
try:
    main()
except SystemExit:
    pass
print(*sorted(sys.modules))
"""


def loaded(command: str) -> set[str]:
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM.format(command) + RUN],
        check=True,
        capture_output=True,
        text=True,
    )
    return {name.partition(".")[0] for name in done.stdout.splitlines()[-1].split()}


def test_the_signer_loads_no_web_server_and_no_database() -> None:
    assert not loaded("sign") & HEAVY


def test_the_help_loads_nothing_but_the_command_line() -> None:
    assert not loaded("--help") & (HEAVY | {"structlog", "rich", "asyncio", "msgspec"})


def test_the_rest_of_the_program_does() -> None:
    assert {"starlette", "sqlalchemy"} <= loaded("serve")
