"""How a program ends: one sentence, chosen from whatever failed together."""

from __future__ import annotations

import pytest

from tequio_client.ledger.http import (
    LedgerRefusedError,
    LedgerUnavailableError,
    LogForkedError,
    UnnamedRefusalError,
)
from tequio_client.worker import shutdown
from tequio_client.worker.shutdown import BrokenRulesError
from tequio_shared.errors import MalformedError, UserFacingError, first_error

URL = "https://ledger.example"


def sentence(error: Exception) -> str:
    """The message for people when this error ends a program, alone or in a group."""
    messages = set()
    for raised in (error, ExceptionGroup("g", [ExceptionGroup("h", [error])])):
        with (
            pytest.raises((UserFacingError, ExceptionGroup)) as caught,
            shutdown.explain_unreachable_ledger(URL),
        ):
            raise raised
        messages.add(str(first_error(caught.value)))
    (only,) = messages
    return only


@pytest.mark.parametrize(
    "error",
    [
        LogForkedError("the log forked: root aa, signed root bb"),
        BrokenRulesError("entry 7 (round.open) does not follow from the log"),
    ],
)
def test_a_log_that_cannot_be_trusted_is_named_with_what_to_do(error: Exception) -> None:
    said = sentence(error)
    assert str(error) in said
    assert f"`tequio audit --ledger {URL}`" in said


@pytest.mark.parametrize(
    "error",
    [
        LedgerUnavailableError("refused"),
        UnnamedRefusalError("PUT /v1/blobs/x: 413: this is not the answer of a ledger"),
        LedgerRefusedError("not-found", "GET /v1/network: 404"),
        MalformedError("no JSON"),
    ],
)
def test_a_ledger_that_is_away_or_none_is_named(error: Exception) -> None:
    said = sentence(error)
    assert URL in said
    # A ledger that is away says nothing: the details are for --verbose.
    assert (str(error) in said) != (type(error) is LedgerUnavailableError)


def test_of_several_errors_the_fork_is_told() -> None:
    errors = [LedgerUnavailableError("away"), LogForkedError("two roots")]
    with (
        pytest.raises((UserFacingError, ExceptionGroup)) as caught,
        shutdown.explain_untrusted_log(URL),
    ):
        raise ExceptionGroup("both", errors)
    assert "two roots" in str(first_error(caught.value))


def test_other_errors_pass() -> None:
    with pytest.raises(ExceptionGroup), shutdown.explain_unreachable_ledger(URL):
        raise ExceptionGroup("a bug", [KeyError("x")])
