"""What a head writes: the beginning of a held-out text, and the likeliest token again and again.

In binary32, whatever inner steps compute in: the fewer are the places where two devices differ.
Tokens are written one by one, and before each the trainer may be called away; those that are
written are not lost.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

import torch

from tequio_client.trainer import workshop
from tequio_shared.errors import UserFacingError
from tequio_shared.limits import SAMPLE_BYTES, SAMPLE_PROMPT_BYTES, SAMPLE_TOKENS
from tequio_shared.samples import fit

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from tequio_client.trainer.data import Document
    from tequio_client.trainer.workshop import Workshop

Spell: TypeAlias = "Callable[[Sequence[int]], str]"
"""Text of token ids."""
_BROKEN = "\ufffd"


def speller(shop: Workshop) -> Spell:
    """Give what spells this run's ids; it lasts for a task, for a vocabulary takes memory."""
    if shop.prepare.tokenizer is None:
        return lambda ids: workshop.text_of(shop, ids)
    tokenizer = workshop.tokenizer(shop.prepare.tokenizer)
    return lambda ids: str(tokenizer.decode(list(ids)))


def beginning(document: Document, spell: Spell) -> list[int]:
    """As many first tokens as fit in bytes of text, without the broken end of a character."""
    ids: list[int] = document.tokens[:SAMPLE_PROMPT_BYTES].tolist()
    while ids and not _is_short_and_whole(spell(ids)):
        ids.pop()
    return ids


def go_on(
    shop: Workshop, start: Sequence[int], written: list[int], check: Callable[[], None]
) -> None:
    """Add tokens to what is written until it is long enough, or the text ends.

    `check` is called before each, and may raise. Raises UserFacingError where no number is.
    """
    shop.model.network.eval()
    separator = shop.corpus.separator
    while len(written) < SAMPLE_TOKENS:
        check()
        token = _next(shop, [separator, *start, *written])
        if token == separator:
            return
        written.append(token)


def parted(start: Sequence[int], written: Sequence[int], spell: Spell) -> tuple[str, str]:
    """Spell the beginning, and what follows, as a statement takes them.

    Both together, where that begins like the first: alone, some tokenizers drop a blank in front.
    """
    prompt, whole = spell(start), spell([*start, *written])
    text = whole[len(prompt) :] if whole.startswith(prompt) else spell(written)
    return fit(prompt, SAMPLE_PROMPT_BYTES), fit(text, SAMPLE_BYTES)


def _next(shop: Workshop, ids: Sequence[int]) -> int:
    """The likeliest token after these."""
    context_bl = torch.tensor([ids[-shop.corpus.sequence :]], device=shop.device.handle)
    with torch.no_grad():
        logits_v = shop.model.logits(context_bl)[0, -1, : shop.corpus.tokenizer.vocab_size]
    if not bool(torch.isfinite(logits_v).all()):
        raise UserFacingError("the head gives numbers that are not finite: it writes nothing")
    return int(logits_v.float().argmax())


def _is_short_and_whole(text: str) -> bool:
    return len(text.encode()) <= SAMPLE_PROMPT_BYTES and not text.endswith(_BROKEN)
