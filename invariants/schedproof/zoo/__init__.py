"""Schedulers to try the claims on, each in one file."""
