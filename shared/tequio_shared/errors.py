"""Every error that the project raises on purpose, as one tree.

TequioError
├── PeerError              the other side is wrong: report it, drop it, go on
│   ├── MalformedError     bytes that do not parse as what they claim to be
│   └── SignatureInvalidError   a signature or a key that does not verify
├── RefusedError           a statement or request that the rules do not allow; carries a code
├── UserFacingError        the person at the keyboard can fix it: one sentence and a way out
└── FatalLogError          the log's state may be inconsistent: the process must stop
"""


class TequioError(Exception):
    """Base of everything raised on purpose."""


class PeerError(TequioError):
    """The other side broke the protocol; our own state is untouched."""


class MalformedError(PeerError):
    """Bytes do not parse as what they claim to be."""


class SignatureInvalidError(PeerError):
    """A signature does not verify, or its key is not an acceptable Ed25519 point."""


class RefusedError(TequioError):
    """The rules do not allow this; `code` is the problem code of docs/protocol.md."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code = code


class UserFacingError(TequioError):
    """The person who started the program can fix this; printed as one sentence."""


class FatalLogError(TequioError):
    """The log's state may be inconsistent: drop everything in memory and exit."""


def first_error(error: BaseException) -> BaseException:
    """Return the error itself, or the first one in its group."""
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    return error
