"""A trace: the actions that lead to a broken claim, as a small file that can be kept.

Rules.
1. A trace holds what is needed to take its actions again and to say where they came from:
   the scheduler as it was named, a fingerprint of its source, the configuration, the actions,
   what they break, and how they were found. What follows from these is not stored.
2. It names its schema and version. A file is checked against the JSON Schema in the package;
   what is wrong is told with the file, the place in it and, where there is one, the line.
3. Its id is the broken claim and four signs that stand for scheduler, configuration and
   actions: the same trace has the same id on every computer, whoever found it and when.
"""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, field
from hashlib import sha256
from importlib.resources import files
from json.decoder import scanstring  # type: ignore[attr-defined]  # typeshed does not list it
from typing import Any, cast

from schedproof.search.results import Counterexample, RunResult, Trouble, Verdict
from schedproof.subjects.actions import Action, from_json
from schedproof.subjects.contract import Config, Limits

SCHEMA, SCHEMA_VERSION = "schedproof/trace", 1
SHORT, LONG = 4, 12
"""How many signs stand behind the claim of an id: usually, and where that is not enough."""


class TraceError(Exception):
    """A trace that cannot be read or found; `message_id` and `values` name the text."""

    def __init__(self, message_id: str, **values: Any) -> None:
        super().__init__(message_id, values)
        self.message_id, self.values = message_id, values


@dataclass(frozen=True)
class Provenance:
    """Where a trace comes from.

    `found_by` is the search, `seed` that of a random one, `bounds` what the search stayed
    within, by name.
    """

    tool_version: str
    found_by: str
    seed: int | None = None
    bounds: dict[str, Any] = field(default_factory=dict[str, Any])


