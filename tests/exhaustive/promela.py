"""A closed scope as a model for SPIN, written from the scope and the policy's own columns.

Rules.
1. The state is that of the peer key: free blocks, clock, and for each slot its kind, phase,
   tokens, status, wait and preemptions. All else is set to 0 at the end of an action.
2. Each action is one `d_step`, so that SPIN's stored states are our states, and its
   transitions are ours and one more, for the start.
3. The order of requests is the policy's `columns`, one expression each. A column, or a
   deadline, that has no expression here is a `KeyError`: nothing is left out in silence.
4. A fault changes one place of the model, as the same fault does in the plain scheduler;
   what must hold is asserted at the end of each step.
"""

from __future__ import annotations

from collections.abc import Callable

from schedmodel.policy import POLICIES
from schedproof.search.exhaustive.scopes import Kind, Scope

COLUMNS = {
    "deadline_slack": "0",
    "phase_rank": "phase[{0}]",
    "cache_rank": "miss({0})",
    "-effective_priority": "(0 - rank({0}))",
    "total_len": "(prompt({0}) + tokens[{0}])",
    "request_id": "{0}",
}
URGENCY = {
    "fixed_priority": "submitted(i)",
    "aging": "(submitted(i) + wait[i] / INTERVAL)",
    "deadline": "submitted(i)",
}
FIELDS: dict[str, Callable[[Kind], int]] = {
    "prompt": lambda kind: kind.prompt_len,
    "limit": lambda kind: kind.max_new_tokens,
    "submitted": lambda kind: kind.priority,
    "miss": lambda kind: int(not kind.cache_hit),
    "blocks": lambda kind: kind.required_blocks,
    "preemptible": lambda kind: int(kind.preemptible),
}

FAULTS = {
    "a finish returns no blocks": ("free = free + blocks(chosen)", "free = free + 0"),
    "preemption zeroes the tokens": (
        "preemptions[victim]++",
        "preemptions[victim]++; tokens[victim] = 0",
    ),
    "pinned requests are preempted": (" && preemptible(i)", ""),
    "the second preemption returns no blocks": (
        "free = free + blocks(victim)",
        "free = (preemptions[victim] == 2 -> free : free + blocks(victim))",
    ),
}  # fmt: skip

