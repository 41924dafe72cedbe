"""Outline of a planned run: its manifest and all that its plan names, before weights exist.

A fault of a plan is found here, in seconds, before hours are spent on making weights.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec import UNSET, UnsetType, structs

from tequio_client import plan_file
from tequio_client.dataset.build import MANIFEST_NAME
from tequio_client.dataset.tasks import TaskFile, read_task_files
from tequio_client.organiser import model_source, own_code
from tequio_client.organiser import plan as plans
from tequio_client.organiser.model_source import ModelSourceSpec
from tequio_client.organiser.own_code import TriedPlugin
from tequio_client.organiser.plan import RunPlan
from tequio_shared.errors import MalformedError, UserFacingError
from tequio_shared.head.layout import FrozenBase
from tequio_shared.ids import sha256, to_text
from tequio_shared.limits import MEASURED_REQUESTS
from tequio_shared.round.corpus import Corpus
from tequio_shared.round.manifest import DataSpec, Manifest, ModelSpec, WindowRules

if TYPE_CHECKING:
    from tequio_client.trainer.model import ModelOutline

_UNKNOWN = to_text(bytes(32))
"""Root, in the draft of a manifest, of weights that do not exist yet."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RunOutline:
    """A plan and everything that it names, except weights.

    The manifest is complete but for the roots of the first head.
    """

    plan: RunPlan
    source: ModelSourceSpec
    corpus: Corpus
    folder: Path
    """Of the data."""
    manifest: Manifest
    plugin: TriedPlugin | None = None
    tasks: tuple[TaskFile, ...] = ()
    """Answered by members that measure a head."""


def read_outline(path: Path) -> RunOutline:
    """Read the plan at `path` and what it names; raises UserFacingError."""
    plan = plans.read_plan(path)
    corpus = read_corpus(path.parent / plan.data.folder)
    return _of(plan, path, corpus, model_source.find_source(plan.model, path.parent))


def outline_plan(plan: RunPlan, path: Path, source: ModelSourceSpec) -> RunOutline:
    """Outline a plan that will be written to `path`; raises UserFacingError."""
    return _of(plan, path, read_corpus(path.parent / plan.data.folder), source)


def _of(plan: RunPlan, path: Path, corpus: Corpus, source: ModelSourceSpec) -> RunOutline:
    algorithm, parent = plans.manifest_algorithm(plan.algorithm, plan.inner), source.parent
    if parent is not None:
        model_source.check_continues(parent, corpus, algorithm)
    plugin = own_code.try_plugin(plan, path.parent, source, corpus)
    folder = path.parent / plan.data.folder
    own_code.check_data(plugin, folder, corpus)
    if plan.inner.documents == "apart":
        from tequio_client.trainer.first_head import check_conversations  # noqa: PLC0415 - imports torch

        check_conversations(corpus, folder)
    network = _network(source, plugin)
    model_source.check_vocabulary(source, corpus, network.vocabulary)
    model_source.check_context(source, corpus, network.context)
    shape = _trained(source, network)
    audits = plans.manifest_audits(plan.audit)
    if audits is not UNSET:
        model_source.check_repeatable(source, network.chances)
    tasks = _task_files(plan, path, corpus)
    measures = plans.manifest_measures(plan.measure, [one.described for one in tasks])
    draft = Manifest(
        name=plan.name,
        description=plan.description or UNSET,
        licence=plan.licence or UNSET,
        model=ModelSpec(
            config=to_text(sha256(source.config)),
            parameters=sum(math.prod(sizes) for _, sizes in shape.tensors),
            tensors=shape.tensors,
            aliases=shape.aliases,
            weights_root=parent.weights_root if parent else _UNKNOWN,
            aux_root=_UNKNOWN,
            sequence=corpus.sequence,
        ),
        tokenizer=corpus.tokenizer,
        data=DataSpec(
            manifest=to_text(corpus.digest),
            root=to_text(corpus.root),
            mirrors=plan.data.mirrors or UNSET,
        ),
        algorithm=algorithm,
        inner=plans.manifest_inner(plan.inner, plan.rounds.most),
        windows=WindowRules(
            tokens=plan.windows.samples * corpus.sequence, **structs.asdict(plan.windows)
        ),
        rounds=plans.manifest_rounds(plan.rounds),
        admission=plan.admission,
        measure=measures if corpus.held_out else UNSET,
        audit=audits,
        witness_share_bp=round(plan.witness_share * 10_000),
        base=shape.base,
        parent=parent.parent if parent else UNSET,
        plugin=plugin.archive.spec if plugin else UNSET,
    )
    manifest = validated_manifest(draft, path)
    return RunOutline(
        plan=plan,
        source=source,
        corpus=corpus,
        folder=folder,
        manifest=manifest,
        plugin=plugin,
        tasks=tasks,
    )


