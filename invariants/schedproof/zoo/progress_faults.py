"""Faults in the progress of requests: what a preemption saves and a resume goes on with.

What a fault is, and how it is read, stands in `faults.py`.
"""

from __future__ import annotations

from schedproof.zoo.faults import BY_PRIORITY, Fault, Kill

PROGRESS_FAULTS = (
    Fault(
        "preempt-forgets-tokens",
        "progress",
        "PROGRESS-2",
        5,
        '        victim.admitted = False\n        victim.status = "preempted"\n',
        (
            "        victim.admitted = False\n"
            '        victim.status = "preempted"\n'
            "        victim.generated_len = 0\n"
        ),
        policies=BY_PRIORITY,
        report="sgl-project/sglang#39645",
        passes_chapter=True,
        measured=True,
    ),
    Fault(
        "preempt-repeats-prefill",
        "progress",
        "PROGRESS-2",
        4,
        '        victim.admitted = False\n        victim.status = "preempted"\n',
        (
            "        victim.admitted = False\n"
            '        victim.status = "preempted"\n'
            '        victim.phase = "prefill"\n'
        ),
        policies=BY_PRIORITY,
    ),
    Fault(
        "preempt-drops-deadline",
        "progress",
        "PROGRESS-2",
        4,
        "        victim.preemptions += 1\n",
        "        victim.preemptions += 1\n        victim.deadline_step = None\n",
        policies=BY_PRIORITY,
        otherwise={"deadline": Kill("PROGRESS-2", 6)},
        passes_chapter=True,
    ),
    Fault(
        "preempt-not-counted",
        "progress",
        "PROGRESS-2",
        4,
        "        victim.preemptions += 1\n",
        "",
        policies=BY_PRIORITY,
    ),
    Fault(
        "cache-hit-decodes-two",
        "progress",
        "PROGRESS-3",
        3,
        "        request.generated_len += 1\n",
        (
            "        two = request.cache_hit and self._remaining_steps(request) > 1\n"
            "        request.generated_len += 2 if two else 1\n"
        ),
    ),
    Fault(
        "resume-loses-a-token",
        "progress",
        "PROGRESS-4",
        7,
        "        request.admitted = True\n",
        (
            '        if request.status == "preempted" and request.generated_len:\n'
            "            request.generated_len -= 1\n"
            "        request.admitted = True\n"
        ),
        policies=BY_PRIORITY,
        report="vllm-project/vllm#42043",
        passes_chapter=True,
    ),
    Fault(
        "resume-prefills-again",
        "progress",
        "PROGRESS-4",
        6,
        "        request.admitted = True\n",
        (
            '        if request.status == "preempted":\n'
            '            request.phase = "prefill"\n'
            "        request.admitted = True\n"
        ),
        policies=BY_PRIORITY,
        passes_chapter=True,
    ),
    Fault(
        "idle-cache-is-dropped",
        "progress",
        "PROGRESS-1",
        6,
        ("            if request is not chosen:\n                request.wait_steps += 1\n"),
        (
            "            if request is not chosen:\n"
            "                request.wait_steps += 1\n"
            "                if request.wait_steps > self.aging_interval:\n"
            '                    request.phase = "prefill"\n'
        ),
        policies=BY_PRIORITY,
        passes_chapter=True,
    ),
    Fault(
        "eager-resume",
        "progress",
        "PREEMPT-1",
        7,
        (
            '        request.status = "finished"\n'
            "        self.free_kv_blocks += request.required_blocks\n"
        ),
        (
            '        request.status = "finished"\n'
            "        self.free_kv_blocks += request.required_blocks\n"
            "        for other in self.queue:\n"
            "            fits = other.required_blocks <= self.free_kv_blocks\n"
            '            if fits and other.status == "preempted":\n'
            "                self._admit(other)\n"
        ),
        policies=BY_PRIORITY,
        report="huggingface/transformers#43150",
        passes_chapter=True,
    ),
)
