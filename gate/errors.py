"""The gate's exception tree.

RoutelockError
├── ConfigError      a configuration file cannot be loaded (file, line, fix)
├── RequestError     a request line cannot be read (where, fix)
├── LedgerError      the ledger is damaged, locked or cannot be written
└── ReplayError      a record cannot be replayed with what is at hand
    └── ErasedError  what is missing was erased

Every message says what was wrong, where, and what to do about it.
"""

from __future__ import annotations


class RoutelockError(Exception):
    """Base of all errors that a caller may want to catch."""


class ConfigError(RoutelockError):
    """A configuration file is unusable; carries `file`, `line` (1-based or None) and `fix`."""

    def __init__(
        self, problem: str, *, file: str = "", line: int | None = None, fix: str = ""
    ) -> None:
        self.problem, self.file, self.line, self.fix = problem, file, line, fix
        where = f"{file}:{line}: " if file and line else f"{file}: " if file else ""
        super().__init__(f"{where}{problem}" + (f"; {fix}" if fix else ""))


class RequestError(RoutelockError):
    """A request is malformed; carries `where` (for example `line 3, field utterance`) and `fix`."""

    def __init__(self, problem: str, *, where: str = "", fix: str = "") -> None:
        self.problem, self.where, self.fix = problem, where, fix
        super().__init__((f"{where}: " if where else "") + problem + (f"; {fix}" if fix else ""))


class LedgerError(RoutelockError):
    """The ledger is damaged, locked or cannot be written."""


class ReplayError(RoutelockError):
    """A stored decision cannot be replayed; the message names what is missing or differs."""


class ErasedError(ReplayError):
    """A stored decision stands on an earlier one whose receipt was erased."""
