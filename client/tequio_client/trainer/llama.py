"""The Llama network, as Hugging Face defines it, in torch alone.

Same tensor names and same outputs as `transformers.LlamaForCausalLM` (a test holds them together),
without its import: that costs 120 MB of memory and 2.7 s of CPU in every trainer, more than torch
does for a small model. Configurations beyond this file's reach go to transformers.

Shapes: B samples, L tokens, D hidden, H heads, K key-value heads, E head size, V vocabulary.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor, nn
from torch.nn import functional

if TYPE_CHECKING:
    from collections.abc import Mapping

_PLAIN = {
    "hidden_act": "silu",
    "attention_bias": False,
    "mlp_bias": False,
    "attention_dropout": 0.0,
    "rope_scaling": None,
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
    rope_theta: float
    init_std: float
    is_tied: bool

    @classmethod
    def of(cls, config: Mapping[str, Any]) -> LlamaConfig | None:  # JSON of any model
        """Read a Hugging Face configuration; None when it is not a plain Llama."""
        if unlike(config):
            return None
        rope = config.get("rope_parameters") or {}
        return _read(config, rope.get("rope_theta") or config.get("rope_theta") or 10_000.0)


def unlike(config: Mapping[str, Any]) -> str:  # JSON of any model
    """Name what keeps a configuration from being a plain Llama's; empty: nothing does."""
    if config.get("model_type") != "llama":
        return f"model_type {config.get('model_type')!r}"[:_SAID]
    for name, plain in _PLAIN.items():
        if config.get(name, plain) != plain:
            return f"{name} {config[name]!r}"[:_SAID]
    rope = config.get("rope_parameters") or {}
    if rope.get("rope_type", "default") != "default":
        return f"rope_type {rope['rope_type']!r}"[:_SAID]
    return "a partial_rotary_factor" if "partial_rotary_factor" in rope else ""


def _read(config: Mapping[str, Any], rope_theta: float) -> LlamaConfig:
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
        rope_theta=rope_theta,
        init_std=config.get("initializer_range", 0.02),
        is_tied=bool(config.get("tie_word_embeddings", False)),
    )


EMBEDDING, HEAD = "model.embed_tokens.weight", "lm_head.weight"


def shapes(config: LlamaConfig) -> tuple[tuple[str, tuple[int, ...]], ...]:
    """List every tensor (name, shape) as `Llama` has them, ascending, without making any.

    Tied embeddings are one tensor under the smaller name, HEAD.
    """
    wide = config.heads * config.head_size
    narrow = config.key_value_heads * config.head_size
    hidden, inner = config.hidden_size, config.intermediate_size
    of_layer: dict[str, tuple[int, ...]] = {
        "input_layernorm": (hidden,),
        "mlp.down_proj": (hidden, inner),
        "mlp.gate_proj": (inner, hidden),
        "mlp.up_proj": (inner, hidden),
        "post_attention_layernorm": (hidden,),
        "self_attn.k_proj": (narrow, hidden),
        "self_attn.o_proj": (hidden, wide),
        "self_attn.q_proj": (wide, hidden),
        "self_attn.v_proj": (narrow, hidden),
    }
    found: dict[str, tuple[int, ...]] = {HEAD: (config.vocab_size, hidden)}
    if not config.is_tied:
        found[EMBEDDING] = (config.vocab_size, hidden)
    for layer in range(config.layers):
        found |= {f"model.layers.{layer}.{name}.weight": of_layer[name] for name in of_layer}
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
        """Fill with the usual start: normal matrices, norms of one."""
        with torch.no_grad():
            for parameter in self.parameters():
                if parameter.dim() > 1:
                    parameter.normal_(0.0, self.config.init_std, generator=generator)
                else:
                    parameter.fill_(1.0)


class _Trunk(nn.Module):
    def __init__(self, config: LlamaConfig) -> None:
        super().__init__()
        self.config = config
        self.embed_tokens = nn.Embedding(config.vocab_size, config.hidden_size)
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
        self.q_proj = nn.Linear(config.hidden_size, wide, bias=False)
        self.k_proj = nn.Linear(config.hidden_size, narrow, bias=False)
        self.v_proj = nn.Linear(config.hidden_size, narrow, bias=False)
        self.o_proj = nn.Linear(wide, config.hidden_size, bias=False)

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
        self.gate_proj = nn.Linear(config.hidden_size, config.intermediate_size, bias=False)
        self.up_proj = nn.Linear(config.hidden_size, config.intermediate_size, bias=False)
        self.down_proj = nn.Linear(config.intermediate_size, config.hidden_size, bias=False)

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
    exponent = torch.arange(0, config.head_size, 2, device=like.device).float() / config.head_size
    angle = torch.outer(
        torch.arange(length, device=like.device).float(), 1.0 / config.rope_theta**exponent
    )
    angle_le = torch.cat((angle, angle), dim=1)
    return angle_le.cos().to(like.dtype), angle_le.sin().to(like.dtype)


def _turned(heads_bhle: Tensor, turn: tuple[Tensor, Tensor]) -> Tensor:
    low, high = heads_bhle.chunk(2, dim=-1)
    return heads_bhle * turn[0] + torch.cat((-high, low), dim=-1) * turn[1]