MODEL = """\
#define SLOTS {slots}
#define BLOCKS {pool}
#define INTERVAL {interval}
{macros}
#define rank(i) {urgency}
#define ahead(a, b) {ahead}
#define unfinished(i) (kind[i] != 0 && status[i] != FINISHED)
#define better(i, v) (rank(i) < rank(v) || (rank(i) == rank(v) && (blocks(i) > blocks(v) || \\
  (blocks(i) == blocks(v) && i < v))))
#define below(i, h) (rank(i) < rank(h))
#define enough(i, h) (free + blocks(i) >= blocks(h))
#define NOBODY 255
#define WAITING 0
#define RUNNING 1
#define PREEMPTED 2
#define FINISHED 3

short free = BLOCKS;
byte clock;
byte kind[SLOTS], phase[SLOTS], tokens[SLOTS], status[SLOTS], wait[SLOTS], preemptions[SLOTS];
byte i, chosen, victim, head, kept;
short held;
byte tried[SLOTS];

inline look_for_victim() {{
  victim = NOBODY;
  for (i : 0 .. SLOTS - 1) {{
    if
    :: status[i] == RUNNING && preemptible(i) && below(i, head) && enough(i, head) ->
       if
       :: victim == NOBODY -> victim = i
       :: else -> if :: better(i, victim) -> victim = i :: else fi
       fi
    :: else
    fi
  }}
}}

inline look_for_head() {{
  head = NOBODY;
  for (i : 0 .. SLOTS - 1) {{
    if
    :: unfinished(i) && tried[i] == 0 ->
       if
       :: head == NOBODY -> head = i
       :: else -> if :: ahead(i, head) -> head = i :: else fi
       fi
    :: else
    fi
  }}
}}

inline choose() {{
  chosen = NOBODY; victim = NOBODY;
  for (i : 0 .. SLOTS - 1) {{ tried[i] = 0 }}
  do
  :: chosen == NOBODY ->
     look_for_head();
     if
     :: head == NOBODY -> break
     :: else ->
        tried[head] = 1;
        if
        :: status[head] == RUNNING || blocks(head) <= free -> chosen = head
        :: else ->
           look_for_victim();
           if :: victim != NOBODY -> chosen = head :: else fi
        fi
     fi
  :: else -> break
  od
}}

inline preempt() {{
  kept = tokens[victim];
  assert(preemptible_kind(victim));
  status[victim] = PREEMPTED; preemptions[victim]++;
  free = free + blocks(victim);
  assert(tokens[victim] == kept)
}}

inline serve() {{
  if :: victim != NOBODY -> preempt() :: else fi;
  if
  :: status[chosen] != RUNNING -> status[chosen] = RUNNING; free = free - blocks(chosen)
  :: else
  fi;
  for (i : 0 .. SLOTS - 1) {{
    if :: unfinished(i) && i != chosen -> wait[i]++ :: else fi
  }}
  if
  :: phase[chosen] == 0 -> phase[chosen] = 1
  :: else ->
     tokens[chosen]++;
     if
     :: tokens[chosen] == limit(chosen) -> status[chosen] = FINISHED; free = free + blocks(chosen)
     :: else
     fi
  fi;
  clock++;
  held = 0;
  for (i : 0 .. SLOTS - 1) {{
    if :: status[i] == RUNNING -> held = held + blocks(i) :: else fi
  }}
  assert(free >= 0 && free + held == BLOCKS)
}}

inline forget() {{
  for (i : 0 .. SLOTS - 1) {{ tried[i] = 0 }}
  i = 0; chosen = 0; victim = 0; head = 0; kept = 0; held = 0
}}

active proctype scheduler() {{
end:
  do
{enqueues}
  :: d_step {{ {work} -> choose(); if :: chosen != NOBODY -> serve() :: else fi; forget() }}
  od
}}
"""


def promela(scope: Scope, policy: str, fault: str | None = None) -> str:
    """The scope under that policy as Promela, perhaps with one of `FAULTS`."""
    if scope.timed:
        raise KeyError("deadline_in")
    text = MODEL.format(
        slots=len(scope.slots),
        pool=scope.blocks,
        interval=scope.aging_interval,
        macros=_macros(scope),
        urgency=URGENCY[policy],
        ahead=_ahead(POLICIES[policy].columns),
        enqueues="\n".join(_enqueues(scope)),
        work=" || ".join(f"unfinished({slot})" for slot in range(len(scope.slots))),
    )
    if fault is None:
        return text
    old, new = FAULTS[fault]
    assert text.count(old) == 1
    return text.replace(old, new)


def _macros(scope: Scope) -> str:
    """One macro for each field of a kind, and one that no fault takes away."""
    macros = [f"#define {name}(i) {_by_kind(scope, of)}" for name, of in FIELDS.items()]
    macros.append("#define preemptible_kind(i) preemptible(i)")
    return "\n".join(macros)


def _by_kind(scope: Scope, field: Callable[[Kind], int]) -> str:
    """A field's value by the kind of slot i, numbered from 1."""
    *others, last = map(field, scope.kinds)
    text = str(last)
    for number, value in reversed(list(enumerate(others, start=1))):
        text = f"(kind[i] == {number} -> {value} : {text})"
    return text


def _ahead(columns: tuple[str, ...]) -> str:
    """Whether the key of a is smaller than that of b, column by column."""
    text = "false"
    for column in reversed(columns):
        mine, theirs = COLUMNS[column].format("a"), COLUMNS[column].format("b")
        text = f"({mine} < {theirs} || ({mine} == {theirs} && {text}))"
    return text


def _enqueues(scope: Scope) -> list[str]:
    return [
        f"  :: d_step {{ kind[{slot}] == 0 -> kind[{slot}] = {1 + scope.kinds.index(kind)} }}"
        for slot, menu in enumerate(scope.slots)
        for kind in menu
    ]
