"""Adapters for public schedulers that deviate from nano-vllm; none of their code is here."""
