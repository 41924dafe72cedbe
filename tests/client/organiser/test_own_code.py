"""Plans with a plug-in: a confined child tries it, and the manifest names it."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pytest
from click.testing import CliRunner

from tequio_client.__main__ import cli
from tequio_client.organiser import opening, own_code
from tequio_client.organiser.outline import read_outline
from tequio_client.plugins import archive
from tequio_shared.errors import UserFacingError
from tequio_shared.head import head
from tequio_shared.ids import sha256, to_text
from tests.support import fork_service, plugin_example
from tests.support.plans import PLAN, write_plan

if TYPE_CHECKING:
    from collections.abc import Iterator

    from click.testing import Result

CONFIG = plugin_example.CONFIG | {"width": 16}
WORDS = plugin_example.example_files()["tiny/words.py"]
LONGEST = "map(re.escape, longest_first)"


@pytest.fixture(autouse=True, scope="module")
def _forked_trials() -> Iterator[None]:
    """Fork the children that try plug-ins."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(own_code, "_TRIAL", (*fork_service.trainer_command(), "plugin"))
        yield


def planned(folder: Path, more: str = "", **changed: str) -> Path:
    """A plan with the example's plug-in, a small network, and more lines."""
    path = write_plan(folder)
    plugin_example.write(folder / "plugin", **changed)
    (folder / "config.json").write_text(json.dumps(CONFIG))
    path.write_text(f'{PLAN}[plugin]\nsource = "plugin"\n{more}')
    return path


def run(*words: str) -> Result:
    return CliRunner().invoke(cli, words)


def test_a_run_names_the_archive_and_begins_with_seeded_weights(tmp_path: Path) -> None:
    path = planned(tmp_path)
    prepared = opening.prepare_run(path)
    manifest, code = prepared.manifest, archive.build(tmp_path / "plugin")
    assert manifest.own_code == code.spec
    assert code.content in prepared.blobs
    assert manifest.model.tensors[0][0] == "embed.weight"
    assert len(prepared.weights) == 4 * manifest.layout.elements
    assert opening.prepare_run(path).manifest == manifest, "the seed makes the weights"
    assert read_outline(path).manifest.model.tensors == manifest.model.tensors
    master = np.frombuffer(prepared.weights, "<i4")
    assert to_text(head.weights_root(master)) == manifest.model.weights_root


def test_cells_are_not_expected_of_a_run_whose_trainers_load_a_plugin(tmp_path: Path) -> None:
    path = planned(tmp_path, "[expect]\ncell = 2\n")
    refused = run("run", "check", str(path)).exception
    assert isinstance(refused, UserFacingError)
    assert "does not run plug-ins: set cell = 1 under [expect]" in str(refused)


@pytest.mark.parametrize("kind", ["none", "pipeline"])
def test_cells_are_not_simulated_of_a_run_whose_trainers_load_a_plugin(
    tmp_path: Path, kind: str
) -> None:
    words = ("--peers", "4", "--days", "0.001", "--cells", "0.5", "--cell-kind", kind)
    refused = run("simulate", str(planned(tmp_path)), *words).exception
    assert isinstance(refused, UserFacingError)
    assert "does not run plug-ins: leave out --cells" in str(refused)


def test_a_new_plan_has_the_plugin_and_passes_its_check(tmp_path: Path) -> None:
    planned(tmp_path)
    words = ("--plugin", str(tmp_path / "plugin"), "--from", str(tmp_path / "config.json"))
    path = str(tmp_path / "new.toml")
    made = run("run", "new", path, "--data", str(tmp_path / "data"), "--peers", "2", *words)
    assert made.exception is None, made.output
    assert "[plugin]" in Path(path).read_text()
    checked = run("run", "check", path)
    assert checked.exception is None
    assert "tiny 1.0" in checked.output
    assert not (tmp_path / "new.model.json").exists(), "the configuration is the organiser's"


