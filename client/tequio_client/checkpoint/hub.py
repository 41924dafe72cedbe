"""Upload to and download from the Hugging Face Hub, through its own client.

Rules. A repository holds heads of one run, and nothing else in it is ever overwritten. Each head is
one commit with the tag `round-N`; an existing tag means that the head is published. Large files are
uploaded one by one before the commit, and the Hub is not sent files that it has: an interrupted
upload continues with the file where it stopped. No message contains the token.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import httpx2
from huggingface_hub import (
    CommitOperationAdd,
    CommitOperationDelete,
    HfApi,
    constants,
    get_token,
)
from huggingface_hub.errors import (
    HfHubHTTPError,
    HFValidationError,
    RemoteEntryNotFoundError,
    RepositoryNotFoundError,
    RevisionNotFoundError,
)
from huggingface_hub.utils.tqdm import disable_progress_bars

from tequio_client.checkpoint import export, layout
from tequio_client.checkpoint.layout import HeadClaim, PublishedRevision
from tequio_client.keys.state import IdentityError
from tequio_client.names import clean_text
from tequio_shared.errors import MalformedError, UserFacingError

if TYPE_CHECKING:
    from tequio_client.keys.system_keyring import SystemKeyring


_TAG = "round-"
_MOST_CHARS = 300
_DENIED = 403
_UNKNOWN = 401
_OWN_FILES = (".gitattributes",)
_FAILURES = (HfHubHTTPError, httpx2.HTTPError, OSError, RuntimeError, ValueError)
"""Errors of the client; a RuntimeError is the failed upload of a large file."""


def disable_progress() -> None:
    disable_progress_bars()


class Hub:
    """Client with one token, for the Hub at `endpoint` (default: HF_ENDPOINT)."""

    def __init__(self, token: str | None, endpoint: str | None = None) -> None:
        self._api = HfApi(token=token or False, endpoint=endpoint)

    def publish(
        self,
        folder: Path,
        claim: HeadClaim,
        repo: str,
        *,
        is_private: bool,
        report: Callable[[str], None],
    ) -> PublishedRevision:
        """Upload an exported folder; `report` gets the name of each file before its upload.

        Raises UserFacingError, after which it may be called again.
        """
        try:
            with export.disk_errors(Path(constants.HF_HUB_CACHE)):
                self._prepare(repo, claim, is_private=is_private)
                found = self._tagged(repo, claim)
                return found or self._upload(folder, claim, repo, report)
        except _FAILURES as err:
            raise _translated(err, repo) from err

    def download(self, repo: str, revision: str | None, folder: Path | None = None) -> Path:
        """Download an export into a folder, by default of the cache, which has the commit's name.

        Raises UserFacingError, and MalformedError for a repository with files of no export, before
        anything is fetched.
        """
        try:
            info = self._api.model_info(repo, revision=revision)
            layout.check_names([one.rfilename for one in info.siblings or ()], layout.PATTERNS)
            with export.disk_errors(folder or Path(constants.HF_HUB_CACHE)):
                found = self._api.snapshot_download(
                    repo, revision=info.sha, allow_patterns=list(layout.PATTERNS), local_dir=folder
                )
            return Path(found)
        except _FAILURES as err:
            raise _translated(err, repo) from err

    def published_rounds(self, repo: str) -> set[int]:
        """Rounds with a tag; raises UserFacingError."""
        try:
            names = [one.name for one in self._api.list_repo_refs(repo).tags]
        except RepositoryNotFoundError:
            return set()
        except _FAILURES as err:
            raise _translated(err, repo) from err
        numbers = [name.removeprefix(_TAG) for name in names if name.startswith(_TAG)]
        return {int(one) for one in numbers if one.isdecimal()}

    def _prepare(self, repo: str, claim: HeadClaim, *, is_private: bool) -> None:
        """Create the repository, or check that the existing one can be used.

        It is created only if it is missing: a token may be for this one repository.
        """
        try:
            info = self._api.model_info(repo)
        except RepositoryNotFoundError:
            self._api.create_repo(repo, private=is_private)
            return
        if is_private and not info.private:
            raise UserFacingError(
                f"the repository {repo} exists and is public: make it private on the Hub, or "
                "leave out --private"
            )
        names = [one.rfilename for one in info.siblings or ()]
        other = self._claimed(repo, "main")
        if other is None and not set(names) <= set(_OWN_FILES):
            raise UserFacingError(
                f"the repository {repo} has files that are not heads of a Tequio run: "
                "give another name with --to"
            )
        if other is not None and (other.network, other.run) != (claim.network, claim.run):
            raise UserFacingError(
                f"the repository {repo} has heads of another run ({other.run[:10]}): "
                "give another name with --to"
            )

    def _tagged(self, repo: str, claim: HeadClaim) -> PublishedRevision | None:
        """Find the head by its tag; None if there is no such tag."""
        tag = f"{_TAG}{claim.round}"
        tags = {one.name: one.target_commit for one in self._api.list_repo_refs(repo).tags}
        if tag not in tags:
            return None
        if self._claimed(repo, tag) != claim:
            raise UserFacingError(
                f"the tag {tag} of {repo} is not this head: delete it on the Hub, or give "
                "another name with --to"
            )
        return PublishedRevision(location=repo, revision=tags[tag], tag=tag, is_new=False)

    def _upload(
        self, folder: Path, claim: HeadClaim, repo: str, report: Callable[[str], None]
    ) -> PublishedRevision:
        additions = [
            CommitOperationAdd(path_in_repo=name, path_or_fileobj=folder / name)
            for name in layout.visible_names(folder)
        ]
        for number, one in enumerate(additions, 1):
            report(f"{number} of {len(additions)}: {one.path_in_repo}")
            self._api.preupload_lfs_files(repo, [one], free_memory=False)
        commit = self._api.create_commit(
            repo,
            [*additions, *self._stale(repo, {one.path_in_repo for one in additions})],
            commit_message=f"Head of round {claim.round}: {claim.head}",
        )
        tag = f"{_TAG}{claim.round}"
        self._api.create_tag(repo, tag=tag, revision=commit.oid)
        return PublishedRevision(location=repo, revision=commit.oid, tag=tag, is_new=True)

    def _stale(self, repo: str, fresh: set[str]) -> Iterator[CommitOperationDelete]:
        """Delete files of an earlier head that this one lacks, such as further weight files."""
        for one in self._api.model_info(repo).siblings or ():
            if one.rfilename not in fresh and one.rfilename not in _OWN_FILES:
                yield CommitOperationDelete(path_in_repo=one.rfilename)

    def _claimed(self, repo: str, revision: str) -> HeadClaim | None:
        """Read the claim of a revision; None if it is not an export."""
        try:
            path = self._api.hf_hub_download(repo, layout.CLAIM, revision=revision)
            with Path(path).open("rb") as file:
                return layout.HeadClaim.parse(file.read(layout.CLAIM_BYTES))
        except (RemoteEntryNotFoundError, RevisionNotFoundError, MalformedError):
            return None


def _translated(err: Exception, repo: str) -> UserFacingError:
    cause = err if isinstance(err, HfHubHTTPError) else err.__cause__
    if isinstance(err, HFValidationError):
        return UserFacingError(
            f"invalid repository name {clean_text(repo, _MOST_CHARS)!r}: expected user/name, or "
            "s3://bucket/prefix for a bucket"
        )
    if isinstance(cause, HfHubHTTPError):
        return _answered(cause, repo)
    return UserFacingError(
        f"the connection to the Hub failed ({type(cause or err).__name__}: "
        f"{clean_text(str(cause or err), _MOST_CHARS)}): run this again, and it goes on where "
        "it stopped"
    )


def _answered(err: HfHubHTTPError, repo: str) -> UserFacingError:
    answer = clean_text(err.server_message or str(err).partition("\n")[0], _MOST_CHARS)
    status = err.response.status_code
    if isinstance(err, RepositoryNotFoundError):
        return UserFacingError(f"the Hub has no repository {repo} that this token may see")
    if status == _UNKNOWN:
        return UserFacingError(
            f"the Hub does not accept the token ({answer}): create one with write access at "
            "https://huggingface.co/settings/tokens, and store it with `tequio checkpoint token`"
        )
    if status == _DENIED:
        return UserFacingError(
            f"the token has no write access to {repo} ({answer}): use a repository of your own, or "
            "a token with that access"
        )
    return UserFacingError(f"the Hub refused {repo}: {answer} (status {status})")


VARIABLE = "HF_TOKEN"
SLOT = "hugging-face"


def find_token(environment: Mapping[str, str], keyring: SystemKeyring) -> str | None:
    """Find the token: in the environment, the keyring, or the Hub's own login; None for none.

    It is never an option of a command, because other users of the computer can read those.
    """
    if token := environment.get(VARIABLE, "").strip():
        return token
    try:
        stored = keyring.get(SLOT)
    except IdentityError:  # no keyring, or a locked one: the Hub's own login may do
        stored = None
    return stored.decode() if stored else get_token()


def require_token(environment: Mapping[str, str], keyring: SystemKeyring) -> str:
    """Find the token; raises UserFacingError for none."""
    found = find_token(environment, keyring)
    if found is None:
        raise UserFacingError(
            f"no token for the Hub: store one with `tequio checkpoint token`, or set {VARIABLE}"
        )
    return found


def store_token(text: str, keyring: SystemKeyring) -> None:
    """Store a token in the keyring; raises UserFacingError."""
    token = text.strip()
    if not token or not token.isascii() or not token.isprintable() or " " in token:
        raise UserFacingError("invalid token: expected one word of letters, digits and _")
    keyring.put(SLOT, token.encode())
