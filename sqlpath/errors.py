"""The records pathway's exception tree.

RoutelockError (gate.errors)
└── RecordsError
    ├── LoadError          a source does not give what the load's plan declares
    ├── SnapshotError      the database file is absent, changed, or not what the queries expect
    ├── ConfinementError   this machine cannot confine a process; nothing is run
    └── QueryError         one query gave no rows that may be answered; `reason` is its code
"""

from gate.errors import RoutelockError


class RecordsError(RoutelockError):
    """Base of the records pathway's errors."""


class SnapshotError(RecordsError):
    """The database cannot be used; the message names the file and the fix."""


class LoadError(RecordsError):
    """Nothing was loaded; the message names source or column and the fix, never a value."""


class ConfinementError(RecordsError):
    """The process that runs queries cannot be confined here."""


class QueryError(RecordsError):
    """A query ended without an answer; the engine's own words are never part of the message.

    `reason`: `no_session`, `no_object`, `no_slot`, `deadline`, `row_limit`, `byte_limit`, `busy`,
    `worker_lost`, `not_admitted`, `not_reproducible` or `query_failed`; for the last, `kind` is the
    class of the engine's error, one of `sqlpath.wire.KINDS`.
    """

    def __init__(self, reason: str, query_id: str, kind: str = "") -> None:
        self.reason, self.query_id, self.kind = reason, query_id, kind
        super().__init__(f"query `{query_id}`: {reason}")
