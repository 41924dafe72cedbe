"""The scripts of the archive for Linux, and what it says about the app to software shops."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree

import pytest

ROOT = Path(__file__).parent.parent
LINUX = ROOT / "installer" / "linux"
ON_LINUX = pytest.mark.skipif(sys.platform != "linux", reason="a script for Linux")


@pytest.fixture
def archive(tmp_path: Path) -> Path:
    """Make an unpacked archive whose app is `sleep`."""
    sleep = shutil.which("sleep")
    assert sleep
    folder = tmp_path / "archive"
    (folder / "app").mkdir(parents=True)
    shutil.copy2(Path(sleep).resolve(), folder / "app" / "tequio")
    (folder / "share" / "applications").mkdir(parents=True)
    shutil.copy2(LINUX / "tequio.desktop", folder / "share" / "applications")
    (folder / "libraries").touch()
    for name in ("install.sh", "uninstall.sh"):
        shutil.copy2(LINUX / name, folder)
    return folder


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """A home folder that its user reaches through a link, as where /home is one."""
    (tmp_path / "disk" / "ana").mkdir(parents=True)
    (tmp_path / "home").symlink_to("disk")
    return tmp_path / "home" / "ana"


def run(script: Path, home: Path, *words: str) -> subprocess.CompletedProcess[str]:
    environment = {"HOME": str(home), "PATH": os.environ["PATH"]}
    return subprocess.run(
        (script, *words), check=False, capture_output=True, text=True, env=environment, timeout=60
    )


@ON_LINUX
def test_neither_script_touches_a_program_that_runs(archive: Path, home: Path) -> None:
    assert run(archive / "install.sh", home).returncode == 0
    installed = home / ".local" / "lib" / "tequio"
    updated = home / ".local" / "share" / "tequio" / "app" / "1.0.0" / "tequio"
    updated.parent.mkdir(parents=True)
    shutil.copy2(installed / "tequio", updated)
    key = home / ".local" / "share" / "tequio" / "worker" / "identity.key"
    key.parent.mkdir()
    key.touch()
    uninstall = (installed / "uninstall.sh", home, "--delete-data")
    for program, scripts in (
        (installed / "tequio", ((archive / "install.sh", home), uninstall)),
        (updated, (uninstall,)),
    ):
        with subprocess.Popen((program, "600")) as running:
            try:
                refused = [run(*words) for words in scripts]
            finally:
                running.kill()
        for one in refused:
            assert one.returncode == 1, one.stdout
            assert "Tequio is running" in one.stderr
        assert key.exists()
    assert run(*uninstall).returncode == 0
    assert not key.exists()
    assert not installed.exists()


@ON_LINUX
def test_a_list_of_programs_that_is_a_link_stays_one(archive: Path, home: Path) -> None:
    listed, kept = home / ".config" / "mimeapps.list", home / "dotfiles"
    listed.parent.mkdir()
    listed.symlink_to(kept)
    for content in ("", "[Default Applications]\n", "[Added Associations]\nimage/png=a.desktop;\n"):
        kept.write_text(content, "utf-8")
        assert run(archive / "install.sh", home).returncode == 0
        assert "x-scheme-handler/tequio=tequio.desktop;" in kept.read_text("utf-8")
        assert run(archive / "uninstall.sh", home, "--keep-data").returncode == 0
        assert listed.is_symlink()
        assert kept.read_text("utf-8").removesuffix("[Default Applications]\n") in content


@ON_LINUX
def test_a_list_of_programs_without_ours_is_not_written(archive: Path, home: Path) -> None:
    listed = home / ".config" / "mimeapps.list"
    listed.parent.mkdir()
    listed.write_text("[Default Applications]\nimage/png=a.desktop;\n", "utf-8")
    before = listed.stat().st_ino  # sed writes a new file
    assert run(archive / "uninstall.sh", home, "--keep-data").returncode == 0
    assert listed.stat().st_ino == before


def metainfo(*words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        ("/bin/bash", LINUX / "metainfo.sh", "0.1.0", "2026-11-28", *words),
        check=False,
        capture_output=True,
        text=True,
    )


@pytest.mark.parametrize("url", ["", "https://host.example/owner/tequio"])
def test_shops_read_what_the_app_is_with_links_and_pictures_of_its_version(
    url: str, tmp_path: Path
) -> None:
    described = tmp_path / "org.tequio.app.metainfo.xml"
    described.write_text(metainfo(url).stdout, "utf-8")
    root = ElementTree.parse(described).getroot()  # noqa: S314 - our own
    assert [one.get("version") for one in root.iter("release")] == ["0.1.0"]
    links = {str(one.get("type")): str(one.text) for one in root.iter("url")}
    pictures = [str(one.text) for one in root.iter("image")]
    if url:
        assert links["homepage"] == url
        assert links["help"] == f"{url}/blob/v0.1.0/docs/install.md"
        start = f"{url}/raw/v0.1.0/"
        assert all(one.startswith(start) for one in pictures)
        assert all((ROOT / one.removeprefix(start)).is_file() for one in pictures)
        assert len(pictures) == 3
    else:
        assert (links, pictures) == ({}, [])
    if shutil.which("appstreamcli"):
        words = ("appstreamcli", "validate", "--no-net", described)
        checked = subprocess.run(words, check=False, capture_output=True, text=True)
        assert checked.returncode == 0, checked.stdout


@pytest.mark.parametrize("url", ["http://host.example/a", "https://host.example", "https://h/a b"])
def test_links_to_no_secure_page_are_refused(url: str) -> None:
    refused = metainfo(url)
    assert (refused.returncode, refused.stdout) == (2, "")
    assert f"invalid address {url}: expected https://HOST/PATH" in refused.stderr
