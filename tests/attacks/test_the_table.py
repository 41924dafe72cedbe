"""The page of attacks is what the tests say, and no attack is left without a word."""

from __future__ import annotations

import ast

from tests.support.attack_table import PAGE, defences, known, page_with_table


def test_the_page_is_up_to_date() -> None:
    page = PAGE.read_text()
    assert page == page_with_table(page), "run: make security"


def test_every_attack_has_a_test_or_a_reason_why_not() -> None:
    tested = {one.attack for one in defences()}
    silent = [name for name, one in known().items() if name not in tested and not one.open]
    assert not silent


def test_every_mark_names_a_known_attack_and_a_test_that_is_collected() -> None:
    for one in defences():
        assert one.attack in known()
        assert one.test.startswith("test_")


NO_ATTACKER = {
    "test_connections.py",
    "test_limits.py",
    "test_links.py",
    "test_local.py",
    "test_middleware.py",
    "test_names.py",
    "test_own_tokenizer.py",
    "test_result_judging.py",
    "test_runtime.py",
    "test_runtime_trial.py",
    "test_sandbox.py",
    "test_sandbox_calls.py",
    "test_scores.py",
    "test_server.py",
    "test_trainer.py",
    "test_weights_folder.py",
}
"""Tests of attacks by files on the machine, or on one part alone: no attacker is imported."""


def test_attackers_live_in_the_support_folder() -> None:
    for path in {one.path for one in defences() if one.path.name not in NO_ATTACKER}:
        imported = [
            node.module or ""
            for node in ast.walk(ast.parse(path.read_text()))
            if isinstance(node, ast.ImportFrom)
        ]
        assert any(name.startswith("tests.support.attack") for name in imported), path
        assert any(
            name.startswith("tests.support.") and name != "tests.support.attack_table"
            for name in imported
        ), path
