"""Faults in what a scheduler counts and reports, and in what it lets in.

What a fault is, and how it is read, stands in `faults.py`.
"""

from __future__ import annotations

from schedproof.zoo.faults import BY_PRIORITY, Fault, Kill

REPORT_FAULTS = (
    Fault(
        "chosen-waits-too",
        "wait",
        "WAIT-1",
        2,
        "            if request is not chosen:\n                request.wait_steps += 1",
        "            request.wait_steps += 1",
        passes_chapter=True,
    ),
    Fault(
        "wait-reset-on-preemption",
        "wait",
        "WAIT-1",
        6,
        "        victim.preemptions += 1\n",
        "        victim.preemptions += 1\n        victim.wait_steps = 0\n",
        policies=BY_PRIORITY,
        passes_chapter=True,
    ),
    Fault(
        "only-waiting-ones-wait",
        "wait",
        "WAIT-1",
        4,
        "            if request is not chosen:\n",
        "            if request is not chosen and not request.admitted:\n",
        policies=BY_PRIORITY,
        passes_chapter=True,
    ),
    Fault(
        "finished-wait-on",
        "wait",
        "LIFE-2",
        5,
        "        for request in candidates:\n            if request is not chosen",
        "        for request in self.queue:\n            if request is not chosen",
        passes_chapter=True,
    ),
    Fault(
        "wait-reset-on-admission",
        "wait",
        "WAIT-1",
        4,
        "        request.admitted = True\n",
        "        request.admitted = True\n        request.wait_steps = 0\n",
        otherwise={"fcfs": Kill("WAIT-1", 5)},
        passes_chapter=True,
    ),
    Fault(
        "event-says-finish-too-early",
        "event",
        "EVENT-1",
        3,
        'return "finish" if request.done else "decode_one_step"',
        'return "finish" if self._remaining_steps(request) <= 1 else "decode_one_step"',
        passes_chapter=True,
    ),
    Fault(
        "event-names-no-victim",
        "event",
        "EVENT-1",
        4,
        "None if victim is None else victim.request_id",
        "victim.request_id if victim and not victim.cache_hit else None",
        policies=BY_PRIORITY,
        passes_chapter=True,
    ),
    Fault(
        "miss-told-too-late",
        "event",
        "EVENT-2",
        7,
        "ends_at = self.clock + 1 + self._remaining_steps(chosen)",
        "ends_at = self.clock + self._remaining_steps(chosen)",
        otherwise={"deadline": Kill("EVENT-2", 8), "fcfs": Kill("EVENT-2", 6)},
        report="sgl-project/sglang#27221",
    ),
    Fault(
        "idle-steps-count",
        "event",
        "CLOCK-1",
        1,
        "        if chosen is None:\n            return None\n",
        ("        if chosen is None:\n            self.clock += 1\n            return None\n"),
        passes_chapter=True,
    ),
    Fault(
        "event-not-logged",
        "event",
        "EVENT-1",
        4,
        "        self.timeline.append(event)\n",
        "        if victim is None:\n            self.timeline.append(event)\n",
        policies=BY_PRIORITY,
        passes_chapter=True,
    ),
    Fault(
        "id-of-finished-reused",
        "input",
        "INPUT-2",
        4,
        "if any(request.request_id == request_id for request in self.queue)",
        "if any(request.request_id == request_id and not request.done for request in self.queue)",
        report="vllm-project/vllm#42492",
        passes_chapter=True,
    ),
    Fault(
        "id-accepted-twice",
        "input",
        "INPUT-2",
        2,
        (
            "        if any(request.request_id == request_id for request in self.queue):\n"
            '            raise ValueError(f"request_id {request_id!r} was used before")\n'
        ),
        "",
        report="vllm-project/vllm#15041",
        passes_chapter=True,
    ),
    Fault(
        "deadline-now-accepted",
        "input",
        "INPUT-2",
        1,
        "deadline_step <= self.clock:",
        "deadline_step < self.clock:",
        passes_chapter=True,
    ),
    Fault(
        "refused-call-takes-a-step",
        "input",
        "INPUT-1",
        1,
        (
            "        if deadline_step is not None and deadline_step <= self.clock:\n"
            "            raise"
        ),
        (
            "        if deadline_step is not None and deadline_step <= self.clock:\n"
            "            self.clock += 1\n"
            "            raise"
        ),
        passes_chapter=True,
    ),
    Fault(
        "refusal-in-the-timeline",
        "input",
        "INPUT-1",
        1,
        (
            "        if deadline_step is not None and deadline_step <= self.clock:\n"
            "            raise"
        ),
        (
            "        if deadline_step is not None and deadline_step <= self.clock:\n"
            '            self.timeline.append({"request_id": request_id, "action": "refused"})\n'
            "            raise"
        ),
        passes_chapter=True,
    ),
    Fault(
        "no-token-accepted",
        "input",
        "INPUT-2",
        1,
        "        if max_new_tokens < 1:",
        "        if max_new_tokens < 0:",
    ),
    Fault(
        "large-request-refused",
        "input",
        "INPUT-2",
        1,
        "        request = Request(\n",
        (
            "        if required_blocks > self.free_kv_blocks:\n"
            '            raise ValueError(f"required_blocks must fit, got {required_blocks!r}")\n'
            "        request = Request(\n"
        ),
    ),
)
