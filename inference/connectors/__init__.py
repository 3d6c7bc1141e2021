"""Connectors: the typed, idempotent hand-over of a confirmed write to a service."""
