"""Text written by a model in a folder: it continues texts, or answers in a conversation.

transformers loads and generates, with its cache of keys and values; only Safetensors files are
read, and no code of a model's author runs in this process. Where code of a plug-in splits texts,
the caller brings what has it run elsewhere. Text comes in pieces as it is written.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Any, Protocol, TypeAlias

import numpy as np
import torch
from jinja2 import TemplateError
from numpy.typing import NDArray
from safetensors import SafetensorError
from torch import Tensor
from transformers import AutoModelForCausalLM, PreTrainedTokenizerFast, set_seed
from transformers.generation.logits_process import LogitsProcessor, LogitsProcessorList
from transformers.generation.stopping_criteria import StoppingCriteria, StoppingCriteriaList
from transformers.generation.streamers import BaseStreamer
from transformers.utils import logging as transformers_logging

from tequio_client.tokenizers import TABLE_NAME, TOKENIZER_NAME
from tequio_client.trainer.device import FORWARD_ERRORS, ComputeDevice
from tequio_client.trainer.hub_models import BUILD_ERRORS
from tequio_client.trainer.model_config import context_of
from tequio_client.trainer.weights import CONFIG_FILE
from tequio_shared.errors import UserFacingError
from tequio_shared.round.token_table import TokenTable

_ADAPTER = "adapter_config.json"
_WHY_CHARS = 200
_TEMPLATE_ERRORS = (TemplateError, LookupError, TypeError, ValueError)
_LEAST_TEMPERATURE = 1e-3
_GREATEST_LOGIT = 1e30
"""With `_LEAST_TEMPERATURE` still a number in float32."""
_LEAST_PROMPT = 16
"""Tokens of the prompt that are kept whatever the answer's length."""
_NO_LIMIT = 1 << 20
"""Tokens of a model that sees any number at once."""
_INCOMPLETE = "\ufffd"
"""Decoded from a token that ends within a character."""
_MOST_WAITING = 16
"""Tokens that wait for a whole character; one has 4 bytes, but tokens may end within the next."""
Show = Callable[[str], None]
Turn: TypeAlias = dict[str, str]
"""`role` and `content`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class WritingStyle:
    """How to choose the next token."""

    tokens: int = 200
    """Most tokens of an answer."""
    temperature: float = 0.8
    """0, or less than 0.001: always the likeliest one."""
    top_p: float = 0.95
    """Only the likeliest tokens that have this probability together."""
    seed: int | None = None

    def __post_init__(self) -> None:
        if not 0 <= self.temperature <= 100:  # noqa: PLR2004 - beyond, all tokens are alike
            raise UserFacingError(f"temperature {self.temperature} is not between 0 and 100")
        if not 0 < self.top_p <= 1:
            raise UserFacingError(f"top-p {self.top_p} is not above 0 and at most 1")


class OwnTexts(Protocol):
    """The tokenizer of a plug-in, whose code runs in another process."""

    @property
    def table(self) -> TokenTable: ...

    def encode(self, text: str) -> NDArray[np.int64]:
        """Ids of a text; raises UserFacingError."""


class EndReason(StrEnum):
    """Why a text ended, in the words of OpenAI's API."""

    STOP = "stop"
    """The model ended it."""
    LENGTH = "length"
    """A limit of tokens, or the size of the context, ended it."""
    UNWANTED = "unwanted"
    """`is_unwanted` ended it."""


def seed_chance(seed: int | None) -> None:
    """Make the next text follow from a seed; None: from chance, also after a text with a seed."""
    if seed is None:
        torch.seed()
    else:
        set_seed(seed)


@dataclass(frozen=True, slots=True, kw_only=True)
class WrittenText:
    text: str
    tokens: int
    end: EndReason


