"""The lifecycle as a picture, in Mermaid and in DOT.

Rules. Both are read out of the machine's moves, so they cannot differ from what runs.
Edges stand in the order of the states and triggers; triggers between the same two states
share one arrow. Ids stay ASCII.
"""

from __future__ import annotations

from schedmodel.lifecycle import MACHINE, MOVES, State


def moves_between() -> list[tuple[str, str, str]]:
    """(source, dest, label) for every pair of states that some trigger joins."""
    labels: dict[tuple[State, State], list[str]] = {}
    for move in MOVES.values():
        guards = " and ".join(guard.__name__ for guard in move.guards)
        label = f"{move.trigger.value} [{guards}]" if guards else move.trigger.value
        labels.setdefault((move.source, move.dest), []).append(label)
    states = list(State)
    order = sorted(labels, key=lambda pair: (states.index(pair[0]), states.index(pair[1])))
    return [(s.value, d.value, ", ".join(labels[s, d]).replace("_", " ")) for s, d in order]


def initial_and_final() -> tuple[str, list[str]]:
    """The state that a life begins in, and those that it ends in."""
    sources = {move.source for move in MOVES.values()}
    initial: State = State[str(MACHINE.initial)]
    return initial.value, [state.value for state in State if state not in sources]


def mermaid() -> str:
    """A Mermaid `stateDiagram-v2`, ending in a newline."""
    initial, finals = initial_and_final()
    lines = ["stateDiagram-v2", f"    [*] --> {initial}"]
    lines += [f"    {source} --> {dest}: {label}" for source, dest, label in moves_between()]
    lines += [f"    {state} --> [*]" for state in finals]
    return "\n".join(lines) + "\n"


def dot() -> str:
    """A Graphviz digraph, ending in a newline."""
    initial, finals = initial_and_final()
    lines = ["digraph lifecycle {", "    rankdir=LR;", "    node [shape=box, style=rounded];"]
    lines += ["    start [shape=point];", f"    start -> {initial};"]
    lines += [f"    {state} [peripheries=2];" for state in finals]
    lines += [
        f'    {source} -> {dest} [label="{label}"];' for source, dest, label in moves_between()
    ]
    return "\n".join([*lines, "}"]) + "\n"
