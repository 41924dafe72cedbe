"""Where games are installed, by the files of the stores' own programs.

Whatever runs from such a folder is a game, by the store's word; nobody has to fill in a list.
Everything is read afresh now and then, and whatever cannot be read has no games.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence


NO_GAMES = {
    "blender", "borderless gaming", "krita", "lossless scaling", "obs studio", "rpcs3", "sharex",
    "soundpad", "source filmmaker", "steam controller configs", "steam linux runtime",
    "steamworks common redistributables", "steamworks shared", "steamvr", "wallpaper engine",
    "wallpaper_engine",
}  # fmt: skip
"""What stores keep among their games and is none; so are all versions of these:"""
_NO_GAME_STEMS = ("proton", "steam linux runtime", "steamlinuxruntime", "dotnet", "directx")


class GameFolders:
    """The folders of all stores; `refresh` reads them."""

    def __init__(self, libraries: Sequence[Callable[[], Mapping[str, str]]]) -> None:
        self._libraries = libraries
        self._games: dict[str, str] = {}

    def refresh(self) -> None:
        """Read the stores' files again."""
        found: dict[str, str] = {}
        for library in self._libraries:
            for folder, game in library().items():
                if is_game(game) and is_game(os.path.basename(folder)):  # noqa: PTH119 - of any system
                    found[folded(folder).rstrip("/") + "/"] = game[:256]
        self._games = found

    def game_of(self, words: Iterable[str]) -> str:
        """The game that a program with this file and these arguments is; empty: none."""
        for word in words:
            path = folded(word)
            if "/" not in path:
                continue
            game = next((game for folder, game in self._games.items() if folder in path), "")
            if game:
                return game
        return ""


def folded(path: str) -> str:
    """A path as it is compared: Wine's drive Z is the root, strokes lean right, small letters."""
    plain = path.replace("\\", "/").lower()
    return plain.removeprefix("z:")


def is_game(name: str) -> bool:
    """Whether what a store calls so is a game at all."""
    plain = name.lower()
    return plain not in NO_GAMES and not plain.startswith(_NO_GAME_STEMS)
