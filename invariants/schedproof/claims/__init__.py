"""What must hold of a scheduler: claims as values, and how they are judged."""
