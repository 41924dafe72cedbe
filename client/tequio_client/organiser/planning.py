"""Plans that can work, written and looked at: `tequio run new` and `tequio run check`."""

from __future__ import annotations

import json
import os
import re
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec import UNSET, UnsetType
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from tequio_client.organiser import model_sizes, outline, plan_text, preset, reckoning
from tequio_client.organiser import plan as plans
from tequio_client.organiser import source as sources
from tequio_client.organiser.source import Source
from tequio_shared.errors import UserFacingError

if TYPE_CHECKING:
    from tequio_client.organiser.outline import Outline
    from tequio_client.organiser.reckoning import Reckoning

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._ -]{0,63}")
_CONFIG_ENDING = ".model.json"


@dataclass(frozen=True, slots=True, kw_only=True)
class Wish:
    """What the organiser says of a new run: a size, or a model to go on from."""

    name: str | None
    data: Path
    parameters: int
    """Of fresh weights; 0: none are wanted."""
    source: str
    revision: str
    tokens: int | None
    expect: plans.ExpectPlan
    lora_rank: int = 0
    """Of adapters beside the model, which is frozen then; 0: none are wanted."""


def new(path: Path, wish: Wish) -> None:
    """Write a plan, and for fresh weights the model's configuration beside it.

    Prints what it takes. Nothing is written where it cannot work; raises UserFacingError.
    """
    name = wish.name or path.stem
    if not _NAME.fullmatch(name):
        raise UserFacingError(
            f"{name!r} is no name of a run: letters, digits, spaces and ._- only; give --name"
        )
    config = path.with_name(path.stem + _CONFIG_ENDING)
    for file in (path, config):
        if file.exists():
            raise UserFacingError(f"{file} is there already: take another name, or remove it")
    source = _fresh(config, wish) if wish.parameters else _found(path, wish)
    data = plans.DataPlan(folder=_seen_from(path.parent, wish.data))
    draft = plans.Plan(name=name, model=source.plan, data=data, expect=wish.expect)
    bare = outline.of_plan(draft, path, source)
    plan = preset.filled(draft, preset.preset(bare, wish.expect, wish.tokens))
    final = outline.of_plan(plan, path, source)
    _show(final, reckoning.reckon(final, wish.expect))
    text = plan_text.write(plan, sequence=final.corpus.sequence, is_fresh=source.is_fresh)
    if source.is_fresh:
        _save(config, source.config)
    _save(path, text.encode())


def check(path: Path) -> None:
    """Print what the plan at `path` takes; raises UserFacingError where it cannot work."""
    found = outline.read(path)
    expect = found.plan.expect
    known = plans.ExpectPlan() if isinstance(expect, UnsetType) else expect
    _show(found, reckoning.reckon(found, known))


def _fresh(config: Path, wish: Wish) -> Source:
    corpus = outline.data(wish.data)
    shape = model_sizes.nearest(wish.parameters, corpus.tokenizer.vocab_size)
    content = json.dumps(shape.config(corpus.sequence), indent=2).encode() + b"\n"
    plan = plans.ModelPlan(source=config.name)
    return Source(plan=plan, config=content, is_fresh=True, folder=None)


def _found(path: Path, wish: Wish) -> Source:
    """A folder as seen from the plan; of a repository the commit that it has now."""
    folder = Path(wish.source)
    lora = plans.LoraPlan(rank=wish.lora_rank) if wish.lora_rank else UNSET
    if folder.is_dir():
        plan = plans.ModelPlan(source=_seen_from(path.parent, folder), lora=lora)
    else:
        commit = sources.commit_of(wish.source, wish.revision)
        plan = plans.ModelPlan(source=wish.source, revision=commit, lora=lora)
    return sources.find(plan, path.parent)


def _seen_from(folder: Path, path: Path) -> str:
    """A path as a plan in that folder names it."""
    if path.is_absolute():
        return str(path)
    return Path(os.path.relpath(path, folder)).as_posix()


def _show(found: Outline, reckoned: Reckoning) -> None:
    """Print the table; raises UserFacingError where it cannot work."""
    table = Table("what", "it takes", "how so", title=escape(found.manifest.name))
    for row in reckoned.rows:
        table.add_row(row.what, row.value, row.note)
    Console().print(table)
    reckoned.check()


def _save(path: Path, content: bytes) -> None:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
    except OSError as err:
        raise UserFacingError(f"cannot write {path}: {err.strerror}") from err
