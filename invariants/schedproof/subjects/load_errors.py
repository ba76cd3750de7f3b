"""What can be wrong with a target, and with a subject's code while it is loaded.

Two errors, split by what a person has to do. A `TargetError` says that the words on the command
line do not lead to a class: type something else (usage, exit code 2). A `SubjectLoadError` says
that the code was found and failed while it ran or was parsed: repair the code (exit code 3).
Neither carries a sentence: both name a message of the catalogue and the fields it needs, because
the same trouble is told in two languages and in four renderings.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Literal

from schedproof.subjects.places import Place, error_text, is_written, locate, place_at, spots_of

LoadFailure = Literal["syntax_error", "raised", "exited", "too_deep", "relative_import"]


@dataclass(frozen=True)
class Note:
    """Something a person should know though it is no error: a cell that failed, a magic left out.

    `message_id` names a text of the catalogue, `fields` what it has placeholders for.
    """

    message_id: str
    fields: dict[str, str] = field(default_factory=dict[str, str])

    def to_json(self) -> dict[str, Any]:
        """As a JSON object with the keys `message_id` and `fields`."""
        return {"message_id": self.message_id, "fields": dict(self.fields)}


class TargetError(Exception):
    """The target names nothing that could be checked.

    `message_id` is an id like `target.no_file`, `fields` its placeholders: short texts, never
    sentences, "" where there is nothing to say.
    """

    def __init__(self, message_id: str, **fields: str) -> None:
        super().__init__(message_id, fields)
        self.message_id = message_id
        self.fields = fields

    def to_json(self) -> dict[str, Any]:
        """As a JSON object with the keys `message_id` and `fields`."""
        return {"message_id": self.message_id, "fields": dict(self.fields)}

    @classmethod
    def from_json(cls, value: dict[str, Any]) -> TargetError:
        """The error written by `to_json`."""
        return cls(value["message_id"], **value["fields"])


class SubjectLoadError(Exception):
    """The subject's code failed before its class existed.

    `kind` says how, `place` where (None when no line of the subject's is involved), `error` is
    the error as one text, `suggestion` another target that may work ("" without one), `notes`
    what had been noticed until then.
    """

    def __init__(
        self,
        kind: LoadFailure,
        place: Place | None,
        error: str,
        suggestion: str = "",
        notes: tuple[Note, ...] = (),
    ) -> None:
        super().__init__(kind, error)
        self.kind: LoadFailure = kind
        self.place = place
        self.error = error
        self.suggestion = suggestion
        self.notes = notes

    @property
    def message_id(self) -> str:
        """`load.` and the kind."""
        return f"load.{self.kind}"

    @property
    def fields(self) -> dict[str, str]:
        """The placeholders of the message; the place is told by a text of its own."""
        return {"error": self.error, "suggestion": self.suggestion}

    def to_json(self) -> dict[str, Any]:
        """As a JSON object; `from_json` is its inverse."""
        return {
            "kind": self.kind,
            "place": self.place.to_json() if self.place else None,
            "error": self.error,
            "suggestion": self.suggestion,
            "notes": [note.to_json() for note in self.notes],
        }

    @classmethod
    def from_json(cls, value: dict[str, Any]) -> SubjectLoadError:
        """The error written by `to_json`."""
        notes = tuple(Note(note["message_id"], note["fields"]) for note in value["notes"])
        place = Place.from_json(value["place"])
        return cls(value["kind"], place, value["error"], value["suggestion"], notes)


def load_failure(
    error: BaseException,
    suggestion: str = "",
    notes: tuple[Note, ...] = (),
    file: str = "",
) -> SubjectLoadError:
    """What an exception from the subject's top level means to the person who wrote it.

    `file` is the place where the error itself tells none; `suggestion` is for a file that lies
    in a package.
    """
    place = locate(error) or (place_at(file, 0) if file else None)
    kind = _failure_kind(error, bool(suggestion))
    text = _exit_text(error) if isinstance(error, SystemExit) else error_text(error)
    suggestion = suggestion if kind == "relative_import" else ""
    return SubjectLoadError(kind, place, text, suggestion, notes)


def _failure_kind(error: BaseException, may_be_package: bool = False) -> LoadFailure:
    """How the code failed; `may_be_package` where the file lies in a package."""
    if isinstance(error, SystemExit):
        return "exited"
    if isinstance(error, RecursionError):
        return "too_deep"
    if _does_not_parse(error):
        return "syntax_error"
    relative = isinstance(error, ImportError) and "relative import" in str(error)
    return "relative_import" if relative and may_be_package else "raised"


def _does_not_parse(error: BaseException) -> bool:
    """Whether a file failed to compile: the failing file was never entered.

    A file with NUL bytes is told without its name, and before Python 3.12 by a ValueError.
    """
    if isinstance(error, SyntaxError) and error.filename:
        return all(spot.file != error.filename for spot in spots_of(error))
    if isinstance(error, SyntaxError) or _says_null_bytes(error):
        return not any(is_written(spot) for spot in spots_of(error))
    return False


def _says_null_bytes(error: BaseException) -> bool:
    return type(error) is ValueError and "null bytes" in error_text(error)


def _exit_text(error: SystemExit) -> str:
    """`sys.exit(2)`, as it would be typed."""
    code = error.code
    return "sys.exit()" if code is None else f"sys.exit({code!r})"
