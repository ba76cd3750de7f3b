"""What is judged: the contract every scheduler is seen through, and the adapters to it."""
