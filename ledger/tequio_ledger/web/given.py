"""What handlers are given beside the request.

The framework passes these through as they are; it must not take them for data to convert.
"""

from litestar.di import NamedDependency
from litestar.params import SkipValidation

from tequio_ledger.service import Ledger

GivenLedger = NamedDependency[SkipValidation[Ledger]]
