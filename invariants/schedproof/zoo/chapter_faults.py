"""Every fault of the zoo, by family, each one a change to the same plain scheduler.

The order is that of `FAMILIES`, and it is the order in which they are listed and hunted.
"""

from __future__ import annotations

from schedproof.zoo.choice_faults import CHOICE_FAULTS
from schedproof.zoo.faults import Fault
from schedproof.zoo.ledger_faults import LEDGER_FAULTS
from schedproof.zoo.progress_faults import PROGRESS_FAULTS
from schedproof.zoo.report_faults import REPORT_FAULTS

CHAPTER_FAULTS: tuple[Fault, ...] = (
    *LEDGER_FAULTS,
    *PROGRESS_FAULTS,
    *CHOICE_FAULTS,
    *REPORT_FAULTS,
)
BY_NAME = {fault.name: fault for fault in CHAPTER_FAULTS}
