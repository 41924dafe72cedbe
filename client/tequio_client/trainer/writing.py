"""Text that a head writes: sampled after a prompt, or the likeliest continuation of a document."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

import torch

from tequio_shared.errors import UserFacingError
from tequio_shared.limits import SAMPLE_BYTES, SAMPLE_PROMPT_BYTES, SAMPLE_TOKENS
from tequio_shared.round.measures import clean_sample

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from tokenizers import Tokenizer

    from tequio_client.trainer.data import HeldOutDocument
    from tequio_client.trainer.device import ComputeDevice
    from tequio_client.trainer.model import CausalModel
    from tequio_client.trainer.prepared import PreparedModel

Decode: TypeAlias = "Callable[[Sequence[int]], str]"
"""Text of token ids."""
_TEMPERATURE = 0.8
_BROKEN = "\ufffd"
_BYTES = 256  # a byte model may have ids above: separators


def sample(  # noqa: PLR0913 - one call, all by name
    model: CausalModel,
    prompt: Sequence[int],
    *,
    tokens: int,
    sequence: int,
    seed: int,
    device: ComputeDevice,
    check: Callable[[], None],
) -> list[int]:
    """Continue a prompt (at least one id) by sampling at temperature 0.8; same seed, same text.

    `check` is called before each token, and may raise to stop.
    """
    model.network.eval()
    chance = torch.Generator().manual_seed(seed)
    ids = list(prompt)
    for _ in range(tokens):
        check()
        context = torch.tensor([ids[-sequence:]], device=device.handle)
        with torch.no_grad(), device.autocast():
            logits = model.logits(context)[0, -1].float().cpu()
        odds = torch.softmax(logits / _TEMPERATURE, dim=0)
        ids.append(int(torch.multinomial(odds, 1, generator=chance)))
    return ids[len(prompt) :]


def continue_greedily(
    setup: PreparedModel, start: Sequence[int], written: list[int], check: Callable[[], None]
) -> None:
    """Append the likeliest token again and again, until the text ends or is long enough.

    `check` is called before each token, and may raise; `written` then keeps the tokens so far.
    Raises UserFacingError when the head predicts infinities or NaN.
    """
    setup.model.network.eval()
    separator = setup.corpus.separator
    while len(written) < SAMPLE_TOKENS:
        check()
        ids = [separator, *start, *written][-setup.corpus.sequence :]
        # Binary32, without autocast: evaluators on different devices should write the same text,
        # and the likeliest token changes hands less often the more exact the logits are.
        with torch.no_grad():
            logits_blv = setup.model.logits(torch.tensor([ids], device=setup.device.handle))
        logits_v = logits_blv[0, -1, : setup.corpus.tokenizer.vocab_size]
        if not bool(torch.isfinite(logits_v).all()):
            raise UserFacingError("the head predicts infinite or NaN values, so it writes no text")
        token = int(logits_v.float().argmax())
        if token == separator:
            return
        written.append(token)


def prompt_tokens(document: HeldOutDocument, spell: Decode) -> list[int]:
    """As many first tokens as fit in SAMPLE_PROMPT_BYTES of text, ending with a whole character."""
    ids: list[int] = document.tokens[:SAMPLE_PROMPT_BYTES].tolist()
    while ids:
        text = spell(ids)
        if len(text.encode()) <= SAMPLE_PROMPT_BYTES and not text.endswith(_BROKEN):
            break
        ids.pop()
    return ids


def split_text(start: Sequence[int], written: Sequence[int], spell: Decode) -> tuple[str, str]:
    """The prompt and the continuation, cut to the sizes that a statement allows."""
    # Both are decoded together: alone, some tokenizers drop the blank before the first word.
    prompt, whole = spell(start), spell([*start, *written])
    text = whole[len(prompt) :] if whole.startswith(prompt) else spell(written)
    return clean_sample(prompt, SAMPLE_PROMPT_BYTES), clean_sample(text, SAMPLE_BYTES)


def decoder(setup: PreparedModel) -> Decode:
    """The run's decoder from ids to text; it has the whole vocabulary in memory.

    Bytes that are not UTF-8 decode to the replacement character.
    """
    path = setup.prepare.tokenizer
    if path is None:
        return lambda ids: bytes(one for one in ids if one < _BYTES).decode("utf-8", "replace")
    decoder = _tokenizer(path)
    return lambda ids: str(decoder.decode(list(ids)))


def prompt_ids(setup: PreparedModel, prompt: str) -> list[int]:
    """Token ids of a separator and a prompt, without ids that the model does not know."""
    start = [setup.corpus.separator]
    if setup.prepare.tokenizer is None:
        return start + list(prompt.encode())
    ids = _tokenizer(setup.prepare.tokenizer).encode(prompt).ids
    return start + [one for one in ids if one < setup.corpus.tokenizer.vocab_size]


def _tokenizer(path: str) -> Tokenizer:
    from tokenizers import Tokenizer  # noqa: PLC0415 - byte models need none

    return Tokenizer.from_file(path)
