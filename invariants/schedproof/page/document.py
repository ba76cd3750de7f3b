"""The whole page of a check as one HTML document."""

from __future__ import annotations

from html import escape

from schedproof.telling.report import Summary, render_text


def page(summary: Summary, language: str) -> str:
    """The page as text."""
    return f"<!doctype html><pre>{escape(render_text(summary, language))}</pre>\n"
