"""`python -m schedproof` is the command `schedproof`."""

from schedproof.cli import start

start()
