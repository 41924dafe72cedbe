"""How we say that a stored byte is not what was written."""

from tequio_shared.errors import UserFacingError


def damage(what: str) -> UserFacingError:
    """Name the first thing that does not fit, and the way out."""
    return UserFacingError(
        f"the stored log is damaged: {what}; nothing was signed: restore the data folder "
        "from a backup"
    )
