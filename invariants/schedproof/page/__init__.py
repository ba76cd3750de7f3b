"""The page: one file that shows what a check came to, for reading and for playing through."""
