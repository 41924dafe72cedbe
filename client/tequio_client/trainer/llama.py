"""The Llama network, as Hugging Face defines it, in torch alone.

Same tensor names and same outputs as `transformers.LlamaForCausalLM` (a test holds them together),
without its import: that costs 120 MB of memory and 2.7 s of CPU in every trainer, more than torch
does for a small model. Configurations beyond this file's reach go to transformers.

Rope scaling is that of `rope`; attention and feed-forward may have biases.

Shapes: B samples, L tokens, D hidden, H heads, K key-value heads, E head size, V vocabulary.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor, nn
from torch.nn import functional

from tequio_client.trainer import rope
from tequio_client.trainer.rope import Rope

if TYPE_CHECKING:
    from collections.abc import Mapping

_PLAIN = {
    "hidden_act": "silu",
    "attention_dropout": 0.0,
    "partial_rotary_factor": None,
    "pretraining_tp": 1,
}
"""What a configuration must say, or leave out, to be one of ours."""
_SAID = 100
"""Letters of a stranger's configuration that are repeated."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LlamaConfig:
    """The numbers of a Llama configuration that this file understands."""

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
    def of(cls, config: Mapping[str, Any]) -> LlamaConfig | None:  # JSON of any model
        """Read a Hugging Face configuration; None when it is not such a Llama.

        Raises UserFacingError for rope scaling with odd numbers.
        """
        return None if unlike(config) else _read(config)


def unlike(config: Mapping[str, Any]) -> str:  # JSON of any model
    """Name what keeps a configuration from being one of this file's; empty: nothing does."""
    if config.get("model_type") != "llama":
        return f"model_type {config.get('model_type')!r}"[:_SAID]
    for name, plain in _PLAIN.items():
        if config.get(name, plain) != plain:
            return f"{name} {config[name]!r}"[:_SAID]
    if "partial_rotary_factor" in rope.fields(config):
        return "a partial_rotary_factor"
    kind = rope.kind_of(config)
    return "" if kind in rope.KINDS else f"rope_type {kind!r}"


def _read(config: Mapping[str, Any]) -> LlamaConfig:  # JSON of any model
    """Take the fields, with the defaults of transformers' LlamaConfig."""
    hidden, heads = config.get("hidden_size", 4096), config.get("num_attention_heads", 32)
    return LlamaConfig(
        vocab_size=config.get("vocab_size", 32_000),
        hidden_size=hidden,
        intermediate_size=config.get("intermediate_size", 11_008),
        layers=config.get("num_hidden_layers", 32),
        heads=heads,
        key_value_heads=config.get("num_key_value_heads") or heads,
        head_size=config.get("head_dim") or hidden // heads,
        norm_eps=config.get("rms_norm_eps", 1e-6),
        rope=Rope.of(config),
        init_std=config.get("initializer_range", 0.02),
        is_tied=bool(config.get("tie_word_embeddings", False)),
        has_attention_bias=bool(config.get("attention_bias", False)),
        has_inner_bias=bool(config.get("mlp_bias", False)),
    )


EMBEDDING, HEAD = "model.embed_tokens.weight", "lm_head.weight"


def shapes(config: LlamaConfig) -> tuple[tuple[str, tuple[int, ...]], ...]:
    """List every tensor (name, shape) as `Llama` has them, ascending, without making any.

    Tied embeddings are one tensor under the smaller name, HEAD.
    """
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


class Llama(nn.Module):
    """Token ids [B, L] to logits [B, L, V]."""

    def __init__(self, config: LlamaConfig) -> None:
        super().__init__()
        self.config = config
        self.model = _Trunk(config)
        self.lm_head = nn.Linear(config.hidden_size, config.vocab_size, bias=False)
        if config.is_tied:
            self.lm_head.weight = self.model.embed_tokens.weight

    def forward(self, ids_bl: Tensor) -> Tensor:
        """Predict the next token at every position."""
        logits: Tensor = self.lm_head(self.model(ids_bl))
        return logits

    def initialise(self, generator: torch.Generator) -> None:
        """Fill with the usual start: normal matrices, norms of one, biases of zero."""
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
        # as it comes, for `initialise` or a file fill it: torch would draw it, and where there is
        # no memory behind it ("meta") load torch._dynamo to do so, a second and 77 MB
        self.embed_tokens = nn.Embedding(*size, _weight=torch.empty(size))
        self.layers = nn.ModuleList(_Layer(config) for _ in range(config.layers))
        self.norm = _Norm(config)

    def forward(self, ids_bl: Tensor) -> Tensor:
        hidden_bld: Tensor = self.embed_tokens(ids_bl)
        turn = _rotation(self.config, ids_bl.shape[1], hidden_bld)
        for layer in self.layers:
            hidden_bld = layer(hidden_bld, turn)
        out: Tensor = self.norm(hidden_bld)
        return out


class _Layer(nn.Module):
    def __init__(self, config: LlamaConfig) -> None:
        super().__init__()
        self.self_attn = _Attention(config)
        self.mlp = _Gate(config)
        self.input_layernorm = _Norm(config)
        self.post_attention_layernorm = _Norm(config)

    def forward(self, hidden_bld: Tensor, turn: tuple[Tensor, Tensor]) -> Tensor:
        hidden_bld = hidden_bld + self.self_attn(self.input_layernorm(hidden_bld), turn)
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

    def forward(self, hidden_bld: Tensor, turn: tuple[Tensor, Tensor]) -> Tensor:
        mixed_bhle = functional.scaled_dot_product_attention(
            _turned(self._heads(self.q_proj(hidden_bld)), turn),
            _turned(self._heads(self.k_proj(hidden_bld)), turn),
            self._heads(self.v_proj(hidden_bld)),
            is_causal=True,
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
        wide = functional.rms_norm(hidden_bld.float(), self.weight.shape, None, self.eps)
        return self.weight * wide.to(hidden_bld.dtype)


def _rotation(config: LlamaConfig, length: int, like: Tensor) -> tuple[Tensor, Tensor]:
    """Cosine and sine [L, E] of the rotary position embedding."""
    speeds = config.rope.speeds(config.head_size, like.device)
    angle = torch.outer(torch.arange(length, device=like.device).float(), speeds)
    angle_le, large = torch.cat((angle, angle), dim=1), config.rope.enlarged
    return (angle_le.cos() * large).to(like.dtype), (angle_le.sin() * large).to(like.dtype)


def _turned(heads_bhle: Tensor, turn: tuple[Tensor, Tensor]) -> Tensor:
    low, high = heads_bhle.chunk(2, dim=-1)
    return heads_bhle * turn[0] + torch.cat((-high, low), dim=-1) * turn[1]
