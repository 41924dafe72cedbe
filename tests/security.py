"""Regenerate the table of attacks in docs/security.md: `python -m tests.security`."""

from __future__ import annotations

from tests.support.attack_table import PAGE, page_with_table


def main() -> None:
    """Write the page with the current table."""
    PAGE.write_text(page_with_table(PAGE.read_text()))


if __name__ == "__main__":
    main()
