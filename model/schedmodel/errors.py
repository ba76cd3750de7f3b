"""The named errors of the model.

Rules. An error is split by whose fault it is: `InvalidInput` for a value that a
caller handed in, `IllegalTransition` and `IllegalAssignment` for a move that the
lifecycle does not have. Each says what was got and what is allowed, keeps these as
attributes, and is raised before anything has changed.
"""

from __future__ import annotations

from typing import TYPE_CHECKING


class InvalidInput(ValueError):
    """A value that the model does not take; `field`, `value` and `allowed` say which and why."""

    # Nothing is done before somebody reads it: a search has its calls refused by the million.

    if TYPE_CHECKING:

        def __init__(self, field: str, value: object, allowed: str) -> None: ...

    @property
    def field(self) -> str:
        name: str = self.args[0]
        return name

    @property
    def value(self) -> object:
        return self.args[1]

    @property
    def allowed(self) -> str:
        allowed: str = self.args[2]
        return allowed

    def __str__(self) -> str:
        try:
            shown = repr(self.value)
        except Exception:  # an int of thousands of digits, or whatever a caller thought of
            shown = f"a value of type {type(self.value).__name__} that cannot be shown"
        return f"{self.field} must be {self.allowed}, got {shown}"


class IllegalTransition(Exception):
    """A trigger that the request's state has no edge for, or whose guard says no.

    `reason` is the name of the guard that refused, or "no such edge".
    """

    def __init__(self, request_id: int, state: str, trigger: str, reason: str) -> None:
        super().__init__(f"request {request_id} in state {state} cannot {trigger}: {reason}")
        self.request_id, self.state, self.trigger, self.reason = request_id, state, trigger, reason

    def __reduce__(self) -> tuple[type[IllegalTransition], tuple[int, str, str, str]]:
        return type(self), (self.request_id, self.state, self.trigger, self.reason)


class IllegalAssignment(AttributeError):
    """An attribute that only the lifecycle may change, or only in other states."""

    def __init__(self, attribute: str, holder: str, allowed: str) -> None:
        super().__init__(f"cannot assign {attribute} of {holder}: {allowed}")
        self.attribute, self.holder, self.allowed = attribute, holder, allowed

    def __reduce__(self) -> tuple[type[IllegalAssignment], tuple[str, str, str]]:
        return type(self), (self.attribute, self.holder, self.allowed)
