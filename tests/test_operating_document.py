"""docs/operating.md keeps its word: commands, alarms, statuses, and a test for every drill."""

from __future__ import annotations

import ast
import re
import shlex
from pathlib import Path

import pytest
import yaml

from tequio_ledger.config.settings import LEDGER
from tequio_ledger.config.sources import FILE
from tequio_ledger.log.guard import Cause
from tests.support.command_lines import PROGRAMS, fault, unknown_options

ROOT = Path(__file__).parent.parent
DOCUMENT = (ROOT / "docs" / "operating.md").read_text("utf-8")
DRILLS = ("Restore", "Key loss", "Split view", "Full disk", "Upgrade")
AS_LEDGER = "as_ledger (?=tequio-ledger )"
COMPOSED = "docker compose -f installer/compose.yaml run --rm"
TEST = re.compile(r"`(tests/[\w/]+\.py)::(test_\w+)`")


def section(heading: str) -> str:
    """The text under a heading, up to the next of its level or above."""
    match = re.search(
        rf"^(#+) {re.escape(heading)}$(.*?)(?=^#{{1,3}} |\Z)", DOCUMENT, re.MULTILINE | re.DOTALL
    )
    assert match is not None, heading
    return match[2]


def drill(heading: str) -> str:
    whole = DOCUMENT.partition("\n## Drills\n")[2].partition("\n## ")[0]
    return whole.partition(f"\n### {heading}\n")[2].partition("\n### ")[0]


def blocks(text: str = DOCUMENT) -> list[str]:
    """Every block of shell, a line each command."""
    found = re.findall(r"^```sh\n(.*?)^```", text, re.MULTILINE | re.DOTALL)
    return [block.replace("\\\n", " ") for block in found]


def commands() -> list[str]:
    """Every line that runs a Tequio program: directly, as the ledger's user, or by compose."""
    lines = [line for block in blocks() for line in block.splitlines()]
    prefix = rf"^({AS_LEDGER}|/opt/tequio/bin/(?=tequio-ledger )|{re.escape(COMPOSED)} (?=ledger ))"
    bare = [re.sub(prefix, "", one) for one in lines]
    named = [re.sub(r"^ledger ", "tequio-ledger ", line) for line in bare]
    return [line for line in named if re.match(r"tequio(-ledger)? ", line)]


@pytest.mark.parametrize("heading", DRILLS)
def test_every_drill_is_a_test(heading: str) -> None:
    named = TEST.findall(drill(heading))
    assert named, f"the drill {heading!r} names no test"


def test_every_test_that_is_named_exists() -> None:
    for file, name in TEST.findall(DOCUMENT):
        tree = ast.parse((ROOT / file).read_text("utf-8"))
        functions = {node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)}
        assert name in functions, f"{file}::{name}"


@pytest.mark.parametrize("line", commands())
def test_every_command_is_one_that_its_program_takes(line: str) -> None:
    bare = re.sub(r"\[(.*?)\]", r"\1", line).replace(" ...", "")
    assert fault(shlex.split(bare, comments=True)) is None


def named_commands() -> set[str]:
    """Commands in sentences of the document, and in comments of the files that it installs."""
    installed = [*ROOT.glob("installer/*.toml"), *ROOT.glob("installer/*.yaml")]
    comments = [re.sub(r"\n *# *", " ", one.read_text("utf-8")) for one in installed]
    prose = re.sub(r"^```.*?^```", "", DOCUMENT, flags=re.MULTILINE | re.DOTALL)
    found = re.findall(r"`(tequio(?:-ledger)?\s[^`]+)`", "\n".join([prose, *comments]))
    return {" ".join(one.split()) for one in found}


@pytest.mark.parametrize("line", sorted(named_commands()))
def test_every_command_in_a_sentence_is_one_that_its_program_has(line: str) -> None:
    assert unknown_options(shlex.split(line)) == []


def test_a_group_of_commands_in_a_sentence_is_found() -> None:
    with pytest.raises(AssertionError, match="tequio key only prints its help"):
        unknown_options(["tequio", "key"])


def test_commands_of_both_programs_are_looked_at() -> None:
    assert {line.split()[0] for line in commands()} == {"tequio", "tequio-ledger"}


@pytest.mark.parametrize(
    "line",
    [
        "tequio-ledger backup",
        "tequio-ledger serve --port",
        "tequio-ledger serve -x",
        "tequio-ledger restore --form /backup",
        "tequio-ledger restor --from /backup",
        "tequio invite open --uses many",
        "tequio countersign",
    ],
)
def test_a_command_that_its_program_would_not_take_is_found(line: str) -> None:
    assert fault(shlex.split(line)) is not None


