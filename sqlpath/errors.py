"""The records pathway's exception tree.

RoutelockError (gate.errors)
└── RecordsError
    ├── SnapshotError   the database file is absent, changed, or not what the queries expect
    └── QueryError      one query gave no rows that may be answered; `reason` is its code
"""

from gate.errors import RoutelockError


class RecordsError(RoutelockError):
    """Base of the records pathway's errors."""


class SnapshotError(RecordsError):
    """The database cannot be used; the message names the file and the fix."""


class QueryError(RecordsError):
    """A query ended without an answer; the engine's own words are never part of the message.

    `reason`: `no_session`, `no_object`, `no_slot`, `deadline`, `row_limit` or `query_failed`.
    """

    def __init__(self, reason: str, query_id: str) -> None:
        self.reason, self.query_id = reason, query_id
        super().__init__(f"query `{query_id}`: {reason}")
