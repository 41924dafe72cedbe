"""The Llama network, as Hugging Face defines it, in torch alone.

Same tensor names and outputs as `transformers.LlamaForCausalLM` (a test compares them) without its
import, which costs 120 MB of memory and 2.7 s of CPU in every trainer, more than torch itself for a
small model. Configurations that this file does not cover go to transformers (`hub_models`).

Rope scaling is a function of the configuration alone, whatever the length of a text: `linear` slows
all pairs of a head; `llama3` (Llama 3.1 and later) and `yarn` (arXiv 2309.00071) leave the fast
ones, slow the slow ones and blend in between; `yarn` also enlarges all.

Shapes: B samples, L tokens, D hidden, H heads, E head size, V vocabulary.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional
from torch.utils.checkpoint import checkpoint

from tequio_client.ipc.cell_division import first_difference, rope_fields, rope_kind
from tequio_client.trainer.compiled import any_length, compiled, why_not
from tequio_shared.errors import UserFacingError

_THETA, _CONTEXT = 10_000.0, 2_048  # defaults of transformers' Llama
_FAST, _SLOW = 32.0, 1.0  # turns within the old context: yarn leaves pairs above, slows below
_LARGEST = 1e9
_QUOTED_CHARS = 100  # most characters of a configuration in a message


@dataclass(frozen=True, slots=True, kw_only=True)
class Rope:
    """Rotary positions of one kind; `context` is the context length before scaling."""

    kind: str
    theta: float
    factor: float = 1.0
    context: float = 1.0
    slow: float = _SLOW
    fast: float = _FAST
    amplitude: float = 1.0
    rounds_bounds: bool = True
    """True if yarn's bounds are rounded to whole pairs."""

    @classmethod
    def from_config(cls, config: Mapping[str, Any]) -> Rope:  # JSON of any model
        """Read a Hugging Face configuration's rope fields, old and new.

        Its kind must be one of `cell_division.ROPE_KINDS`; raises UserFacingError for a missing or
        invalid number.
        """
        scaling = rope_fields(config)
        theta = _number(scaling, "rope_theta") or _number(config, "rope_theta") or _THETA
        kind = rope_kind(config)
        if kind == "default":
            return cls(kind=kind, theta=theta)
        factor, context = _number(scaling, "factor"), _context(config, scaling)
        if factor is None and kind == "yarn":
            factor = _longest(config) / context
        if factor is None:
            raise _lacking(kind, "factor")
        if kind == "yarn" and theta == 1:
            raise _lacking(kind, "rope_theta other than 1")
        if kind == "linear":
            return cls(kind=kind, theta=theta, factor=factor)
        if kind == "llama3":
            low, high = _number(scaling, "low_freq_factor"), _number(scaling, "high_freq_factor")
            if low is None or high is None or low == high:
                raise _lacking(kind, "low_freq_factor and high_freq_factor that differ")
            return cls(kind=kind, theta=theta, factor=factor, context=context, slow=low, fast=high)
        return cls(
            kind=kind,
            theta=theta,
            factor=factor,
            context=context,
            slow=_number(scaling, "beta_slow") or _SLOW,
            fast=_number(scaling, "beta_fast") or _FAST,
            amplitude=_enlarged(scaling, factor),
            rounds_bounds=bool(scaling.get("truncate", True)),
        )

    def frequencies(self, head_size: int, device: torch.device | None = None) -> Tensor:
        """Angle between two positions for each pair of a head: [E / 2]."""
        exponent = torch.arange(0, head_size, 2, device=device).float() / head_size
        plain = 1.0 / self.theta**exponent
        if self.kind == "linear":
            return plain / self.factor
        if self.kind == "llama3":
            return self._llama3(plain)
        if self.kind == "yarn":
            return self._yarn(plain, head_size)
        return plain

    def _llama3(self, plain: Tensor) -> Tensor:
        # Pairs with fewer turns than `slow` in the old context are slowed, those above `fast` not.
        wavelength = 2 * math.pi / plain
        share = (self.context / wavelength - self.slow) / (self.fast - self.slow)
        between = (1 - share) * plain / self.factor + share * plain
        slowed = torch.where(wavelength > self.context / self.slow, plain / self.factor, between)
        return torch.where(wavelength < self.context / self.fast, plain, slowed)

    def _yarn(self, plain: Tensor, head_size: int) -> Tensor:
        # As llama3, but blended along a ramp over the numbers of the pairs.
        low, high = self._pair(self.fast, head_size), self._pair(self.slow, head_size)
        if self.rounds_bounds:
            low, high = math.floor(low), math.ceil(high)
        low, high = max(low, 0), min(high, head_size - 1)
        high += 0.001 if low == high else 0
        pairs = torch.arange(head_size // 2, device=plain.device).float()
        kept = 1 - ((pairs - low) / (high - low)).clamp(0, 1)
        return plain / self.factor * (1 - kept) + plain * kept

    def _pair(self, turns: float, head_size: int) -> float:
        """Number of the pair that turns `turns` times within the old context."""
        spread = math.log(self.context / (turns * 2 * math.pi))
        return head_size * spread / (2 * math.log(self.theta))


def _enlarged(scaling: Mapping[str, Any], factor: float) -> float:
    """The factor of yarn's cosines and sines."""
    explicit = _number(scaling, "attention_factor")
    if explicit is not None:
        return explicit
    scale, every = _number(scaling, "mscale"), _number(scaling, "mscale_all_dim")
    if scale and every:
        return _grown(factor, scale) / _grown(factor, every)
    return _grown(factor, 1.0)


def _grown(factor: float, scale: float) -> float:
    return 0.1 * scale * math.log(factor) + 1.0 if factor > 1 else 1.0


def _context(config: Mapping[str, Any], scaling: Mapping[str, Any]) -> float:
    name = "original_max_position_embeddings"
    return _number(config, name) or _number(scaling, name) or _longest(config)


def _longest(config: Mapping[str, Any]) -> float:
    return _number(config, "max_position_embeddings") or _CONTEXT


def _number(scaling: Mapping[str, Any], name: str) -> float | None:
    """A number above 0; None if it is missing or null. Raises UserFacingError for any other."""
    value = scaling.get(name)
    if value is None:
        return None
    is_number = isinstance(value, (int, float)) and not isinstance(value, bool)
    if not is_number or not 0 < value < _LARGEST:
        raise UserFacingError(
            f"the configuration's {name} is invalid: {str(value)[:_QUOTED_CHARS]!r}"
        )
    return float(value)


def _lacking(kind: str, name: str) -> UserFacingError:
    return UserFacingError(f"the configuration's rope scaling {kind} needs {name}")


@dataclass(frozen=True, slots=True, kw_only=True)
class LlamaConfig:
    vocab_size: int
    hidden_size: int
    intermediate_size: int
    layers: int
    heads: int
    key_value_heads: int
    head_size: int
    norm_eps: float
    rope: Rope
    init_std: float
    is_tied: bool
    has_attention_bias: bool
    has_inner_bias: bool

    @classmethod
    def from_config(cls, config: Mapping[str, Any]) -> LlamaConfig | None:  # JSON of any model
        """Read a Hugging Face configuration; None for a network that this file does not cover.

        Raises UserFacingError for rope scaling with invalid numbers.
        """
        if first_difference(config):
            return None
        # The defaults are those of transformers' LlamaConfig.
        hidden, heads = config.get("hidden_size", 4096), config.get("num_attention_heads", 32)
        return cls(
            vocab_size=config.get("vocab_size", 32_000),
            hidden_size=hidden,
            intermediate_size=config.get("intermediate_size", 11_008),
            layers=config.get("num_hidden_layers", 32),
            heads=heads,
            key_value_heads=config.get("num_key_value_heads") or heads,
            head_size=config.get("head_dim") or hidden // heads,
            norm_eps=config.get("rms_norm_eps", 1e-6),
            rope=Rope.from_config(config),
            init_std=config.get("initializer_range", 0.02),
            is_tied=bool(config.get("tie_word_embeddings", False)),
            has_attention_bias=bool(config.get("attention_bias", False)),
            has_inner_bias=bool(config.get("mlp_bias", False)),
        )


EMBEDDING, HEAD = "model.embed_tokens.weight", "lm_head.weight"


def tensor_shapes(config: LlamaConfig) -> tuple[tuple[str, tuple[int, ...]], ...]:
    """Every tensor (name, shape) of `Llama`, ascending; tied embeddings are one tensor, HEAD."""
    wide = config.heads * config.head_size
    narrow = config.key_value_heads * config.head_size
    hidden, inner = config.hidden_size, config.intermediate_size
    matrices = {
        "mlp.down_proj": (hidden, inner),
        "mlp.gate_proj": (inner, hidden),
        "mlp.up_proj": (inner, hidden),
        "self_attn.k_proj": (narrow, hidden),
        "self_attn.o_proj": (hidden, wide),
        "self_attn.q_proj": (wide, hidden),
        "self_attn.v_proj": (narrow, hidden),
    }
    of_layer: dict[str, tuple[int, ...]] = {
        "input_layernorm.weight": (hidden,),
        "post_attention_layernorm.weight": (hidden,),
    }
    for name, shape in matrices.items():
        of_layer[f"{name}.weight"] = shape
        if config.has_inner_bias if name.startswith("mlp.") else config.has_attention_bias:
            of_layer[f"{name}.bias"] = shape[:1]
    found: dict[str, tuple[int, ...]] = {HEAD: (config.vocab_size, hidden)}
    if not config.is_tied:
        found[EMBEDDING] = (config.vocab_size, hidden)
    for layer in range(config.layers):
        found |= {f"model.layers.{layer}.{name}": shape for name, shape in of_layer.items()}
    found["model.norm.weight"] = (hidden,)
    return tuple(sorted(found.items()))


def aliases(config: LlamaConfig) -> tuple[tuple[str, str], ...]:
    """Tied tensors: (other name, the name in `tensor_shapes`)."""
    return ((EMBEDDING, HEAD),) if config.is_tied else ()


_LayerFunction = Callable[[Tensor, tuple[Tensor, Tensor], Tensor | None], Tensor]


class Llama(nn.Module):
    """Token ids [B, L] to logits [B, L, V]."""

    def __init__(self, config: LlamaConfig) -> None:
        super().__init__()
        self.config = config
        self.model = _Trunk(config)
        self.lm_head = nn.Linear(config.hidden_size, config.vocab_size, bias=False)
        if config.is_tied:
            self.lm_head.weight = self.model.embed_tokens.weight

    def forward(self, ids_bl: Tensor, separator: int | None = None) -> Tensor:
        """With a separator, tokens see only their own document, as in `own_document`."""
        logits: Tensor = self.lm_head(self.model(ids_bl, separator))
        return logits

    def initialise(self, generator: torch.Generator) -> None:
        """Set the usual first values: normal matrices, norms of one, biases of zero."""
        with torch.no_grad():
            for name, parameter in self.named_parameters():
                if parameter.dim() > 1:
                    parameter.normal_(0.0, self.config.init_std, generator=generator)
                else:
                    parameter.fill_(0.0 if name.endswith(".bias") else 1.0)


class _Trunk(nn.Module):
    def __init__(self, config: LlamaConfig) -> None:
        super().__init__()
        self.config = config
        size = config.vocab_size, config.hidden_size
        # Left uninitialised, since `initialise` or a file sets it. torch would draw random values,
        # and on "meta" load torch._dynamo to do so: a second and 77 MB.
        self.embed_tokens = nn.Embedding(*size, _weight=torch.empty(size))
        self.layers = nn.ModuleList(_Layer(config) for _ in range(config.layers))
        self.norm = _Norm(config)
        self.recomputes = False
        """True to store only the inputs of layers, and compute the rest again when going back."""
        self._compiled: tuple[_LayerFunction, ...] = ()

    def compile_layers(self, device: torch.device) -> None:
        """From now on, train with kernels made for this device, where it can have any."""
        if not why_not(device):
            self._compiled = tuple(compiled(layer.forward, device) for layer in self.layers)

    def forward(self, ids_bl: Tensor, separator: int | None = None) -> Tensor:
        hidden_bld: Tensor = self.embed_tokens(ids_bl)
        out: Tensor = self.norm(self.through_layers(hidden_bld, ids_bl, separator))
        return out

    def through_layers(
        self, hidden_bld: Tensor, ids_bl: Tensor, separator: int | None = None
    ) -> Tensor:
        """Output of the layers for hidden values; a pipeline's rank has some of the layers."""
        seen_b1ll = None if separator is None else own_document(ids_bl, separator)
        turn = _rotation(self.config, ids_bl.shape[1], hidden_bld)
        trains = torch.is_grad_enabled()
        recomputes, kernels = self.recomputes and trains, self._compiled if trains else ()
        for layer in kernels or self.layers:
            if kernels:
                any_length(hidden_bld)
                if seen_b1ll is not None:
                    any_length(seen_b1ll)
            given = hidden_bld, turn, seen_b1ll
            hidden_bld = (
                checkpoint(layer, *given, use_reentrant=False, preserve_rng_state=False)
                if recomputes
                else layer(*given)
            )
        return hidden_bld


def own_document(ids_bl: Tensor, separator: int) -> Tensor:
    """True where a token may see another: not later, and of its document, bool [B, 1, L, L].

    A document begins with its separator; what a sample has before the first one is the rest of a
    document. Positions need not start again, since rotations only tell distances.
    """
    document_bl = (ids_bl == separator).cumsum(1)
    seen_bll = document_bl[:, :, None] == document_bl[:, None, :]
    return seen_bll.tril_()[:, None]


class _Layer(nn.Module):
    def __init__(self, config: LlamaConfig) -> None:
        super().__init__()
        self.self_attn = _Attention(config)
        self.mlp = _Gate(config)
        self.input_layernorm = _Norm(config)
        self.post_attention_layernorm = _Norm(config)

    def forward(
        self, hidden_bld: Tensor, turn: tuple[Tensor, Tensor], seen_b1ll: Tensor | None
    ) -> Tensor:
        attended_bld = self.self_attn(self.input_layernorm(hidden_bld), turn, seen_b1ll)
        hidden_bld = hidden_bld + attended_bld
        out: Tensor = hidden_bld + self.mlp(self.post_attention_layernorm(hidden_bld))
        return out


class _Attention(nn.Module):
    def __init__(self, config: LlamaConfig) -> None:
        super().__init__()
        self.config = config
        wide, narrow = config.heads * config.head_size, config.key_value_heads * config.head_size
        has_bias = config.has_attention_bias
        self.q_proj = nn.Linear(config.hidden_size, wide, bias=has_bias)
        self.k_proj = nn.Linear(config.hidden_size, narrow, bias=has_bias)
        self.v_proj = nn.Linear(config.hidden_size, narrow, bias=has_bias)
        self.o_proj = nn.Linear(wide, config.hidden_size, bias=has_bias)

    def forward(
        self, hidden_bld: Tensor, turn: tuple[Tensor, Tensor], seen_b1ll: Tensor | None
    ) -> Tensor:
        mixed_bhle = functional.scaled_dot_product_attention(
            _turned(self._heads(self.q_proj(hidden_bld)), turn),
            _turned(self._heads(self.k_proj(hidden_bld)), turn),
            self._heads(self.v_proj(hidden_bld)),
            attn_mask=seen_b1ll,
            is_causal=seen_b1ll is None,
            enable_gqa=self.config.heads != self.config.key_value_heads,
        )
        out: Tensor = self.o_proj(mixed_bhle.transpose(1, 2).flatten(2))
        return out

    def _heads(self, wide: Tensor) -> Tensor:
        samples, length, _ = wide.shape
        return wide.view(samples, length, -1, self.config.head_size).transpose(1, 2)


class _Gate(nn.Module):
    def __init__(self, config: LlamaConfig) -> None:
        super().__init__()
        inner, has_bias = config.intermediate_size, config.has_inner_bias
        self.gate_proj = nn.Linear(config.hidden_size, inner, bias=has_bias)
        self.up_proj = nn.Linear(config.hidden_size, inner, bias=has_bias)
        self.down_proj = nn.Linear(inner, config.hidden_size, bias=has_bias)

    def forward(self, hidden_bld: Tensor) -> Tensor:
        opened = functional.silu(self.gate_proj(hidden_bld)) * self.up_proj(hidden_bld)
        out: Tensor = self.down_proj(opened)
        return out


class _Norm(nn.Module):
    def __init__(self, config: LlamaConfig) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.ones(config.hidden_size))
        self.eps = config.norm_eps

    def forward(self, hidden_bld: Tensor) -> Tensor:
        out = functional.rms_norm(hidden_bld, self.weight.shape, self.weight, self.eps)
        return out.to(_product_type(hidden_bld))  # once, not for each product that it goes into


def _rotation(config: LlamaConfig, length: int, like: Tensor) -> tuple[Tensor, Tensor]:
    """Cosine and sine [L, E] of the rotary positions."""
    speeds = config.rope.frequencies(config.head_size, like.device)
    angle = torch.outer(torch.arange(length, device=like.device).float(), speeds)
    angle_le, large = torch.cat((angle, angle), dim=1), config.rope.amplitude
    kind = _product_type(like)
    return (angle_le.cos() * large).to(kind), (angle_le.sin() * large).to(kind)


def _product_type(like: Tensor) -> torch.dtype:
    """The type in which products of this tensor with weights are computed."""
    device = like.device.type
    return torch.get_autocast_dtype(device) if torch.is_autocast_enabled(device) else like.dtype


def _turned(heads_bhle: Tensor, turn: tuple[Tensor, Tensor]) -> Tensor:
    low, high = heads_bhle.chunk(2, dim=-1)
    return heads_bhle * turn[0] + torch.cat((-high, low), dim=-1) * turn[1]
