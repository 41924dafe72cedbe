"""A Hub in this process: the parts of its HTTP protocol that huggingface_hub's client uses.

Repositories with commits, branches and tags; large files by the LFS protocol, in one piece or in
several; downloads by revision. A test sets the known tokens, and may break connections.
"""

from __future__ import annotations

import base64
import hashlib
import json
import re
import socket
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qs, unquote, urlsplit

import yaml

from tests.support.http_servers import serving

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

SMALL_BYTES = 1 << 10
"""Smaller files are part of the commit; larger ones use LFS."""
DATE = "2026-01-01T00:00:00.000Z"
_MODEL = r"/api/models/(?P<repo>[^/]+/[^/]+)"


class RefusedError(Exception):
    """An error answer."""

    def __init__(self, status: int, error: str, code: str = "") -> None:
        super().__init__(error)
        self.status, self.error, self.code = status, error, code


@dataclass(slots=True)
class Repository:
    """One repository: its commits are whole trees."""

    is_private: bool = False
    commits: dict[str, dict[str, bytes]] = field(default_factory=dict)
    main: str = ""
    tags: dict[str, str] = field(default_factory=dict)

    def commit(self, tree: dict[str, bytes]) -> str:
        """Add a commit to the main branch; returns its name."""
        name = hashlib.sha1(  # noqa: S324 - names as git has them
            f"{self.main} {sorted(tree)} {len(self.commits)}".encode()
        ).hexdigest()
        self.commits[name] = tree
        self.main = name
        return name

    def resolve(self, revision: str) -> str:
        """The commit that a branch, tag or commit name refers to."""
        found = {"main": self.main, **self.tags}.get(revision, revision)
        if found not in self.commits:
            raise RefusedError(404, f"Invalid rev id: {revision}", "RevisionNotFound")
        return found


