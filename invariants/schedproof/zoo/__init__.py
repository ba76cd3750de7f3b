"""Schedulers to try the claims on: one that is right, and the faults that can be put into it."""
