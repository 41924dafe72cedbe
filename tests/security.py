"""Write the table of attacks in docs/security.md anew: `python -m tests.security`."""

from __future__ import annotations

from tests.support.attack_table import PAGE, page_with_table


def main() -> None:
    """Put the table where it belongs."""
    PAGE.write_text(page_with_table(PAGE.read_text()))


if __name__ == "__main__":
    main()