@dataclass(frozen=True)
class Trace:
    """One kept trace.

    `subject` is the target as it was typed, with the `factory` and the notebook `cell` that
    were named beside it; `fingerprint` of its source, None where it has none. `actions` are in
    their JSON form. `verdict` is violated (then `claim` is the broken one), or error (then
    `trouble` is its kind). `claims_from` is the file of a claim that is not ours. `lasso` says of
    an endless wait which `request` waits, and that a loop of `loop` actions follows on the first
    `stem` ones.
    """

    subject: str
    fingerprint: str | None
    config: Config
    actions: tuple[dict[str, Any], ...]
    verdict: str
    claim: str | None
    also_broken: tuple[str, ...]
    shortest: bool
    provenance: Provenance
    trouble: str | None = None
    factory: str | None = None
    cell: int | None = None
    claims_from: str | None = None
    lasso: dict[str, int] | None = None

    @classmethod
    def of(
        cls,
        found: Counterexample,
        subject: str,
        tool_version: str,
        *,
        run: RunResult | None = None,
        fingerprint: str | None = None,
        factory: str | None = None,
        cell: int | None = None,
    ) -> Trace:
        """The trace of a counterexample; `run` is the search that found it, if it is known."""
        provenance = _provenance(tool_version, found.found_by, run)
        return cls(
            subject=subject,
            fingerprint=fingerprint,
            config=Config(found.policy, found.blocks, found.aging_interval, found.limits),
            actions=found.actions,
            verdict=Verdict.VIOLATED.value,
            claim=found.claim,
            also_broken=found.also_broken,
            shortest=found.shortest,
            provenance=provenance,
            factory=factory,
            cell=cell,
            lasso=_lasso(found),
        )

    @classmethod
    def of_trouble(
        cls,
        trouble: Trouble,
        config: Config,
        subject: str,
        tool_version: str,
        *,
        run: RunResult | None = None,
        fingerprint: str | None = None,
        factory: str | None = None,
        cell: int | None = None,
    ) -> Trace:
        """The trace of a scheduler that failed as a program after these actions."""
        return cls(
            subject=subject,
            fingerprint=fingerprint,
            config=config,
            actions=trouble.actions,
            verdict=Verdict.ERROR.value,
            claim=None,
            also_broken=(),
            shortest=False,
            provenance=_provenance(tool_version, run.search if run else "", run),
            trouble=trouble.kind,
            factory=factory,
            cell=cell,
        )

    @property
    def id(self) -> str:
        """A name that is short enough to be typed, as in PROGRESS-2-7c1e."""
        return f"{self.named_for}-{self.digest[:SHORT]}"

    @property
    def long_id(self) -> str:
        """A name for where two different traces have the same short one."""
        return f"{self.named_for}-{self.digest[:LONG]}"

    @property
    def named_for(self) -> str:
        """The broken claim, or the kind of trouble in capital letters."""
        return self.claim or (self.trouble or self.verdict).upper().replace("_", "-")

    @property
    def digest(self) -> str:
        """A hash of what makes a trace this one and no other."""
        named = [self.subject, self.factory, self.cell, self.named_for]
        about = [*named, _config_to_json(self.config), self.actions]
        text = json.dumps(about, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
        return sha256(text.encode("utf-8", "backslashreplace")).hexdigest()

    @property
    def length(self) -> int:
        """Number of actions."""
        return len(self.actions)

    def parsed_actions(self) -> tuple[Action, ...]:
        """The actions as values."""
        return tuple(map(from_json, self.actions))

    def to_json(self) -> dict[str, Any]:
        """The document; `from_json` is its inverse."""
        return {
            "schema": SCHEMA,
            "schema_version": SCHEMA_VERSION,
            "id": self.id,
            "subject": self.subject,
            "factory": self.factory,
            "cell": self.cell,
            "claims_from": self.claims_from,
            "fingerprint": self.fingerprint,
            "verdict": self.verdict,
            "claim": self.claim,
            "trouble": self.trouble,
            "also_broken": list(self.also_broken),
            "shortest": self.shortest,
            "lasso": self.lasso,
            "config": _config_to_json(self.config),
            "actions": list(self.actions),
            "provenance": asdict(self.provenance),
        }

    def to_text(self) -> str:
        """The document as it is written into a file."""
        return json.dumps(self.to_json(), indent=2, ensure_ascii=False) + "\n"

    @classmethod
    def from_json(cls, record: Any, path: str = "", text: str = "") -> Trace:
        """The trace of a document. Raises `TraceError`, which names `path` and place.

        `text` is what the document was read from: with it the error names the line, too.
        """
        ours = cls._as_written(record)
        if ours is not None:
            return ours
        _validate(record, path, text)
        try:
            for action in record["actions"]:
                from_json(action)
        except ValueError as error:
            raise TraceError("trace.bad_action", path=path, error=str(error)) from None
        return cls._made(record)

    @classmethod
    def _as_written(cls, record: Any) -> Trace | None:
        """The trace if the document is word for word what we write, its id included.

        The schema has nothing to say about it then, and loading the validator takes longer
        than a replay.
        """
        try:
            trace = cls._made(record)
            return trace if trace.to_json() == record and trace.parsed_actions() else None
        except (AttributeError, LookupError, TypeError, ValueError):
            return None

    @classmethod
    def _made(cls, record: dict[str, Any]) -> Trace:
        made = {name: record[name] for name in _PLAIN}
        return cls(
            **made,
            claims_from=record.get("claims_from"),
            lasso=record.get("lasso"),
            config=_config_from_json(record["config"]),
            actions=tuple(record["actions"]),
            also_broken=tuple(record["also_broken"]),
            provenance=Provenance(**record["provenance"]),
        )

    @classmethod
    def from_text(cls, text: str, path: str = "") -> Trace:
        """The trace in a text that was read from `path`. Raises `TraceError`."""
        try:
            record = json.loads(text)
        except json.JSONDecodeError as error:
            place = {"line": error.lineno, "column": error.colno}
            raise TraceError("trace.bad_json", path=path, error=error.msg, **place) from None
        except RecursionError:
            raise TraceError("trace.unreadable", path=path, error="RecursionError") from None
        return cls.from_json(record, path, text)


_PLAIN = tuple("subject fingerprint verdict claim shortest trouble factory cell".split())


def _config_to_json(config: Config) -> dict[str, Any]:
    """A configuration; the limits of a scheduler of batches only where there are some."""
    record = {name: getattr(config, name) for name in ("policy", "blocks", "aging_interval")}
    return record if config.limits is None else {**record, "limits": config.limits._asdict()}


def _config_from_json(record: dict[str, Any]) -> Config:
    limits = record.get("limits")
    made = None if limits is None else Limits(**limits)
    return Config(record["policy"], record["blocks"], record["aging_interval"], made)


def _lasso(found: Counterexample) -> dict[str, int] | None:
    values = found.values
    if "stem" not in values or "loop" not in values:
        return None
    return {name: int(values[name]) for name in ("request", "stem", "loop")}


def _provenance(tool_version: str, found_by: str, run: RunResult | None) -> Provenance:
    if run is None:
        return Provenance(tool_version, found_by)
    bounds = {name: _plain(value) for name, value in run.bounds.items()}
    return Provenance(tool_version, found_by, run.seed, bounds)


def _plain(value: Any) -> Any:
    """Pairs as JSON has them."""
    return [_plain(part) for part in value] if type(value) in (list, tuple) else value


def trace_schema() -> dict[str, Any]:
    """The JSON Schema of the document."""
    resource = files("schedproof.traces") / "schema" / "trace.schema.json"
    schema: dict[str, Any] = json.loads(resource.read_text(encoding="utf-8"))
    return schema


def _validate(record: Any, path: str, text: str) -> None:
    """Check a document against the schema; the first error is told with its place."""
    # Only reading a trace needs it, and it takes a while to import.
    from jsonschema import Draft202012Validator, exceptions

    known = cast("dict[str, Any]", record) if isinstance(record, dict) else {}
    version = known.get("schema_version")
    if type(version) is int and version > SCHEMA_VERSION:
        raise TraceError("trace.newer", path=path, version=version, known=SCHEMA_VERSION)
    validator: Any = Draft202012Validator(trace_schema())
    untyped: Any = exceptions  # its stubs name types that are not there
    error = untyped.best_match(validator.iter_errors(record))
    if error is None:
        return
    parts = list(error.absolute_path)
    place = "/".join(map(str, parts)) or "/"
    line = line_of(text, parts)
    kind = "trace.invalid_at" if line else "trace.invalid"
    raise TraceError(kind, path=path, line=line, place=place, error=error.message)


def line_of(text: str, parts: list[str | int]) -> int:
    """The line at which a part of a JSON text begins; 0 where that cannot be told."""
    try:
        position = _begin(text, 0)
        for part in parts:
            position = _enter(text, position, part)
    except (ValueError, IndexError, LookupError):
        return 0
    return text.count("\n", 0, position) + 1


def _begin(text: str, position: int) -> int:
    while text[position].isspace():
        position += 1
    return position


def _enter(text: str, position: int, part: str | int) -> int:
    """Where the value of a key, or of a number in a list, begins in the value at `position`."""
    decoder, count = json.JSONDecoder(), 0
    position += 1
    while True:
        position = _begin(text, position)
        key: str | int = count
        if isinstance(part, str):
            key, position = cast("tuple[str, int]", scanstring(text, position + 1))
            position = _begin(text, _begin(text, position) + 1)
        if key == part:
            return position
        _value, position = decoder.raw_decode(text, position)
        count += 1
        position = _begin(text, position)
        if text[position] != ",":
            raise LookupError(part)
        position += 1
