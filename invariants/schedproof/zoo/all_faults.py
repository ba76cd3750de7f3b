"""Every fault of the zoo: those of the chapter's shape, of batches, and of the paged one.

The order is that of the families, and it is the order in which they are listed and hunted.
"""

from __future__ import annotations

from schedproof.zoo.batch_faults import BATCH_FAULTS
from schedproof.zoo.chapter_faults import CHAPTER_FAULTS
from schedproof.zoo.faults import Fault
from schedproof.zoo.paged_faults import PAGED_FAULTS

ALL_FAULTS: tuple[Fault, ...] = (*CHAPTER_FAULTS, *BATCH_FAULTS, *PAGED_FAULTS)
BY_NAME = {fault.name: fault for fault in ALL_FAULTS}
