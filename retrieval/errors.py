"""The documents pathway's exception tree.

RoutelockError (gate.errors)
└── RetrievalError
    ├── IngestError       a file cannot be turned into text with places in it
    └── BrokenIndexError  an index is absent, damaged, or made with another encoder
"""

from gate.errors import RoutelockError


class RetrievalError(RoutelockError):
    """Base of the documents pathway's errors."""


class IngestError(RetrievalError):
    """One file cannot be read; carries `file`."""

    def __init__(self, file: str, problem: str, fix: str) -> None:
        self.file = file
        super().__init__(f"`{file}`: {problem}; {fix}")


class BrokenIndexError(RetrievalError):
    """An index must not be used; the message says which part and how to build it again."""
