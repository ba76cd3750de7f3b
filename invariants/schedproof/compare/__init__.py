"""Policies on recorded arrivals: what is real, what is assumed, and what differs."""
