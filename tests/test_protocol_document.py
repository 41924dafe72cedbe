"""docs/protocol.md says what the code does: its tables against the code's own constants."""

from __future__ import annotations

import json
import re
from dataclasses import asdict, fields
from pathlib import Path
from typing import TYPE_CHECKING, get_args

import msgspec
import pytest
from msgspec import inspect

from tequio_client.trainer import causality
from tequio_client.trainer.model_config import CODE_PREFIXES
from tequio_client.worker.swarm import blob_server, membership
from tequio_client.worker.swarm.limits import PeerLimits
from tequio_ledger.config.settings import LedgerSettings
from tequio_ledger.config.sources import settings_of
from tequio_ledger.log import documents
from tequio_ledger.store import blobs
from tequio_ledger.web import connections, events, middleware, server, write_api
from tequio_ledger.web import limits as web_limits
from tequio_ledger.web.app import ROUTES
from tequio_ledger.web.errors import OTHER_REFUSAL, STATUS
from tequio_shared import limits, scoring, sealed_set
from tequio_shared.api.admission import InvitationAnswer
from tequio_shared.api.competitions import (
    ChallengeAnswer,
    CommittedAnswer,
    CompetitionAnswer,
    CompetitionLine,
    EntrantAnswer,
    OfferAnswer,
    ScoredAnswer,
    ShareAnswer,
)
from tequio_shared.api.network import (
    NetworkAnswer,
    PostedStatement,
    ReleaseAnswer,
    SnapshotAnswer,
    WitnessAnswer,
    WitnessesAnswer,
)
from tequio_shared.api.peers import (
    AttendedAnswer,
    BadgeAnswer,
    PeerAnswer,
    RankedAnswer,
    StandingAnswer,
    TeamAnswer,
    TeamMemberAnswer,
    TierAnswer,
)
from tequio_shared.api.runs import (
    MeasureAnswer,
    MeasuredAnswer,
    MeasuredTaskAnswer,
    NoticeAnswer,
    PublishedAnswer,
    ResumeAnswer,
    RollbackAnswer,
    RoundAnswer,
    RunAnswer,
    SampleAnswer,
    TaskAnswer,
    WrittenAnswer,
)
from tequio_shared.badges import Badge
from tequio_shared.competition import result
from tequio_shared.competition import rules as competition_rules
from tequio_shared.competition import scores as competition_scores
from tequio_shared.competition.competition import _PHASES
from tequio_shared.competition.rules import (
    CompetitionOutcome,
    CompetitionRules,
    Evaluation,
    Submission,
)
from tequio_shared.competition.state import CompetitionPhase
from tequio_shared.head.aggregate import _COSINES
from tequio_shared.head.contribution import HEADER_BYTES, KS, ContributionHeader, RecordShape
from tequio_shared.network.genesis import COORDINATOR_BODIES, ORGANISER_BODIES, Genesis
from tequio_shared.network.run_states import TRANSITIONS, CloseReason, VoidReason
from tequio_shared.network.standing import Standing, StandingCause
from tequio_shared.network.tiers import Tier
from tequio_shared.round import proof
from tequio_shared.round.audits import LIMITS
from tequio_shared.round.corpus import Corpus
from tequio_shared.round.documents import Roster, RoundResult
from tequio_shared.round.evidence import PieceEvidence, UnreadEvidence
from tequio_shared.round.manifest import _MOST_POINTS, _MOST_WINDOWS, Manifest
from tequio_shared.round.proof import RejectionReason, Verdict
from tequio_shared.scoring import DocumentScore
from tequio_shared.sealed_set import SealedSet
from tequio_shared.statements.network import MemberVouch
from tequio_shared.statements.statement import BODIES, Envelope

if TYPE_CHECKING:
    from collections.abc import Iterator
    from enum import IntEnum