@dataclass(slots=True)
class FakeHub:
    """The server's state, and the requests that it received."""

    url: str = ""
    tokens: dict[str, str] = field(default_factory=dict)
    """Users by token."""
    may_create: bool = True
    """False: the tokens are for repositories that exist."""
    repositories: dict[str, Repository] = field(default_factory=dict)
    large: dict[str, bytes] = field(default_factory=dict)
    """Content of large files by SHA-256."""
    pieces: dict[tuple[str, int], bytes] = field(default_factory=dict)
    piece_bytes: int | None = None
    """Size of the pieces of large files; None: they are sent whole."""
    received: list[tuple[str, int]] = field(default_factory=list)
    """Hash and size of each received large file or piece."""
    breaking: Callable[[str, int], bool] = lambda _oid, _tries: False
    """Decides by file and try whether to cut the connection during the upload."""
    tries: dict[str, int] = field(default_factory=dict)
    requests: list[str] = field(default_factory=list)

    def put(self, repo: str, files: dict[str, bytes]) -> Repository:
        """Create a repository with these files."""
        found = self.repositories[repo] = Repository()
        found.commit(files)
        return found

    # --- permissions

    def user(self, authorization: str | None) -> str | None:
        """The user with that token, None without one; raises RefusedError for an unknown token."""
        if authorization is None:
            return None
        user = self.tokens.get(authorization.removeprefix("Bearer "))
        if user is None:
            raise RefusedError(401, "Invalid credentials in Authorization header")
        return user

    def readable(self, repo: str, user: str | None) -> Repository:
        """A repository that the user may see."""
        found = self.repositories.get(repo)
        if found is None or (found.is_private and repo.partition("/")[0] != user):
            raise RefusedError(401 if user is None else 404, "Repository not found", "RepoNotFound")
        return found

    def writable(self, repo: str, user: str | None) -> Repository:
        """A repository that the user may change."""
        found = self.readable(repo, user)
        self.check_owner(repo.partition("/")[0], user)
        return found

    def check_owner(self, name: str, user: str | None) -> None:
        """Refuse a namespace that is not the user's."""
        if user is None:
            raise RefusedError(401, "Invalid username or password.")
        if name != user:
            raise RefusedError(
                403, f"You don't have the rights to write under the namespace {name!r}"
            )

    # --- calls

    def create(self, user: str | None, asked: dict[str, Any]) -> Any:  # noqa: ANN401 - JSON
        """POST /api/repos/create."""
        name = asked.get("organization") or user
        self.check_owner(str(name), user)
        if not self.may_create:
            raise RefusedError(403, f"You don't have the rights to create a model under {name!r}")
        repo = f"{name}/{asked['name']}"
        if repo in self.repositories:
            raise RefusedError(409, "You already created this model repo")
        made = self.put(repo, {".gitattributes": b"*.safetensors filter=lfs\n"})
        made.is_private = asked.get("visibility") == "private" or asked.get("private") is True
        return {"url": f"{self.url}/{repo}", "id": repo}

    def info(self, repo: str, revision: str, user: str | None) -> Any:  # noqa: ANN401 - JSON
        """GET /api/models/..., at a revision."""
        found = self.readable(repo, user)
        commit = found.resolve(revision)
        names = [{"rfilename": name} for name in sorted(found.commits[commit])]
        return {
            "_id": "1", "id": repo, "modelId": repo, "sha": commit, "private": found.is_private,
            "siblings": names, "tags": [], "downloads": 0, "likes": 0, "createdAt": DATE,
        }  # fmt: skip

    def refs(self, repo: str, user: str | None) -> Any:  # noqa: ANN401 - JSON
        """GET /api/models/.../refs."""
        found = self.readable(repo, user)
        tags = [
            {"name": tag, "ref": f"refs/tags/{tag}", "targetCommit": commit}
            for tag, commit in found.tags.items()
        ]
        main = {"name": "main", "ref": "refs/heads/main", "targetCommit": found.main}
        return {"branches": [main], "converts": [], "tags": tags}

    def tree(self, repo: str, revision: str, user: str | None) -> Any:  # noqa: ANN401 - JSON
        """GET /api/models/.../tree, all of it."""
        found = self.readable(repo, user)
        return [
            {"type": "file", "path": name, "size": len(content), "oid": git_name(content)}
            for name, content in found.commits[found.resolve(revision)].items()
        ]

    def preupload(self, repo: str, user: str | None, asked: dict[str, Any]) -> Any:  # noqa: ANN401 - JSON
        """POST /api/models/.../preupload: which files are large, and which exist already."""
        here = self.writable(repo, user)
        tree = here.commits[here.main]

        def row(file: dict[str, Any]) -> dict[str, Any]:
            is_large = file["path"].endswith(".safetensors") and file["size"] >= SMALL_BYTES
            old = tree.get(file["path"])
            name = None
            if old is not None:
                name = hashlib.sha256(old).hexdigest() if is_large else git_name(old)
            mode = "lfs" if is_large else "regular"
            return {"path": file["path"], "uploadMode": mode, "shouldIgnore": False, "oid": name}

        return {"files": [row(file) for file in asked["files"]]}

    def batch(self, repo: str, user: str | None, asked: dict[str, Any]) -> Any:  # noqa: ANN401 - JSON
        """POST ....git/info/lfs/objects/batch: upload URLs of large files that are missing."""
        self.writable(repo, user)
        return {"transfer": "basic", "objects": [self._object(one) for one in asked["objects"]]}

    def _object(self, one: dict[str, Any]) -> dict[str, Any]:
        oid, size = one["oid"], one["size"]
        if oid in self.large:
            return {"oid": oid, "size": size}
        upload: dict[str, Any] = {"href": f"{self.url}/lfs/{oid}"}
        if self.piece_bytes is not None:
            count = -(-size // self.piece_bytes)
            parts = {str(at): f"{self.url}/lfs/{oid}?part={at}" for at in range(1, count + 1)}
            upload = {
                "href": f"{self.url}/lfs/{oid}/complete",
                "header": {"chunk_size": str(self.piece_bytes), **parts},
            }
        verify = {"href": f"{self.url}/lfs/{oid}/verify"}
        return {"oid": oid, "size": size, "actions": {"upload": upload, "verify": verify}}

    def store(self, oid: str, part: int | None, content: bytes) -> str:
        """PUT of a large file, or of a piece of one."""
        self.received.append((oid, len(content)))
        if part is not None:
            self.pieces[oid, part] = content
            return hashlib.md5(content).hexdigest()  # noqa: S324 - as S3's etags are
        self._store_large(oid, content)
        return oid

    def complete(self, oid: str, asked: dict[str, Any]) -> Any:  # noqa: ANN401 - JSON
        """POST of the list of pieces."""
        numbers = [one["partNumber"] for one in asked["parts"]]
        self._store_large(oid, b"".join(self.pieces[oid, number] for number in numbers))
        return {}

    def _store_large(self, oid: str, content: bytes) -> None:
        if hashlib.sha256(content).hexdigest() != oid:
            raise RefusedError(400, "the content does not have that hash")
        self.large[oid] = content

    def commit(self, repo: str, user: str | None, lines: list[dict[str, Any]]) -> Any:  # noqa: ANN401 - JSON
        """POST /api/models/.../commit."""
        found = self.writable(repo, user)
        tree = dict(found.commits[found.main])
        for line in lines:
            value = line["value"]
            if line["key"] == "file":
                tree[value["path"]] = base64.b64decode(value["content"])
            elif line["key"] == "lfsFile":
                if value["oid"] not in self.large:
                    raise RefusedError(400, f"the large file {value['path']} was never sent")
                tree[value["path"]] = self.large[value["oid"]]
            elif line["key"] == "deletedFile":
                del tree[value["path"]]
        name = found.commit(tree)
        return {"commitUrl": f"{self.url}/{repo}/commit/{name}", "commitOid": name}

    def tag(self, repo: str, revision: str, user: str | None, asked: dict[str, Any]) -> Any:  # noqa: ANN401 - JSON
        """POST /api/models/.../tag."""
        found = self.writable(repo, user)
        if asked["tag"] in found.tags:
            raise RefusedError(409, "Tag reference exists already")
        found.tags[asked["tag"]] = found.resolve(revision)
        return {}

    def file(self, repo: str, revision: str, name: str, user: str | None) -> tuple[str, bytes]:
        """GET /.../resolve: a file's commit and content."""
        found = self.readable(repo, user)
        commit = found.resolve(revision)
        if name not in found.commits[commit]:
            raise RefusedError(404, "Entry not found", "EntryNotFound")
        return commit, found.commits[commit][name]


def git_name(content: bytes) -> str:
    """The git object name of a small file."""
    return hashlib.sha1(b"blob %d\0" % len(content) + content).hexdigest()  # noqa: S324 - git's


def checked_card(text: str) -> Any:  # noqa: ANN401 - JSON
    """POST /api/validate-yaml: errors in a card's front matter."""
    fields = yaml.safe_load(text.split("---\n")[1])
    if not isinstance(fields.get("tags"), list):
        raise RefusedError(400, "tags is not a list")
    return {"errors": [], "warnings": []}


class _Handler(BaseHTTPRequestHandler):
    hub: FakeHub
    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        self._answered(self._get)

    do_HEAD = do_GET  # noqa: N815 - as above

    def do_POST(self) -> None:
        self._answered(self._post)

    def do_PUT(self) -> None:
        self._answered(self._put)

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - as above
        self.hub.requests.append(format % args)

    def _answered(self, work: Callable[[str], None]) -> None:
        try:
            work(unquote(urlsplit(self.path).path))
        except RefusedError as err:
            headers = {"X-Error-Message": err.error}
            if err.code:
                headers["X-Error-Code"] = err.code
            self._send(err.status, json.dumps({"error": err.error}).encode(), headers)

    def _user(self) -> str | None:
        return self.hub.user(self.headers.get("Authorization"))

    def _get(self, path: str) -> None:
        user = self._user()
        if found := re.fullmatch(rf"{_MODEL}(?:/revision/(?P<rev>.+))?", path):
            self._json(self.hub.info(found["repo"], found["rev"] or "main", user))
        elif found := re.fullmatch(rf"{_MODEL}/refs", path):
            self._json(self.hub.refs(found["repo"], user))
        elif found := re.fullmatch(rf"{_MODEL}/tree/(?P<rev>[^/]+)/?", path):
            self._json(self.hub.tree(found["repo"], found["rev"], user))
        elif found := re.fullmatch(
            r"/(?P<repo>[^/]+/[^/]+)/resolve/(?P<rev>[^/]+)/(?P<name>.+)", path
        ):
            commit, content = self.hub.file(found["repo"], found["rev"], found["name"], user)
            headers = {"X-Repo-Commit": commit, "ETag": f'"{git_name(content)}"'}
            self._send(200, content, headers)
        else:
            raise RefusedError(404, f"no such path: {path}")

    def _post(self, path: str) -> None:
        if found := re.fullmatch(r"/lfs/(?P<oid>[0-9a-f]{64})/(complete|verify)", path):
            asked = json.loads(self._content())
            self._json(self.hub.complete(found["oid"], asked) if found[2] == "complete" else {})
            return
        content, user = self._content(), self._user()
        if path == "/api/repos/create":
            self._json(self.hub.create(user, json.loads(content)))
        elif path == "/api/validate-yaml":
            self._json(checked_card(json.loads(content)["content"]))
        elif found := re.fullmatch(rf"{_MODEL}/preupload/.+", path):
            self._json(self.hub.preupload(found["repo"], user, json.loads(content)))
        elif found := re.fullmatch(r"/(?P<repo>.+)\.git/info/lfs/objects/batch", path):
            self._json(self.hub.batch(found["repo"], user, json.loads(content)))
        elif found := re.fullmatch(rf"{_MODEL}/commit/main", path):
            lines = [json.loads(line) for line in content.splitlines()]
            self._json(self.hub.commit(found["repo"], user, lines))
        elif found := re.fullmatch(rf"{_MODEL}/tag/(?P<rev>.+)", path):
            self._json(self.hub.tag(found["repo"], found["rev"], user, json.loads(content)))
        else:
            raise RefusedError(404, f"no such path: {path}")

    def _put(self, path: str) -> None:
        oid = path.removeprefix("/lfs/")
        part = parse_qs(urlsplit(self.path).query).get("part")
        self.hub.tries[oid] = self.hub.tries.get(oid, 0) + 1
        if self.hub.breaking(oid, self.hub.tries[oid]):
            self.rfile.read(SMALL_BYTES // 2)
            self.connection.shutdown(socket.SHUT_RDWR)
            self.close_connection = True
            return
        etag = self.hub.store(oid, int(part[0]) if part else None, self._content())
        self._send(200, b"", {"ETag": etag})

    def _content(self) -> bytes:
        if self.headers.get("Transfer-Encoding") == "chunked":
            return b"".join(self._chunks())
        return self.rfile.read(int(self.headers.get("Content-Length") or 0))

    def _chunks(self) -> Iterator[bytes]:
        while size := int(self.rfile.readline(), 16):
            yield self.rfile.read(size)
            self.rfile.readline()
        self.rfile.readline()

    def _json(self, value: Any) -> None:  # noqa: ANN401 - JSON
        self._send(200, json.dumps(value).encode(), {"Content-Type": "application/json"})

    def _send(self, status: int, body: bytes, headers: dict[str, str]) -> None:
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)


@contextmanager
def running(hub: FakeHub) -> Iterator[FakeHub]:
    """Serve the hub on a free port."""
    handler = type("Handler", (_Handler,), {"hub": hub})
    with serving(handler) as hub.url:
        yield hub
