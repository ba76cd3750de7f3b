"""Faults in what a scheduler decides: who is served next, and who gives way.

What a fault is, and how it is read, stands in `faults.py`.
"""

from __future__ import annotations

from schedproof.zoo.faults import BY_PRIORITY, IN_CLASSES, WITHOUT_AGING, Fault, Kill

CHOICE_FAULTS = (
    Fault(
        "challenger-gets-no-step",
        "victim",
        "VICTIM-5",
        4,
        "        if victim is not None:\n            self._preempt(victim)\n",
        (
            "        if victim is not None:\n"
            "            self._preempt(victim)\n"
            "            return None\n"
        ),
        policies=BY_PRIORITY,
    ),
    Fault(
        "protected-victim",
        "victim",
        "VICTIM-2",
        4,
        "            and request.preemptible\n",
        "",
        policies=BY_PRIORITY,
        measured=True,
    ),
    Fault(
        "equal-priority-preempts",
        "victim",
        "VICTIM-3",
        4,
        "self._effective_priority(request) < self._effective_priority(challenger)",
        "self._effective_priority(request) <= self._effective_priority(challenger)",
        policies=BY_PRIORITY,
        passes_chapter=True,
    ),
    Fault(
        "strongest-victim",
        "victim",
        "VICTIM-6",
        6,
        "(self._effective_priority(r), -r.required_blocks, r.request_id)",
        "(-self._effective_priority(r), -r.required_blocks, r.request_id)",
        policies=IN_CLASSES,
        passes_chapter=True,
    ),
    Fault(
        "smallest-victim",
        "victim",
        "VICTIM-6",
        6,
        "(self._effective_priority(r), -r.required_blocks, r.request_id)",
        "(self._effective_priority(r), r.required_blocks, r.request_id)",
        policies=BY_PRIORITY,
        passes_chapter=True,
    ),
    Fault(
        "youngest-victim",
        "victim",
        "VICTIM-6",
        6,
        "(self._effective_priority(r), -r.required_blocks, r.request_id)",
        "(self._effective_priority(r), -r.required_blocks, -r.request_id)",
        policies=IN_CLASSES,
        passes_chapter=True,
    ),
    Fault(
        "aging-forgotten-for-victims",
        "victim",
        "ORDER-1",
        5,
        "self._effective_priority(request) < self._effective_priority(challenger)",
        "request.priority < challenger.priority",
        policies=("aging",),
        passes_chapter=True,
    ),
    Fault(
        "victim-sought-first",
        "victim",
        "VICTIM-4",
        4,
        (
            "            if request.admitted or request.required_blocks <= self.free_kv_blocks:\n"
            "                return request, None\n"
            "            victim = self._find_victim(request)\n"
            "            if victim is not None:\n"
        ),
        (
            "            if request.admitted:\n"
            "                return request, None\n"
            "            victim = self._find_victim(request)\n"
            "            if victim is not None or request.required_blocks <= self.free_kv_blocks:\n"
        ),
        policies=BY_PRIORITY,
        passes_chapter=True,
    ),
    Fault(
        "victim-may-be-waiting",
        "victim",
        "VICTIM-1",
        3,
        "            if request.admitted\n            and",
        "            if not request.done\n            and",
        policies=BY_PRIORITY,
        report="tenstorrent/tt-inference-server#2042",
    ),
    Fault(
        "two-victims",
        "victim",
        "VICTIM-6",
        6,
        "            self._preempt(victim)\n",
        (
            "            self._preempt(victim)\n"
            "            second = self._find_victim(chosen)\n"
            "            if second is not None:\n"
            "                self._preempt(second)\n"
        ),
        policies=BY_PRIORITY,
        report="vllm-project/vllm#49674",
        passes_chapter=True,
    ),
    Fault(
        "decode-before-prefill",
        "order",
        "ORDER-1",
        4,
        '0 if request.phase == "prefill" else 1,\n            0 if',
        '1 if request.phase == "prefill" else 0,\n            0 if',
        policies=BY_PRIORITY,
    ),
    Fault(
        "cache-rank-reversed",
        "order",
        "ORDER-1",
        3,
        "0 if request.cache_hit else 1,",
        "1 if request.cache_hit else 0,",
        policies=BY_PRIORITY,
    ),
    Fault(
        "slack-ignores-progress",
        "order",
        "ORDER-1",
        4,
        "request.deadline_step - self.clock - self._remaining_steps(request)",
        "request.deadline_step - self.clock",
        policies=("deadline",),
        passes_chapter=True,
    ),
    Fault(
        "exact-fit-waits",
        "order",
        "WORK-1",
        2,
        "            if request.admitted or request.required_blocks <= self.free_kv_blocks:",
        "            if request.admitted or request.required_blocks < self.free_kv_blocks:",
        policies=BY_PRIORITY,
        report="RBLN-SW/vllm-rbln#179",
    ),
    Fault(
        "head-of-line-blocks",
        "order",
        "WORK-1",
        3,
        (
            "            if victim is not None:\n"
            "                return request, victim\n"
            "        return None, None"
        ),
        (
            "            return (request, victim) if victim is not None else (None, None)\n"
            "        return None, None"
        ),
        policies=BY_PRIORITY,
        report="vllm-project/vllm#35541",
    ),
    Fault(
        "last-come-first-served",
        "order",
        "ORDER-1",
        3,
        "return (self.queue.index(request),)",
        "return (-self.queue.index(request),)",
        policies=("fcfs",),
        passes_chapter=True,
    ),
    Fault(
        "cache-hits-never-preempt",
        "order",
        "ORDER-1",
        4,
        "        return victims[0] if victims else None",
        "        return victims[0] if victims and not challenger.cache_hit else None",
        policies=BY_PRIORITY,
        report="sgl-project/sglang#14872",
        passes_chapter=True,
    ),
    Fault(
        "preempted-go-last",
        "order",
        "ORDER-1",
        8,
        '0 if request.phase == "prefill" else 1,\n            0 if',
        (
            '0 if request.phase == "prefill" else 2 if request.status == "preempted" else 1,\n'
            "            0 if"
        ),
        policies=BY_PRIORITY,
        otherwise={"aging": Kill("ORDER-1", 7)},
        report="vllm-project/vllm#5578",
        passes_chapter=True,
    ),
    Fault(
        "priority-classes",
        "order",
        "ORDER-4",
        None,
        (
            "            return request.priority + request.wait_steps // self.aging_interval\n"
            "        return request.priority\n"
        ),
        (
            "            return request.priority + request.wait_steps // self.aging_interval\n"
            "        return min(request.priority, 3)\n"
        ),
        policies=WITHOUT_AGING,
        passes_chapter=True,
    ),
    Fault(
        "ids-as-text",
        "order",
        "ORDER-5",
        None,
        "            request.request_id,\n        )\n\n    def _find",
        "            str(request.request_id),\n        )\n\n    def _find",
        policies=BY_PRIORITY,
        passes_chapter=True,
    ),
    Fault(
        "arrival-breaks-ties",
        "order",
        "ORDER-1",
        3,
        "            request.request_id,\n        )\n\n    def _find",
        "            self.queue.index(request),\n        )\n\n    def _find",
        policies=BY_PRIORITY,
        passes_chapter=True,
    ),
    Fault(
        "rescue-after-long-waits",
        "order",
        "ORDER-3",
        None,
        "0 if request.cache_hit else 1,",
        "-1 if request.wait_steps > 30 else 0 if request.cache_hit else 1,",
        policies=WITHOUT_AGING,
    ),
)