ROOT = Path(__file__).parent.parent
DOCUMENT = (ROOT / "docs" / "protocol.md").read_text("utf-8")
SOURCES = tuple(
    (file, file.read_text("utf-8"))
    for package in ("shared", "ledger", "client")
    for file in sorted((ROOT / package).rglob("*.py"))
)
TIMES = ("warmup", "train", "train_limit", "train_by", "witness", "grace", "attest", "cooldown")
LOCAL_CODES = {"aux", "layout", "records", "set", "weights"}
"""Codes of our own misuse of the head's functions; no answer carries them."""

STRUCTS: dict[str, type[msgspec.Struct]] = {
    "4.1 Envelope": Envelope,
    "Fields of the genesis": Genesis,
    "Fields of the manifest": Manifest,
    "Fields of the data manifest": Corpus,
    "Fields of the roster": Roster,
    "Fields of the result": RoundResult,
    "Fields of a piece": PieceEvidence,
    "Fields of a marked piece": UnreadEvidence,
    "Fields of a document's score": DocumentScore,
    "Fields of a sealed set": SealedSet,
    "Fields of the rules": CompetitionRules,
    "Fields of a submission": Submission,
    "Fields of an evaluation": Evaluation,
    "Fields of an outcome": CompetitionOutcome,
}
NUMBERED: dict[str, type[IntEnum]] = {
    "Reasons": RejectionReason,
    "Verdicts": Verdict,
    "Reasons of round.void": VoidReason,
    "Reasons of run.close": CloseReason,
    "Causes": StandingCause,
    "Tiers": Tier,
    "Blob operations": blob_server.BlobOp,
    "Blob answers": blob_server.BlobStatus,
}
ANSWERS: dict[str, type[msgspec.Struct]] = {
    "network": NetworkAnswer,
    "run": RunAnswer,
    "published": PublishedAnswer,
    "rollback": RollbackAnswer,
    "notice": NoticeAnswer,
    "written": WrittenAnswer,
    "resume": ResumeAnswer,
    "round": RoundAnswer,
    "measured": MeasuredAnswer,
    "measure": MeasureAnswer,
    "measured-task": MeasuredTaskAnswer,
    "task": TaskAnswer,
    "sample": SampleAnswer,
    "peer": PeerAnswer,
    "team": TeamAnswer,
    "team-member": TeamMemberAnswer,
    "badge": BadgeAnswer,
    "attended": AttendedAnswer,
    "ranked": RankedAnswer,
    "standing": StandingAnswer,
    "tier": TierAnswer,
    "invitation": InvitationAnswer,
    "release": ReleaseAnswer,
    "snapshot": SnapshotAnswer,
    "competition-line": CompetitionLine,
    "competition": CompetitionAnswer,
    "entrant": EntrantAnswer,
    "offer": OfferAnswer,
    "share": ShareAnswer,
    "committed": CommittedAnswer,
    "scored": ScoredAnswer,
    "challenge": ChallengeAnswer,
    "witnesses": WitnessesAnswer,
    "witness": WitnessAnswer,
    "item": PostedStatement,
}

HTTP_LIMITS = {
    web_limits: (
        "BURST_S", "REGISTRATION_COST", "MAX_NAMES", "BODY_PATIENCE_S", "MIN_BODY_BYTES_S",
        "MAX_EVENT_STREAMS", "MAX_PAGE_STREAMS", "CROWDED_STREAMS", "CREDIT_S",
    ),
    middleware: ("MAX_REQUESTS", "MAX_TARGET_BYTES", "SLOW_READER_S"),
    server: ("MAX_HEAD_BYTES", "MAX_HEADERS", "READ_BYTES", "MAX_PIECES"),
    connections: ("MAX_CONNECTIONS", "RESERVED_DESCRIPTORS", "NETWORK_PART", "UNREAD_BYTES"),
    blobs: ("BLOCK_BYTES", "FILE_BYTES", "UNNAMED_DAYS"),
    documents: ("REFUSALS",),
    events: ("HEARTBEAT_S",),
    write_api: ("MAX_RECORDS",),
}  # fmt: skip


# --- statements


