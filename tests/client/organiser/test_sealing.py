"""Sealing and opening, as organisers and custodians do it."""

from __future__ import annotations

import hashlib
import json
import os
import stat
from itertools import combinations
from typing import TYPE_CHECKING, cast

import msgspec
import pytest
from click.testing import CliRunner

from tequio_client.competition.cli import competition
from tequio_client.dataset import rows
from tequio_client.dataset.rows import ReadOptions
from tequio_client.dataset.sources import TextsInMemory
from tequio_client.organiser import sealing
from tequio_shared import sealed_set
from tequio_shared.competition.sealed_archive import HEAD_BYTES, ArchiveHead
from tequio_shared.errors import UserFacingError
from tequio_shared.ids import from_text, to_text
from tequio_shared.log import merkle
from tequio_shared.sealed_set import TEXT_BYTES, KeyShare, SealedSet

if TYPE_CHECKING:
    from pathlib import Path

    from tequio_client.dataset.sources import TextList


TEXTS = ("milpa\n", "mano a mano", "maíz " * 40_000, "metate\r\n")


def _source(*texts: str) -> TextsInMemory:
    return TextsInMemory(label="test", texts=texts)


def _sealed(to: Path, *texts: str, needed: int = 2, shares: int = 3) -> SealedSet:
    return sealing.seal(_source(*(texts or TEXTS)), to, needed=needed, shares=shares)


def _shares(folder: Path, *indices: int) -> list[Path]:
    return [next(folder.glob(f"share-{index}-of-*.txt")) for index in indices]


def _open(folder: Path, shares: list[Path], to: Path) -> SealedSet:
    archive, commitment = folder / sealing.ARCHIVE, folder / sealing.COMMITMENT
    return sealing.open_sealed(archive, commitment, shares, to)


def _documents(to: Path) -> list[bytes]:
    return [one.read_bytes() for one in sorted((to / sealing.DOCUMENTS).iterdir())]


def test_any_two_of_three_bring_every_document_and_its_leaf_back(tmp_path: Path) -> None:
    sealed = _sealed(tmp_path / "set")
    for pair in combinations((1, 2, 3), 2):
        to = tmp_path / f"opened-{pair}"
        assert _open(tmp_path / "set", _shares(tmp_path / "set", *pair), to) == sealed
        found = _documents(to)
        assert found == [text.encode() for text in TEXTS]
        assert (to / sealing.DOCUMENTS / "0000000.txt").read_bytes() == found[0]
        salts = [from_text(line, 16) for line in (to / "salts.txt").read_text().splitlines()]
        assert len(set(salts)) == len(TEXTS)
        leaves = [merkle.leaf_hash(a + b) for a, b in zip(salts, found, strict=True)]
        assert to_text(merkle.root_of_hashes(leaves)) == sealed.root


def test_the_commitment_says_what_was_sealed(tmp_path: Path) -> None:
    sealed = _sealed(tmp_path / "set")
    archive = (tmp_path / "set" / sealing.ARCHIVE).read_bytes()
    assert SealedSet.parse((tmp_path / "set" / sealing.COMMITMENT).read_bytes()) == sealed
    assert sealed.documents == len(TEXTS)
    assert sealed.size_bytes == sum(len(text.encode()) for text in TEXTS)
    assert from_text(sealed.archive) == hashlib.sha256(archive).digest()
    assert ArchiveHead.parse(archive[:HEAD_BYTES]).archive_bytes == len(archive)


def test_neither_key_nor_text_nor_salt_lies_on_the_disk_in_clear(tmp_path: Path) -> None:
    _sealed(tmp_path / "set")
    held = [KeyShare.parse(one.read_text()) for one in _shares(tmp_path / "set", 1, 2)]
    key = sealing.combine_shares({one.index: one.value for one in held})
    _open(tmp_path / "set", _shares(tmp_path / "set", 1, 2), tmp_path / "opened")
    salt = from_text((tmp_path / "opened" / "salts.txt").read_text().splitlines()[0], 16)
    secret = (key, key[:16], to_text(key).encode(), key.hex().encode(), b"milpa", salt)
    for file in (tmp_path / "set").iterdir():
        assert not [one for one in secret if one in file.read_bytes()], file


