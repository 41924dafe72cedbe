"""Archives of plug-ins: their bytes follow from the sources, and there is one form of them."""

from __future__ import annotations

import io
import os
import zipfile
from pathlib import Path

import pytest

from tequio_client.plugins import archive
from tequio_shared.errors import MalformedError, UserFacingError
from tequio_shared.ids import sha256, to_text
from tequio_shared.round.plugin import PLUGIN_BYTES
from tests.support import plugin_example
from tests.support.attack_table import attack
from tests.support.plugin_example import pack


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return plugin_example.write(tmp_path / "plugin")


def test_the_same_sources_make_the_same_bytes_whatever_their_folder_and_time(
    tmp_path: Path, folder: Path
) -> None:
    first = archive.build(folder)
    other = plugin_example.write(tmp_path / "elsewhere")
    for path in sorted(other.rglob("*.py"), reverse=True):
        os.utime(path, (1, 1))
        path.chmod(0o755)
    (other / "tiny" / "__pycache__").mkdir()
    (other / "tiny" / "__pycache__" / "network.pyc").write_bytes(b"compiled")
    assert archive.build(other).content == first.content
    assert first.spec.archive == to_text(sha256(first.content))
    assert archive.parse(first.content) == first


def test_the_bytes_of_an_archive_are_pinned(folder: Path) -> None:
    # On another system, or with another Python or zlib, the archive has the same name.
    (folder / archive.DECLARATION).write_text(
        'name = "tiny"\nversion = "1.0"\n[provides]\nmodel = "tiny.network:build"\n'
    )
    (folder / "tiny" / "network.py").write_text("def build(config):\n    return None\n")
    (folder / "tiny" / "descent.py").write_text("Descent = dict\n")
    (folder / "tiny" / "words.py").unlink()
    (folder / "tiny" / "__init__.py").write_text("")
    assert archive.build(folder).spec.archive == PINNED


PINNED = "FmCN3jSxZb7WB5JAIFpeHNsj549FCSfRKODBab3f40o"


def test_a_changed_byte_changes_the_name_or_is_refused(folder: Path) -> None:
    found = archive.build(folder)
    spec = found.spec
    for at in (0, 40, len(found.content) // 2, len(found.content) - 1):
        wrong = bytearray(found.content)
        wrong[at] ^= 1
        with pytest.raises(MalformedError):
            archive.check_named(archive.parse(bytes(wrong)), spec)


def test_the_archive_that_a_manifest_names_is_that_one_alone(folder: Path) -> None:
    first = archive.build(folder)
    text = (folder / archive.DECLARATION).read_text()
    (folder / archive.DECLARATION).write_text(text.replace('"1.0"', '"1.1"'))
    second = archive.build(folder)
    archive.check_named(first, first.spec)
    with pytest.raises(MalformedError, match=r"is tiny 1\.1 .* names tiny 1\.0"):
        archive.check_named(second, first.spec)


def test_an_archive_of_another_form_is_refused(folder: Path) -> None:
    found = archive.build(folder)
    files: dict[str, bytes | str] = {
        archive.DECLARATION: (folder / archive.DECLARATION).read_bytes(),
        **found.sources,
    }
    for compression, names in (
        (zipfile.ZIP_DEFLATED, sorted(files)),
        (zipfile.ZIP_STORED, sorted(files, reverse=True)),
    ):
        packed = io.BytesIO()
        with zipfile.ZipFile(packed, "w", compression) as other:
            for name in names:
                other.writestr(name, files[name])
        with pytest.raises(MalformedError, match=r"compressed|not in the form"):
            archive.parse(packed.getvalue())
    with pytest.raises(MalformedError, match="cannot be read"):
        archive.parse(b"not a ZIP file")
    with pytest.raises(MalformedError, match="are the most"):
        archive.parse(bytes(PLUGIN_BYTES + 1))


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ('name = "json"\nversion = "1"\n[provides]\nmodel = "json:loads"', "another package"),
        ('name = "torch"\nversion = "1"\n[provides]\nmodel = "torch:load"', "another package"),
        ('name = "tiny"\nversion = "1"\n[provides]\nmodel = "tiny.none:x"', "no such module"),
        ('name = "tiny"\nversion = "1"\n[provides]\nmodel = "os:system"', "no such module"),
        ('name = "tiny"\nversion = "1"\n[provides]\nkey = "tiny:x"', "not valid"),
        ('name = "tiny"\nversion = "1"\n[provides]\n', "not valid"),
        ('name = "../up"\nversion = "1"\n[provides]\nmodel = "up:x"', "not valid"),
        ("name = ", "not valid"),
    ],
)
def test_a_declaration_that_cannot_be_used_is_refused(folder: Path, text: str, why: str) -> None:
    (folder / archive.DECLARATION).write_text(text)
    with pytest.raises(UserFacingError, match=why):
        archive.build(folder)


@attack("L8", layer="gate", ends="refused: the declaration is not valid")
@pytest.mark.parametrize(
    "declaration",
    [
        b"name = " + b"[" * 5_000 + b"]" * 5_000,
        b"name = " + b"{a=" * 5_000,
        b".".join([b"a"] * 5_000) + b" = 1",
        b"# " + b"long " * 20_000,
        b"name = 1" + b"0" * 5_000,
        b"\xff\xfe",
    ],
)
def test_a_declaration_made_to_crash_a_parser_is_refused(declaration: bytes) -> None:
    """Of an archive in the right form, as a run may name one."""
    packed = pack({archive.DECLARATION: declaration, "tiny/__init__.py": b""})
    with pytest.raises(MalformedError, match=r"plugin\.toml (is not valid|has more than)"):
        archive.parse(packed)


def test_other_files_than_sources_are_refused(folder: Path) -> None:
    (folder / "tiny" / "fast.so").write_bytes(b"\x7fELF")
    with pytest.raises(UserFacingError, match=r"fast\.so: a plug-in has Python sources alone"):
        archive.build(folder)


def test_a_source_that_is_not_python_is_named(folder: Path) -> None:
    (folder / "tiny" / "network.py").write_text("def build(:\n")
    with pytest.raises(UserFacingError, match=r"tiny/network\.py is not valid Python"):
        archive.build(folder)
