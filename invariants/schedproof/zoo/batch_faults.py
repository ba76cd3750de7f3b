"""Faults in a scheduler of batches: blocks by number, growth, queues, limits, and aborts.

Each is one change to `schedmodel/batch.py`, and most were reported of a real engine. What a
fault is, and how it is read, stands in `faults.py`.
"""

from __future__ import annotations

from schedmodel.batch import BATCH_POLICIES
from schedproof.zoo.faults import BATCH, Fault

RANKED, FIRST_COME = ("fixed_priority",), ("fcfs",)

BATCH_FAULTS = (
    # Whose each block is.
    Fault(
        "last-block-freed-early",
        "blocks",
        "LEDGER-4",
        4,
        "                self.running.remove(request)\n",
        (
            "                self.running.remove(request)\n"
            "                insort(self.pool.free_ids, request.block_ids[-1])\n"
        ),
        BATCH_POLICIES,
        report="sgl-project/sglang#12224",
        level=BATCH,
    ),
    Fault(
        "half-full-block-never-returned",
        "blocks",
        "ABORT-1",
        3,
        "        for block_id in request.block_ids:\n",
        (
            "        full = request.computed_len // self.block_size\n"
            "        for block_id in request.block_ids[:full]:\n"
        ),
        BATCH_POLICIES,
        report="sgl-project/sglang#4977",
        level=BATCH,
    ),
    Fault(
        "block-taken-one-token-late",
        "blocks",
        "LEDGER-4",
        4,
        "        if request.computed_len < len(request.block_ids) * self.pool.block_size:\n",
        "        if request.computed_len <= len(request.block_ids) * self.pool.block_size:\n",
        BATCH_POLICIES,
        level=BATCH,
    ),
    Fault(
        "admission-rounds-down",
        "blocks",
        "VICTIM-7",
        5,
        "        return self.pool.blocks_for(request.total_len + 1) + growing",
        "        return request.total_len // self.pool.block_size + growing",
        BATCH_POLICIES,
        report="vllm-project/vllm#45856",
        level=BATCH,
    ),
    # Who gives way so that another can grow, and what becomes of it.
    Fault(
        "granted-victim-stays-in-the-batch",
        "growth",
        "VICTIM-7",
        6,
        "        batch.grants.pop(victim.request_id, None)\n",
        "",
        RANKED,
        report="vllm-project/vllm#23713",
        level=BATCH,
    ),
    Fault(
        "victim-keeps-its-blocks",
        "growth",
        "VICTIM-7",
        5,
        "        fire(victim, Trigger.PREEMPT, self.pool)\n",
        "        victim._state = State.PREEMPTED\n        victim.preemptions += 1\n",
        BATCH_POLICIES,
        report="NVIDIA/TensorRT-LLM#14723",
        level=BATCH,
    ),
    Fault(
        "growth-waits-for-a-block",
        "growth",
        "STALL-1",
        5,
        (
            "            victim = max(self.running, key=self._order)\n"
            "            self._preempt(victim, batch)\n"
            "            if victim is request:\n"
            "                return False\n"
        ),
        "            return False  # somebody will end\n",
        BATCH_POLICIES,
        report="deepspeedai/DeepSpeed-MII#274",
        level=BATCH,
    ),
    Fault(
        "first-of-equals-gives-way",
        "growth",
        "FAIR-1",
        5,
        "            victim = max(self.running, key=self._order)\n",
        "            victim = min(self.running, key=lambda other: other.priority)\n",
        BATCH_POLICIES,
        level=BATCH,
    ),
    Fault(
        "victim-keeps-its-computed-count",
        "growth",
        "LEDGER-4",
        5,
        "        victim.computed_len = 0\n",
        "",
        BATCH_POLICIES,
        report="sgl-project/sglang#11900",
        level=BATCH,
    ),
    Fault(
        "preemption-drops-the-output",
        "growth",
        "PROGRESS-2",
        5,
        "        victim.computed_len = 0\n",
        "        victim.computed_len = 0\n        victim.output.clear()\n",
        BATCH_POLICIES,
        report="sgl-project/sglang#39645",
        level=BATCH,
    ),
    Fault(
        "repeated-prefill-covers-the-prompt-only",
        "growth",
        "PROGRESS-4",
        6,
        '            grant = Grant("prefill", request.computed_len, request.total_len)\n',
        '            grant = Grant("prefill", request.computed_len, request.prompt_len)\n',
        BATCH_POLICIES,
        level=BATCH,
    ),
    Fault(
        "no-room-kept-for-the-next-token",
        "growth",
        "PREEMPT-1",
        8,
        (
            "        return self.pool.blocks_for(request.total_len + 1) + growing"
            " <= len(self.pool.free_ids)\n"
        ),
        ("        return self.pool.blocks_for(request.total_len + 1) <= len(self.pool.free_ids)\n"),
        RANKED,
        report="huggingface/transformers#43150",
        level=BATCH,
    ),
    # Queues, and the lists that are walked.
    Fault(
        "running-list-walked-while-it-shrinks",
        "queue",
        "WORK-2",
        7,
        "        for request in list(self.running):  # a copy: who gives way leaves the list\n",
        "        for request in self.running:\n",
        RANKED,
        report="vllm-project/vllm#49097",
        level=BATCH,
    ),
    Fault(
        "stale-copy-of-the-running-list",
        "queue",
        "raised",
        5,
        (
            "            if request not in self.running:\n"
            "                continue\n"
            "            if self._has_next_slot"
        ),
        "            if self._has_next_slot",
        BATCH_POLICIES,
        report="vllm-project/vllm#23347",
        level=BATCH,
    ),
    Fault(
        "preempted-go-to-the-back",
        "queue",
        "FAIR-1",
        7,
        "        self._queue(victim)\n",
        "        self.waiting.append(victim)\n",
        FIRST_COME,
        report="vllm-project/vllm#5578",
        level=BATCH,
    ),
    Fault(
        "preempted-into-no-queue",
        "queue",
        "LIFE-4",
        5,
        "        self._queue(victim)\n",
        "",
        BATCH_POLICIES,
        report="PaddlePaddle/FastDeploy#3292",
        level=BATCH,
    ),
    Fault(
        "one-seat-too-many",
        "queue",
        "BATCH-1",
        4,
        "        while self.waiting and len(self.running) < self.max_num_seqs:\n",
        "        while self.waiting and len(self.running) <= self.max_num_seqs:\n",
        BATCH_POLICIES,
        level=BATCH,
    ),
    # Who is let in, and how one leaves.
    Fault(
        "nobody-is-rejected",
        "door",
        "REJECT-1",
        1,
        "        rejection = self._never_fits(request)\n",
        "        rejection = None\n",
        BATCH_POLICIES,
        report="vllm-project/vllm#35541",
        level=BATCH,
    ),
    Fault(
        "rejection-forgets-the-new-tokens",
        "door",
        "REJECT-1",
        1,
        "        longest = request.prompt_len + request.max_new_tokens\n",
        "        longest = request.prompt_len\n",
        BATCH_POLICIES,
        report="GeeeekExplorer/nano-vllm#274",
        level=BATCH,
    ),
    Fault(
        "rejection-forgets-the-repeated-prefill",
        "door",
        "REJECT-1",
        1,
        "        prefill = longest - 1  # so long may one become that is repeated\n",
        "        prefill = request.prompt_len\n",
        BATCH_POLICIES,
        level=BATCH,
    ),
    Fault(
        "exact-fit-is-rejected",
        "door",
        "REJECT-1",
        1,
        "        if prefill > self.max_num_batched_tokens:\n",
        "        if prefill >= self.max_num_batched_tokens:\n",
        BATCH_POLICIES,
        report="RBLN-SW/vllm-rbln#179",
        level=BATCH,
    ),
    Fault(
        "victim-judged-as-a-newcomer",
        "door",
        "REJECT-1",
        5,
        "        self._queue(victim)\n",
        (
            "        longest = victim.total_len + victim.max_new_tokens\n"
            "        if longest - 1 > self.max_num_batched_tokens:\n"
            '            victim._state, victim.finish_reason = State.FINISHED, "rejected"\n'
            "        else:\n"
            "            self._queue(victim)\n"
        ),
        BATCH_POLICIES,
        report="sgl-project/sglang#37260",
        level=BATCH,
    ),
    Fault(
        "id-looked-for-among-the-waiting",
        "door",
        "INPUT-2",
        2,
        "        if request_id in self.requests:\n",
        "        if request_id in [request.request_id for request in self.waiting]:\n",
        BATCH_POLICIES,
        report="vllm-project/vllm#15041",
        level=BATCH,
    ),
    Fault(
        "abort-of-a-running-one-is-ignored",
        "door",
        "ABORT-1",
        3,
        "        queue = self.running if request.state in HOLDING else self.waiting\n",
        (
            "        if request.state in HOLDING:\n"
            "            return True\n"
            "        queue = self.waiting\n"
        ),
        BATCH_POLICIES,
        report="ggml-org/llama.cpp#11414",
        level=BATCH,
    ),
    Fault(
        "abort-forgets-the-blocks",
        "door",
        "ABORT-1",
        3,
        "        fire(request, Trigger.ABORT, self.pool)\n",
        '        request._state, request.finish_reason = State.FINISHED, "aborted"\n',
        BATCH_POLICIES,
        report="openvinotoolkit/model_server#4428",
        level=BATCH,
    ),
    Fault(
        "abort-frees-twice",
        "door",
        "ABORT-1",
        3,
        "        fire(request, Trigger.ABORT, self.pool)\n",
        (
            "        for block_id in request.block_ids:\n"
            "            insort(self.pool.free_ids, block_id)\n"
            "        fire(request, Trigger.ABORT, self.pool)\n"
        ),
        BATCH_POLICIES,
        report="vllm-project/vllm#1556",
        level=BATCH,
    ),
    Fault(
        "abort-clears-only-the-table",
        "door",
        "LIFE-4",
        2,
        "        queue.remove(request)\n",
        "        del self.requests[request_id]\n",
        BATCH_POLICIES,
        report="vllm-project/vllm#42157",
        level=BATCH,
    ),
)
"""All of them, by family."""
