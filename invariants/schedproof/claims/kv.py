"""What an engine's steps compute: the right cache, the right tokens, and some in the end.

Rules. These claims look at what came of a step when its forward pass was played: what every
request attended to, what it put out, what was raised, and how long nothing came of it.
"""

from __future__ import annotations

from schedproof.claims.claim import GENERAL, Claim, Kind, Over, needs
from schedproof.claims.edge import Breach, Edge, Judged
from schedproof.subjects.contract import Feature

NOT_THERE = {"empty": "KV-1.empty", "no_block": "KV-1.no_block", "past_end": "KV-1.past_end"}
STRAYED = {
    "other": "OUTPUT-1.other",
    "too_many": "OUTPUT-1.too_many",
    "too_few": "OUTPUT-1.too_few",
}


def own_prefix_is_attended(edge: Edge) -> Judged:
    ran = edge.answer.ran
    if ran is None:
        return None
    wrong = ran.foreign
    if wrong is None:
        return True if ran.attended else None
    values = {
        "request": wrong.request_id,
        "position": wrong.position,
        "block": wrong.block,
        "offset": wrong.offset,
        "writer": wrong.writer,
        "written": wrong.written,
    }
    guilty = ((wrong.request_id, "computed_len"),)
    if wrong.kind == "foreign" and wrong.writer == wrong.request_id:
        return Breach("KV-1.own", values, guilty)
    if wrong.kind == "foreign":
        return Breach("KV-1.foreign", values, guilty)
    return Breach(NOT_THERE[wrong.kind], values, guilty)


def output_is_as_if_alone(edge: Edge) -> Judged:
    ran = edge.answer.ran
    if ran is None:
        return None
    wrong = ran.strayed
    if wrong is None:
        return True if any(row.finished for row in edge.after) else None
    row = edge.after_by_id.get(wrong.request_id)
    values = {
        "request": wrong.request_id,
        "number": wrong.number,
        "count": wrong.number - 1,
        "limit": row.max_new_tokens if row else None,
        "got": wrong.got,
        "wanted": wrong.wanted,
    }
    return Breach(STRAYED[wrong.kind], values, ((wrong.request_id, "generated_len"),))


def counts_are_sane(edge: Edge) -> Judged:
    ran = edge.answer.ran
    if ran is None:
        return None
    wrong = ran.miscount
    if wrong is None:
        return True if edge.answer.batch else None
    kind = "COUNT-1.negative" if wrong.value < 0 else "COUNT-1.too_many"
    kind = "COUNT-1.in_flight" if wrong.name == "in_flight" else kind
    return Breach(kind, wrong._asdict() | {"request": wrong.request_id}, ())


def a_step_comes_back(edge: Edge) -> Judged:
    ran = edge.answer.ran
    if ran is None:
        return None
    raised = ran.raised
    if raised is None:
        return True if edge.stepped else None
    values = raised._asdict()
    if not raised.type:
        return Breach("STALL-2.endless", values, ())
    return Breach("STALL-2", values, ()) if raised.text else Breach("STALL-2.no_text", values, ())


def tokens_keep_coming(edge: Edge) -> Judged:
    ran = edge.answer.ran
    if ran is None or not edge.stepped or ran.raised is not None:
        return None
    waits = [row.request_id for row in edge.after if not row.finished]
    if not waits:
        return True if edge.before else None
    guilty = tuple((request, "status") for request in waits)
    if ran.idle > ran.idle_max:
        idle = {"steps": ran.idle, "limit": ran.idle_max, "requests": _names(waits)}
        return Breach("STALL-3.idle", idle, guilty)
    if ran.since_token > ran.since_token_max:
        steps, most = ran.since_token, ran.since_token_max
        values = {"steps": steps, "limit": most, "requests": _names(waits)}
        return Breach("STALL-3.no_token", values, guilty)
    return True


def _names(ids: list[int]) -> str:
    return ", ".join(f"r{i}" for i in ids)


CLAIMS = (
    Claim(
        "KV-1",
        Kind.ALWAYS,
        GENERAL,
        Over.EDGE,
        own_prefix_is_attended,
        "GeeeekExplorer/nano-vllm (before 9fa256a), vllm-ascend#14055",
        needs(Feature.FORWARD_PASS),
    ),
    Claim(
        "OUTPUT-1",
        Kind.ALWAYS_WITH_HISTORY,
        GENERAL,
        Over.EDGE,
        output_is_as_if_alone,
        "vllm-project/vllm#42043, sgl-project/sglang#39645",
        needs(Feature.TOKENS),
    ),
    Claim(
        "COUNT-1",
        Kind.ALWAYS,
        GENERAL,
        Over.EDGE,
        counts_are_sane,
        "vllm-project/vllm#36755, sgl-project/sglang#11900",
        needs(Feature.COUNTERS),
    ),
    Claim(
        "STALL-2",
        Kind.ALWAYS,
        GENERAL,
        Over.EDGE,
        a_step_comes_back,
        "GeeeekExplorer/nano-vllm#274, huggingface/transformers#43150",
        needs(Feature.STEP_BOUNDS),
    ),
    Claim(
        "STALL-3",
        Kind.ALWAYS_WITH_HISTORY,
        GENERAL,
        Over.STEP,
        tokens_keep_coming,
        "vllm-project/vllm#35541, #45387, #49674",
        needs(Feature.STEP_BOUNDS),
    ),
)
