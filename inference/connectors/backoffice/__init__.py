"""A stand-in for a bank's own system, for the demo and the tests; no part of the appliance.

It runs as a process of its own on loopback, with a database of its own, and shares with the
appliance only the secret that signs requests. `python -m inference.connectors.backoffice --help`.
"""
