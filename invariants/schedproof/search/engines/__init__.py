"""Searching engines: small random inputs, played to the end, and made smaller where they fail."""
