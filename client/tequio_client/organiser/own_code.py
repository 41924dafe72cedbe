"""The plug-in of a plan: read from a folder or an archive, and tried in a confined child.

The organiser's command never imports it. What the trial found stands in for what the command would
otherwise ask the network itself: its tensors, and its first weights.
"""

from __future__ import annotations

import re
import subprocess
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

import numpy as np
from msgspec import structs
from numpy.typing import NDArray

from tequio_client import ipc
from tequio_client.dataset.own_tokenizer import run_tokenizer
from tequio_client.ipc import plugin as link
from tequio_client.ipc.plugin import PluginTrial, PluginTrialResult
from tequio_client.organiser import heads
from tequio_client.organiser.model_source import ModelSourceSpec
from tequio_client.organiser.plan import RunPlan
from tequio_client.platform import programs
from tequio_client.platform.sandbox import SandboxRules
from tequio_client.plugins import archive
from tequio_client.plugins.archive import PluginArchive
from tequio_client.worker import shutdown
from tequio_client.worker.children.process import confined_variables
from tequio_shared.errors import MalformedError, UserFacingError
from tequio_shared.ids import digest_from_text, sha256, to_text
from tequio_shared.round.corpus import Corpus, train_file_name
from tequio_shared.round.plugin import PLUGIN_BYTES

_TRIAL = programs.runtime_module("tequio_client.trainer", "plugin")
_HASH = re.compile(r"[A-Za-z0-9_-]{43}")
TRIAL_S = 900.0
"""Time for a plug-in's trial: it makes the first weights, too."""
_ERROR_CHARS = 500
_CHECKED_TOKENS = 1 << 16
_SHOWN_CHARS = 40


@dataclass(frozen=True, slots=True, kw_only=True)
class TriedPlugin:
    """A plan's plug-in, and what its trial found."""

    archive: PluginArchive
    result: PluginTrialResult

    @property
    def has_model(self) -> bool:
        return "model" in self.archive.declaration.provides


def fetch_archive(what: str, ledger: str) -> PluginArchive:
    """Read the archive of that hash, or of that run, from the ledger; raises UserFacingError."""
    if not _HASH.fullmatch(what):
        rules = heads.read_rules(heads.named_run(what, ledger), ledger)
        if rules.own_code is None:
            raise UserFacingError(f"the run {rules.name} brings no code of its own")
        what = rules.own_code.archive
    raw = shutdown.ask_ledger(
        ledger, lambda api: api.get_blob(digest_from_text(what), most_bytes=PLUGIN_BYTES)
    )
    if raw is None:
        raise UserFacingError(f"the ledger has no archive {what}")
    try:
        return archive.parse(raw)
    except MalformedError as err:
        raise UserFacingError(f"{what} is not a plug-in: {err}") from err


def try_plugin(
    plan: RunPlan, beside: Path, source: ModelSourceSpec, corpus: Corpus
) -> TriedPlugin | None:
    """Try the plan's plug-in; None if it has none. Raises UserFacingError.

    Relative paths are relative to the folder `beside`.
    """
    needs_tokenizer = corpus.tokenizer.kind == "plugin"
    if not plan.plugin.source:
        if needs_tokenizer:
            raise UserFacingError(
                "the data was built with the tokenizer of a plug-in: name it in the plan, as "
                "source under [plugin]"
            )
        return None
    found = archive.read(beside / plan.plugin.source)
    if needs_tokenizer != ("tokenizer" in found.declaration.provides):
        raise UserFacingError(
            f"{found.spec.label} {'does not bring' if needs_tokenizer else 'brings'} a tokenizer, "
            f"and the data was {'' if needs_tokenizer else 'not '}built with one of a plug-in: "
            "build it with `tequio data build --plugin`, or change provides in plugin.toml"
        )
    tried = TriedPlugin(archive=found, result=_ask(found, _trial(plan, source, corpus)))
    if tried.has_model and not source.is_fresh and source.parent is None:
        raise UserFacingError(
            f"{found.declaration.name} brings a model of its own, which begins with fresh weights: "
            "give its configuration, a .json file, as model.source"
        )
    if tried.has_model and plan.inner.documents == "apart":
        raise UserFacingError(
            "a plug-in's model reads token ids alone and cannot be told where documents begin: set "
            'inner.documents to "joined"'
        )
    return tried


