"""The model card of an exported head: README.md, written from the log.

Names in it are strangers' words. In the front matter they are JSON strings, which YAML reads as
they are; in the text nothing of Markdown or HTML in them works.
"""

from __future__ import annotations

import json
import shlex
from typing import TYPE_CHECKING

from tequio_client.foreign_text import cleaned
from tequio_shared import measures
from tequio_shared.ids import to_text

if TYPE_CHECKING:
    from collections.abc import Iterable

    from tequio_client.checkpoint.story import Story

MOST_CONTRIBUTORS = 100
"""More are counted, not listed."""
_MICRO = 10**6
_MOST = 256
_MARKS = "\\`*_{}[]()<>#+-.!|&~:@$\"'"


def write(story: Story, ledger: str) -> str:
    """Write the card; `ledger` is the address that the reader of the card should ask."""
    return (
        "\n\n".join(
            (
                _front_matter(story),
                f"# {_plain(story.manifest.name)}, round {story.head.round}",
                _what(story),
                _how_to_check(story, ledger),
                _how_it_was_made(story),
                _quality(story),
                _people(story),
                _log(story, ledger),
            )
        )
        + "\n"
    )


def _front_matter(story: Story) -> str:
    fields = {
        "library_name": "transformers",
        "pipeline_tag": "text-generation",
        "tags": ["tequio", f"tequio-run:{to_text(story.manifest.run_id)}"],
    }
    lines = (f"{name}: {json.dumps(value)}" for name, value in fields.items())
    return "\n".join(("---", *lines, "---"))


def _what(story: Story) -> str:
    model = story.manifest.model
    return (
        f"A causal language model of {model.parameters:,} parameters, trained together by "
        f"{len(story.micropoints):,} keys of the network {_plain(story.genesis.name)} "
        "with Tequio, on computers that their owners lent. "
        f"These are its weights after round {story.head.round}: exactly the integers that the "
        "network agreed on, as 32-bit floating-point numbers.\n\n"
        "```python\n"
        "from transformers import AutoModelForCausalLM, AutoTokenizer\n\n"
        'model = AutoModelForCausalLM.from_pretrained("PATH_OR_REPO")\n'
        'tokenizer = AutoTokenizer.from_pretrained("PATH_OR_REPO")\n'
        "```"
    )


def _how_to_check(story: Story, ledger: str) -> str:
    return (
        "## Check that these weights are that head\n\n"
        "```sh\n"
        f"tequio checkpoint verify PATH_OR_REPO --ledger {shlex.quote(_line(ledger))}\n"
        "```\n\n"
        "It turns the weights back into integers, computes their Merkle root, and looks for that "
        "root in the log, under a checkpoint whose signature and proof it verifies. Exit status 0: "
        "they are; 2: they are not; 3: it could not tell. The ledger named here is the exporter's "
        "word: take the one that you know, or ask who signs its log "
        f"(log key `{story.genesis.log_key}`)."
    )


def _how_it_was_made(story: Story) -> str:
    manifest, corpus = story.manifest, story.documents.corpus
    rules, inner = manifest.algorithm, manifest.inner
    rows = (
        ("run", f"`{to_text(manifest.run_id)}`"),
        ("data", _plain(corpus.source)),
        ("data manifest", f"`{manifest.data.manifest}`"),
        ("shards", f"{len(corpus.train)} to train on, {len(corpus.held_out)} held out"),
        ("tokenizer", _tokenizer(story)),
        ("sequence", f"{manifest.model.sequence} tokens"),
        ("algorithm", f"{rules.name}, {rules.bits} bits, {_k(rules.k)}"),
        ("inner steps", f"{inner.steps} of {inner.optimiser}, learning rate {inner.lr_e9 / 1e9:g}"),
        ("rounds closed", f"{story.rounds:,}"),
        ("tokens accepted", f"{story.tokens:,}"),
        ("compute of accepted work", f"{story.flop:.3g} FLOP (6 per parameter and token)"),
    )
    return "## How it was made\n\n" + _table(("what", "value"), rows)


def _k(k: int) -> str:
    return f"{k} numbers of each 4,096" if k else "fewer numbers the more trainers"


def _tokenizer(story: Story) -> str:
    rules = story.manifest.tokenizer
    if rules.kind == "bytes":
        return "UTF\\-8 bytes"
    return f"{rules.vocab_size:,} tokens, `tokenizer.json` with SHA\\-256 `{rules.file}`"


def _quality(story: Story) -> str:
    said = {key: body for key, (_, body) in story.measures.items()}
    if not said:
        return (
            "## How good it is\n\n"
            "The log holds no measurement of this head on held\\-out text, so this card gives "
            "none. `tequio score` measures it on a text of yours."
        )
    median, away = measures.median(said.values()), measures.outliers(said)
    rows = [
        (
            f"`{to_text(key)}`",
            f"{measures.bits_per_byte(body):.6f}"
            + (" (far from the others)" if key in away else ""),
            str(entry),
        )
        for key, (entry, body) in story.measures.items()
    ]
    return (
        "## How good it is\n\n"
        f"**{measures.bits_per_byte(median):.4f} bits per byte** of text that the run held out "
        f"({median.size_bytes:,} bytes, {median.tokens:,} tokens): the median of what members "
        "drawn by lot measured and signed. Their statements are in the log, under the checkpoint "
        "below; `tequio audit` checks them. `tequio score` measures it on a text of yours.\n\n"
        + _table(("measured by", "bits per byte", "log entry"), rows)
    )


def _people(story: Story) -> str:
    ranked = list(story.micropoints.items())
    rows = [
        (f"`{to_text(key)}`", f"{amount / _MICRO:,.6f}")
        for key, amount in ranked[:MOST_CONTRIBUTORS]
    ]
    text = "## Who made it\n\n" + (_table(("key", "points"), rows) if rows else "Nobody yet.")
    more = ranked[MOST_CONTRIBUTORS:]
    if more:
        points = sum(amount for _, amount in more) / _MICRO
        text += f"\n\nAnd {len(more):,} more keys with {points:,.6f} points together."
    return text


def _log(story: Story, ledger: str) -> str:
    head = story.head
    rows = (
        ("network", f"`{to_text(story.genesis.network_id)}`"),
        ("ledger", f"`{_line(ledger).replace('`', '')}`"),
        ("head", f"`{to_text(head.hash)}`"),
        ("root of its weights", f"`{to_text(head.weights_root)}`"),
        ("promoted in log entry", f"{story.entry}"),
    )
    note = story.proof.note.decode("utf-8", "replace")
    fenced = "\n".join("    " + _line(line) for line in note.splitlines())
    return (
        "## In the log\n\n"
        + _table(("what", "value"), rows)
        + "\n\nThe checkpoint that it was proven under (the proof is `tequio/head.tlog-proof`):\n\n"
        + fenced
    )


def _table(names: tuple[str, ...], rows: Iterable[tuple[str, ...]]) -> str:
    lines = [f"| {' | '.join(names)} |", "|---" * len(names) + "|"]
    lines += [f"| {' | '.join(cells)} |" for cells in rows]
    return "\n".join(lines)


def _line(text: str) -> str:
    return cleaned(text, _MOST)


def _plain(text: str) -> str:
    """A stranger's words on one line, each character standing for itself alone."""
    return "".join(
        f"&#{ord(one)};" if one in "<>&\"'" else f"\\{one}" if one in _MARKS else one
        for one in _line(text)
    )
