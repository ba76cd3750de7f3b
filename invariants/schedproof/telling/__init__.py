"""Telling people what was found: one catalogue of texts, and the forms that they take."""