def test_every_statement_type_is_listed_with_its_scope() -> None:
    listed = {row[0]: row[1] for row in table("4.5 Types")}
    assert listed == {body.TYPE: body.SCOPE.value for body in BODIES.values()}


def test_every_statement_type_is_listed_with_who_says_it() -> None:
    said_by = {body.TYPE: "coordinator" for body in COORDINATOR_BODIES}
    said_by |= {body.TYPE: "organisers" for body in ORGANISER_BODIES}
    said_by[MemberVouch.TYPE] = "connectors"
    listed = {row[0]: row[2] for row in table("4.5 Types")}
    assert listed == {kind: said_by.get(kind, "any") for kind, _ in BODIES}


def test_every_field_of_every_body_is_listed_with_its_range() -> None:
    listed = {(row[0], row[1]): row[2] for row in table("Fields of bodies")}
    fields = {(body.TYPE, name): kind for body in BODIES.values() for name, kind in leaves(body)}
    assert listed.keys() == fields.keys()
    assert [at for at in fields if not fits(fields[at], listed[at])] == []


@pytest.mark.parametrize("heading", STRUCTS)
def test_every_field_of_a_structure_is_listed_with_its_range(heading: str) -> None:
    listed = {row[0]: row[1] for row in table(heading)}
    fields = dict(leaves(STRUCTS[heading]))
    assert listed.keys() == fields.keys()
    assert [name for name in fields if not fits(fields[name], listed[name])] == []


def test_the_manifest_has_the_defaults_that_are_listed() -> None:
    listed = {row[0]: row[2] for row in table("Fields of the manifest")}
    defaults = dict(defaults_of(Manifest))
    given = {name: json.loads(cell) for name, cell in listed.items() if cell != "-"}
    assert given == json.loads(json.dumps(defaults))


def test_the_sizes_of_a_manifest_are_bound_as_listed() -> None:
    listed = {row[0]: row[1] for row in table("Sizes")}
    bound = {
        name: number(cell.split()[2].rstrip(":")) for name, cell in listed.items() if "^" in cell
    }
    assert bound == {
        "windows.most": _MOST_WINDOWS,
        "T": limits.JSON_INTEGER,
        "P": limits.JSON_INTEGER,
        "P x `rounds.most": _MOST_POINTS,
    }


def test_the_fields_that_a_trainer_drops_are_listed() -> None:
    section = DOCUMENT.partition("### 7.1 The configuration")[2].partition("\n## ")[0]
    listed = re.search(r"begin, after underscores, with (.*?)\)", section, re.DOTALL)
    assert listed is not None
    assert tuple(re.findall(r"`(\w+)`", listed[1])) == CODE_PREFIXES


# --- runs, numbers, codes


def test_every_statement_that_may_come_too_early_has_its_time_listed() -> None:
    timing = source("tequio_shared/network/deadlines.py")
    codes = set(re.findall(r'RefusedError\(\s*"wrong-(\w+)"', timing))
    assert {row[0] for row in table("Earliest times")} == {f"round.{code}" for code in codes}
    used = set(re.findall(r"\btimes?\.(\w+)", timing)) | {"train_by"}
    named = " ".join(row[3] for row in table("Earliest times"))
    assert used == {name for name in TIMES if re.search(rf"(?<![.\w]){name}\b", named)}


def test_the_states_of_a_run_change_as_the_table_says() -> None:
    listed = {tuple(row) for row in table("9.1 States")}
    assert listed == {
        (state.value, event.value, after.value) for (state, event), after in TRANSITIONS.items()
    }


def test_the_limits_of_an_audit_are_those_listed() -> None:
    listed = {row[0].strip("`"): (int(row[2]), int(row[3])) for row in table("Figures of an audit")}
    assert listed == LIMITS