class WritingModel:
    """A loaded model, which writes one text at a time and remembers none."""

    def __init__(
        self, folder: Path, device: ComputeDevice, own_texts: OwnTexts | None = None
    ) -> None:
        """Load the model; raises UserFacingError."""
        if (folder / _ADAPTER).is_file() and not (folder / CONFIG_FILE).is_file():
            raise UserFacingError(
                f"{folder} has adapters without their base: export it with --merged"
            )
        if not (folder / CONFIG_FILE).is_file():
            raise UserFacingError(f"{folder} is not a model: it has no {CONFIG_FILE}")
        if (folder / TABLE_NAME).is_file() and own_texts is None:
            raise UserFacingError(f"texts of {folder} are split by code of a plug-in")
        if own_texts is None and not (folder / TOKENIZER_NAME).is_file():
            raise UserFacingError(
                f"{folder} has no {TOKENIZER_NAME}: save its tokenizer with transformers' "
                "save_pretrained"
            )
        transformers_logging.set_verbosity_error()
        transformers_logging.disable_progress_bar()
        try:
            self._tokenizer: Any = None
            if own_texts is None:
                # For some kinds, AutoTokenizer splits otherwise than tokenizer.json says.
                library: Any = PreTrainedTokenizerFast
                self._tokenizer = library.from_pretrained(folder)
            model: Any = AutoModelForCausalLM.from_pretrained(
                folder,
                trust_remote_code=False,
                use_safetensors=True,
                local_files_only=True,
                dtype=device.precision,
            )
            self._model = model.to(device.handle)
        except (*BUILD_ERRORS, SafetensorError) as err:
            why = " ".join(str(err).split())[:_WHY_CHARS]
            raise UserFacingError(f"the model in {folder} cannot be loaded: {why}") from err
        self._model.eval()
        self._device = device
        self._own_texts = own_texts
        self.has_turns = own_texts is None and bool(self._tokenizer.chat_template)
        """True if it was trained on conversations; otherwise it continues texts."""

    @property
    def context(self) -> int:
        """Tokens that the model sees at once."""
        return context_of(lambda name: getattr(self._model.config, name, None)) or _NO_LIMIT

    def encode_text(self, text: str) -> list[int]:
        """Split a text that is to be continued; raises UserFacingError.

        As in training, the spelling of a special token is text like any other.
        """
        first = self._model.generation_config.bos_token_id
        is_begun = isinstance(first, int)  # then by this token alone, as in training
        ids: list[int] = (
            self._own_texts.encode(text).tolist()
            if self._own_texts
            else self._tokenizer(text, add_special_tokens=not is_begun, split_special_tokens=True)[
                "input_ids"
            ]
        )
        return [first, *ids] if is_begun and ids[:1] != [first] else ids

    def encode_turns(self, turns: Sequence[Turn]) -> list[int]:
        """Split a conversation that is to be answered, by the template that the model has.

        Raises UserFacingError for turns that the template refuses, such as two of one role.
        """
        try:
            ids: list[int] = self._tokenizer.apply_chat_template(
                list(turns), add_generation_prompt=True, return_dict=False
            )
        except _TEMPLATE_ERRORS as err:
            why = " ".join(str(err).split())[:_WHY_CHARS]
            raise UserFacingError(f"the model cannot read these turns: {why}") from err
        return ids

    def write(
        self,
        ids: Sequence[int],
        style: WritingStyle,
        show: Show,
        is_unwanted: Callable[[], bool] = lambda: False,
    ) -> WrittenText:
        """Continue token ids; `show` gets the pieces. Raises UserFacingError.

        `is_unwanted` is asked after each token, and ends the text. What `show` raises ends it, too.
        """
        most = min(style.tokens, max(self.context - len(ids), 1))
        chosen: dict[str, Any] = {"do_sample": False}
        if style.temperature >= _LEAST_TEMPERATURE:
            chosen = {
                "do_sample": True,
                "temperature": style.temperature,
                "top_p": style.top_p,
                "top_k": 0,  # transformers would draw from the likeliest 50 alone
            }
        streamer = _Pieces(self._decode, show)
        prompt = torch.tensor([list(ids)], device=self._device.handle)
        stopping = _Unwanted(is_unwanted)
        try:
            with torch.inference_mode():
                made: Tensor = self._model.generate(
                    prompt,
                    attention_mask=torch.ones_like(prompt),
                    max_new_tokens=most,
                    streamer=streamer,
                    logits_processor=LogitsProcessorList([_FiniteLogits()]),
                    stopping_criteria=StoppingCriteriaList([stopping]),
                    **chosen,
                )
        except FORWARD_ERRORS as err:
            why = " ".join(str(err).split())[:_WHY_CHARS]
            raise UserFacingError(f"the model cannot write: {why}") from err
        _, *written = made[0, len(ids) - 1 :].tolist()
        if stopping.has_ended:
            end = EndReason.UNWANTED
        else:
            is_cut = len(written) >= most and written[-1] not in self._ends()
            end = EndReason.LENGTH if is_cut else EndReason.STOP
        return WrittenText(text="".join(streamer.pieces), tokens=len(written), end=end)

    def _ends(self) -> Sequence[int]:
        """Give the tokens that end a text."""
        found = self._model.generation_config.eos_token_id
        return found if isinstance(found, list) else [found]

    def _decode(self, ids: list[int]) -> str:
        if self._own_texts:
            return self._own_texts.table.text(ids).decode(errors="replace")
        text: str = self._tokenizer.decode(ids, skip_special_tokens=True)
        return text


