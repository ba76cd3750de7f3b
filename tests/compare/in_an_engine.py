"""Our policies inside a real engine: continuous batching in transformers, on a CPU.

    python -m venv FOLDER && FOLDER/bin/pip install '.[transformers]'
    FOLDER/bin/python tests/compare/in_an_engine.py

Rules.
1. The engine is the library's own, with a random Llama of one layer. A policy is a class under a
   name of its own in the library's table; it says in which order waiting requests come in. Whom
   the engine puts back when the cache is short stays the engine's choice.
2. Under every policy and memory size each request must get the tokens that it gets alone, or the
   command fails. A scheduler may change when, never what.
3. Times are wall-clock times of this machine and this tiny model: TTFT from handing in to the
   first token seen, TPOT the mean gap after it. They say that the policies run, and nothing about
   a service.
4. The reference run has an attention mask: without one, a prompt that holds the pad id is cut.
"""

# ruff: noqa: T201

from __future__ import annotations

import importlib
import random
import sys
import time
from typing import Any


def needed(name: str) -> Any:
    """A module of the engine; ends the command and says what to install where there is none."""
    try:
        return importlib.import_module(name)
    except ImportError as error:
        sys.exit(f"{error}. This needs the engine. Type: pip install 'schedproof[transformers]'")


torch: Any = needed("torch")
transformers: Any = needed("transformers")
library: Any = needed("transformers.generation.continuous_batching.scheduler")

REQUESTS, PAGE, MEMORY = 24, 4, (16, 64)
PRIORITY: dict[str, int] = {}


class Fcfs(library.FIFOScheduler):  # type: ignore[misc]
    """First come, first served."""

    def key(self, name: str, place: int) -> Any:
        return place

    def _get_waiting_candidates(self) -> list[Any]:
        self.steps = getattr(self, "steps", 0) + 1
        self.since: dict[str, int] = getattr(self, "since", {})
        names = list(self.waiting_requests_order)
        for name in names:
            self.since.setdefault(name, self.steps)
        order = sorted(range(len(names)), key=lambda i: self.key(names[i], i))
        return [self.waiting_requests[names[i]] for i in order]


class FixedPriority(Fcfs):
    """The larger priority first."""

    def key(self, name: str, place: int) -> Any:
        return -PRIORITY[name], place


class Aging(Fcfs):
    """Four steps of waiting are worth one priority."""

    def key(self, name: str, place: int) -> Any:
        return -(PRIORITY[name] + (self.steps - self.since[name]) // 4), place


POLICIES = {"fcfs": Fcfs, "fixed_priority": FixedPriority, "aging": Aging}


def tiny_model() -> Any:
    torch.manual_seed(0)
    torch.set_num_threads(1)
    config = transformers.LlamaConfig(
        hidden_size=32, intermediate_size=32, num_hidden_layers=1, num_attention_heads=2,
        num_key_value_heads=2, vocab_size=64, max_position_embeddings=128,
    )  # fmt: skip
    return transformers.LlamaForCausalLM(config).eval()


def usual(tokens: int) -> Any:
    return transformers.GenerationConfig(
        do_sample=False, eos_token_id=-1, pad_token_id=63, max_new_tokens=tokens
    )


def alone(model: Any, prompt: list[int], tokens: int) -> list[int]:
    ids = torch.tensor([prompt])
    out = model.generate(ids, attention_mask=torch.ones_like(ids), generation_config=usual(tokens))
    return [int(token) for token in out[0, len(prompt) :]]


def together(model: Any, asked: dict[str, tuple[list[int], int]], policy: str, blocks: int) -> Any:
    """Each request's tokens, and the times at which they were seen."""
    config = transformers.ContinuousBatchingConfig(
        page_size=PAGE, num_blocks=blocks, max_batch_tokens=32, max_requests_per_batch=8,
        scheduler_type=policy, safety_margin=0.0, use_async_batching=False,
    )  # fmt: skip
    manager = model.init_continuous_batching(
        generation_config=usual(8), continuous_batching_config=config
    )
    begun: dict[str, float] = {}
    seen: dict[str, list[float]] = {name: [] for name in asked}
    outputs: dict[str, list[int]] = {}
    manager.start()
    try:
        for name, (prompt, tokens) in asked.items():
            begun[name] = time.perf_counter()
            manager.add_request(prompt, request_id=name, max_new_tokens=tokens, streaming=True)
        until = time.monotonic() + 120
        while len(outputs) < len(asked) and time.monotonic() < until:
            result = manager.get_result(timeout=1)
            if result is None:
                continue
            now = time.perf_counter() - begun[result.request_id]
            times = seen[result.request_id]
            times.extend([now] * (len(result.generated_tokens) - len(times)))
            if result.is_finished():
                outputs[result.request_id] = list(result.generated_tokens)
    finally:
        manager.stop(block=True)
    return outputs, seen


def mean(values: list[float]) -> float:
    return 1000 * sum(values) / len(values)


def main() -> int:
    transformers.logging.set_verbosity_error()
    library.SCHEDULER_MAPPING.update({f"our_{name}": kind for name, kind in POLICIES.items()})
    model, draw = tiny_model(), random.Random(0)
    asked: dict[str, tuple[list[int], int]] = {}
    for number in range(REQUESTS):
        prompt = [draw.randrange(64) for _ in range(draw.randint(1, 24))]
        asked[str(number)] = prompt, draw.randint(2, 12)
        PRIORITY[str(number)] = draw.randrange(4)
    expected = {name: alone(model, *each) for name, each in asked.items()}
    print("policy          blocks  equal  TTFT mean, all / priority 3   TPOT mean")
    failed = False
    for policy in POLICIES:
        for blocks in MEMORY:
            outputs, seen = together(model, asked, f"our_{policy}", blocks)
            equal = sum(outputs.get(name) == tokens for name, tokens in expected.items())
            failed |= equal < len(asked)
            urgent = [times[0] for name, times in seen.items() if times and PRIORITY[name] == 3]
            gaps = [(t[-1] - t[0]) / (len(t) - 1) for t in seen.values() if len(t) > 1]
            first = mean([times[0] for times in seen.values() if times])
            print(
                f"{policy:14}  {blocks:6}  {equal}/{len(asked)}  "
                f"{first:9.1f} / {mean(urgent):.1f} ms         {mean(gaps):8.2f} ms",
                flush=True,
            )
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())
