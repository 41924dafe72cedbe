"""One head and its history as a log proves them, and the model card written from these.

The log is read and folded as in an audit, so nothing here is the ledger's word alone: rosters,
quorums, points and heads follow from the statements, and the statements from signed tree heads.

Names in the card are strangers' words. In the front matter they are JSON strings, which YAML reads
as they are; in the text nothing of Markdown or HTML in them works.
"""

from __future__ import annotations

import json
import shlex
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from tequio_client.checkpoint.layout import PLUGIN, TABLE, TOKENIZER, ExportForm
from tequio_client.checkpoint.proven import Blob, CertifiedHead, fetch_documents
from tequio_client.names import clean_text
from tequio_client.verify.fold import RunHistory
from tequio_client.verify.reader import FoldedLog
from tequio_client.verify.source import NotAvailableError
from tequio_shared.errors import PeerError, UserFacingError
from tequio_shared.head.chain import Head
from tequio_shared.head.contribution import ContributionHeader
from tequio_shared.head.layout import FrozenBase
from tequio_shared.ids import PeerKey, to_text
from tequio_shared.multiple_choice import interval_95
from tequio_shared.network.rollback import lineage
from tequio_shared.round import measures
from tequio_shared.round.manifest import Manifest
from tequio_shared.round.points import flop_per_token, points
from tequio_shared.scoring import power_of_two
from tequio_shared.statements.runs import HeadMeasure
from tequio_shared.wording import plural

NO_HEAD = "no head of this run is certified yet: its first round has not begun"
MAX_CONTRIBUTORS = 100
"""More are counted, not listed."""
_SHOWN_ROUNDS = 8
_LINE_CHARS = 256
_MARKS = "\\`*_{}[]()<>#+-.!|&~:@$\"'"


@dataclass(frozen=True, slots=True, kw_only=True)
class HeadHistory(CertifiedHead):
    rounds: int
    """Closed rounds that the head is made of."""
    tokens: int
    gflop: Mapping[PeerKey, int]
    """Of every key that had earned some when the head's round closed."""
    measures: Mapping[PeerKey, tuple[int, HeadMeasure]]
    """Measurements on held-out text by members drawn by lot, each with its log index."""

    @property
    def flop(self) -> int:
        """Compute of the accepted work, by the formula that points follow from."""
        still = self.manifest.frozen.parameters if self.manifest.frozen else 0
        return self.tokens * flop_per_token(self.manifest.model.parameters, still)


def head_history(
    log: FoldedLog, blob: Blob, run: str, round_number: int | None = None
) -> HeadHistory:
    """Find a head and its history in a log; raises UserFacingError if there is no such head.

    The run is a name or the beginning of an id; without a round, the last head is meant. `blob`
    gets documents. Costs a bundle and O(log n) tiles beside what was read.
    """
    history = log.run(run)
    entry, head = _promoted(history, round_number)
    manifest = history.view.manifest
    kept = lineage(history.view.rollbacks, head.round)
    closed = [
        one for number, one in history.closed.items() if any(number in rounds for rounds in kept)
    ]
    size = max((one.index + 1 for one in closed), default=0)
    earned = log.fold.rows.earned(manifest.run_id, size).items()
    ranked = sorted(earned, key=lambda one: (-one[1], one[0]))
    try:
        proof = log.reader.proof(entry)
    except (NotAvailableError, PeerError) as err:
        raise UserFacingError(f"entry {entry} of the log could not be proven: {err}") from err
    return HeadHistory(
        genesis=log.genesis,
        manifest=manifest,
        documents=fetch_documents(manifest, blob),
        head=head,
        entry=entry,
        proof=proof,
        rounds=len(closed),
        tokens=sum(ContributionHeader.parse(w.header).tokens for one in closed for w in one.works),
        gflop=dict(ranked),
        measures=history.measures.get(head.round, {}),
    )


def _promoted(history: RunHistory, round_number: int | None) -> tuple[int, Head]:
    if not history.promoted:
        raise UserFacingError(NO_HEAD)
    last = history.view.head  # which may be an older one than the one promoted last
    wanted = last.round if round_number is None and last else round_number
    for index, head in history.promoted:
        if head.round == wanted:
            return index, head
    shown = ", ".join(str(head.round) for _, head in history.promoted[-_SHOWN_ROUNDS:])
    raise UserFacingError(
        f"no head of round {round_number} is certified; the last certified ones are of: {shown}"
    )


