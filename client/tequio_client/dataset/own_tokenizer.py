"""A plug-in's tokenizer: its code encodes in a confined child, its table decodes here.

The child is trusted with nothing but the choice of ids: each answer has to say exactly the text
that was asked for, by the table. It ends when this process does, since its input then ends.
"""

from __future__ import annotations

import subprocess
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from threading import Timer
from typing import IO

import msgspec
import numpy as np
from numpy.typing import NDArray

from tequio_client import files, ipc
from tequio_client.dataset.encode import TextEncoder
from tequio_client.ipc import plugin as link
from tequio_client.ipc.plugin import EncodeText, OpenTokenizer
from tequio_client.platform import child, programs
from tequio_client.platform.sandbox import SandboxRules
from tequio_client.plugins.archive import PluginArchive
from tequio_client.tokenizers import TABLE_NAME, TokenizerError
from tequio_client.worker.children.process import confined_variables
from tequio_shared.errors import MalformedError
from tequio_shared.round.manifest import TokenizerKind
from tequio_shared.round.token_table import TokenTable

_PROGRAM = programs.runtime_module("tequio_client.trainer", "tokenizer")
ANSWER_S = 600.0
"""Time for one text, of 16 MiB at most."""
_END_S = 5.0
_SHOWN_CHARS = 40


@dataclass(frozen=True, slots=True, kw_only=True)
class PluginTokenizer:
    """See `tokenizers.TextTokenizer`."""

    label: str
    child: _EncoderChild
    table: TokenTable
    separator: int
    file: bytes
    """The encoded table."""
    kind: TokenizerKind = "plugin"

    @property
    def vocab_size(self) -> int:
        return len(self.table.tokens)

    def encode(self, text: str) -> NDArray[np.int64]:
        """Ids of a text, which say exactly it; raises TokenizerError."""
        raw = text.encode()
        if len(raw) > link.TEXT_BYTES:
            raise TokenizerError(
                f"a document has {len(raw):,} bytes, and a plug-in's tokenizer is given at most "
                f"{link.TEXT_BYTES:,}: split it"
            )
        try:
            answer = link.decode_encoded(self.child.ask(EncodeText(text=text)))
            ids = np.frombuffer(answer.ids, "<u4").astype(np.int64)
        except (MalformedError, ValueError) as err:
            raise TokenizerError(f"{self.label}: {err}") from err
        if answer.problem:
            raise TokenizerError(answer.problem)
        is_known = not len(ids) or int(ids.max()) < self.vocab_size
        if not is_known or self.separator in ids or self.table.text(ids.tolist()) != raw:
            raise TokenizerError(
                f"{self.label}: its tokens of {text[:_SHOWN_CHARS]!r} are not the text's bytes"
            )
        return ids

    def decode(self, ids: Sequence[int]) -> str:
        """Text of ids; bytes that are not UTF-8 become U+FFFD."""
        return self.table.text(ids).decode(errors="replace")


@contextmanager
def run_tokenizer(
    found: PluginArchive,
    folder: Path,
    *,
    hidden: Sequence[Path] = (),
    answer_s: float = ANSWER_S,
) -> Iterator[PluginTokenizer]:
    """Run the tokenizer of a plug-in, whose child writes in that folder; raises TokenizerError.

    It reads nothing in the folders `hidden`, in the working folder and in people's homes.
    """
    label = f"the plug-in {found.spec.label}"
    if "tokenizer" not in found.declaration.provides:
        raise TokenizerError(f"{label} brings no tokenizer (provides.tokenizer)")
    folder = folder.absolute()
    folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    asked = OpenTokenizer(archive=str(folder / "plugin.zip"), table_out=str(folder / TABLE_NAME))
    files.write_for_user(Path(asked.archive), found.content)
    kept = (Path.cwd(), *(one.absolute() for one in hidden))
    rules = SandboxRules(writes=(str(folder),), hidden=tuple(map(str, kept)))
    started = _EncoderChild(label, confined_variables(rules, folder / "cache"), answer_s)
    try:
        yield _opened(label, started, asked)
    finally:
        started.close()


@contextmanager
def run_encoder(found: PluginArchive, folder: Path) -> Iterator[TextEncoder]:
    """Run the tokenizer of a plug-in for documents, in a new folder inside `folder`.

    Raises TokenizerError.
    """
    own = Path(tempfile.mkdtemp(dir=folder))
    with run_tokenizer(found, own) as started:
        yield TextEncoder(tokenizer=started)


def _opened(label: str, started: _EncoderChild, asked: OpenTokenizer) -> PluginTokenizer:
    try:
        answer = link.decode_opened(started.ask(asked))
        if not answer.problem:
            file = Path(asked.table_out).read_bytes()
            table = TokenTable.parse(file, answer.vocab_size)
            table.check_separator(answer.separator)
            return PluginTokenizer(
                label=label, child=started, table=table, separator=answer.separator, file=file
            )
    except (MalformedError, OSError) as err:
        raise TokenizerError(f"{label}: its tokenizer cannot be opened: {err}") from err
    raise TokenizerError(answer.problem)


class _EncoderChild:
    """The process that has loaded the code; answers one line with one line."""

    def __init__(self, label: str, environment: Mapping[str, str], answer_s: float) -> None:
        self._label, self._environment, self.answer_s = label, environment, answer_s
        self._opening: OpenTokenizer | None = None
        self._process = self._start()

    @property
    def pid(self) -> int:
        return self._process.pid

    def _start(self) -> subprocess.Popen[bytes]:
        started = subprocess.Popen(  # noqa: S603 - our own program
            _PROGRAM,
            env=self._environment,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            **child.start_options(),
        )
        child.end_with_us(started.pid)
        return started

    def ask(self, message: msgspec.Struct) -> bytes:
        """Send a line and read one; raises TokenizerError for a child that ends or hangs.

        The next question starts it again: else one text that its code cannot bear would be the last
        that anybody has split. What a new child opens need not be read, since each answer has to
        say its text by the table of the first.
        """
        if isinstance(message, OpenTokenizer):
            self._opening = message
        elif self._process.poll() is not None and self._opening is not None:
            self.close()
            self._process = self._start()
            self._answer(self._opening)
        return self._answer(message)

    def _answer(self, message: msgspec.Struct) -> bytes:
        late = Timer(self.answer_s, self._kill)
        late.daemon = True
        late.start()
        try:
            _pipe(self._process.stdin).write(ipc.encode(message))
            _pipe(self._process.stdin).flush()
            line: bytes = _pipe(self._process.stdout).readline(link.TEXT_LINE_BYTES + 1)
        except OSError:
            line = b""
        finally:
            late.cancel()
        if not line:
            self._kill()  # its output ends a little before the process does
            self._process.wait()
            raise TokenizerError(
                f"{self._label}: the process of its tokenizer ended, or took more than "
                f"{self.answer_s:g} s for a text"
            )
        return line

    def close(self) -> None:
        """End the process, by the end of its input, or else at once."""
        for pipe in (self._process.stdin, self._process.stdout):
            if pipe is not None:
                with suppress(OSError):  # it ended with a question unread
                    pipe.close()
        with suppress(subprocess.TimeoutExpired):
            self._process.wait(_END_S)
        self._kill()
        self._process.wait()

    def _kill(self) -> None:
        self._process.kill()
        child.end_group(self._process.pid)  # what it started may hold its pipes


def _pipe(found: IO[bytes] | None) -> IO[bytes]:
    if found is None:
        raise TokenizerError("the process of the tokenizer has no pipes")
    return found
