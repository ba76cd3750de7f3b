"""`python -m schedproof` is the command `schedproof`."""

from schedproof.cli import main

main()