def _task_files(plan: RunPlan, path: Path, corpus: Corpus) -> tuple[TaskFile, ...]:
    """Read the files of `measure.tasks`; raises UserFacingError for what members cannot answer."""
    names = plan.measure.tasks
    if not names:
        return ()
    what = f"measure.tasks names {', '.join(names)}"
    if not plan.measure.every:
        raise UserFacingError(
            f"{what}, but measure.every is 0, so no head is measured: set it to 10, or remove "
            "measure.tasks"
        )
    if not corpus.held_out:
        raise UserFacingError(
            f"{what}, but the data has no held-out text, without which no head is measured: build "
            "it with held-out text (tequio data build --held-out), or remove measure.tasks"
        )
    if corpus.tokenizer.kind == "plugin":
        raise UserFacingError(
            f"{what}, but a plug-in encodes the texts of this run, and members that measure need "
            "not have allowed its code: remove measure.tasks"
        )
    files = read_task_files([path.parent / name for name in names])
    requests = sum(one.described.requests for one in files)
    if requests > MEASURED_REQUESTS:
        raise UserFacingError(
            f"{what}, whose questions have {requests:,} choices together, and at most "
            f"{MEASURED_REQUESTS:,} are answered for a head: draw fewer questions (tequio data "
            "tasks --questions)"
        )
    return files


@dataclass(frozen=True, slots=True, kw_only=True)
class _TrainedShape:
    """Tensors that the run trains, and the frozen base beside them."""

    tensors: tuple[tuple[str, tuple[int, ...]], ...]
    aliases: tuple[tuple[str, str], ...]
    base: FrozenBase | UnsetType


def _trained(source: ModelSourceSpec, network: ModelOutline) -> _TrainedShape:
    if source.parent is not None:
        was = source.parent.manifest
        if network.tensors != was.model.tensors and not was.frozen:
            raise UserFacingError(
                f"the model has other tensors than {was.name}, whose head it should begin with: "
                "use the plug-in that made them"
            )
        return _TrainedShape(tensors=was.model.tensors, aliases=was.model.aliases, base=was.base)
    adapters = model_source.outline_adapters(source)
    if adapters is None:
        return _TrainedShape(tensors=network.tensors, aliases=network.aliases, base=UNSET)
    # Adapters are what the run trains, so they replace the network in its manifest.
    return _TrainedShape(tensors=adapters.tensors, aliases=(), base=adapters.base)


def validated_manifest(manifest: Manifest, path: Path) -> Manifest:
    """Check the bounds of a manifest; raises UserFacingError."""
    try:
        return Manifest.parse(manifest.encode())
    except MalformedError as err:
        why = plan_file.explain_malformed(err, Manifest, {})
        raise UserFacingError(f"the plan {path} does not describe a valid run: {why}") from err


def read_corpus(folder: Path) -> Corpus:
    """Read the data manifest of a folder; raises UserFacingError."""
    try:
        return Corpus.parse((folder / MANIFEST_NAME).read_bytes())
    except OSError as err:
        raise UserFacingError(
            f"no data manifest in {folder} ({err.strerror}): build it with `tequio data build`"
        ) from err
    except MalformedError as err:
        raise UserFacingError(f"the data manifest in {folder} is damaged: {err}") from err


def _network(source: ModelSourceSpec, plugin: TriedPlugin | None) -> ModelOutline:
    from tequio_client.trainer import model  # noqa: PLC0415 - imports torch

    if plugin is not None and plugin.has_model:
        found = plugin.result
        return model.ModelOutline(
            tensors=found.tensors,
            aliases=found.aliases,
            vocabulary=found.vocabulary,
            context=found.context,
        )

    try:
        return model.outline(source.config)
    except UserFacingError as err:
        raise UserFacingError(f"{source.label}: {err}") from err
