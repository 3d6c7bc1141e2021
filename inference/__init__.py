"""Tiers, backends, the way through, connectors: everything between a request and its answer."""
