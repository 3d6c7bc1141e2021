"""The records pathway: verified queries, run read-only, put into words from the rows alone."""