def test_every_standing_is_listed_and_so_is_every_change_of_it() -> None:
    assert [row[0] for row in table("Standings")] == [
        "newcomer",
        "active",
        "suspected",
        "quarantined",
        "probation",
        "banned",
        "revoked",
        "replaced",
    ]
    assert {row[0] for row in table("Standings")} == {one.value for one in Standing}
    by_fault = {
        StandingCause.TWO_COMMITMENTS,
        StandingCause.TWO_STATEMENTS,
        StandingCause.BAD_HEADER,
        StandingCause.BAD_PAYLOAD,
        StandingCause.UNREAD,
        StandingCause.NOT_DONE,
    }
    listed = {row[3] for row in table("Changes that follow")} - {"the fault's"}
    assert listed == {
        one.name
        for one in StandingCause
        if one
        not in by_fault
        | {StandingCause.NOT_ELECTED, StandingCause.BAD_PROOF, StandingCause.FALSE_REPORT}
    }


@pytest.mark.parametrize("heading", NUMBERED)
def test_numbers_and_their_names_are_those_of_the_code(heading: str) -> None:
    listed = [(int(row[0]), row[1]) for row in table(heading)]
    assert listed == [(one.value, one.name) for one in NUMBERED[heading]]


def test_every_badge_is_listed() -> None:
    assert [row[0].strip("`") for row in table("Badges")] == [str(one) for one in Badge]


def test_every_problem_code_is_listed_with_its_status() -> None:
    listed = {row[0]: int(row[1]) for row in table("Problem codes")}
    codes = raised_codes() | STATUS.keys()
    status = {code: STATUS.get(code, OTHER_REFUSAL) for code in codes}
    assert listed == {**status, "header-<rule>": OTHER_REFUSAL, "internal": 500}


def test_every_limit_is_listed_with_its_value() -> None:
    listed = {row[0]: int(row[1]) for row in table("Limits")}
    assert listed == {name: value for name, value in vars(limits).items() if name.isupper()}


def test_every_prefix_of_a_hash_or_signature_is_listed() -> None:
    used = {
        found
        for _, text in SOURCES
        for found in re.findall(r'b"(tequio/v1/[a-z-]+)(?:\\0|\\x00)"', text)
    }
    assert {row[0] for row in table("Prefixes")} == used


def test_a_proof_names_as_many_refusals_as_the_document_says() -> None:
    assert f"names the {proof.REJECTIONS} lowest refused slots" in DOCUMENT.replace("\n", " ")


# --- contribution and head


def test_the_header_has_its_fields_where_the_table_says() -> None:
    listed = {row[1]: (int(row[0]), width_of(row[2])) for row in table("Fields of the header")}
    assert listed == header_spans()


def test_the_rules_of_validity_are_numbered_in_their_order() -> None:
    rules = [row[0] for row in table("Rules")]
    assert rules == [RejectionReason(number).name.lower() for number in range(1, len(rules) + 1)]


def test_records_have_the_sizes_that_are_listed() -> None:
    listed = [[int(cell) for cell in row] for row in table("Record sizes")]
    shapes = [[RecordShape(algorithm="sparseloco", k=k, bits=b) for b in (1, 2, 4)] for k in KS]
    assert listed == [
        [row[0].k, row[0].low_bits, *(shape.record_bytes for shape in row)] for row in shapes
    ]


def test_bloom_filters_have_the_sizes_that_are_listed() -> None:
    for n, bits, size in ([int(cell) for cell in row] for row in table("10.2 Bloom filter")):
        assert (bits, size) == (proof.bloom_bits(n), proof.bloom_bytes(n))


def test_the_cosines_of_distro_are_those_of_the_code() -> None:
    section = DOCUMENT.partition("### 12.9 distro")[2].partition("```\n")[2].partition("```")[0]
    assert tuple(int(number) for number in section.split()) == _COSINES


def test_the_constants_of_scoring_are_listed() -> None:
    listed = {row[0]: int(row[1]) for row in table("Scoring constants")}
    found = {name: getattr(scoring, name) for name in listed.keys() - {"REPLICATES"}}
    assert listed == found | {"REPLICATES": result.REPLICATES}


