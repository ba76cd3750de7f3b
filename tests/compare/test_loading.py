"""Reading traces: formats are recognised by names, units are never guessed, no row is lost."""

from __future__ import annotations

import gzip
import hashlib
import json
from pathlib import Path

import pytest
from tests.compare.conftest import AZURE, BURST, CODE, MOONCAKE, TRACES, Write

from schedproof.compare.formats import FORMATS
from schedproof.compare.loader import Trace, load
from schedproof.settings import UsageError


def rows(trace: Trace) -> list[tuple[float, int, int]]:
    return list(zip(trace.arrivals, trace.prompts, trace.outputs, strict=True))


def test_the_recordings_are_those_that_the_readme_names() -> None:
    lines = (TRACES / "SHA256SUMS").read_text("utf-8").splitlines()
    for digest, name in map(str.split, lines):
        assert hashlib.sha256((TRACES / name).read_bytes()).hexdigest() == digest
        assert name in (TRACES / "README.md").read_text("utf-8")


@pytest.mark.parametrize(
    ("path", "name", "count", "second"),
    [
        (AZURE, "azure", 600, (4.314579, 396, 109)),
        (CODE, "azure", 400, (0.052, 3180, 8)),
        (MOONCAKE, "mooncake", 150, (0.0, 7322, 490)),
        (BURST, "burstgpt", 383, (40.0, 1087, 230)),
    ],
)
def test_a_recording_is_recognised_and_read(
    path: Path, name: str, count: int, second: tuple[float, int, int]
) -> None:
    trace = load(str(path), drop=True)
    assert (trace.format.name, len(trace), trace.was_sorted) == (name, count, True)
    assert trace.rows_read == len(trace) + sum(trace.dropped.values())
    assert trace.sha256 == hashlib.sha256(path.read_bytes()).hexdigest()
    assert rows(trace)[1] == pytest.approx(second, abs=1e-6)
    assert list(trace.arrivals) == sorted(trace.arrivals)


def test_milliseconds_of_mooncake_are_not_seconds() -> None:
    assert load(str(MOONCAKE)).arrivals[-1] == pytest.approx(54, abs=0.01)


def test_cache_hits_are_derived_from_two_leading_blocks() -> None:
    trace = load(str(MOONCAKE))
    seen: set[int] = set()
    for place, line in enumerate(MOONCAKE.read_text("utf-8").splitlines()):
        leading = json.loads(line)["hash_ids"]
        assert trace.hits[place] == (len(leading) > 1 and {*leading[:2]} <= seen)
        seen.update(leading)
    assert 0 < sum(trace.hits) < len(trace)
    assert not any(load(str(AZURE)).hits)


VIDUR = "arrived_at,num_prefill_tokens,num_decode_tokens\n"


@pytest.mark.parametrize(
    ("text", "name", "last"),
    [
        (VIDUR + "0.5,10,2\n3,4,5\n", "vidur", 2.5),
        (
            "arrival_timestamp,prompt_size,token_size,request_type\n1,10,2,2\n2,4,5,2",
            "splitwise",
            1,
        ),
        (
            "Timestamp,Session ID,Elapsed time,Model,Request tokens,Response tokens,"
            "Total tokens,Log Type\r\n5,s,9,GPT-4,10,2,12,API log\r\n"
            "7,s,9,GPT-4,4,5,9,API log\r\n\r\n",
            "burstgpt",
            2,
        ),
        (
            '{"timestamp": 1, "input_length": 10, "output_length": 2, "chat_id": 1}\n'
            '{"timestamp": 3, "input_length": 4, "output_length": 5, "chat_id": 1}',
            "bailian",
            2,
        ),
        (
            "TIMESTAMP,ContextTokens,GeneratedTokens\n"
            "2024-05-10 00:00:00.009930+00:00, 10, 2\n2024-05-10T00:00:01.0099300+00:00,4,5\n",
            "azure",
            1,
        ),
    ],
)
def test_a_format_is_known_by_its_names(write: Write, text: str, name: str, last: float) -> None:
    trace = load(write("trace", text))
    assert trace.format.name == name
    assert rows(trace) == [(0, 10, 2), (pytest.approx(last), 4, 5)]


def test_a_unit_is_not_guessed(write: Write) -> None:
    path = write("t.jsonl", '{"timestamp": 1000, "input_length": 10, "output_length": 2}\n' * 2)
    with pytest.raises(UsageError, match="--format"):
        load(path)
    assert load(path, "vllm-timed").format.unit == "s"
    assert load(path, "mooncake").format.unit == "ms"


def test_another_formats_name_does_not_make_it_fit(write: Write) -> None:
    with pytest.raises(UsageError, match=r"TIMESTAMP, ContextTokens.*arrived_at"):
        load(write("t.csv", VIDUR + "1,2,3\n"), "azure")


