"""Readers of file formats: bytes to a stream of headings and blocks; `retrieval.ingest` calls them."""
