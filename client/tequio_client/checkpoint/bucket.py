"""Upload to and download from a bucket of S3, or of another store that speaks its protocol.

Rules. Below the prefix, each head has a folder of its own, `round-N-HASH`, and an index
`round-N.json` that names its files with their hashes. The revision is the SHA-256 of the index, and
HASH its beginning, so a folder holds the files of one revision, and no object is ever overwritten
by another content. The index is written last, after all files were read back: without it, nobody
finds the folder, and an interrupted upload continues with the file where it stopped.

The secret key goes nowhere: requests are signed with it. They are signed for the service that the
environment names, and for the one that an organiser publishes to. Other services, which may come
from a log, are read without a key. Only this file of the client imports obstore.
"""

from __future__ import annotations

import configparser
import hashlib
import importlib.util
import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal
from urllib.parse import parse_qsl, urlsplit

import msgspec

from tequio_client.checkpoint import export, layout
from tequio_client.checkpoint.layout import HeadClaim, PublishedRevision
from tequio_client.names import clean_text
from tequio_shared import encoding
from tequio_shared.errors import MalformedError, UserFacingError
from tequio_shared.ids import Natural
from tequio_shared.statements.network import LocationText

if TYPE_CHECKING:
    from obstore.store import S3Store

_TAG = "round-"
_INDEX = re.compile(rf"{_TAG}(\d{{1,15}})\.json")
_HASH_CHARS = 16
_CHUNK_BYTES = 8 << 20
_MAX_PARTS = 9_000
"""S3 takes at most 10,000 parts of an object."""
_INDEX_BYTES = 4 << 20
_MOST_CHARS = 300
_REGION = "us-east-1"
_RETRIES: dict[str, Any] = {"max_retries": 4, "retry_timeout": timedelta(seconds=20)}
_ROLES = (
    "AWS_WEB_IDENTITY_TOKEN_FILE",
    "AWS_CONTAINER_CREDENTIALS_RELATIVE_URI",
    "AWS_CONTAINER_CREDENTIALS_FULL_URI",
)
"""Variables of a computer whose role has the right, instead of a key."""
_KEYS = ("aws_access_key_id", "aws_secret_access_key", "aws_session_token")
_METADATA = "/latest/"
"""Path of AWS's metadata service, which gives a machine its role; asked where no key is set."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BucketLocation:
    """A bucket, the prefix in it, and the service and region that have it, if they are named."""

    name: str
    prefix: str
    endpoint: str = ""
    region: str = ""

    @classmethod
    def parse(cls, text: str) -> BucketLocation:
        """Read `s3://bucket/prefix?endpoint=URL&region=NAME`; raises UserFacingError."""
        try:
            msgspec.convert(text, LocationText)
        except msgspec.ValidationError as err:
            raise UserFacingError(
                f"invalid location {clean_text(text, _MOST_CHARS)!r}: expected user/name for the "
                "Hub, or s3://bucket/prefix, which may go on with ?endpoint=https://host or "
                "?region=name"
            ) from err
        parts = urlsplit(text)
        more = dict(parse_qsl(parts.query))
        return cls(
            name=parts.netloc,
            prefix=parts.path.strip("/"),
            endpoint=more.get("endpoint", ""),
            region=more.get("region", ""),
        )

    def __str__(self) -> str:
        path = f"s3://{self.name}" + (f"/{self.prefix}" if self.prefix else "")
        named = {"endpoint": self.endpoint, "region": self.region}
        more = "&".join(f"{name}={value}" for name, value in named.items() if value)
        return f"{path}?{more}" if more else path


class IndexedFile(msgspec.Struct, frozen=True, kw_only=True):
    """A file of an export, by its path in the folder."""

    path: Annotated[str, msgspec.Meta(max_length=200, pattern=r"\A\w[\w.-]*(/\w[\w.-]*)?\Z")]
    size_bytes: Natural
    sha256: Annotated[str, msgspec.Meta(pattern=r"\A[0-9a-f]{64}\Z")]


class HeadIndex(msgspec.Struct, frozen=True, kw_only=True):
    """The index of one head: the object that is written last."""

    v: Literal[1] = 1
    claim: HeadClaim
    files: tuple[IndexedFile, ...]

    @classmethod
    def of(cls, folder: Path, claim: HeadClaim) -> HeadIndex:
        """Index an exported folder; reads all of it."""
        names = layout.visible_names(folder)
        return cls(claim=claim, files=tuple(_indexed(folder, name) for name in names))

    @classmethod
    def parse(cls, raw: bytes) -> HeadIndex:
        """Read an index, with files of an export alone; raises MalformedError."""
        found = encoding.decode(raw, cls, _INDEX_BYTES)
        layout.check_names([one.path for one in found.files], layout.PATTERNS)
        return found

    def encode(self) -> bytes:
        return encoding.encode(self)


class S3Bucket:
    """Reader and writer of heads in buckets; `environment` has keys, service and region.

    Without a folder, downloads go to `cache`.
    """

    def __init__(
        self,
        environment: Mapping[str, str],
        cache: Path,
        *,
        retries: Mapping[str, Any] = _RETRIES,
    ) -> None:
        """Raises UserFacingError where obstore is not installed."""
        if importlib.util.find_spec("obstore") is None:
            raise UserFacingError(
                "buckets of S3 need obstore, which the extra `s3` brings: install tequio[s3], or "
                "run `make setup` in a checkout"
            )
        self._environment, self._cache, self._retries = environment, cache, dict(retries)

    def publish(
        self,
        folder: Path,
        claim: HeadClaim,
        location: str,
        *,
        is_private: bool,
        report: Callable[[str], None],
    ) -> PublishedRevision:
        """Upload an exported folder; `report` gets the name of each file before its upload.

        Raises UserFacingError, after which it may be called again.
        """
        if is_private:
            raise UserFacingError(
                "--private is for the Hub: who may read a bucket is set at its service; leave it "
                "out"
            )
        place = self.completed(location)
        tag = f"{_TAG}{claim.round}"
        with _translated(place):
            store = self._open(place, is_written=True)
            found = self._own_index(store, place, claim)
            if found is not None:
                revision = hashlib.sha256(found).hexdigest()
                return PublishedRevision(
                    location=str(place), revision=revision, tag=tag, is_new=False
                )
            index = HeadIndex.of(folder, claim)
            raw = index.encode()
            revision = hashlib.sha256(raw).hexdigest()
            self._upload(store, folder, index, _folder_of(claim.round, revision), report)
            self._write_index(store, place, f"{tag}.json", raw)
        return PublishedRevision(location=str(place), revision=revision, tag=tag, is_new=True)

    def download(self, location: str, revision: str | None, folder: Path | None = None) -> Path:
        """Download an export into a folder, by default of the cache, which has the revision's name.

        `revision` is a tag such as `round-12`, or `round-12@HASH` for one index and no other;
        None means the one published last, as on the Hub: after a rollback, a head of an earlier
        round than those given up. What was fetched before stays. Raises UserFacingError, and
        MalformedError for files of no export.
        """
        place = self.completed(location)
        with _translated(place):
            store = self._open(place)
            tag, _, wanted = (revision or self._last_tag(store, place)).partition("@")
            raw = _read(store, f"{tag}.json") if _INDEX.fullmatch(f"{tag}.json") else None
            if raw is None:
                raise UserFacingError(
                    f"{place} has no revision {clean_text(tag, _MOST_CHARS)!r}: expected the round "
                    "of a head that is there, such as round-12"
                )
            found = hashlib.sha256(raw).hexdigest()
            if wanted and found != wanted:
                raise MalformedError(
                    f"{tag}.json in {place} was replaced: it is {found[:10]}, and {wanted[:10]} "
                    "was published"
                )
            index = HeadIndex.parse(raw)
            target = folder or self._cache / found
            with export.disk_errors(target):
                target.mkdir(parents=True, exist_ok=True)
                export.check_room(target, sum(one.size_bytes for one in index.files))
                for one in index.files:
                    _fetch(store, f"{_folder_of(index.claim.round, found)}/{one.path}", one, target)
        return target

    def published_rounds(self, location: str) -> set[int]:
        """Rounds with an index; raises UserFacingError."""
        place = self.completed(location)
        with _translated(place):
            return set(_rounds(self._open(place, is_written=True)))

    def _last_tag(self, store: S3Store, place: BucketLocation) -> str:
        written = _rounds(store)
        if not written:
            raise UserFacingError(f"{place} has no published head")
        return f"{_TAG}{max(written, key=lambda one: (written[one], one))}"

    def completed(self, location: str) -> BucketLocation:
        """Name the service and region of the environment, so that others find the bucket, too.

        Raises UserFacingError.
        """
        place = BucketLocation.parse(location)
        own = self._own_endpoint()
        region = self._environment.get("AWS_REGION") or self._environment.get("AWS_DEFAULT_REGION")
        if not place.endpoint and own:
            place = replace(place, endpoint=own)
        is_own = place.endpoint in ("", own)
        return replace(place, region=region) if is_own and region and not place.region else place

    def _own_endpoint(self) -> str:
        names = ("AWS_ENDPOINT_URL_S3", "AWS_ENDPOINT_URL")
        return next((one for name in names if (one := self._environment.get(name))), "").rstrip("/")

    def _open(self, place: BucketLocation, *, is_written: bool = False) -> S3Store:
        from obstore.store import S3Store  # noqa: PLC0415 - an optional dependency

        region = place.region or _REGION
        endpoint = place.endpoint or f"https://s3.{region}.amazonaws.com"
        keys = self._keys()
        has_rights = keys or any(self._environment.get(name) for name in _ROLES)
        is_signed = is_written or (has_rights and place.endpoint in ("", self._own_endpoint()))
        more: dict[str, Any] = keys if is_signed else {"skip_signature": True}
        return S3Store(
            place.name,
            prefix=place.prefix,
            endpoint=endpoint,
            region=region,
            client_options={"allow_http": endpoint.startswith("http:"), "timeout": "120s"},
            retry_config=self._retries,  # type: ignore[arg-type]  # a TypedDict of the stubs alone
            **more,
        )

    def _keys(self) -> dict[str, str]:
        """The key of the environment, or of the file that `aws configure` writes; else empty."""
        found = {name: self._environment.get(name.upper(), "") for name in _KEYS}
        if not found[_KEYS[0]]:
            place = self._environment.get("AWS_SHARED_CREDENTIALS_FILE", "~/.aws/credentials")
            profiles = configparser.RawConfigParser()
            try:
                profiles.read(Path(place).expanduser(), encoding="utf-8")
            except (configparser.Error, UnicodeDecodeError):
                # The parser's message quotes the line, which may be a secret key.
                raise UserFacingError(
                    f"{place} is not a file of keys, as `aws configure` writes it: mend it, or set "
                    "AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY"
                ) from None
            profile = self._environment.get("AWS_PROFILE", "default")
            found = dict(profiles[profile]) if profiles.has_section(profile) else {}
        return {name: found[name] for name in _KEYS if found.get(name)}

    def _own_index(self, store: S3Store, place: BucketLocation, claim: HeadClaim) -> bytes | None:
        """Find the head's index; raises UserFacingError for another head's, or another run's."""
        rounds = _rounds(store)
        if not rounds:
            return None
        number = claim.round if claim.round in rounds else max(rounds)
        raw = _read(store, f"{_TAG}{number}.json") or b""
        try:
            other = HeadIndex.parse(raw).claim
        except MalformedError as err:
            raise UserFacingError(
                f"{_TAG}{number}.json in {place} is not an index of a head ({err}): give another "
                "prefix with --to"
            ) from err
        if (other.network, other.run) != (claim.network, claim.run):
            raise UserFacingError(
                f"{place} has heads of another run ({other.run[:10]}): give another prefix with "
                "--to"
            )
        if number != claim.round:
            return None
        if other != claim:
            raise UserFacingError(
                f"{_TAG}{number}.json in {place} is of another head: give another prefix with --to"
            )
        return raw

    def _upload(
        self,
        store: S3Store,
        folder: Path,
        index: HeadIndex,
        to: str,
        report: Callable[[str], None],
    ) -> None:
        """Upload the files that are missing, and read back all of them."""
        import obstore  # noqa: PLC0415 - as above

        sizes = {one["path"]: one["size"] for page in obstore.list(store, to) for one in page}
        for number, one in enumerate(index.files, 1):
            report(f"{number} of {len(index.files)}: {one.path}")
            key = f"{to}/{one.path}"
            if sizes.get(key) != one.size_bytes:
                chunk = max(_CHUNK_BYTES, one.size_bytes // _MAX_PARTS)
                with (folder / one.path).open("rb") as file:
                    obstore.put(store, key, file, chunk_size=chunk)
            digest = hashlib.sha256()
            for piece in _pieces(store, key, 0, one.size_bytes):
                digest.update(piece)
            if digest.hexdigest() != one.sha256:
                raise UserFacingError(
                    f"{key} came back from the bucket with other content than {folder / one.path}: "
                    "delete that object, and run this again"
                )

    def _write_index(self, store: S3Store, place: BucketLocation, name: str, raw: bytes) -> None:
        import obstore  # noqa: PLC0415 - as above
        from obstore.exceptions import AlreadyExistsError  # noqa: PLC0415 - as above

        try:
            obstore.put(store, name, raw, mode="create")
        except AlreadyExistsError as err:
            if _read(store, name) != raw:
                raise UserFacingError(
                    f"{name} in {place} was written by somebody else meanwhile: run this again"
                ) from err


def _folder_of(round_number: int, revision: str) -> str:
    return f"{_TAG}{round_number}-{revision[:_HASH_CHARS]}"


def _indexed(folder: Path, name: str) -> IndexedFile:
    with (folder / name).open("rb") as file:
        digest = hashlib.file_digest(file, "sha256").hexdigest()
        return IndexedFile(path=name, size_bytes=file.tell(), sha256=digest)


def _rounds(store: S3Store) -> dict[int, datetime]:
    """Rounds with an index, and when it was written.

    This takes one request for each 1,000 heads, as folders are not listed.
    """
    import obstore  # noqa: PLC0415 - as above

    listed = obstore.list_with_delimiter(store)["objects"]
    found = ((_INDEX.fullmatch(str(one["path"])), one["last_modified"]) for one in listed)
    return {int(name[1]): written for name, written in found if name}


def _read(store: S3Store, name: str) -> bytes | None:
    """Read a small object; None if there is none."""
    import obstore  # noqa: PLC0415 - as above

    try:
        answer = obstore.get(store, name)
    except FileNotFoundError as err:
        if _code(err) == "NoSuchBucket":
            raise
        return None
    if answer.meta["size"] > _INDEX_BYTES:
        raise MalformedError(f"{name} has more than {_INDEX_BYTES} bytes: it is not an index")
    return answer.bytes().to_bytes()


def _pieces(store: S3Store, key: str, begin: int, end: int) -> Iterator[bytes]:
    """Read an object in pieces, each a request of its own: a slow one is tried again alone."""
    import obstore  # noqa: PLC0415 - as above

    for start in range(begin, end, _CHUNK_BYTES):
        length = min(_CHUNK_BYTES, end - start)
        yield obstore.get_range(store, key, start=start, length=length).to_bytes()


def _fetch(store: S3Store, key: str, one: IndexedFile, folder: Path) -> None:
    """Fetch a file, or the rest of it; raises MalformedError if it is not the one indexed."""
    path = folder / one.path
    path.parent.mkdir(exist_ok=True)
    part = path.with_name(f".{path.name}.part")
    if path.is_file() and _indexed(folder, one.path) == one:
        return
    with part.open("ab") as file:
        for piece in _pieces(store, key, file.tell(), one.size_bytes):
            file.write(piece)
    found = _indexed(folder, part.relative_to(folder).as_posix())
    if (found.size_bytes, found.sha256) != (one.size_bytes, one.sha256):
        part.unlink()
        raise MalformedError(f"{one.path} in the bucket is not the file that its index names")
    part.replace(path)


@contextmanager
def _translated(place: BucketLocation) -> Iterator[None]:
    from obstore.exceptions import BaseError  # noqa: PLC0415 - as above

    try:
        yield
    except (BaseError, FileNotFoundError) as err:
        raise UserFacingError(_described(str(err), _code(err), place)) from err


_CODE = re.compile(r"<Code>(\w+)</Code>")


def _code(err: Exception) -> str:
    """Name of the error in the service's answer; empty without one."""
    found = _CODE.search(str(err))
    return found[1] if found else ""


_GIVE_KEYS = (
    "set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or AWS_PROFILE, and AWS_ENDPOINT_URL if the "
    "service is not that of AWS"
)


def _described(text: str, code: str, place: BucketLocation) -> str:
    text = text.partition("Debug source")[0]
    what = "writing to" if "performing P" in text else "reading"  # PUT, POST
    wrong_key = f"the service does not accept the key for {place} ({code}): {_GIVE_KEYS}"
    other_region = f"{place} is in another region: name it with ?region=name at the end"
    by_code = {
        "NoSuchKey": (
            f"a file of this head is missing in {place}: its organisers can publish it again"
        ),
        "NoSuchBucket": (
            f"there is no bucket {place.name} at {place.endpoint or 'AWS'}: create it, or name the "
            "service that has it with ?endpoint=https://host"
        ),
        "InvalidAccessKeyId": wrong_key,
        "SignatureDoesNotMatch": wrong_key,
        "ExpiredToken": wrong_key,
        "PermanentRedirect": other_region,
        "AuthorizationHeaderMalformed": other_region,
    }
    if code in by_code:
        return by_code[code]
    if _METADATA in text:
        return f"no key for {place}: {_GIVE_KEYS}"
    if "403 Forbidden" in text or "401 Unauthorized" in text:
        return (
            f"the service does not allow {what} {place}: use a key with that right ({_GIVE_KEYS}), "
            "or ask the bucket's owner for it"
        )
    return (
        f"the connection to {place} failed ({clean_text(text.partition(chr(10))[0], _MOST_CHARS)}):"
        " run this again, and it goes on where it stopped"
    )
