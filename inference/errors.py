"""The exception tree of inference.

RoutelockError (gate.errors)
└── InferenceError
    ├── ArtefactError     a model folder is absent, incomplete, changed or of another kind
    ├── BackendError      a proposer backend failed or answered outside the closed choice
    ├── CalibrationError  scores, samples or limits from which no threshold may be derived
    └── AssemblyError     the parts of an appliance do not fit together
"""

from gate.errors import RoutelockError


class InferenceError(RoutelockError):
    """Base of inference's errors."""


class ArtefactError(InferenceError):
    """A model folder must not be used; the message says which file and what to do."""


class BackendError(InferenceError):
    """A backend gave no usable choice; `reason` is the code that the abstention will carry.

    `sent` and `raw` are what went out and came back, for the receipt.
    """

    def __init__(self, reason: str, problem: str, sent: str = "", raw: str = "") -> None:
        self.reason, self.sent, self.raw = reason, sent, raw
        super().__init__(problem)


class CalibrationError(InferenceError):
    """Scores, a sample or limits from which nothing may be derived; the message says what to change."""


class AssemblyError(InferenceError):
    """An appliance cannot be opened; the message names the part and the fix."""
