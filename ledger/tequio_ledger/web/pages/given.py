"""What handlers of pages are given beside the ledger."""

from litestar.di import NamedDependency
from litestar.params import SkipValidation

from tequio_ledger.web.pages.told_rounds import ToldRounds

GivenTold = NamedDependency[SkipValidation[ToldRounds]]