def render_card(story: HeadHistory, ledger: str, *, form: ExportForm = ExportForm.HEAD) -> str:
    """Write the card; `ledger` is the address that the reader of the card should ask."""
    return (
        "\n\n".join(
            (
                _front_matter(story, form),
                f"# {_plain(story.manifest.name)}, round {story.head.round}",
                _what(story, form),
                _how_to_check(story, ledger),
                _how_it_was_made(story),
                _quality(story),
                *_sample(story),
                _people(story),
                _log(story, ledger),
            )
        )
        + "\n"
    )


def _front_matter(story: HeadHistory, form: ExportForm) -> str:
    base = story.manifest.frozen
    is_adapter = base is not None and form is ExportForm.HEAD
    fields: dict[str, object] = {
        "library_name": "peft" if is_adapter else "transformers",
        "pipeline_tag": "text-generation",
        "tags": ["tequio", f"tequio-run:{to_text(story.manifest.run_id)}"],
    }
    if base is not None and base.source:
        fields["base_model"] = base.source
        fields["base_model_relation"] = "adapter" if is_adapter else "finetune"
    lines = (f"{name}: {json.dumps(value)}" for name, value in fields.items())
    return "\n".join(("---", *lines, "---"))


def _what(story: HeadHistory, form: ExportForm) -> str:
    base = story.manifest.frozen
    made = (
        f"trained together by {len(story.gflop):,} keys of the network "
        f"{_plain(story.genesis.name)} with Tequio, on computers that their owners lent. "
    )
    exactly = "exactly the integers that the network agreed on, as 32-bit floating-point numbers."
    head = f"These are its weights after round {story.head.round}: {exactly}"
    if base is None:
        kind = f"A causal language model of {story.manifest.model.parameters:,} parameters, "
        return f"{kind}{made}{head}\n\n{_use_whole(story)}"
    pairs = (
        f"{story.manifest.model.parameters:,} parameters in LoRA adapters of rank {base.rank} and "
        f"alpha {base.alpha}"
    )
    frozen = (
        f"the frozen base {_base_name(story)} of {base.parameters:,} parameters, whose files are "
        "named by hash in `tequio/manifest.json`"
    )
    if form is ExportForm.HEAD:
        narrow = f" {_NARROW_ADAPTERS}" if base.is_in_4_bits else ""
        return f"{pairs}, {made}They stand beside {frozen}.{narrow} {head}\n\n{_use_adapter(base)}"
    merged = (
        f"A causal language model: {frozen}, with {pairs} merged into it, {made}The adapters after "
        f"round {story.head.round} (`tequio/adapter_model.safetensors`) are {exactly} Each "
        "adapted matrix is W + (alpha / rank) B A, summed in 64 bits and rounded once"
        + (", with the W that its 4 bits (NF4) stand for." if base.is_in_4_bits else ".")
    )
    return f"{merged}\n\n{_use_whole(story)}"


_NARROW_ADAPTERS = (
    "They were trained with the base's adapted matrices in 4 bits (NF4, blocks of 64 numbers of a "
    "row). Beside the matrices in 16 bits, predictions differ slightly; `tequio checkpoint export "
    "--merged` writes exactly the model that was trained."
)
_USE_WHOLE = (
    "```python\n"
    "from transformers import AutoModelForCausalLM, PreTrainedTokenizerFast\n\n"
    'model = AutoModelForCausalLM.from_pretrained("PATH_OR_REPO")\n'
    'tokenizer = PreTrainedTokenizerFast.from_pretrained("PATH_OR_REPO")\n'
    "```"
)
_USE_OWN_TEXTS = (
    f"Code of a plug-in splits its texts (`{PLUGIN}`), so transformers finds no tokenizer. "
    f"`tequio chat PATH` runs that code, once you have allowed it. `{TABLE}` has, for each id, the "
    "number of bytes that it stands for (one byte), and these bytes."
)


def _use_whole(story: HeadHistory) -> str:
    return _USE_OWN_TEXTS if story.manifest.tokenizer.kind == "plugin" else _USE_WHOLE