@pytest.mark.parametrize(
    ("changed", "more", "why"),
    [
        ({"descent": "import missing_package\n"}, "", "ModuleNotFoundError"),
        ({}, '[inner]\ndocuments = "apart"\n', 'set inner.documents to "joined"'),
        ({}, '[algorithm]\nname = "distro"\n', "distro takes no inner steps"),
    ],
)
def test_a_plan_that_cannot_work_is_refused(
    tmp_path: Path, changed: dict[str, str], more: str, why: str
) -> None:
    with pytest.raises(UserFacingError, match=why):
        read_outline(planned(tmp_path, more, **changed))


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a plan whose data was built with the example's tokenizer; not to be changed."""
    folder = tmp_path_factory.mktemp("built")
    planned(folder)
    plugin = str(plugin_example.add_tokenizer(folder / "plugin"))
    place = ("--folder", str(folder / "texts"), "--sequence", "32", "--held-out", "1000")
    done = run("data", "build", str(folder / "data"), *place, "--plugin", plugin)
    assert done.exception is None, done.output
    return folder


@pytest.fixture
def with_own_texts(built: Path, tmp_path: Path) -> Path:
    """A copy of that plan."""
    return shutil.copytree(built, tmp_path, dirs_exist_ok=True) / "plan.toml"


def test_a_run_names_the_table_of_its_tokenizer(with_own_texts: Path, tmp_path: Path) -> None:
    prepared = opening.prepare_run(with_own_texts)
    manifest, table = prepared.manifest, (tmp_path / "data" / "tokenizer.table").read_bytes()
    assert manifest.tokenizer.kind == "plugin"
    assert manifest.tokenizer.file == to_text(sha256(table))
    assert table in prepared.blobs
    assert manifest.own_code is not None
    assert manifest.own_code.provides == ("model", "optimiser", "tokenizer")
    assert manifest.trainer_code == manifest.own_code


def test_data_of_another_version_of_the_tokenizer_is_refused(
    with_own_texts: Path, tmp_path: Path
) -> None:
    path = with_own_texts
    read_outline(path)
    for words, why in (
        (WORDS.replace('" the"', '"the "'), "build it again with `tequio data build --plugin`"),
        (WORDS.replace(f'*{LONGEST}, b"."', f'b".", *{LONGEST}'), "it splits '"),
    ):
        assert words != WORDS
        plugin_example.add_tokenizer(plugin_example.write(tmp_path / "plugin", words=words))
        with pytest.raises(UserFacingError, match=why):
            read_outline(path)


def test_data_and_plan_name_the_same_tokenizer(with_own_texts: Path, tmp_path: Path) -> None:
    path = with_own_texts
    plugin_example.write(tmp_path / "plugin")
    with pytest.raises(UserFacingError, match="does not bring a tokenizer, and the data was built"):
        read_outline(path)
    path.write_text(PLAN)
    with pytest.raises(UserFacingError, match="name it in the plan"):
        read_outline(path)
    (tmp_path / "other").mkdir()
    other = planned(tmp_path / "other")
    plugin_example.add_tokenizer(plugin_example.write(tmp_path / "other" / "plugin"))
    with pytest.raises(UserFacingError, match="brings a tokenizer, and the data was not built"):
        read_outline(other)


def test_a_model_of_a_plugin_needs_the_plugin(tmp_path: Path) -> None:
    path = planned(tmp_path)
    path.write_text(PLAN)
    with pytest.raises(UserFacingError, match="this model is a plug-in's"):
        read_outline(path)


def test_the_commands_build_show_and_allow_an_archive(tmp_path: Path) -> None:
    folder, out, home = plugin_example.write(tmp_path / "plugin"), tmp_path / "x", tmp_path / "home"
    built = run("plugin", "build", str(folder), "--out", str(out))
    digest = to_text(sha256(out.read_bytes()))
    assert built.output.splitlines()[-1] == digest
    shown = run("plugin", "show", str(out), "--code").output
    assert f"archive {digest}" in shown
    assert "class Descent" in shown
    assert "No plug-in is allowed" in run("plugin", "list", "--dir", str(home)).output
    asked = CliRunner().invoke(cli, ("plugin", "allow", str(out), "--dir", str(home)), input="n\n")
    assert "Allow this code on this computer?" in asked.output
    assert digest not in run("plugin", "list", "--dir", str(home)).output
    run("plugin", "allow", str(out), "--dir", str(home), "--yes")
    assert digest in run("plugin", "list", "--dir", str(home)).output
    assert "revoked: tiny 1.0" in run("plugin", "revoke", digest[:8], "--dir", str(home)).output
    assert digest not in run("plugin", "list", "--dir", str(home)).output
