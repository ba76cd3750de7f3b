"""Cards: what a result shows when a notebook cell ends with it, without any script."""