@pytest.mark.skipif(os.name != "posix", reason="modes of files are POSIX's")
def test_a_share_is_its_owners_alone_and_explains_itself(tmp_path: Path) -> None:
    _sealed(tmp_path / "set")
    for index in (1, 2, 3):
        file = tmp_path / "set" / f"share-{index}-of-3.txt"
        assert stat.S_IMODE(file.stat().st_mode) == 0o600
        assert f"Share {index} of 3" in file.read_text()
        assert "Any 2 of the 3" in file.read_text()
    assert stat.S_IMODE((tmp_path / "set").stat().st_mode) == 0o700


def test_two_sets_of_the_same_texts_have_nothing_in_common(tmp_path: Path) -> None:
    one, other = _sealed(tmp_path / "a"), _sealed(tmp_path / "b")
    assert one.root != other.root
    assert not set(one.shares) & set(other.shares)


@pytest.mark.parametrize(
    ("texts", "sentence"),
    [
        (("a", "b", "a"), "document 2 is a copy of document 0: remove one of them"),
        (("a", "b", " a\n"), "document 2 is a copy of document 0"),
        (("a", ""), "document 1 has no text"),
        (("a", " \n\t"), "document 1 has no text"),
        (("a", "\ud800"), "document 1 has no text"),
        (("a", "", "a"), "document 1 has no text.*; document 2 is a copy of document 0"),
        (("a", *[""] * 8), "document 5 has no text[^;]*; and 3 more like these"),
        (("a", "x" * (TEXT_BYTES + 1)), "document 1 has 67,108,865 bytes.*split it"),
    ],
)
def test_what_cannot_be_sealed_is_named_and_nothing_is_written(
    tmp_path: Path, texts: tuple[str, ...], sentence: str
) -> None:
    with pytest.raises(UserFacingError, match=sentence):
        _sealed(tmp_path / "set", *texts)
    assert not list(tmp_path.iterdir())


def test_no_documents_at_all_are_refused(tmp_path: Path) -> None:
    with pytest.raises(UserFacingError, match="0 documents in the test"):
        sealing.seal(_source(), tmp_path / "set", needed=2, shares=3)
    assert not list(tmp_path.iterdir())


def test_files_are_named_and_a_huge_one_is_not_read(tmp_path: Path) -> None:
    texts = tmp_path / "texts"
    texts.mkdir()
    (texts / "a.txt").write_text("milpa")
    (texts / "b.txt").write_bytes(b"\xff\xfe")
    (texts / "c.txt").write_text("milpa")
    with (texts / "d.txt").open("wb") as huge:
        huge.truncate(1 << 40)  # sparse; reading it would end the test
    with pytest.raises(UserFacingError) as refusal:
        sealing.seal(
            rows.open_documents(str(texts), ReadOptions(), 1_000),
            tmp_path / "set",
            needed=2,
            shares=3,
        )
    assert "document 1 (b.txt) has no text" in str(refusal.value)
    assert "document 2 (c.txt) is a copy of document 0 (a.txt)" in str(refusal.value)
    assert "document 3 (d.txt) has 1,099,511,627,776 bytes" in str(refusal.value)


class _Moving:
    """A source whose second document changes after it was read once."""

    label = "moving"

    def __init__(self) -> None:
        self._times = 0

    def __len__(self) -> int:
        return 2

    def text(self, index: int) -> str:
        self._times += index
        return f"read {self._times}" if index else "milpa"


def test_a_document_that_changes_meanwhile_is_found(tmp_path: Path) -> None:
    with pytest.raises(UserFacingError, match="document 1 was changed meanwhile"):
        sealing.seal(cast("TextList", _Moving()), tmp_path / "set", needed=2, shares=3)
    assert not list(tmp_path.iterdir())


