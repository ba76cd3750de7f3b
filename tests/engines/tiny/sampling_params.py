"""How a request is to be answered."""

from dataclasses import dataclass


@dataclass
class SamplingParams:
    """Only the limit matters here."""

    temperature: float = 1.0
    max_tokens: int = 64
    ignore_eos: bool = False
