"""A member's view of its group: the status of its folder, and the model as files."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import msgspec

from tequio_client import tokenizers
from tequio_client.checkpoint import layout, tensors
from tequio_client.group.group_file import GroupFile
from tequio_client.group.head_store import (
    GROUP_FILE,
    GroupState,
    read_group,
    read_state,
    tokenizer_path,
    weights_path,
)
from tequio_client.group.run import fingerprint
from tequio_client.group.updates import state_folder
from tequio_client.ipc.private import MILLIONTHS, PrivacyRules
from tequio_client.keys import identity
from tequio_client.organiser.sealing import staged_folder
from tequio_client.trainer.private.accountant import read_record
from tequio_shared.errors import UserFacingError
from tequio_shared.ids import to_text
from tequio_shared.wording import plural

_ROWS = 10


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupReport:
    group: GroupFile
    state: GroupState
    own_key: str
    epsilon: float | None
    """Spent by the member's texts in all rounds; None without differential privacy, and before this
    group's first round if the record is that of a group with another delta."""

    def as_json(self) -> str:
        group, state = self.group, self.state
        found = {
            "group": group.name,
            "fingerprint": fingerprint(group),
            "members": [one.name for one in group.members],
            "needed": group.threshold,
            "round": state.round,
            "head": state.head,
            "number": state.number,
            "rounds": group.training.rounds,
            "epsilon": self.epsilon,
            "heads": state.rows,
        }
        return msgspec.json.encode(found).decode()

    def as_text(self) -> str:
        group, state = self.group, self.state
        lines = [
            f"group:       {group.name}, {plural(group.size, 'member')}, {group.threshold} needed",
            f"fingerprint: {fingerprint(group)}",
            f"head:        {state.number} of {group.training.rounds} ({state.head[:10]})",
            *self._spent_lines(),
        ]
        lines += [
            f"  {'you' if one.key == self.own_key else '   '}  {one.name}" for one in group.members
        ]
        for row in state.rows[-_ROWS:]:
            count = plural(len(row.members), "update") if row.members else "fetched"
            loss = "" if row.loss is None else f", your loss before it {row.loss:.4f}"
            lines.append(f"head {row.number}: {count}{loss}")
        return "\n".join(lines)

    def _spent_lines(self) -> list[str]:
        rules = self.group.privacy
        if not isinstance(rules, PrivacyRules):
            return []
        if self.epsilon is None:
            return ["spent:       not known yet: your next round computes it"]
        most = f"of {rules.epsilon_e6 / MILLIONTHS:g}" if rules.epsilon_e6 else "without a limit"
        return [f"spent:       epsilon {self.epsilon:.3f} {most}"]


def read_report(folder: Path) -> GroupReport:
    """Read a member's folder; raises UserFacingError for one without a group."""
    group = _group_of(folder)
    rules, spent = group.privacy, None
    if isinstance(rules, PrivacyRules):
        spent = read_record(state_folder(folder)).epsilon_by(rules)
    return GroupReport(
        group=group,
        state=read_state(folder, group),
        own_key=to_text(identity.load(folder).key),
        epsilon=spent,
    )


def export_head(folder: Path, to: Path) -> int:
    """Write the present head as transformers loads it; returns its number."""
    group = _group_of(folder)
    state, path = read_state(folder, group), tokenizer_path(folder, group)
    head = weights_path(folder, state.head)
    if not head.is_file() or (path and not path.is_file()):
        raise UserFacingError(f"{folder} has no model yet: run `tequio group run` first")
    raw = path.read_bytes() if path else b""
    separator = (
        tokenizers.parse_tokenizer(raw, group.name, tokenizers.SEPARATORS).separator if raw else 0
    )
    tokenizer, settings = layout.tokenizer_files(raw, separator, group.model.sequence)
    with staged_folder(to) as stage:
        (stage / layout.TEQUIO_FOLDER).mkdir()
        (stage / layout.CONFIG).write_bytes(layout.model_config(group.config.encode()))
        (stage / layout.TOKENIZER).write_bytes(tokenizer)
        (stage / layout.TOKENIZER_CONFIG).write_bytes(settings)
        tensors.write_model(group.model, group.layout, head, stage, lambda _: None)
    return state.number


def _group_of(folder: Path) -> GroupFile:
    path = folder / GROUP_FILE
    if not path.is_file():
        raise UserFacingError(f"{folder} has no group: run `tequio group run` first, or name --dir")
    return read_group(path)
