"""The forms in which `schedproof export` writes a trace, by name, with the end of a file's name."""

from __future__ import annotations

FORMS = {
    "pytest": ".py",
    "standalone": ".py",
    "itf": ".itf.json",
    "mermaid": ".mmd",
    "json": ".json",
}