def test_the_constants_of_sealing_are_listed() -> None:
    listed = {row[0]: int(row[1]) for row in table("Sealing constants")}
    assert listed == {name: getattr(sealed_set, name) for name in listed}


def test_the_constants_of_trials_are_listed() -> None:
    listed = {row[0]: int(row[1]) for row in table("Trial constants")}
    assert listed == {name: getattr(causality, name) for name in listed}
    assert listed.keys() == {
        name for name, one in vars(causality).items() if name.isupper() and isinstance(one, int)
    } - {"DOCUMENT_TOLERANCE", "MILLIBITS", "_DRAWS", "_NUMBERS", "_U32"}


def test_the_constants_of_competitions_are_listed() -> None:
    listed = {row[0]: int(row[1]) for row in table("Competition constants")}
    places = vars(competition_scores) | vars(competition_rules)
    assert listed == {name: places[name] for name in listed}


def test_the_phases_of_a_competition_are_listed_with_what_counts_in_each() -> None:
    section = DOCUMENT.partition("### 19.3 Phases")[2].partition("A statement in another")[0]
    rows = [row.strip("|").split("|") for row in section.splitlines() if row.startswith("| `")]
    listed = {row[0].strip(" `"): set(re.findall(r"`([a-z.]+)`", row[2])) for row in rows}
    assert listed == {
        phase.value: {body.TYPE for body, phases in _PHASES.items() if phase in phases}
        for phase in CompetitionPhase
    }


def test_every_refusal_of_a_document_is_listed() -> None:
    listed = [row[0] for row in table("17.1 Documents and tokens")]
    assert listed == [one.value for one in scoring.Refusal if one]


# --- peers and HTTP


def test_the_peer_protocols_are_named_as_in_the_code() -> None:
    assert f"`{blob_server.PROTOCOL}`" in DOCUMENT
    assert f"`{membership.PEERS_PROTOCOL}`" in DOCUMENT


def test_every_route_is_listed() -> None:
    listed = {(row[0], row[1]) for row in table("Routes")}
    served = {(route.method, route.template) for route in ROUTES}
    assert listed == served


def test_every_field_of_an_answer_is_listed() -> None:
    listed = [(row[0], row[1]) for row in table("Answers")]
    fields = {name: struct.__struct_fields__ for name, struct in ANSWERS.items()}
    assert listed == [(name, field) for name in fields for field in fields[name]]


def test_the_options_of_the_doors_have_the_defaults_that_are_listed() -> None:
    listed = {row[0]: row[1] for row in table("Door options")}
    defaults = {f"--{one.name}": one.default_text for one in settings_of(LedgerSettings)}
    assert listed == {name: defaults.get(name) for name in listed}
    assert {
        name for name in defaults if re.search("rate|streams|connections|quota|proxy", name)
    } == listed.keys()


def test_the_limits_of_a_peer_are_listed() -> None:
    listed = {row[0]: float(row[1]) for row in table("Peer limits")}
    limits = {one.name: float(str(one.default)) for one in fields(PeerLimits)}
    assert listed == {name: limits[name] for name in listed}
    assert limits.keys() - listed.keys() == {
        "connect_s",
        "repeat_topics_s",
        "silence_s",
    }, "what costs nobody else anything"


def test_the_constants_of_the_doors_are_listed() -> None:
    listed = {row[0]: float(row[1]) for row in table("Door constants")}
    found = {name: getattr(module, name) for module, names in HTTP_LIMITS.items() for name in names}
    assert listed == found
    public = {name for name in vars(web_limits) if name.isupper() and not name.startswith("_")}
    assert public - {"TYPE_CHECKING", "CONNECTION"} <= listed.keys()


# --- reading the document


