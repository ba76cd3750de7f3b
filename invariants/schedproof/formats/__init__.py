"""Formats that other programs read: JUnit, SARIF, Markdown, ITF, Mermaid, tests for pytest."""