def test_a_compressed_file_is_told_from_a_strange_one(tmp_path: Path) -> None:
    packed = tmp_path / "t.csv.gz"
    packed.write_bytes(gzip.compress(VIDUR.encode()))
    with pytest.raises(UsageError, match="Unpack"):
        load(str(packed))


def test_what_is_no_text_is_not_sent_to_the_terminal(tmp_path: Path) -> None:
    strange = tmp_path / "t.csv"
    strange.write_bytes(b"\x1b[2J\x07\xff,a\n")
    with pytest.raises(UsageError, match="--format") as refused:
        load(str(strange))
    assert str(refused.value).isprintable()


@pytest.mark.parametrize(
    ("row", "column", "reason"),
    [
        ("x,1,1", "arrived_at", "no_number"),
        ("nan,1,1", "arrived_at", "no_number"),
        ("inf,1,1", "arrived_at", "no_number"),
        ("-1,1,1", "arrived_at", "negative"),
        (",1,1", "arrived_at", "missing"),
        ("1,0,1", "num_prefill_tokens", "no_tokens"),
        ("1,1,1.5", "num_decode_tokens", "not_whole"),
        ("1,1", "num_decode_tokens", "missing"),
        ("1,1,1,7", "4", "cells"),
        ("1e300,1,1", "arrived_at", "too_large"),
        (f"1,{10**40},1", "num_prefill_tokens", "too_large"),
        ("1" * 200_000 + ",1,1", "arrived_at", "missing"),
    ],
)
def test_a_bad_row_is_refused_with_its_place_or_counted(
    write: Write, row: str, column: str, reason: str
) -> None:
    path = write("t.csv", VIDUR + f"0,1,1\n{row}\n5,1,1\n")
    with pytest.raises(UsageError, match=f"line 3, column {column}") as refused:
        load(path)
    assert refused.value.message_id == f"usage.trace_row.{reason}"
    trace = load(path, drop=True)
    assert (trace.rows_read, len(trace), trace.dropped) == (3, 2, {reason: 1})


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("\n\n" + VIDUR + "\n\n1,2\n", 6),
        ("\n" + VIDUR + "1,2", 3),
        ('\n\n{"timestamp": 1, "input_length": 1, "output_length": "x", "chat_id": 1}', 3),
    ],
)
def test_empty_lines_are_counted_where_a_row_is_named(write: Write, text: str, line: int) -> None:
    with pytest.raises(UsageError, match=f"line {line},"):
        load(write("t", text))


def test_a_bad_line_of_json_is_refused_with_its_place(write: Write) -> None:
    good = '{"timestamp": 1, "input_length": 1, "output_length": 1, "hash_ids": []}\n'
    for bad, column in (("{oops", "2"), ("[1]", "1"), ("{" * 9, "2"), ('{"a":' * 10**5, "1")):
        with pytest.raises(UsageError, match=f"line 2, column {column}"):
            load(write("t.jsonl", good + bad + "\n"))
    for wrong in ("[[1]]", "7"):
        with pytest.raises(UsageError, match="line 1, column hash_ids"):
            load(write("t.jsonl", good.replace("[]", wrong)))
    with pytest.raises(UsageError, match="line 1, column input_length"):
        load(write("t.jsonl", good.replace('h": 1', 'h": ' + "9" * 400, 1)))


def test_failures_of_burstgpt_are_dropped_only_when_asked() -> None:
    with pytest.raises(UsageError, match="line 22, column Request tokens"):
        load(str(BURST))
    assert load(str(BURST), drop=True).dropped == {"no_tokens": 17}


def test_rows_out_of_order_are_sorted_and_equal_ones_stay(write: Write) -> None:
    trace = load(write("t.csv", VIDUR + "9,1,1\n4,2,2\n9,3,3\n4,4,4\n"))
    assert not trace.was_sorted
    assert rows(trace) == [(0, 2, 2), (0, 4, 4), (5, 1, 1), (5, 3, 3)]


@pytest.mark.parametrize("text", ["", "\n\n", VIDUR])
def test_an_empty_trace_is_refused(write: Write, text: str) -> None:
    with pytest.raises(UsageError, match="no rows"):
        load(write("t.csv", text))


def test_a_missing_file_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="cannot be read"):
        load(str(tmp_path / "none.csv"))


def test_only_the_first_rows_are_taken_when_asked() -> None:
    trace = load(str(AZURE), rows=10)
    assert (len(trace), trace.rows_read) == (10, 10)
    assert trace.sha256 == load(str(AZURE)).sha256


def test_every_format_tells_its_unit() -> None:
    assert {made.unit for made in FORMATS.values()} == {"s", "ms", "clock"}
