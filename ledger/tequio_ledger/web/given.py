"""What handlers are given beside the request.

The framework passes these through as they are; it must not take them for data to convert.
"""

from typing import Annotated

from litestar.params import Dependency

from tequio_ledger.service import Ledger

GivenLedger = Annotated[Ledger, Dependency(skip_validation=True)]
