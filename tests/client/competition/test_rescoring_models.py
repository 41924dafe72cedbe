"""An entrant's model that somebody gives: the head that was submitted, or none."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tequio_client.checkpoint import export
from tequio_client.checkpoint.export import WeightsOrigin
from tequio_client.competition.models import OtherWeightsError, submission_of_head
from tequio_client.competition.rescoring import ModelSource
from tequio_client.trainer import likelihood
from tequio_client.verify.report import NoProgress
from tequio_shared.errors import UserFacingError
from tests.client.verify.logs import SwarmLog
from tests.support.llama_swarm import ROUNDS, played, served_log

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The last head, exported."""
    folder = tmp_path_factory.mktemp("export")
    with served_log(SwarmLog(played().swarm)) as site:
        wish = export.ExportOptions(
            origin=WeightsOrigin(
                ledger=site.url, stores=[played().store(folder / "store", ROUNDS)]
            ),
            run="maize- 1.0",
            target=folder / "out",
        )
        export.export_head(wish, NoProgress())
    return folder / "out"


def models(folder: Path, given: Path | None) -> ModelSource:
    return ModelSource(
        local={"maize": given} if given else {}, origin=None, folder=folder, progress=NoProgress()
    )


def test_an_export_of_the_submitted_head_is_that_model(whole: Path, tmp_path: Path) -> None:
    head = played().swarm.view.heads[ROUNDS]
    made = submission_of_head(played().manifest.run_id, ROUNDS, head.weights_root)
    assert models(tmp_path, whole).model("maize", made) == whole


def test_an_export_of_another_head_is_not(whole: Path, tmp_path: Path) -> None:
    head = played().swarm.view.heads[1]
    made = submission_of_head(played().manifest.run_id, 1, head.weights_root)
    with pytest.raises(OtherWeightsError, match="is the head of round 3"):
        models(tmp_path, whole).model("maize", made)


def test_a_head_is_had_through_its_ledger_and_loads(tmp_path: Path) -> None:
    head = played().swarm.view.heads[ROUNDS]
    made = submission_of_head(played().manifest.run_id, ROUNDS, head.weights_root)
    with served_log(SwarmLog(played().swarm)) as site:
        origin = WeightsOrigin(ledger=site.url, stores=[played().store(tmp_path / "store", ROUNDS)])
        asked = ModelSource(local={}, origin=origin, folder=tmp_path, progress=NoProgress())
        folder = asked.model("maize", made)
    scored = likelihood.open_model(folder, tokenizer=None, prefix=None)
    assert scored.scoring_rules(64, 32).window == 64


def test_a_folder_that_is_no_export_cannot_be_told(tmp_path: Path) -> None:
    head = played().swarm.view.heads[ROUNDS]
    made = submission_of_head(played().manifest.run_id, ROUNDS, head.weights_root)
    with pytest.raises(UserFacingError, match="not a complete export"):
        models(tmp_path, tmp_path).model("maize", made)


def test_without_a_ledger_a_head_has_to_be_given(tmp_path: Path) -> None:
    made = submission_of_head(
        played().manifest.run_id, 1, played().swarm.view.heads[1].weights_root
    )
    with pytest.raises(
        UserFacingError, match="give --model maize=FOLDER with an export of round 1"
    ):
        models(tmp_path, None).model("maize", made)
