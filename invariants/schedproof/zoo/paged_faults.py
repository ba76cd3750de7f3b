"""Faults in a paged scheduler: steps in flight, admission and growth, prefills in parts.

Each is one change to `schedmodel/paged.py`, and most were reported of a real engine. Those in its
pool stand in `cache_faults.py`. What a fault is, and how it is read, stands in `faults.py`.
"""

from __future__ import annotations

from schedmodel.batch import BATCH_POLICIES
from schedproof.zoo.cache_faults import CACHE_FAULTS, TIGHT
from schedproof.zoo.faults import PAGED, Fault

RANKED, FIRST_COME = ("fixed_priority",), ("fcfs",)


def _paged(
    name: str,
    family: str,
    claim: str,
    length: int,
    old: str,
    new: str,
    policies: tuple[str, ...] = BATCH_POLICIES,
    *,
    report: str = "",
    scope: str = "",
) -> Fault:
    what = (name, family, claim, length, old, new, policies)
    return Fault(*what, report=report, level=PAGED, scope=scope)


_OF_THE_SCHEDULER = (
    # What becomes of a step that is in flight.
    _paged(
        "result-booked-after-preemption",
        "flight",
        "STALL-2",
        7,
        "        same_life = self.life == self.request.preemptions\n",
        "        same_life = True\n",
        report="vllm-project/vllm#48245",
    ),
    _paged(
        "result-booked-by-id",
        "flight",
        "FLIGHT-1",
        6,
        (
            "            if grant.void:\n"
            "                continue\n"
            "            request = grant.request\n"
        ),
        (
            "            request = self.requests[grant.request.request_id]\n"
            "            if request.state not in HOLDING or request.preemptions != grant.life:\n"
            "                continue\n"
        ),
        report="vllm-project/vllm#42492",
    ),
    _paged(
        "lives-that-are-not-told-apart",
        "flight",
        "FLIGHT-1",
        11,
        "        life, table = request.preemptions, tuple(request.block_ids)\n",
        "        life, table = 0, tuple(request.block_ids)\n",
        scope=TIGHT,
    ),
    _paged(
        "tokens-in-flight-outlive-a-preemption",
        "flight",
        "COUNT-1",
        6,
        "        victim.expected = 0\n",
        "",
        report="vllm-project/vllm#38624",
    ),
    _paged(
        "victim-in-flight-keeps-its-blocks",
        "flight",
        "VICTIM-7",
        6,
        "        fire(victim, Trigger.PREEMPT, self.pool)\n",
        (
            "        if victim.expected:  # its step still writes into them\n"
            "            victim._state = State.PREEMPTED\n"
            "            victim.preemptions += 1\n"
            "        else:\n"
            "            fire(victim, Trigger.PREEMPT, self.pool)\n"
        ),
        report="vllm-project/vllm#49674",
    ),
    _paged(
        "empty-step-goes-in-flight",
        "flight",
        "FLIGHT-1",
        7,
        ("        if step.grants:\n            self.in_flight.append(step)\n"),
        "        self.in_flight.append(step)\n",
    ),
    _paged(
        "abort-in-flight-is-forgotten",
        "flight",
        "ABORT-1",
        3,
        (
            "        if request is None or request.state is State.FINISHED:\n"
            "            return False\n"
            "        queue"
        ),
        (
            "        if request is None or request.state is State.FINISHED or request.expected:\n"
            "            return False\n"
            "        queue"
        ),
        report="ggml-org/llama.cpp#11414",
    ),
    _paged(
        "abort-in-flight-stays-in-the-queue",
        "flight",
        "LIFE-4",
        3,
        "        queue.remove(request)\n",
        (
            "        if not request.expected:  # the result will remove it\n"
            "            queue.remove(request)\n"
        ),
        report="vllm-project/vllm#42157",
    ),
    _paged(
        "goes-on-past-the-last-token",
        "flight",
        "BATCH-1",
        3,
        "        if self.generated_len + self.expected >= self.max_new_tokens:\n",
        "        if self.generated_len >= self.max_new_tokens:\n",
        report="vllm-project/vllm#49860",
    ),
    _paged(
        "table-as-of-the-last-delivery",
        "flight",
        "KV-1",
        7,
        "        life, table = request.preemptions, tuple(request.block_ids)\n",
        (
            "        held = self.pool.blocks_for(len(request.token_ids))\n"
            "        life, table = request.preemptions, tuple(request.block_ids[:held])\n"
        ),
    ),
    # Who is let in, who gives way, and in what parts a prefill is computed.
    _paged(
        "lets-in-while-somebody-gives-way",
        "room",
        "VICTIM-7",
        6,
        ("        if not step.preempted:\n            self._admit_waiting(step)\n"),
        "        self._admit_waiting(step)\n",
        report="huggingface/transformers#43150",
    ),
    _paged(
        "growth-waits-while-others-hold",
        "room",
        "STALL-1",
        7,
        (
            "            victim = self.running[-1]\n"
            "            self._preempt(victim, step)\n"
            "            if victim is request:\n"
            "                return False\n"
        ),
        "            return False  # somebody will end\n",
        report="vllm-project/vllm#45387",
        scope=TIGHT,
    ),
    _paged(
        "everybody-gives-way-at-once",
        "room",
        "STALL-1",
        7,
        (
            "            victim = self.running[-1]\n"
            "            self._preempt(victim, step)\n"
            "            if victim is request:\n"
            "                return False\n"
        ),
        (
            "            for victim in list(self.running):  # all at once: that is simpler\n"
            "                self._preempt(victim, step)\n"
            "            return False\n"
        ),
        report="vllm-project/vllm#49674",
        scope=TIGHT,
    ),
    _paged(
        "strongest-gives-way",
        "room",
        "FAIR-1",
        7,
        "            victim = self.running[-1]\n",
        "            victim = self.running[0]\n",
        scope=TIGHT,
    ),
    _paged(
        "preemption-drops-emitted-tokens",
        "room",
        "PROGRESS-2",
        6,
        "        victim.expected = 0\n",
        "        victim.expected = 0\n        del victim.token_ids[victim.prompt_len :]\n",
        report="sgl-project/sglang#39645",
    ),
    _paged(
        "preempted-wait-behind-newcomers",
        "room",
        "FAIR-1",
        11,
        "        self._queue(victim)\n",
        "        self.waiting.append(victim)\n",
        FIRST_COME,
        report="vllm-project/vllm#5578",
        scope=TIGHT,
    ),
    _paged(
        "grant-computed-before-the-hit",
        "parts",
        "BATCH-1",
        7,
        "            self._grant(request, min(request.to_compute, self._left(step)), step)\n",
        "            self._grant(request, min(len(request.token_ids), self._left(step)), step)\n",
        report="GeeeekExplorer/nano-vllm#211",
        scope=TIGHT,
    ),
    _paged(
        "part-of-a-prefill-emits",
        "parts",
        "COUNT-1",
        3,
        "        emits = count == request.to_compute\n",
        "        emits = True\n",
    ),
    _paged(
        "token-taken-by-its-place-in-the-step",
        "flight",
        "OUTPUT-1",
        4,
        "            elif self._emit(request, tokens[request.request_id]):\n",
        "            elif self._emit(request, tokens[step.grants[0].request.request_id]):\n",
        report="NVIDIA/TensorRT-LLM#13592",
    ),
    _paged(
        "running-in-the-order-of-admission",
        "room",
        "FAIR-1",
        6,
        "            insort(self.running, request, key=self._order)\n",
        "            self.running.append(request)\n",
        RANKED,
    ),
    _paged(
        "budget-of-tokens-for-each",
        "parts",
        "BATCH-1",
        3,
        "        return self.max_num_batched_tokens - step.tokens\n",
        "        return self.max_num_batched_tokens\n",
    ),
    _paged(
        "resumes-in-decode",
        "parts",
        "STALL-2",
        8,
        '        victim._phase = "prefill"\n',
        "",
        report="vllm-project/vllm#37746",
    ),
    _paged(
        "last-token-needs-a-slot",
        "parts",
        "REJECT-1",
        1,
        "        longest = request.prompt_len + request.max_new_tokens - 1\n",
        "        longest = request.prompt_len + request.max_new_tokens\n",
    ),
)

PAGED_FAULTS = (*_OF_THE_SCHEDULER, *CACHE_FAULTS)
"""All of them, by family."""
