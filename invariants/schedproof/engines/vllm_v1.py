"""The adapter for vLLM's V1 scheduler: `vllm:fcfs`, `vllm:priority`.

Rules.
1. The real `Scheduler` and its block pool run; of the configuration it is given only what it asks
   for. Constructors get the keywords that they know, because they differ between releases.
2. The first block is never handed out, so the usable capacity is one less.
3. In vLLM the smaller priority is the stronger one; in a trace the larger is, as everywhere here.
4. What a step computes is read from its output, not from the requests: a request that was evicted
   in the same step may still stand in there, and that is for claims to judge.
"""

from __future__ import annotations

import importlib
import inspect
from collections.abc import Callable, Mapping, Sequence
from hashlib import sha256
from typing import Any

from schedproof.engines.adapter import (
    FINISHED,
    RUNNING,
    WAITING,
    EngineAdapter,
    MissingPackage,
    Pool,
    Request,
    Seen,
    Setup,
    Work,
)

HOW = "tests/engines/vllm.sh FOLDER"
LENGTH_MAX = 64


class Lenient:
    """A configuration that knows some values; all others are None."""

    def __init__(self, **known: Any) -> None:
        self.__dict__.update(known)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return None


class VllmV1(EngineAdapter):
    """Prompts may be computed in parts, and all that run share the limit of requests."""

    name = "vllm"
    smallest_blocks = 2
    reserved_blocks = 1
    chunked_prefill = True
    seats_per_step = False
    can_abort = True

    def __init__(self, policy: str = "") -> None:
        self._policy = policy or "fcfs"
        self.uses_priority = self._policy == "priority"  # type: ignore[misc]
        self.policy = "fixed_priority" if self.uses_priority else "fcfs"

    def load(self) -> None:
        """Import the scheduler, for a CPU and without any compiled part."""
        try:
            platforms = importlib.import_module("vllm.platforms")
            cpu = importlib.import_module("vllm.platforms.cpu")
            platforms._current_platform = cpu.CpuPlatform()  # type: ignore[attr-defined]
            self._scheduler = _of("vllm.v1.core.sched.scheduler", "Scheduler")
            self._request = _of("vllm.v1.request", "Request")
            self._params = _of("vllm", "SamplingParams")
            self._output = _of("vllm.v1.outputs", "ModelRunnerOutput")
            self._kv = importlib.import_module("vllm.v1.kv_cache_interface")
            self._finished = _of("vllm.v1.request", "RequestStatus").FINISHED_ABORTED
            self._utils = importlib.import_module("vllm.v1.core.kv_cache_utils")
            self._hash: Callable[[Any], Any] = hash_of
            self._utils.init_none_hash(self._hash)
            self._torch = importlib.import_module("torch")
            self._torch.set_num_threads(1)
        except ImportError as error:
            raise MissingPackage(f"vllm ({error})", HOW) from None

    def start(self, setup: Setup) -> None:
        """A scheduler with one group of layers."""
        self.engine: Any = self._made(setup)
        self.blocks = self.engine.kv_cache_manager
        self._hasher = self._utils.get_request_block_hasher(setup.block_size, self._hash)
        self._own: dict[int, Any] = {}
        self._out: Any = None

    def _made(self, setup: Setup) -> Any:
        config = self._config(setup)
        layer = {"block_size": setup.block_size, "num_kv_heads": 1, "head_size": 1}
        layer.update(dtype=self._torch.float32, use_mla=False)
        spec = known(self._kv.FullAttentionSpec, **layer)
        group = self._kv.KVCacheGroupSpec(["layer"], spec)
        cache = known(
            self._kv.KVCacheConfig,
            num_blocks=setup.blocks,
            kv_cache_tensors=[],
            kv_cache_groups=[group],
        )
        return known(
            self._scheduler,
            vllm_config=config,
            kv_cache_config=cache,
            structured_output_manager=Lenient(should_advance=_no, accept_tokens=_yes),
            block_size=setup.block_size,
            hash_block_size=setup.block_size,
            mm_registry=Lenient(supports_multimodal_inputs=_no),
            log_stats=False,
        )

    def _config(self, setup: Setup) -> Lenient:
        limits = {
            "max_num_seqs": setup.max_num_seqs,
            "max_num_batched_tokens": setup.max_num_batched_tokens,
            "max_num_scheduled_tokens": setup.max_num_batched_tokens,
            "max_num_encoder_input_tokens": 0,
            "encoder_cache_size": 0,
            "long_prefill_token_threshold": 0,
        }
        return Lenient(
            scheduler_config=Lenient(
                **limits,
                max_model_len=LENGTH_MAX,
                enable_chunked_prefill=True,
                chunked_prefill_enabled=True,
                policy=self._policy,
                async_scheduling=False,
                scheduler_reserve_full_isl=False,
                prefill_schedule_interval=1,
                watermark=0.0,
            ),
            cache_config=Lenient(
                block_size=setup.block_size,
                num_gpu_blocks=setup.blocks,
                enable_prefix_caching=True,
                prefix_caching_hash_algo="builtin",
            ),
            parallel_config=Lenient(
                decode_context_parallel_size=1,
                prefill_context_parallel_size=1,
                pipeline_parallel_size=1,
                data_parallel_rank=0,
                data_parallel_index=0,
                data_parallel_size=1,
            ),
            model_config=Lenient(
                max_model_len=LENGTH_MAX,
                is_encoder_decoder=False,
                is_multimodal_model=False,
                supports_multimodal_inputs=False,
                runner_type="generate",
                enable_return_routed_experts=False,
            ),
            observability_config=Lenient(),
            ec_manager_config=Lenient(get_encoder_cache_manager_obj=lambda: None),
            aux_output_config=Lenient(enabled=False),
            num_speculative_tokens=0,
            num_lookahead_tokens=0,
            num_prefill_lookahead_tokens=0,
            num_hash_lookahead_tokens=0,
            max_in_flight_tokens=setup.max_num_batched_tokens,
            max_concurrent_batches=1,
        )

    def add(self, request: Request) -> None:
        """Hand a request over, with the stronger priority as the smaller number."""
        params = self._params(max_tokens=request.max_new_tokens, ignore_eos=True)
        made = known(
            self._request,
            request_id=str(request.request_id),
            prompt_token_ids=list(request.token_ids),
            sampling_params=params,
            pooling_params=None,
            eos_token_id=None,
            arrival_time=float(request.request_id),
            priority=-request.priority,
            block_hasher=self._hasher,
        )
        self._own[request.request_id] = made
        self.engine.add_request(made)

    def schedule(self) -> Sequence[Work]:
        """One decision, as its output says it."""
        self._out = out = self.engine.schedule()
        starts = {new.req_id: new.num_computed_tokens for new in out.scheduled_new_reqs}
        cached = out.scheduled_cached_reqs
        starts.update(zip(cached.req_ids, cached.num_computed_tokens, strict=True))
        return [
            Work(
                int(name),
                starts.get(name, 0),
                starts.get(name, 0) + tokens,
                self.blocks.get_block_ids(name)[0],
            )
            for name, tokens in out.num_scheduled_tokens.items()
        ]

    def deliver(self, tokens: Mapping[int, int]) -> None:
        """What a model runner would hand back: no token for a prompt that is not complete."""
        names = list(self._out.num_scheduled_tokens)
        sampled = [
            Sampled([tokens[int(name)]])
            if self._own[int(name)].num_computed_tokens >= self._own[int(name)].num_tokens
            else Sampled()
            for name in names
        ]
        output = known(
            self._output,
            req_ids=names,
            req_id_to_index={name: place for place, name in enumerate(names)},
            sampled_token_ids=sampled,
            logprobs=None,
            prompt_logprobs_dict={},
            pooler_output=[],
        )
        self.engine.update_from_output(self._out, output)

    def requests(self) -> Mapping[int, Seen]:
        """Its table of requests, and those that were finished and left it."""
        running = {request.request_id for request in self.engine.running}
        waiting = {request.request_id for request in self._waiting()}
        seen: dict[int, Seen] = {}
        for number, request in self._own.items():
            name = request.request_id
            if request.is_finished():
                seen[number] = Seen(FINISHED, (), list(request.output_token_ids))
            elif name in self.engine.requests and (name in running or name in waiting):
                blocks = self.blocks.get_block_ids(name)[0]
                output = list(request.output_token_ids)
                counters = (("num_computed_tokens", request.num_computed_tokens),)
                status = RUNNING if name in running else WAITING
                seen[number] = Seen(status, blocks, output, counters)
        return seen

    def _waiting(self) -> list[Any]:
        skipped = getattr(self.engine, "skipped_waiting", None) or ()
        return [*self.engine.waiting, *skipped]

    def pool(self) -> Pool:
        """The block pool's queue of free blocks and its counts."""
        pool = self.blocks.block_pool
        free = [block.block_id for block in pool.free_block_queue.get_all_free_blocks()]
        counts = [0, *(block.ref_cnt for block in pool.blocks[1:])]
        running = [int(request.request_id) for request in self.engine.running]
        return Pool(free, running, [int(r.request_id) for r in self._waiting()], counts)

    def abort(self, request_id: int) -> None:
        """As the engine does when a client is gone."""
        self.engine.finish_requests(str(request_id), self._finished)


def _yes(*_asked: Any, **_named: Any) -> bool:
    return True


def _no(*_asked: Any, **_named: Any) -> bool:
    return False


class Sampled(list[int]):
    """Tokens as some releases want them: an array, which is asked for its list."""

    def tolist(self) -> list[int]:
        """The tokens."""
        return list(self)


def known(make: Any, **values: Any) -> Any:
    """Call with those keywords that the function or class takes."""
    takes = inspect.signature(make).parameters
    return make(**{name: value for name, value in values.items() if name in takes})


def hash_of(value: Any) -> bytes:
    """A hash of anything a block is told by, the same in every process."""
    return sha256(repr(value).encode()).digest()


def _of(module: str, name: str) -> Any:
    return getattr(importlib.import_module(module), name)