def test_what_looks_after_the_ledger_runs_as_its_unit_does() -> None:
    (block,) = [one for one in blocks() if "as_ledger() {" in one]
    words = shlex.split(block.partition("{")[2].partition("}")[0])
    options = [word for word in words if word.startswith("--") and "=" in word]
    said = {"=".join(word.split("=", 2)[:-1]): word.rpartition("=")[2] for word in options}
    unit = (ROOT / "installer" / "systemd" / "tequio-ledger.service").read_text("utf-8")
    lines = dict(re.findall(r"^(\w+)=(.*)$", unit, re.MULTILINE))
    start = shlex.split(lines["ExecStart"])
    place, file = (start[start.index(option) + 1] for option in ("--dir", "--settings"))
    assert said == {
        "--uid": lines["User"],
        "--gid": lines["Group"],
        "--property=EnvironmentFile": lines["EnvironmentFile"],
        f"--setenv={LEDGER.variable('dir')}": place,
        f"--setenv={LEDGER.variable(FILE)}": file,
    }
    assert words[-1] == f"{Path(start[0]).parent}/$@"


KEEPING = ("backup", "restore", "doctor", "migrate", "replay", "move", "settings")


def test_no_command_that_looks_after_the_ledger_is_run_in_another_way() -> None:
    lines = [line for block in blocks() for line in block.splitlines()]
    for line in lines:
        assert not re.match(rf"tequio-ledger ({'|'.join(KEEPING)})\b", line), line


def test_a_restored_folder_is_made_by_root_and_handed_over() -> None:
    """The folder is built beside its target, where the ledger's user may create nothing."""
    restoring = [block for block in blocks() if "restore --from" in block]
    assert len(restoring) == 2, "the chapter and its drill"
    unit = (ROOT / "installer" / "systemd" / "tequio-ledger.service").read_text("utf-8")
    (user,) = re.findall(r"^User=(.*)$", unit, re.MULTILINE)
    ((program, folder),) = re.findall(r"^ExecStart=(\S+) .*--dir (\S+)", unit, re.MULTILINE)
    made = rf"^{program} restore --from \S+ --dir {folder}\nchown -R {user}:{user} {folder}\b"
    for block in restoring:
        assert re.search(made, block, re.MULTILINE), block


def test_the_program_is_installed_from_the_checkout_by_hash() -> None:
    for name in ("README.md", "docs/operating.md", "installer/systemd/tequio-ledger.service"):
        assert not re.search(r"pip install", (ROOT / name).read_text("utf-8"))
    installing = [
        block for block in blocks() if "installer/install.sh ledger /opt/tequio\n" in block
    ]
    assert len(installing) >= 3, "at first, and in an upgrade with either database"


def test_an_upgrade_is_told_for_each_way_to_run_a_ledger() -> None:
    sqlite, postgresql, composed = blocks(drill("Upgrade"))
    assert "tequio-ledger backup" in sqlite
    for block in (postgresql, composed):
        assert "pg_dump" in block
        assert "backup" not in block.replace("/backups/", ""), "which refuses there"
    for block in (sqlite, postgresql, composed):
        assert re.search(r"ledger migrate\n.*ledger doctor\n", block)


def test_the_job_that_the_alarms_go_by_is_the_one_that_is_shown() -> None:
    (shown,) = re.findall(r"^```yaml\n(.*?)^```", section("Watch"), re.MULTILINE | re.DOTALL)
    (job,) = yaml.safe_load(shown)["scrape_configs"]
    rules = (ROOT / "installer" / "alerts.yml").read_text("utf-8")
    jobs = re.findall(r'up\{job="([^"]+)"\}', rules)
    assert set(jobs) == {job["job_name"]}
    (gone,) = [line for line in rules.splitlines() if "expr: up{" in line]
    assert f'absent(up{{job="{job["job_name"]}"}})' in gone, "a job that is not there rings too"


def test_every_alarm_says_what_to_do() -> None:
    rules = yaml.safe_load((ROOT / "installer" / "alerts.yml").read_text("utf-8"))
    alarms = {rule["alert"] for group in rules["groups"] for rule in group["rules"]}
    rows = [line for line in section("Watch").splitlines() if line.startswith("| `Ledger")]
    assert {name for row in rows for name in re.findall(r"`(Ledger\w+)`", row)} == alarms


def test_every_status_of_healthz_is_explained() -> None:
    service = (ROOT / "ledger" / "tequio_ledger" / "ledger.py").read_text("utf-8")
    said = set(re.findall(r'status="([a-z-]+)"', service)) | {one.value for one in Cause}
    rows = re.findall(r"^\| `([a-z-]+)` \|", section("Watch"), re.MULTILINE)
    assert sorted(rows) == sorted(said - {"ok"}), "each once"


def test_the_document_names_every_command_of_the_ledger() -> None:
    named = set(re.findall(r"\btequio-ledger ([a-z]+)", DOCUMENT))
    elsewhere = {"quarantine"}  # a command of the organiser, too
    assert named >= set(PROGRAMS["tequio-ledger"].commands) - elsewhere
