"""Errors of the evaluation.

EvalError (a RoutelockError)
├── SuiteError       a file of cases, labels or recordings cannot be used (file, line, fix)
├── ProposerError    no such proposer, or it cannot be opened
└── OutputError      the result cannot be written
"""

from __future__ import annotations

from gate.errors import RoutelockError


class EvalError(RoutelockError):
    """Base of all errors of the evaluation; a command answers each with exit code 2."""


class SuiteError(EvalError):
    """A file is unusable; carries `file`, `line` (1-based or None) and `fix`."""

    def __init__(self, problem: str, *, file: str, line: int | None = None, fix: str) -> None:
        self.problem, self.file, self.line, self.fix = problem, file, line, fix
        where = f"{file}:{line}" if line else file
        super().__init__(f"{where}: {problem}; {fix}")


class ProposerError(EvalError):
    """A proposer named on the command line cannot be opened; the message says what to do."""


class OutputError(EvalError):
    """The folder for a result cannot be made or written; the message names it."""