def _use_adapter(base: FrozenBase) -> str:
    name = base.source or "PATH_OR_REPO_OF_THE_BASE"
    revision = f', revision="{base.revision}"' if base.revision else ""
    return (
        "```python\n"
        "from peft import PeftModel\n"
        "from transformers import AutoModelForCausalLM, PreTrainedTokenizerFast\n\n"
        f'base = AutoModelForCausalLM.from_pretrained("{name}"{revision})\n'
        'model = PeftModel.from_pretrained(base, "PATH_OR_REPO")\n'
        'tokenizer = PreTrainedTokenizerFast.from_pretrained("PATH_OR_REPO")\n'
        "```"
    )


def _base_name(story: HeadHistory) -> str:
    base = story.manifest.frozen
    return f"`{base.source}`" if base and base.source else "that the organiser had as a folder"


def _how_to_check(story: HeadHistory, ledger: str) -> str:
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


def _how_it_was_made(story: HeadHistory) -> str:
    manifest, corpus = story.manifest, story.documents.corpus
    rules, inner, texts = manifest.algorithm, manifest.inner, manifest.tokenizer
    file = TABLE if texts.kind == "plugin" else TOKENIZER
    tokenizer = f"{texts.vocab_size:,} tokens, `{file}` with SHA\\-256 `{texts.file}`"
    sent = f"{rules.k} numbers of each 4,096" if rules.k else "fewer numbers the more trainers"
    steps = f"{inner.steps} of {inner.optimiser}, learning rate {inner.lr_e9 / 1e9:g}"
    if inner.optimiser == "muon":
        steps += f", momentum {inner.momentum:g}"
    if inner.z_loss:
        steps += f", z\\-loss {inner.z_loss:g}"
    if rules.name == "distro":
        steps = "none: a round is one step, in which signs move all weights alike"
    formula = "6 per parameter and token"
    if manifest.frozen is not None:
        formula = "for each token 6 per parameter of the adapters, 4 per frozen one"
    rows = (
        ("run", f"`{to_text(manifest.run_id)}`"),
        *_parent_rows(manifest),
        *_plugin_rows(manifest),
        ("data", _plain(corpus.source)),
        ("data manifest", f"`{manifest.data.manifest}`"),
        ("shards", f"{len(corpus.train)} to train on, {len(corpus.held_out)} held out"),
        ("tokenizer", "UTF\\-8 bytes" if texts.kind == "bytes" else tokenizer),
        ("sequence", f"{manifest.model.sequence} tokens"),
        *_base_rows(story),
        ("algorithm", f"{rules.name}, {rules.bits} bits, {sent}"),
        ("inner steps", steps),
        ("rounds closed", f"{story.rounds:,}"),
        ("tokens accepted", f"{story.tokens:,}"),
        ("compute of accepted work", f"{story.flop:.3g} FLOP ({formula})"),
    )
    return "## How it was made\n\n" + _table(("what", "value"), rows)


def _parent_rows(manifest: Manifest) -> tuple[tuple[str, str], ...]:
    parent = manifest.continued
    if parent is None:
        return ()
    return (("continues", f"the head of round {parent.round} of run `{parent.run}`"),)


def _plugin_rows(manifest: Manifest) -> tuple[tuple[str, str], ...]:
    code = manifest.own_code
    if code is None:
        return ()
    return (("code of its own", f"`{PLUGIN}` ({_plain(code.label)}): {', '.join(code.provides)}"),)


def _base_rows(story: HeadHistory) -> tuple[tuple[str, str], ...]:
    base = story.manifest.frozen
    if base is None:
        return ()
    commit = f", commit `{base.revision}`" if base.revision else ""
    return (
        ("frozen base", f"{_base_name(story)}{commit}, {plural(len(base.files), 'file')}"),
        ("adapted matrices", "4 bits (NF4)" if base.is_in_4_bits else "as in the files"),
        ("adapters beside", ", ".join(f"`{one}`" for one in base.targets)),
    )


def _quality(story: HeadHistory) -> str:
    measured = {key: body for key, (_, body) in story.measures.items()}
    if not measured:
        return (
            "## How good it is\n\n"
            "The log holds no measurement of this head on held\\-out text, so this card gives "
            "none. `tequio score` measures it on a text of yours."
        )
    median, away = measures.median(measured.values()), measures.outliers(measured)
    bits = measures.bits_per_byte(median)
    rows = [
        (
            f"`{to_text(key)}`",
            f"{measures.bits_per_byte(body):.6f}"
            + (" (far from the others)" if key in away else ""),
            f"{measures.perplexity(body):.4g}",
            str(entry),
        )
        for key, (entry, body) in story.measures.items()
    ]
    return (
        "## How good it is\n\n"
        f"**{bits:.4f} bits per byte** of text that the run held out "
        f"({median.size_bytes:,} bytes, {median.tokens:,} tokens), or perplexity "
        f"**{measures.perplexity(median):.4g} per token**, {power_of_two(bits):.4g} per byte: the "
        "median of what members drawn by lot measured and signed. Their statements are in the log, "
        "under the checkpoint below; `tequio audit` checks them. `tequio score` measures it on a "
        "text of yours.\n\n"
        + _table(("measured by", "bits per byte", "perplexity per token", "log entry"), rows)
        + _tasks(story)
    )


