"""The documents pathway: ingest, chunk, index, search, evidence, extractive answer."""
