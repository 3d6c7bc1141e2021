"""The command line (thin) and one-word shell jobs."""