class ModelChat:
    """A loaded model, and what was said so far."""

    def __init__(
        self,
        folder: Path,
        style: WritingStyle,
        device: ComputeDevice,
        own_texts: OwnTexts | None = None,
    ) -> None:
        """Load the model; raises UserFacingError."""
        self._model = WritingModel(folder, device, own_texts)
        self._style = style
        self._turns: list[Turn] = []
        seed_chance(style.seed)

    @property
    def has_turns(self) -> bool:
        """True if it was trained on conversations; otherwise it continues texts."""
        return self._model.has_turns

    @property
    def context(self) -> int:
        """Tokens that the model sees at once."""
        return self._model.context

    def answer(self, text: str, show: Show, is_unwanted: Callable[[], bool] = lambda: False) -> str:
        """Answer, or continue the text; `show` gets the pieces. Raises UserFacingError.

        `is_unwanted` is asked after each token, and ends the answer. The prompt is cut at its
        beginning to leave room for the answer. An interrupted answer (KeyboardInterrupt) stays in
        the conversation as far as it was written.
        """
        room = max(self.context - self._style.tokens, min(_LEAST_PROMPT, self.context - 1))
        if not self.has_turns:
            ids = self._model.encode_text(text)[-room:]
            return self._model.write(ids, self._style, show, is_unwanted).text
        turns = [*self._turns, {"role": "user", "content": text}]
        ids, pieces = self._model.encode_turns(turns)[-room:], []

        def record(piece: str) -> None:
            pieces.append(piece)
            show(piece)

        try:
            self._model.write(ids, self._style, record, is_unwanted)
        finally:
            self._turns = [*turns, {"role": "assistant", "content": "".join(pieces)}]
        return "".join(pieces)

    def forget(self) -> None:
        """Start over."""
        self._turns = []


class _FiniteLogits(LogitsProcessor):
    """Ends a text before a token is drawn from what are not numbers.

    A graphics card that is asked to draw from them fails for all that its process does afterwards,
    so one text would end a service. So would a temperature by which logits overflow.
    """

    def __call__(self, input_ids: Tensor, scores: Tensor) -> Tensor:
        """See LogitsProcessor; raises ArithmeticError."""
        del input_ids
        # -inf is how others exclude a token; the greatest is NaN if any is.
        if not abs(scores.max().item()) < _GREATEST_LOGIT:
            raise ArithmeticError("what it computes are not numbers")
        return scores


class _Unwanted(StoppingCriteria):
    """Ends a text as soon as nobody wants the rest."""

    def __init__(self, is_unwanted: Callable[[], bool]) -> None:
        self._is_unwanted = is_unwanted
        self.has_ended = False

    def __call__(self, input_ids: Tensor, scores: Tensor, **_kwargs: object) -> Tensor:
        """See StoppingCriteria: for each text, whether it ends."""
        self.has_ended = self._is_unwanted()
        return torch.full(input_ids.shape[:1], self.has_ended, device=input_ids.device)


class _Pieces(BaseStreamer):
    """Passes text on as soon as its characters are complete, and keeps it.

    Many tokenizers drop a blank at the beginning of what they decode, so new tokens are decoded
    after those before them: after the prompt at first, then after the latest that gave a text.
    """

    def __init__(self, decode: Callable[[list[int]], str], show: Show) -> None:
        self.pieces: list[str] = []
        self._decode, self._show = decode, show
        self._before: list[int] | None = None
        self._new: list[int] = []

    def put(self, value: Tensor) -> None:
        """See BaseStreamer: the prompt comes first, then one token after another."""
        ids = value.flatten().tolist()
        if self._before is None:
            self._before = ids
            return
        self._new += ids
        self._pass_on()

    def end(self) -> None:
        """See BaseStreamer."""
        self._pass_on(is_end=True)

    def _pass_on(self, *, is_end: bool = False) -> None:
        before = self._before or []
        text = self._decode(before + self._new)[len(self._decode(before)) :]
        has_waited = is_end or len(self._new) > _MOST_WAITING
        if (not text or text.endswith(_INCOMPLETE)) and not has_waited:
            return
        if text:
            self._before = self._new
            self.pieces.append(text)
            self._show(text)
        self._new = []
