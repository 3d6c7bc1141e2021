"""The exception tree of training.

RoutelockError (gate.errors)
└── TrainingError   labels or a base model that no recipe can train on
"""

from gate.errors import RoutelockError


class TrainingError(RoutelockError):
    """A recipe cannot start or its result must not be used; the message says why."""
