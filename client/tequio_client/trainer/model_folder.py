"""A model that can be scored: its network, its tokenizer, and the token that stands before a text.

That token is the tokenizer's begin token, else its end token, as lm-evaluation-harness has it; else
those of the configuration; else one of the usual names.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tequio_client import tokenizers
from tequio_client.tokenizers import SEPARATORS, TOKENIZER_NAME, ByteTokenizer
from tequio_client.trainer import weight_files
from tequio_client.trainer.model import CONTEXTS, configuration, context, vocabulary
from tequio_shared.errors import UserFacingError
from tequio_shared.scoring import WINDOW, Rules

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from tequio_client.tokenizers import TextTokenizer
    from tequio_client.trainer.model import Model

BYTES = "bytes"
_SETTINGS = ("tokenizer_config.json", "special_tokens_map.json")
_ROLES = ("bos_token", "eos_token")


@dataclass(frozen=True, slots=True, kw_only=True)
class ScoredModel:
    """What scoring needs of a model; `context` is the most inputs it takes, 0 if it says none.

    The tokenizer's separator is the prefix.
    """

    folder: Path
    model: Model
    tokenizer: TextTokenizer
    context: int

    def rules(self, window: int | None, stride: int | None) -> Rules:
        """Fill in what is not said: windows of 2,048 or the context, a stride of half of that.

        Raises UserFacingError when a window is longer than the context, or no stride fits it.
        """
        chosen = window or min(self.context or WINDOW, WINDOW)
        if self.context and chosen > self.context:
            raise UserFacingError(
                f"a window of {chosen:,} tokens is more than the {self.context:,} that "
                f"{self.folder.name} can take; choose {self.context:,} or less"
            )
        step = stride or max(chosen // 2, 1)
        if step > chosen:
            raise UserFacingError(
                f"a stride of {step:,} would skip tokens of a window of {chosen:,}; "
                "choose the window or less"
            )
        return Rules(window=chosen, stride=step)


def open_folder(folder: Path, *, tokenizer: str | None, prefix: str | None) -> ScoredModel:
    """Open a model; `tokenizer` is `bytes` or a file or folder, where it is not the model's own.

    Raises UserFacingError when anything is amiss. The tokenizer is looked at first: it costs less.
    """
    fields = configuration(weight_files.configured(folder))
    text = _tokenizer(folder, fields, tokenizer, prefix)
    said, model = weight_files.load(folder)
    most = vocabulary(model)
    if text.vocab_size > most:
        raise UserFacingError(
            f"the tokenizer of {folder} has ids up to {text.vocab_size - 1:,}, and the model takes "
            f"{most:,} of them; give the tokenizer that it was trained with (--tokenizer)"
        )
    return ScoredModel(
        folder=folder, model=model, tokenizer=text, context=context(model) or _context(said)
    )


def _tokenizer(
    folder: Path,
    fields: Mapping[str, Any],  # JSON of any model
    wanted: str | None,
    prefix: str | None,
) -> TextTokenizer:
    if wanted == BYTES:
        return ByteTokenizer()
    path = Path(wanted) if wanted else folder
    path = path / TOKENIZER_NAME if path.is_dir() else path
    if not path.is_file():
        raise UserFacingError(
            f"there is no {path}; name a tokenizer (--tokenizer, `bytes` for a model of raw "
            f"bytes), or save it as {TOKENIZER_NAME} with transformers' save_pretrained"
        )
    names = (prefix,) if prefix else (*_prefixes(path.parent, fields), *SEPARATORS)
    return tokenizers.of_file(tokenizers.read_file(path), str(path), names)


def _prefixes(
    folder: Path,
    fields: Mapping[str, Any],  # JSON of any model
) -> Iterator[str | int]:
    """What the model's own files say, the most telling first."""
    for name in _SETTINGS:
        said = _object(folder / name)
        for role in _ROLES:
            token = said.get(role)
            content = token.get("content") if isinstance(token, dict) else token
            if isinstance(content, str):
                yield content
    for role in _ROLES:
        number = fields.get(f"{role}_id")
        number = number[0] if isinstance(number, list) and number else number
        if isinstance(number, int) and 0 <= number < 1 << 31:
            yield number


def _object(path: Path) -> dict[str, Any]:  # JSON of any model
    """A JSON file's fields; none where there is no such file."""
    if not path.is_file():
        return {}
    try:
        found = json.loads(weight_files.settings(path))
    except (ValueError, RecursionError) as err:
        raise UserFacingError(f"{path} is no JSON ({err}); save the tokenizer again") from err
    return found if isinstance(found, dict) else {}


def _context(fields: Mapping[str, Any]) -> int:  # JSON of any model
    inner = fields.get("text_config")
    for one in (fields, inner if isinstance(inner, dict) else {}):
        for name in CONTEXTS:
            value = one.get(name)
            if isinstance(value, int) and value > 0:
                return value
    return 0
