"""The adapter for nano-vllm and the many schedulers that descend from it.

Rules.
1. It needs the package's `engine.scheduler`, `engine.sequence` and `sampling_params`, and
   nothing else of it: no model, no tensors.
2. What a fork does otherwise is read off its own signatures: whether a prompt may be computed
   in parts, what `postprocess` and `schedule` hand over. What cannot be read off is said in a
   subclass of a few lines: other module names, further settings, another way to add.
"""

from __future__ import annotations

import inspect
from collections.abc import Mapping, Sequence
from itertools import count
from types import SimpleNamespace
from typing import Any, ClassVar

from schedproof.engines.adapter import (
    FINISHED,
    RUNNING,
    WAITING,
    EngineAdapter,
    Pool,
    Request,
    Seen,
    Setup,
    Work,
)
from schedproof.engines.finding import folder_of, names_of
from schedproof.subjects.load_errors import TargetError


class NanoVllm(EngineAdapter):
    """nano-vllm. `package` is its dotted name or its folder; `settings` go into its config."""

    name = "nano-vllm"
    keeps_order = True
    package: str = "nanovllm"
    scheduler: ClassVar[str] = "engine.scheduler:Scheduler"
    sequence: ClassVar[str] = "engine.sequence:Sequence"
    params: ClassVar[str] = "sampling_params:SamplingParams"
    config: ClassVar[str] = "config:Config"
    settings: ClassVar[Mapping[str, Any]] = {}

    def __init__(self, package: str = "") -> None:
        self.package = package or self.package

    def load(self) -> None:
        """Import the modules with the scheduler in them."""
        folder = folder_of(self.package)
        wanted = (self.scheduler, self.sequence, self.params, self.config)
        self._scheduler, self._sequence, self._params, config = names_of(folder, *wanted)
        fields: Mapping[str, Any] = getattr(config, "__dataclass_fields__", {})
        usual: dict[str, Any] = {n: vars(config)[n] for n in fields if n in vars(config)}
        self._usual = usual
        self._makes_params = inspect.signature(self._params).parameters
        self._takes_block_size = "block_size" in inspect.signature(self._sequence).parameters
        self._block_size = 1
        self._takes_phase = self._looks_at_postprocess()
        probe = self.made(Request(0, (0,), 1))
        self.in_parts = hasattr(probe, "num_scheduled_tokens")
        self.chunked_prefill = self.chunked_prefill or self.in_parts

    def _looks_at_postprocess(self) -> bool:
        """Whether it wants the phase, too; raises `TargetError` where it wants something else."""
        takes = list(inspect.signature(self._scheduler.postprocess).parameters)[3:]
        fits = not takes or (len(takes) == 1 and "prefill" in takes[0])
        if not fits and type(self).deliver is NanoVllm.deliver:
            values = {"package": self.package, "takes": ", ".join(takes)}
            raise TargetError("target.not_nano_vllm", **values)
        return bool(takes)

    def id_of(self, sequence: Any) -> int:
        """The id of the request that a sequence stands for."""
        return self._ids[id(sequence)]

    def params_of(self, request: Request) -> Any:
        """The request's sampling parameters."""
        wanted = {"max_tokens": request.max_new_tokens, "ignore_eos": True, "temperature": 1.0}
        return self._params(**{n: v for n, v in wanted.items() if n in self._makes_params})

    def start(self, setup: Setup) -> None:
        """A scheduler of this size."""
        self._sequence.block_size = self._block_size = setup.block_size
        self._sequence.counter = count()
        limits = {
            "max_num_seqs": setup.max_num_seqs,
            "max_num_batched_tokens": setup.max_num_batched_tokens,
            "num_kvcache_blocks": setup.blocks,
            "kvcache_block_size": setup.block_size,
            "eos": -1,
        }
        self.engine: Any = self.make({**self._usual, **limits, **self.settings})
        self.blocks = self.engine.block_manager
        self.sequences: dict[int, Any] = {}
        self._ids: dict[int, int] = {}
        self._prompts: dict[int, int] = {}
        self._batch: Any = ()

    def make(self, settings: dict[str, Any]) -> Any:
        """The scheduler itself."""
        return self._scheduler(SimpleNamespace(**settings))

    def made(self, request: Request) -> Any:
        """The engine's own object for a request."""
        more = {"block_size": self._block_size} if self._takes_block_size else {}
        return self._sequence(list(request.token_ids), self.params_of(request), **more)

    def add(self, request: Request) -> None:
        """Hand a sequence over."""
        sequence = self.made(request)
        self.sequences[request.request_id] = sequence
        self._prompts[request.request_id] = len(request.token_ids)
        self._ids[id(sequence)] = request.request_id
        self.engine.add(sequence)

    def schedule(self) -> Sequence[Work]:
        """One decision: which tokens of which sequences."""
        answer = self.engine.schedule()
        self._batch = answer if isinstance(answer, tuple) else (answer, None)
        ids, span = self._ids, self.span
        return [Work(ids[id(s)], *span(s), s.block_table) for s in self._batch[0]]

    def span(self, sequence: Any) -> tuple[int, int]:
        """Which tokens the model runner computes: from, and up to but not including."""
        if self.in_parts:
            start = sequence.num_cached_tokens
            if start >= len(sequence) and sequence.num_scheduled_tokens:
                start = len(sequence) - 1
            return start, start + sequence.num_scheduled_tokens
        end = len(sequence)
        return (end - 1 if not self._batch[1] else sequence.num_cached_tokens), end

    def deliver(self, tokens: Mapping[int, int]) -> None:
        """Hand the tokens over, in the order of the batch."""
        sequences, phase = self._batch[:2]
        given = [tokens[self._ids[id(s)]] for s in sequences]
        self.engine.postprocess(sequences, given, *((phase,) if self._takes_phase else ()))

    def requests(self) -> Mapping[int, Seen]:
        """All sequences, with those left out that are in no queue and not finished."""
        queued = {id(s): RUNNING for s in self.engine.running}
        queued.update({id(s): WAITING for s in self.waiting()})
        seen: dict[int, Seen] = {}
        for request_id, s in self.sequences.items():
            status = FINISHED if s.status.name == "FINISHED" else queued.get(id(s))
            if status is not None:
                output = s.token_ids[self._prompts[request_id] :]
                counters = (("num_cached_tokens", s.num_cached_tokens),)
                seen[request_id] = Seen(status, s.block_table, output, counters)
        return seen

    def waiting(self) -> Sequence[Any]:
        """Everybody who is not running, in order."""
        waiting: Sequence[Any] = self.engine.waiting
        return waiting

    def pool(self) -> Pool:
        """The block manager's free list and counts, and the two queues."""
        ids = self._ids
        return Pool(
            self.blocks.free_block_ids,
            [ids[id(s)] for s in self.engine.running],
            [ids[id(s)] for s in self.waiting()],
            [block.ref_count for block in self.blocks.blocks],
        )