def table(heading: str) -> list[list[str]]:
    """Rows of the one table under a heading, without the row of titles and without backticks."""
    match = re.search(
        rf"^#+ {re.escape(heading)}$(.*?)(?=^#|\Z)", DOCUMENT, re.MULTILINE | re.DOTALL
    )
    assert match is not None, f"docs/protocol.md has no heading {heading!r}"
    rows = [line for line in match[1].splitlines() if line.startswith("|")]
    assert rows, f"there is no table under {heading!r}"
    return [[cell.strip().strip("`") for cell in row[1:-1].split("|")] for row in rows[2:]]


def number(text: str) -> int:
    """Read `17`, `2^20` or `2^53-1`."""
    base, _, rest = text.partition("^")
    power, _, less = rest.partition("-")
    value: int = int(base) ** int(power or 1)
    return value - int(less or 0)


def width_of(kind: str) -> int:
    """Bytes of `u16` or `32 bytes`."""
    return int(kind[1:]) // 8 if kind[0] in "ui" else int(kind.split(maxsplit=1)[0])


# --- reading the code


def leaves(struct: type[msgspec.Struct]) -> Iterator[tuple[str, inspect.Type]]:
    """Fields by path: those of inner structures, also in arrays, after a dot."""
    return _leaves(inspect.type_info(struct), "")


def _leaves(kind: inspect.Type, path: str) -> Iterator[tuple[str, inspect.Type]]:
    inner = kind.item_type if isinstance(kind, inspect.VarTupleType) else kind
    if isinstance(inner, inspect.UnionType):  # a structure that may be absent
        inner = next((one for one in inner.types if isinstance(one, inspect.StructType)), inner)
    if isinstance(inner, inspect.StructType):
        for field in inner.fields:
            yield from _leaves(field.type, f"{path}.{field.encode_name}" if path else field.name)
    else:
        yield path, kind


def fits(kind: inspect.Type, cell: str) -> bool:
    """True if a cell states an integer's range; of other types it only has to say something."""
    ints = [one for one in _options(kind) if isinstance(one, inspect.IntType)]
    if not ints or ints[0].ge is None:
        return bool(cell)
    if ints[0].le is None:
        return cell == f"{ints[0].ge} or more"
    least, _, most = cell.partition("..")
    return (number(least), number(most)) == (ints[0].ge, ints[0].le)


def _options(kind: inspect.Type) -> tuple[inspect.Type, ...]:
    return kind.types if isinstance(kind, inspect.UnionType) else (kind,)


def defaults_of(struct: type[msgspec.Struct], path: str = "") -> Iterator[tuple[str, object]]:
    """Defaults by path, of inner structures too; fields that may be omitted have none."""
    for field in msgspec.structs.fields(struct):
        inner = next(iter(get_args(field.type)), field.type)
        if isinstance(inner, type) and issubclass(inner, msgspec.Struct):
            yield from defaults_of(inner, f"{path}{field.name}.")
        elif field.default not in {msgspec.NODEFAULT, msgspec.UNSET}:
            yield f"{path}{field.name}", field.default


def source(ending: str) -> str:
    """Text of the one source file whose path has that ending."""
    (text,) = [text for file, text in SOURCES if file.as_posix().endswith(ending)]
    return text


def raised_codes() -> set[str]:
    """Every code of a RefusedError that the shared protocol or the ledger raises."""
    refused = re.compile(r'RefusedError\(\s*"([a-z-]+)"')
    texts = [text for file, text in SOURCES if file.relative_to(ROOT).parts[0] != "client"]
    return {code for text in texts for code in refused.findall(text)} - LOCAL_CODES


def header_spans() -> dict[str, tuple[int, int]]:
    """Offset and width of each header field: the bytes that change it."""
    empty = asdict(ContributionHeader.parse(bytes(HEADER_BYTES)))
    bytes_of: dict[str, list[int]] = {name: [] for name in empty}
    for at in range(HEADER_BYTES):
        changed = asdict(ContributionHeader.parse(bytes(at) + b"\1" + bytes(HEADER_BYTES - at - 1)))
        name = next(name for name in empty if changed[name] != empty[name])
        bytes_of[name].append(at)
    return {name: (places[0], len(places)) for name, places in bytes_of.items()}
