"""A plan with all that belongs to it but weights: what can be reckoned before anything is made."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import msgspec
from msgspec import UNSET

from tequio_client import plan_file
from tequio_client.dataset.build import MANIFEST_NAME
from tequio_client.organiser import base as bases
from tequio_client.organiser import plan as plans
from tequio_client.organiser import source as sources
from tequio_shared.corpus import Corpus
from tequio_shared.errors import MalformedError, UserFacingError
from tequio_shared.ids import sha256, to_text
from tequio_shared.manifest import Data, Manifest, Model

if TYPE_CHECKING:
    from pathlib import Path

    from tequio_client.organiser.base import Paired
    from tequio_client.organiser.plan import Plan
    from tequio_client.organiser.source import Source
    from tequio_client.trainer.model import Outline as Paper

_UNKNOWN = to_text(bytes(32))
"""Where a manifest names weights that nobody has made yet."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Outline:
    """A run on paper: its manifest lacks nothing but the roots of the first head."""

    plan: Plan
    source: Source
    corpus: Corpus
    folder: Path
    """Of the data."""
    manifest: Manifest


def read(path: Path) -> Outline:
    """Read the plan at `path` and what it names; raises UserFacingError."""
    plan = plans.read(path)
    corpus = data(path.parent / plan.data.folder)
    return _of(plan, path, corpus, sources.find(plan.model, path.parent))


def of_plan(plan: Plan, path: Path, source: Source) -> Outline:
    """Outline a plan that will lie at `path`; raises UserFacingError."""
    return _of(plan, path, data(path.parent / plan.data.folder), source)


def _of(plan: Plan, path: Path, corpus: Corpus, source: Source) -> Outline:
    paper = _on_paper(source)
    model = _model(paper, source, corpus)
    sources.check_vocabulary(source, corpus, paper.vocabulary)
    sources.check_context(source, corpus, paper.context)
    paired = bases.on_paper(source)
    if paired is not None:
        model = _beside(model, paired)
    draft = Manifest(
        name=plan.name,
        model=model,
        tokenizer=corpus.tokenizer,
        data=Data(manifest=to_text(corpus.digest), root=to_text(corpus.root)),
        algorithm=plans.algorithm(plan.algorithm, plan.inner),
        inner=plans.inner(plan.inner),
        windows=plans.windows(plan.windows, corpus.sequence),
        rounds=plans.rounds(plan.rounds),
        admission=plan.admission,
        measure=plan.measure if corpus.held_out else UNSET,
        witness_share_bp=round(plan.witness_share * 10_000),
        base=paired.base if paired is not None else UNSET,
    )
    manifest = checked(draft, path)
    folder = path.parent / plan.data.folder
    return Outline(plan=plan, source=source, corpus=corpus, folder=folder, manifest=manifest)


def checked(manifest: Manifest, path: Path) -> Manifest:
    """Refuse what is no manifest; raises UserFacingError."""
    try:
        return Manifest.parse(manifest.encode())
    except MalformedError as err:
        why = plan_file.refusal(err, Manifest, {})
        raise UserFacingError(f"the plan {path} makes no valid run: {why}") from err


def data(folder: Path) -> Corpus:
    """Read the data manifest of a folder; raises UserFacingError."""
    try:
        return Corpus.parse((folder / MANIFEST_NAME).read_bytes())
    except OSError as err:
        raise UserFacingError(
            f"no data manifest in {folder} ({err.strerror}); build it with `tequio data build`"
        ) from err
    except MalformedError as err:
        raise UserFacingError(f"the data manifest in {folder} is damaged: {err}") from err


def _on_paper(source: Source) -> Paper:
    from tequio_client.trainer import model  # noqa: PLC0415 - brings torch

    try:
        return model.outline(source.config)
    except UserFacingError as err:
        raise UserFacingError(f"{source.plan.source}: {err}") from err


def _model(paper: Paper, source: Source, corpus: Corpus) -> Model:
    return Model(
        config=to_text(sha256(source.config)),
        parameters=sum(math.prod(shape) for _, shape in paper.tensors),
        tensors=paper.tensors,
        aliases=paper.aliases,
        weights_root=_UNKNOWN,
        aux_root=_UNKNOWN,
        sequence=corpus.sequence,
    )


def _beside(model: Model, paired: Paired) -> Model:
    """The pairs in place of the network that they stand beside."""
    return msgspec.structs.replace(
        model,
        parameters=sum(math.prod(shape) for _, shape in paired.tensors),
        tensors=paired.tensors,
        aliases=(),
    )