def check_data(tried: TriedPlugin | None, folder: Path, corpus: Corpus) -> None:
    """Encode some of the data again; raises UserFacingError if the plug-in gives other tokens."""
    if tried is None or corpus.tokenizer.kind != "plugin":
        return
    other = (
        f"the data was not built with the tokenizer of {tried.archive.spec.label} as it is now: "
        "build it again with `tequio data build --plugin`"
    )
    with (
        tempfile.TemporaryDirectory(prefix="tequio-plugin-") as place,
        run_tokenizer(tried.archive, Path(place)) as tokenizer,
    ):
        if (to_text(sha256(tokenizer.file)), tokenizer.separator) != (
            *(corpus.tokenizer.file, corpus.separator),
        ):
            raise UserFacingError(other)
        for ids in _first_documents(folder / train_file_name(0), corpus):
            text = tokenizer.decode(ids)
            if tokenizer.encode(text).tolist() != ids:
                raise UserFacingError(f"{other} (it splits {text[:_SHOWN_CHARS]!r} otherwise)")


def _first_documents(shard: Path, corpus: Corpus) -> Iterator[list[int]]:
    """Whole documents at the beginning of a training shard, as far as `_CHECKED_TOKENS` go."""
    width = corpus.token_bytes
    try:
        with shard.open("rb") as file:
            raw = file.read(width * _CHECKED_TOKENS)
    except OSError as err:
        raise UserFacingError(f"cannot read {shard}: {err.strerror}") from err
    ids = np.frombuffer(raw[: len(raw) // width * width], f"<u{width}").astype(np.int64)
    ends = [*np.flatnonzero(ids == corpus.separator).tolist()]
    if len(ids) < _CHECKED_TOKENS:
        ends.append(len(ids))  # the whole shard was read
    for begin, end in pairwise(ends):
        yield ids[begin + 1 : end].tolist()


def first_weights(
    tried: TriedPlugin, plan: RunPlan, source: ModelSourceSpec, corpus: Corpus
) -> NDArray[np.int32]:
    """Make the master copy of the plug-in's seeded weights; raises UserFacingError."""
    with tempfile.TemporaryDirectory(prefix="tequio-plugin-") as folder:
        out = Path(folder) / "weights"
        asked = _trial(plan, source, corpus, weights_out=str(out))
        if _ask(tried.archive, asked, Path(folder)) != tried.result:
            raise UserFacingError(
                f"the model of {tried.archive.declaration.name} had other tensors the second time"
            )
        return np.fromfile(out, "<i4").astype(np.int32, copy=False)


def _trial(
    plan: RunPlan, source: ModelSourceSpec, corpus: Corpus, weights_out: str | None = None
) -> PluginTrial:
    return PluginTrial(
        archive="-",
        config=source.config.decode(errors="replace"),
        layout="tile64" if plan.algorithm.name == "distro" else "flat",
        seed=plan.model.seed,
        sequence=corpus.sequence,
        vocab_size=corpus.tokenizer.vocab_size,
        weights_out=weights_out,
    )


def _ask(found: PluginArchive, asked: PluginTrial, folder: Path | None = None) -> PluginTrialResult:
    if folder is None:
        with tempfile.TemporaryDirectory(prefix="tequio-plugin-") as made:
            return _ask(found, asked, Path(made))
    path = folder / "plugin.zip"
    path.write_bytes(found.content)
    rules = SandboxRules(writes=(str(folder),), hidden=(str(Path.cwd()),))
    environment = confined_variables(rules, folder / "cache")
    name = found.declaration.name
    line = ipc.encode(structs.replace(asked, archive=str(path)))
    try:
        ended = subprocess.run(  # noqa: S603 - our own program
            _TRIAL, input=line, env=environment, capture_output=True, timeout=TRIAL_S, check=False
        )
    except subprocess.TimeoutExpired as err:
        raise UserFacingError(f"the trial of {name} did not end in {TRIAL_S:.0f} s") from err
    try:
        result = link.decode_result(ended.stdout)
    except MalformedError as err:
        why = ended.stderr.decode(errors="replace").strip()[-_ERROR_CHARS:]
        raise UserFacingError(
            f"the trial of {name} ended with status {ended.returncode}: {why}"
        ) from err
    if result.problem:
        raise UserFacingError(result.problem)
    return result