def test_a_folder_that_holds_something_is_never_touched(tmp_path: Path) -> None:
    _sealed(tmp_path / "set")
    before = sorted(one.read_bytes() for one in (tmp_path / "set").iterdir())
    with pytest.raises(UserFacingError, match="not empty: give a new folder"):
        _sealed(tmp_path / "set")
    assert sorted(one.read_bytes() for one in (tmp_path / "set").iterdir()) == before
    (tmp_path / "empty").mkdir()
    assert _sealed(tmp_path / "empty").documents == len(TEXTS)


def _refused(tmp_path: Path, shares: list[Path], sentence: str) -> None:
    with pytest.raises(UserFacingError, match=sentence):
        _open(tmp_path / "set", shares, tmp_path / "opened")
    assert not (tmp_path / "opened").exists()
    assert not list(tmp_path.glob(".opened*"))


def test_one_share_too_few_opens_nothing(tmp_path: Path) -> None:
    _sealed(tmp_path / "set")
    _refused(tmp_path, _shares(tmp_path / "set", 3), "2 of 3 shares are needed, and 1 given")


def test_the_same_share_twice_is_one(tmp_path: Path) -> None:
    _sealed(tmp_path / "set")
    again = tmp_path / "copy.txt"
    again.write_bytes(_shares(tmp_path / "set", 2)[0].read_bytes())
    shares = [*_shares(tmp_path / "set", 2), again]
    _refused(tmp_path, shares, r"copy.txt and .*share-2-of-3.txt are both share 2")


def test_a_share_of_another_set_is_named(tmp_path: Path) -> None:
    _sealed(tmp_path / "set")
    _sealed(tmp_path / "other")
    shares = [*_shares(tmp_path / "set", 1), *_shares(tmp_path / "other", 2)]
    _refused(tmp_path, shares, "share-2-of-3.txt is a share of another sealed set")


def test_a_forged_share_is_named_even_if_its_checksum_fits(tmp_path: Path) -> None:
    _sealed(tmp_path / "set")
    true = KeyShare.parse(_shares(tmp_path / "set", 2)[0].read_text())
    forged = tmp_path / "forged.txt"
    forged.write_text(
        KeyShare(index=2, needed=2, shares=3, root=true.root, value=bytes(32)).encode()
    )
    shares = [*_shares(tmp_path / "set", 1), forged]
    _refused(tmp_path, shares, "forged.txt does not match the commitment to share 2")


def test_a_mistyped_share_is_named(tmp_path: Path) -> None:
    _sealed(tmp_path / "set")
    (share,) = _shares(tmp_path / "set", 1)
    text = share.read_text().rstrip()
    share.write_text(text[:-20] + ("A" if text[-20] != "A" else "B") + text[-19:])
    shares = _shares(tmp_path / "set", 1, 2)
    _refused(tmp_path, shares, "share-1-of-3.txt is not a valid share: the share's checksum")


def test_all_three_shares_open_too_and_a_wrong_third_is_named(tmp_path: Path) -> None:
    _sealed(tmp_path / "set")
    _open(tmp_path / "set", _shares(tmp_path / "set", 3, 1, 2), tmp_path / "three")
    assert len(_documents(tmp_path / "three")) == len(TEXTS)
    (third,) = _shares(tmp_path / "set", 3)
    third.write_text("nothing")
    _refused(tmp_path, _shares(tmp_path / "set", 1, 2, 3), "share-3-of-3.txt is not a valid share")


def test_another_archive_is_refused_before_it_is_decrypted(tmp_path: Path) -> None:
    _sealed(tmp_path / "set")
    archive = tmp_path / "set" / sealing.ARCHIVE
    raw = archive.read_bytes()
    for wrong in (raw[:-1], raw + b"x", raw[:-1] + bytes([raw[-1] ^ 1]), b""):
        archive.write_bytes(wrong)
        _refused(tmp_path, _shares(tmp_path / "set", 1, 2), "does not match the commitment")
    archive.unlink()
    _refused(tmp_path, _shares(tmp_path / "set", 1, 2), "cannot read .*archive.sealed")


