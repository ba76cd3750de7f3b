"""A test exported for every fault of the zoo; no test runner collects this file unless named.

python -m pytest tests/formats/slow_exports.py
"""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.formats.exports import TARGET, broken_file, failure_of, mended_file

import schedproof
from schedproof.formats.regression import NotExportable, to_pytest
from schedproof.formats.standalone import to_standalone
from schedproof.subjects.contract import Config
from schedproof.traces.trace import Trace
from schedproof.zoo.chapter_faults import CHAPTER_FAULTS
from schedproof.zoo.faults import Fault

NOT_STANDALONE = {"priority-classes", "ids-as-text", "rescue-after-long-waits"}


@pytest.mark.parametrize("fault", CHAPTER_FAULTS, ids=lambda fault: fault.name)
def test_its_exported_tests_fail_with_it_and_pass_without(
    fault: Fault, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    mine, test = tmp_path / "mine.py", tmp_path / "test_it.py"
    mine.write_text(broken_file(fault.name), encoding="utf-8")
    (run,) = schedproof.check(TARGET, policy=fault.policies[0]).runs
    if run.trouble is not None:
        trace = Trace.of_trouble(run.trouble, Config(run.policy), TARGET, "0.1.0")
        texts = [to_pytest(trace, None, "en")]
    else:
        found = run.counterexamples[0]
        trace = Trace.of(found, TARGET, "0.1.0", run=run)
        texts = [to_pytest(trace, found, "en")]
        try:
            texts.append(to_standalone(trace, found, "en"))
            assert fault.name not in NOT_STANDALONE
        except NotExportable:
            assert fault.name in NOT_STANDALONE
    for text in texts:
        test.write_text(text, encoding="utf-8")
        mine.write_text(broken_file(fault.name), encoding="utf-8")
        assert failure_of(test) is not None
        mine.write_text(mended_file(), encoding="utf-8")
        assert failure_of(test) is None
