"""Faults in what a scheduler keeps: its ledger of blocks and the life of a request.

What a fault is, and how it is read, stands in `faults.py`.
"""

from __future__ import annotations

from schedproof.zoo.faults import BY_PRIORITY, Fault, Kill

LEDGER_FAULTS = (
    Fault(
        "finish-keeps-blocks",
        "ledger",
        "LEDGER-1",
        3,
        (
            '        request.status = "finished"\n'
            "        self.free_kv_blocks += request.required_blocks\n"
        ),
        '        request.status = "finished"\n',
        report="sgl-project/sglang#4977",
        measured=True,
    ),
    Fault(
        "preempt-keeps-blocks",
        "ledger",
        "LEDGER-2",
        4,
        (
            "        victim.preemptions += 1\n"
            "        self.free_kv_blocks += victim.required_blocks\n"
        ),
        "        victim.preemptions += 1\n",
        policies=BY_PRIORITY,
        report="NVIDIA/TensorRT-LLM#14723",
    ),
    Fault(
        "second-preemption-leaks",
        "ledger",
        "LEDGER-2",
        8,
        (
            "        victim.preemptions += 1\n"
            "        self.free_kv_blocks += victim.required_blocks\n"
        ),
        (
            "        victim.preemptions += 1\n"
            "        if victim.preemptions != 2:\n"
            "            self.free_kv_blocks += victim.required_blocks\n"
        ),
        policies=BY_PRIORITY,
        report="vllm-project/vllm#10013",
        passes_chapter=True,
        measured=True,
    ),
    Fault(
        "preempt-returns-challengers-blocks",
        "ledger",
        "LEDGER-1",
        4,
        "            self._preempt(victim)\n",
        (
            "            self._preempt(victim)\n"
            "            self.free_kv_blocks += chosen.required_blocks - victim.required_blocks\n"
        ),
        policies=BY_PRIORITY,
        passes_chapter=True,
    ),
    Fault(
        "blocks-taken-at-enqueue",
        "ledger",
        "LEDGER-1",
        1,
        "        self.queue.append(request)\n",
        ("        self.queue.append(request)\n        self.free_kv_blocks -= required_blocks\n"),
    ),
    Fault(
        "finish-frees-twice",
        "ledger",
        "LEDGER-2",
        6,
        (
            '        request.status = "finished"\n'
            "        self.free_kv_blocks += request.required_blocks\n"
        ),
        (
            '        request.status = "finished"\n'
            "        self.free_kv_blocks += request.required_blocks * (1 + request.preemptions)\n"
        ),
        policies=BY_PRIORITY,
        otherwise={"deadline": Kill("LEDGER-2", 7)},
        report="sgl-project/sglang#12224",
        passes_chapter=True,
    ),
    Fault(
        "admit-beyond-the-pool",
        "ledger",
        "LEDGER-2",
        2,
        "request.required_blocks <= self.free_kv_blocks:",
        "request.required_blocks <= self.free_kv_blocks + 1:",
        report="vllm-project/vllm#45856",
    ),
    Fault(
        "victim-stays-running",
        "lifecycle",
        "LEDGER-3",
        4,
        '        victim.admitted = False\n        victim.status = "preempted"\n',
        "        victim.admitted = False\n",
        policies=BY_PRIORITY,
        report="vllm-project/vllm#23347",
    ),
    Fault(
        "victim-starts-over-as-waiting",
        "lifecycle",
        "LIFE-1",
        4,
        '        victim.status = "preempted"\n',
        '        victim.status = "waiting"\n',
        policies=BY_PRIORITY,
        report="sgl-project/sglang#37260",
    ),
    Fault(
        "finished-stays-admitted",
        "lifecycle",
        "LEDGER-3",
        3,
        '        request.admitted = False\n        request.status = "finished"\n',
        '        request.status = "finished"\n',
        report="sgl-project/sglang#20272",
        passes_chapter=True,
    ),
    Fault(
        "victim-leaves-the-queue",
        "lifecycle",
        "LIFE-4",
        4,
        "        victim.preemptions += 1\n",
        "        victim.preemptions += 1\n        self.queue.remove(victim)\n",
        policies=BY_PRIORITY,
        report="PaddlePaddle/FastDeploy#3292",
    ),
    Fault(
        "late-request-is-ended",
        "lifecycle",
        "LIFE-3",
        7,
        "        if chosen.done:\n            self._finish(chosen)\n",
        (
            "        late = (chosen.deadline_step or NO_DEADLINE) <= self.clock + 1\n"
            "        if chosen.done or late:\n"
            "            self._finish(chosen)\n"
        ),
        policies=("fixed_priority", "aging", "fcfs"),
        otherwise={"fcfs": Kill("LIFE-3", 6)},
        passes_chapter=True,
    ),
    Fault(
        "one-token-too-many",
        "lifecycle",
        "LIFE-3",
        3,
        "return self.generated_len >= self.max_new_tokens",
        "return self.generated_len > self.max_new_tokens",
        report="vllm-project/vllm#49860",
    ),
    Fault(
        "empty-step-raises",
        "lifecycle",
        "raised",
        1,
        "        if chosen is None:\n            return None\n",
        '        assert chosen is not None, "nothing was scheduled"\n',
        report="GeeeekExplorer/nano-vllm#274",
    ),
)
