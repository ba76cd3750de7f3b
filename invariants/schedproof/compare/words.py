"""The comparison told: what was run on what, a table, and what may be said of each policy."""

from __future__ import annotations

from typing import Any

from schedproof.compare.comparing import Comparison, derived, engine
from schedproof.compare.metrics import PERCENTILES
from schedproof.compare.verdicts import BASELINE, LEAST_POINTS, LEAST_SHARE, Difference, Judgement
from schedproof.telling.layout import table, wrap
from schedproof.telling.messages import Say, join, tell

NONE = "–"
COLUMNS = (
    "policy completed rejected unfinished starved wait_mean wait_p99 ttft_mean ttft_p95 "
    "ttft_p99 tpot_p99 attainment deadlines word"
).split()


def told(found: Comparison, lang: str, width: int) -> str:
    """All of it as text for a terminal."""
    say = tell(lang)
    lines: list[str] = []
    for paragraph in setting(found, say):
        lines += wrap(paragraph, width, "  ", "")
    rows = table(cells(found, say), right=range(1, len(COLUMNS) - 1))
    if max(map(len, rows)) > width:
        rows = upright(found, say)
    lines += ["", *rows, ""]
    for sentence in (*(judged(j, found, say) for j in found.judgements), *cautions(found, say)):
        lines += wrap(sentence, width, "  ", "")
    return "\n".join(lines)


def upright(found: Comparison, say: Say) -> list[str]:
    """The table with a column for each policy, where the terminal is too narrow for rows."""
    flipped = list(zip(*cells(found, say), strict=True))
    return table(flipped, right=range(1, len(found.runs) + 1))


def setting(found: Comparison, say: Say) -> list[str]:
    """What was run: what is real, derived, assumed and drawn."""
    workload, trace, setup = found.workload, found.workload.trace, found.workload.setup
    return [
        say(
            "compare.trace",
            path=trace.path,
            format=trace.format.name,
            kept=len(trace),
            read=f"{trace.rows_read:,}",
            dropped=sum(trace.dropped.values()),
            span=seconds(trace.arrivals[-1]),
            sha256=trace.sha256[:12],
        ),
        *(() if trace.was_sorted else (say("compare.sorted"),)),
        say("compare.real"),
        *_derived(found, say),
        say(
            "compare.assumed",
            step=seconds(setup.step),
            blocks=setup.blocks,
            block_size=setup.block_size,
            factor=f"{setup.time_factor:g}",
            ttft=seconds(setup.slo_ttft),
            tpot=seconds(setup.slo_tpot),
        ),
        say("compare.synthetic", seed=setup.seed, sha256=workload.synthetic_sha256()[:12]),
        say(f"compare.engine.{engine(setup)}", batch=setup.batch, budget=setup.token_budget),
        say("compare.drained") if found.until is None else say("compare.until", at=found.until),
    ]


def _derived(found: Comparison, say: Say) -> list[str]:
    """What follows from the hashes of the trace."""
    told = [say(f"compare.derived.{name}") for name in derived(found.workload)]
    unshared = not told and engine(found.workload.setup) == "batched"
    return [say("compare.unshared")] if unshared else told


def cells(found: Comparison, say: Say) -> list[list[str]]:
    """The table with its heading."""
    rows = [[say(f"compare.column.{name}") for name in COLUMNS]]
    for run, judgement in zip(found.runs, found.judgements, strict=True):
        s = run.summary
        wait, ttft, tpot = s["queue_wait"], s["ttft"], s["tpot"]
        rejected = sum(s["rejected"].values())
        counts = (s["completed"], rejected, s["unfinished"], s["starved"])
        times = (wait["mean"], wait["p99"], ttft["mean"], ttft["p95"], ttft["p99"], tpot["p99"])
        rows.append(
            [
                run.policy,
                *(f"{count:,}" for count in counts),
                *map(seconds, times),
                f"{100 * s['slo_attainment']:.1f} %",
                f"{s['deadlines_missed']:,} / {s['deadlines']:,}",
                say(f"compare.word.{judgement.word}"),
            ]
        )
    return rows


def judged(judgement: Judgement, found: Comparison, say: Say) -> str:
    """The word for a policy, and why."""
    word = say(f"compare.word.{judgement.word}")
    if judgement.word == BASELINE:
        return say("compare.judged.baseline", policy=judgement.policy, word=word)
    why = join(say, "semicolon", reasons(judgement, found, say))
    baseline = found.runs[0].policy
    return say("compare.judged", policy=judgement.policy, word=word, why=why, baseline=baseline)


def reasons(judgement: Judgement, found: Comparison, say: Say) -> list[str]:
    """Why a policy got its word, one by one."""
    if judgement.word == BASELINE:
        return [say("compare.reason.baseline")]
    by_metric = {difference.metric: difference for difference in judgement.differences}
    return [
        _reason(kind, by_metric.get(metric), judgement, found, say)
        for kind, metric in judgement.reasons
    ]


def _reason(
    kind: str, seen: Difference | None, judgement: Judgement, found: Comparison, say: Say
) -> str:
    if seen is not None:
        return say(
            f"compare.reason.{kind}",
            metric=say(f"compare.metric.{seen.metric}"),
            seen=difference(seen, seen.seen, say),
            low=difference(seen, seen.low, say),
            high=difference(seen, seen.high, say),
        )
    starved = {run.policy: run.summary["starved"] for run in found.runs}
    more, base = starved[judgement.policy], starved[found.runs[0].policy]
    return say(f"compare.reason.{kind}", more=more, base=base)


def cautions(found: Comparison, say: Say) -> list[str]:
    """What the numbers do not say."""
    setup = found.workload.setup
    least = min(run.summary["completed"] for run in found.runs)
    return [
        *_found(found, say),
        say("compare.percentiles", n=f"{least:,}", tail=f"{max(1, least // 100):,}"),
        say("compare.starved_means", limit=seconds(setup.starved_after)),
        say(
            "compare.interval",
            share=f"{100 * LEAST_SHARE:g}",
            points=round(100 * LEAST_POINTS),
        ),
    ]


def _found(found: Comparison, say: Say) -> list[str]:
    """How much of the prompts lay in the prefix cache, where there is one."""
    counted = {run.policy: run.summary["found_tokens"] for run in found.runs}
    if None in counted.values():
        return []
    parts = [say("compare.found.one", policy=p, tokens=f"{n:,}") for p, n in counted.items()]
    return [say("compare.found", counts=join(say, "names", parts))]


def difference(of: Difference, value: float, say: Say) -> str:
    """A difference with its sign: a time, or percentage points."""
    sign = "+" if value > 0 else "−" if value < 0 else ""
    if of.metric == "attainment":
        return sign + say("compare.points", value=f"{abs(100 * value):.1f}")
    return sign + seconds(abs(value))


def seconds(value: float | None) -> str:
    """A time as people read it: three digits that count."""
    if value is None:
        return NONE
    if value == 0:
        return "0 s"
    if value < 0.9995:
        return f"{value * 1000:.3g} ms"
    return f"{value:,.0f} s" if value >= 100 else f"{value:.3g} s"


def spread_rows(found: Comparison, name: str) -> list[list[str]]:
    """Mean and percentiles of a metric, with N, one row for each policy."""
    rows: list[list[str]] = []
    for run in found.runs:
        values: dict[str, Any] = run.summary[name]
        parts = (values["mean"], *(values[f"p{percent}"] for percent in PERCENTILES))
        rows.append([run.policy, f"{values['n']:,}", *map(seconds, parts)])
    return rows