def _tasks(story: HeadHistory) -> str:
    """Right answers to the run's tasks; empty if no member answered them."""
    answers = measures.answers_by_task({peer: body for peer, (_, body) in story.measures.items()})
    if not answers:
        return ""
    rows = []
    for task, counts in zip(story.manifest.measures.answered, answers, strict=True):
        median = measures.task_median(counts.values())
        low, high = interval_95(median.right, median.asked)
        rows.append(
            (
                _plain(task.name),
                f"{median.right / median.asked:.1%}",
                f"{low:.1%} to {high:.1%}",
                f"{median.right_normed / median.asked:.1%}",
                f"{task.chance:.1%}",
                f"{median.asked:,}",
                f"`{task.file}`",
            )
        )
    return (
        f"\n\nRight answers to tasks with choices, the median of {len(answers[0])} of these "
        "members. The questions are public, so they may be among what the model was trained on:\n\n"
        + _table(
            ("task", "right", "95 % interval", "by length", "by guessing", "questions", "file"),
            rows,
        )
    )


def _sample(story: HeadHistory) -> tuple[str, ...]:
    shown = measures.best_sample({key: body for key, (_, body) in story.measures.items()})
    if shown is None:
        return ()
    key, sample = shown
    text = (
        "## Sample\n\n"
        "How these weights go on from the beginning of a text that the run held out, always with "
        "the likeliest next token. It is a model's output and nobody's opinion; that it "
        f"writes so, `{to_text(key)}` says in log entry {story.measures[key][0]}. "
        f"The beginning:\n\n{_fenced(sample.prompt)}"
    )
    goes_on = f"The model goes on:\n\n{_fenced(sample.text)}"
    return text, goes_on if sample.text.strip() else "To the model the text ends there."


def _people(story: HeadHistory) -> str:
    ranked = list(story.gflop.items())
    rows = [(f"`{to_text(key)}`", points(amount)) for key, amount in ranked[:MAX_CONTRIBUTORS]]
    text = "## Who made it\n\n" + (_table(("key", "points"), rows) if rows else "Nobody yet.")
    more = ranked[MAX_CONTRIBUTORS:]
    if more:
        rest = points(sum(amount for _, amount in more))
        text += f"\n\nAnd {plural(len(more), 'more key')} with {rest} points together."
    return text


def _log(story: HeadHistory, ledger: str) -> str:
    head = story.head
    rows = (
        ("network", f"`{to_text(story.genesis.network_id)}`"),
        ("ledger", f"`{_line(ledger).replace('`', '')}`"),
        ("head", f"`{to_text(head.hash)}`"),
        ("root of its weights", f"`{to_text(head.weights_root)}`"),
        ("promoted in log entry", f"{story.entry}"),
    )
    note = story.proof.note.decode("utf-8", "replace")
    return (
        "## In the log\n\n"
        + _table(("what", "value"), rows)
        + "\n\nThe checkpoint that it was proven under (the proof is `tequio/head.tlog-proof`):\n\n"
        + _fenced(note)
    )


def _fenced(text: str) -> str:
    """A stranger's lines, as code: nothing in them is markup."""
    return "\n".join("    " + _line(line) for line in text.splitlines())


def _table(names: tuple[str, ...], rows: Iterable[tuple[str, ...]]) -> str:
    lines = [f"| {' | '.join(names)} |", "|---" * len(names) + "|"]
    lines += [f"| {' | '.join(cells)} |" for cells in rows]
    return "\n".join(lines)


def _line(text: str) -> str:
    return clean_text(text, _LINE_CHARS)


def _plain(text: str) -> str:
    """A stranger's words on one line, each character standing for itself alone."""
    return "".join(
        f"&#{ord(one)};" if one in "<>&\"'" else f"\\{one}" if one in _MARKS else one
        for one in _line(text)
    )
