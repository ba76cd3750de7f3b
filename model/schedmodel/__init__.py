"""The executable model of decode scheduling."""

__version__ = "0.1.0"
