"""A request while it is served."""

from enum import Enum, auto
from itertools import count

from tiny.sampling_params import SamplingParams  # type: ignore[import-not-found]


class Status(Enum):
    """Where it is."""

    WAITING = auto()
    RUNNING = auto()
    FINISHED = auto()


class Sequence:
    """Tokens, and the blocks that they lie in."""

    block_size = 256
    counter = count()

    def __init__(self, token_ids: list[int], params: SamplingParams) -> None:
        self.seq_id = next(Sequence.counter)
        self.status = Status.WAITING
        self.token_ids = token_ids
        self.num_prompt_tokens = len(token_ids)
        self.num_cached_tokens = 0
        self.max_tokens = params.max_tokens
        self.block_table: list[int] = []

    def __len__(self) -> int:
        return len(self.token_ids)
