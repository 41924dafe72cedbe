"""`tequio run new` in a terminal: questions about a run, each answer checked at once.

An answer is an option of the command, so its type converts it, and what was given on the command
line is ready as an answer. Nothing is written here.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import click
from rich.console import Console

from tequio_client import cli
from tequio_client.organiser import estimate, estimate_view, planning
from tequio_client.organiser.outline import RunOutline, read_corpus
from tequio_client.organiser.planning import NewPlanOptions
from tequio_shared.errors import UserFacingError

_INTRO = (
    "Questions about the new run. Enter accepts the answer in brackets, and Ctrl-C ends this "
    "without writing anything."
)
_KINDS: Mapping[str, str] = {
    "new": "a new model, from random weights",
    "continue": "all weights of an existing model",
    "adapters": "small adapters (LoRA) beside an existing model, which stays as it is",
    "run": "a run that exists, from one of its heads",
}
_USUAL_SIZE = "125M"
_USUAL_RANK = 16
_LONG_DAYS = 365.0
"""Most days that are offered as an answer."""
_DAY_S = 86_400
Check = Callable[[], object]


class Interview:
    """Asks for the options that a new plan needs; `to_options` converts them."""

    def __init__(
        self,
        context: click.Context,
        values: Mapping[str, Any],
        to_options: Callable[[click.Context, Mapping[str, Any]], NewPlanOptions],
    ) -> None:
        self._context = context
        self._types = {one.name: one.type for one in context.command.params}
        self._values = dict(values)
        self._to_options = to_options
        self._console = Console(highlight=False)

    def run(self) -> tuple[Path, RunOutline]:
        """Ask until a plan can work and is wanted; returns where to write it, and the plan.

        Raises click.Abort for Ctrl-C, and UserFacingError for a PLAN that exists.
        """
        is_named = self._values["plan"] is None
        if not is_named:
            planning.check_free(self._plan)
        self._print(_INTRO)
        while True:
            if is_named:
                self._ask_name()
            self._ask_model()
            self._ask_volunteers()
            outline = self._outline()
            try:
                estimate_view.print_estimate(outline, self._estimate(outline))
            except UserFacingError as err:
                self._console.print(str(err), style="red", markup=False)
            else:
                if click.confirm(f"Write this plan to {self._plan}?", default=True):
                    return self._plan, outline
            self._print("Change any answer; Enter accepts it as it is.")

    def _ask_name(self) -> None:
        def check() -> None:
            name = planning.run_name(Path("plan"), self._values["name"])
            self._values["plan"] = Path(f"{name}.toml")
            planning.check_free(self._plan)

        why = "Volunteers see the name of the run. The plan is written to NAME.toml in this folder."
        self._ask("name", "Name", why, check, default="first-run")

    def _ask_model(self) -> None:
        kinds = "; ".join(f"{name}: {what}" for name, what in _KINDS.items())
        self._print(f"\nWhat the run trains. {kinds}.")
        kind = click.prompt("Train", default=self._kind(), type=click.Choice(list(_KINDS)))
        if kind != "adapters":
            self._values["lora_bits"] = "16"
        if kind != "run":
            self._values |= {"from_run": None, "head_round": None}
        if kind in ("new", "run"):
            self._values |= {"source": None, "revision": "", "lora_rank": 0}
        if kind == "new":
            self._ask_data(self._check_data)
            why = "More parameters learn more, and need larger cards, more data and more time."
            self._ask("parameters", "Parameters", why, self._check_choices, default=_USUAL_SIZE)
            return
        self._values["parameters"] = None
        if kind == "run":
            self._ask_head()
        else:
            self._ask_source(kind)
        # After the model: data that does not fit it is refused here, where other data can be given.
        self._ask_data(self._check_data_of_model)

    def _ask_data(self, check: Check) -> None:
        why = "The folder that `tequio data build` wrote: its texts are what the model learns from."
        self._ask("data", "Data", why, check, default=Path("data"))

    def _ask_head(self) -> None:
        why = "Address of the ledger that has the run."
        self._ask("ledger", "Ledger", why, default=self._known_ledger())
        why = "The run to continue: its name, or the beginning of its id (tequio run list)."
        self._ask("from_run", "Run", why, self._check_run)
        why = "The round that made the head to start from; 0 is the first head."
        self._ask("head_round", "Round", why, self._check_model)

    def _ask_source(self, kind: str) -> None:
        rank = self._values["lora_rank"] or _USUAL_RANK
        self._values["lora_rank"] = rank if kind == "adapters" else 0
        why = "A folder with the model, or its repository on the Hugging Face Hub."
        self._ask("source", "Model", why, self._check_model)
        if kind == "adapters":
            why = "A higher rank can learn more, and sends more bytes in each round."
            self._ask("lora_rank", "Rank", why, self._check_rank)

    def _ask_volunteers(self) -> None:
        why = "How many computers are expected to train at the same time."
        self._ask("peers", "Volunteers", why)
        why = "Memory of the smallest graphics card that should be able to train."
        self._ask("vram_gib", "Card memory, GiB", why)
        why = "Upload speed of the slowest connection: each round sends every contribution to all."
        self._ask("upload_mbit", "Upload, Mbit/s", why)
        self._ask_days()
        why = (
            "Who may take part. anybody; vouched: keys that a connector vouches for; invited: "
            "only with an invitation of organisers (tequio run invite)."
        )
        self._ask("admit", "Admit", why)

    def _ask_days(self) -> None:
        given, self._values["days"] = self._values["days"], 0
        try:
            outline = self._outline()
        except UserFacingError as err:  # too few tokens for these volunteers
            self._print(f"\n{err}")
            self._values["tokens"] = None
            outline = self._outline()
        found, rounds = self._estimate(outline), outline.manifest.rounds.most
        usual = _two_digits(rounds * found.round_s / _DAY_S)
        tokens = self._values["tokens"]
        of = "the fewest of a run" if rounds == planning.LEAST_ROUNDS else "usual for this model"
        ready = min(usual, _LONG_DAYS)
        self._values |= {"days": given or ready, "tokens": None}
        why = (
            f"How long the run may take. {found.round_tokens * rounds:,} tokens, "
            f"{'about as given' if tokens else of}, take these volunteers {usual:g} days."
        )
        self._ask("days", "Days", why, self._outline)
        if self._values["days"] == usual:
            self._values |= {"days": 0, "tokens": tokens}

    def _ask(
        self,
        name: str,
        text: str,
        why: str,
        check: Check = lambda: None,
        default: object = None,
    ) -> None:
        """Ask for an option until its type and `check`, which may use it, accept the answer."""
        type_, known = self._types[name], self._values[name]

        def convert(answer: object) -> object:
            self._values[name] = type_.convert(answer, None, self._context)
            try:
                check()
            except UserFacingError as err:
                raise click.UsageError(str(err)) from err
            return self._values[name]

        self._print(f"\n{why}")
        ready = default if known is None else known
        click.prompt(text, default=ready, type=type_, value_proc=convert)

    def _check_data(self) -> None:
        corpus = read_corpus(self._values["data"])
        tokens = corpus.samples * corpus.sequence
        self._print(
            f"{tokens:,} tokens of {corpus.source}, in samples of {corpus.sequence:,}; a "
            f"vocabulary of {corpus.tokenizer.vocab_size:,}."
        )

    def _check_run(self) -> None:
        parent = self._options().parent
        self._values["head_round"] = parent.round if parent else 0

    def _check_data_of_model(self) -> None:
        self._check_data()
        self._check_choices()

    def _check_model(self) -> None:
        planning.find_model(self._plan, self._options())

    def _check_choices(self) -> None:
        planning.outline_choices(self._plan, self._options())

    def _check_rank(self) -> None:
        if not self._values["lora_rank"]:
            raise UserFacingError("a rank of 0 makes no adapters: give 1 or more; 16 is usual")

    def _known_ledger(self) -> str | None:
        try:
            return cli.resolve_ledger(self._context, None, None)
        except click.UsageError:  # no network was chosen
            return None

    def _kind(self) -> str:
        if self._values["from_run"] is not None:
            return "run"
        if self._values["source"] is None:
            return "new"
        return "adapters" if self._values["lora_rank"] else "continue"

    def _outline(self) -> RunOutline:
        return planning.outline_new_plan(self._plan, self._options())

    def _estimate(self, outline: RunOutline) -> estimate.Estimate:
        return estimate.estimate_run(outline, self._options().expect)

    def _options(self) -> NewPlanOptions:
        return self._to_options(self._context, self._values)

    @property
    def _plan(self) -> Path:
        return Path(self._values["plan"])

    def _print(self, text: str) -> None:
        self._console.print(text, markup=False)


def _two_digits(value: float) -> float:
    """Round up to two significant digits."""
    unit = 10.0 ** (math.floor(math.log10(value)) - 1)
    return float(f"{math.ceil(value / unit) * unit:.2g}")
