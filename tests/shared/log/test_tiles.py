"""Tiles and bundles: names, which of them exist, and their bytes."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tequio_shared.errors import MalformedError, RefusedError
from tequio_shared.log import tiles as log_tiles
from tequio_shared.log.tiles import BUNDLE_LEVEL, Tile, TileTree


@pytest.mark.parametrize(
    ("index", "text"), [(0, "000"), (5, "005"), (1000, "x001/000"), (1234067, "x001/x234/067")]
)
def test_indices_are_written_in_groups_of_three(index: int, text: str) -> None:
    assert Tile(level=0, index=index).path() == f"tile/0/{text}"
    assert Tile(level=BUNDLE_LEVEL, index=index).path() == f"tile/entries/{text}"
    assert Tile(level=63, index=index, width=17).path() == f"tile/63/{text}.p/17"


@given(st.integers(-1, 63), st.integers(0, 2**56), st.integers(1, 256))
def test_any_path_reads_back(level: int, index: int, width: int) -> None:
    tile = Tile(level=level, index=index, width=width)
    assert Tile.parse(tile.path()) == tile


@pytest.mark.parametrize(
    "path",
    [
        "",
        "checkpoint",
        "tile/0",
        "tile/0/5",
        "tile/0/0005",
        "tile/0/x000/005",
        "tile/0/001/000",
        "tile/0/x001/x000",
        "tile/00/005",
        "tile/64/005",
        "tile/-1/005",
        "tile/0/005.p/0",
        "tile/0/005.p/256",
        "tile/0/005.p/01",
        "tile/0/005.p/",
        "tile/0/005/",
        "/tile/0/005",
        "tile/0/005\n",
        "tile/0/\u0660\u0660\u0665",
        "tile/entries/x1/000",
        "tile/0/" + "x001/" * 50 + "000",
    ],
)
def test_what_is_no_path_of_a_tile_is_malformed(path: str) -> None:
    with pytest.raises(MalformedError):
        Tile.parse(path)


@given(st.text(st.sampled_from("tileentries/0123456789x.p"), max_size=24))
def test_any_text_is_one_path_or_malformed(text: str) -> None:
    try:
        tile = Tile.parse("tile/" + text)
    except MalformedError:
        return
    assert tile.path() == "tile/" + text


def tiles_at(level: int, size: int) -> tuple[int, int]:
    """Number of full tiles, and of hashes in the partial one."""
    return divmod(log_tiles.hashes_at(level, size), log_tiles.TILE_WIDTH)


def test_a_log_has_the_known_tiles() -> None:
    assert [tiles_at(level, 70_000) for level in range(4)] == [
        (273, 112),
        (1, 17),
        (0, 1),
        (0, 0),
    ]
    assert [tiles_at(level, 256) for level in range(3)] == [(1, 0), (0, 1), (0, 0)]
    assert tiles_at(BUNDLE_LEVEL, 70_000) == (273, 112)


def test_the_partial_width_is_the_specifications() -> None:
    for size in (0, 1, 255, 256, 257, 65_535, 65_536, 70_000, 2**40 + 3):
        for level in range(6):
            assert tiles_at(level, size)[1] == size // 256**level % 256


def test_a_tile_exists_up_to_its_width() -> None:
    assert Tile(level=0, index=273, width=112).exists(70_000)
    assert Tile(level=0, index=273, width=3).exists(70_000)
    assert not Tile(level=0, index=273, width=113).exists(70_000)
    assert not Tile(level=0, index=273).exists(70_000)
    assert Tile(level=BUNDLE_LEVEL, index=272).exists(70_000)
    assert not Tile(level=1, index=0, width=1).exists(255)


def test_growth_names_each_tile_that_is_new_or_wider() -> None:
    assert log_tiles.new_tiles(0, 0) == log_tiles.new_tiles(300, 300) == []
    assert log_tiles.new_tiles(254, 258) == [
        Tile(level=0, index=0),
        Tile(level=0, index=1, width=2),
        Tile(level=1, index=0, width=1),
    ]


@given(st.integers(0, 70_000), st.integers(0, 2_000))
def test_growth_reaches_the_right_edge_of_each_level(old: int, more: int) -> None:
    tiles = log_tiles.new_tiles(old, old + more)
    assert all(tile.exists(old + more) and not tile.exists(old) for tile in tiles)
    last = {tile.level: tile for tile in tiles}
    for level, tile in last.items():
        assert tile.index * 256 + tile.width == log_tiles.hashes_at(level, old + more)


@pytest.mark.parametrize("size", [300, 70_000])
def test_a_tree_resumed_from_its_tiles_grows_as_the_one_that_has_read_all(size: int) -> None:
    tree = TileTree()
    for at in range(size):
        tree.append(str(at).encode())
    resumed = TileTree.resume(size, tree.pop_changed().get)
    for at in range(size, size + 600):
        for one in (tree, resumed):
            one.append(str(at).encode())
    assert resumed.root() == tree.root()
    assert resumed.pop_changed() == tree.pop_changed()


@given(st.lists(st.binary(max_size=300), max_size=20))
def test_a_bundle_reads_back(leaves: list[bytes]) -> None:
    assert log_tiles.parse_bundle(log_tiles.encode_bundle(leaves)) == leaves


@given(st.binary(max_size=200))
def test_any_bytes_are_one_bundle_or_malformed(raw: bytes) -> None:
    try:
        leaves = log_tiles.parse_bundle(raw)
    except MalformedError:
        return
    assert log_tiles.encode_bundle(leaves) == raw


def test_a_bundle_prefixes_each_leaf_with_its_length() -> None:
    assert log_tiles.encode_bundle(
        [b"ab", b"", bytes(258)]
    ) == b"\x00\x02ab\x00\x00\x01\x02" + bytes(258)


def test_a_bundle_cut_short_or_too_long_is_malformed() -> None:
    raw = log_tiles.encode_bundle([b"leaf"] * 3)
    for size in range(1, len(raw)):
        if size % 6:
            with pytest.raises(MalformedError):
                log_tiles.parse_bundle(raw[:size])
    with pytest.raises(MalformedError):
        log_tiles.parse_bundle(raw, most=2)
    assert len(log_tiles.parse_bundle(log_tiles.encode_bundle([b""] * 256))) == 256
    with pytest.raises(MalformedError):
        log_tiles.parse_bundle(log_tiles.encode_bundle([b""] * 257))


def test_a_leaf_has_at_most_65535_bytes() -> None:
    assert log_tiles.parse_bundle(log_tiles.encode_bundle([bytes(65_535)])) == [bytes(65_535)]
    with pytest.raises(RefusedError) as refused:
        log_tiles.encode_bundle([bytes(65_536)])
    assert refused.value.code == "too-large"
