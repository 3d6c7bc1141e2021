"""Training recipes: one readable file each."""