def test_organisers_who_swap_a_document_after_committing_are_found_out(tmp_path: Path) -> None:
    """Such organisers have key and salts; only the root in the log contradicts them."""
    sealed = _sealed(tmp_path / "set", "milpa", "masa!")
    folder = tmp_path / "set"
    held = [KeyShare.parse(one.read_text()) for one in _shares(folder, 1, 2)]
    key = sealing.combine_shares({one.index: one.value for one in held})
    archive = folder / sealing.ARCHIVE
    with archive.open("rb") as file:
        head = ArchiveHead.parse(file.read(HEAD_BYTES))
        plain = b"".join(sealing.decrypt(key, head, file))
    swapped = plain.replace(b"masa!", b"maize")
    archive.write_bytes(b"".join(sealing.encrypt(key, head, [swapped])))
    forged = msgspec.structs.replace(
        sealed, archive=to_text(hashlib.sha256(archive.read_bytes()).digest())
    )
    (folder / sealing.COMMITMENT).write_bytes(forged.encode())
    _refused(tmp_path, _shares(folder, 1, 2), "document 1 does not match its commitment")

    salt = plain[-21 - 8 :][:16]
    leaf = sealed_set.document_leaf(salt, (b"masa!",))
    other = plain.replace(leaf, sealed_set.document_leaf(salt, (b"maize",))).replace(
        b"masa!", b"maize"
    )
    archive.write_bytes(b"".join(sealing.encrypt(key, head, [other])))
    forged = msgspec.structs.replace(
        sealed, archive=to_text(hashlib.sha256(archive.read_bytes()).digest())
    )
    (folder / sealing.COMMITMENT).write_bytes(forged.encode())
    _refused(tmp_path, _shares(folder, 1, 2), "do not match the root")


def _run(*asked: object) -> str:
    result = CliRunner().invoke(competition, [str(one) for one in asked])
    assert result.exit_code == 0, (result.output, result.exception)
    return result.output


def test_the_commands_seal_and_open_json_lines(tmp_path: Path) -> None:
    lines = tmp_path / "set.jsonl"
    lines.write_text("\n".join(json.dumps({"body": text}) for text in TEXTS))
    said = _run("seal", lines, "--column", "body", "--to", tmp_path / "set")
    assert "sealed 4 documents" in said
    assert "2 of 3 shares open the set, and the set is lost if 2 shares are lost" in said
    shares = [part for one in _shares(tmp_path / "set", 3, 1) for part in ("--share", one)]
    said = _run("unseal", tmp_path / "set", *shares, "--to", tmp_path / "opened")
    assert "all 4 documents match the root" in said
    assert _documents(tmp_path / "opened") == [text.encode() for text in TEXTS]


def test_a_local_dataset_is_sealed_like_files(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("datasets.config.HF_DATASETS_CACHE", tmp_path / "cache")
    (tmp_path / "data").mkdir()
    lines = "\n".join(json.dumps({"text": text}) for text in TEXTS)
    (tmp_path / "data" / "rows.jsonl").write_text(lines)
    assert "sealed 4 documents" in _run("seal", tmp_path / "data", "--to", tmp_path / "set")


def test_one_custodian_is_possible_and_said_so(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("milpa")
    said = _run("seal", tmp_path / "a.txt", "--custodians", 1, "--to", tmp_path / "set")
    assert "share-1-of-1.txt alone opens the set" in said
    assert "This share alone decrypts" in (tmp_path / "set" / "share-1-of-1.txt").read_text()
    _open(tmp_path / "set", _shares(tmp_path / "set", 1), tmp_path / "opened")
    assert _documents(tmp_path / "opened") == [b"milpa"]


def test_more_custodians_needed_than_there_are_is_a_mistake_of_the_command(tmp_path: Path) -> None:
    asked = ["seal", str(tmp_path), "--to", str(tmp_path / "set"), "--needed", "4"]
    result = CliRunner().invoke(competition, asked)
    assert result.exit_code == 2
    assert "--needed 4 is more than --custodians 3" in result.output
