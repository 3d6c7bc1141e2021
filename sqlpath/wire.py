"""What goes between the appliance and the process that runs queries: framed JSON, nothing executable.

A frame is four bytes of length, most significant first, and UTF-8 JSON. Values that JSON lacks are
mappings of one letter to text or list. Arrow would do the same for large results; answers have tens
of rows, and this needs no further library on either side.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from typing import Any, BinaryIO, Final
from uuid import UUID

KINDS: Final = frozenset(
    """
    BinderException CatalogException ConstraintException ConversionException DataError Error
    FatalException HTTPException IOException IntegrityError InternalError InternalException
    InterruptException InvalidInputException InvalidTypeException NotImplementedException
    NotSupportedError OperationalError OutOfMemoryException OutOfRangeException ParserException
    PermissionException ProgrammingError SequenceException SerializationException SyntaxException
    TransactionException TypeMismatchException DependencyException MemoryError OverflowError
    ValueError
    """.split()
)
"""Classes of errors that an engine's error may be named by."""

LENGTH: Final = 4


def frame(message: Any) -> bytes:
    """One message as a frame."""
    body = json.dumps(message, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    data = body.encode("utf-8", "surrogatepass")
    return len(data).to_bytes(LENGTH, "big") + data


def read_frame(stream: BinaryIO) -> Any:
    """The next message, or None at the end of the stream."""
    head = stream.read(LENGTH)
    if len(head) < LENGTH:
        return None
    body = stream.read(int.from_bytes(head, "big"))
    return json.loads(body.decode("utf-8", "surrogatepass"))


def encode(value: object) -> Any:
    """A value of DuckDB's Python types as JSON; raises ValueError for a type of another kind."""
    if value is None or isinstance(value, (bool, int, str)):
        return value
    if isinstance(value, float):
        return value if math.isfinite(value) else {"f": str(value)}
    for kind, letter, to_text in _TEXTS:
        if isinstance(value, kind):
            return {letter: to_text(value)}
    if isinstance(value, timedelta):
        return {"i": [value.days, value.seconds, value.microseconds]}
    if isinstance(value, (list, tuple)):
        return {"l": [encode(item) for item in value]}
    if isinstance(value, dict):
        return {"s": [[encode(key), encode(item)] for key, item in value.items()]}
    raise ValueError(type(value).__name__)


def decode(value: Any) -> Any:
    """The value that `encode` was given; lists for tuples."""
    if not isinstance(value, dict):
        return value
    ((letter, inner),) = value.items()
    return _FROM[letter](inner)


# A datetime is a date too: the narrower class stands first.
_TEXTS: Final[tuple[tuple[type, str, Callable[[Any], str]], ...]] = (
    (Decimal, "d", str),
    (datetime, "t", datetime.isoformat),
    (date, "y", date.isoformat),
    (time, "h", time.isoformat),
    (UUID, "u", str),
    (bytes, "b", bytes.hex),
)
_FROM: Final[dict[str, Callable[[Any], Any]]] = {
    "f": float,
    "d": Decimal,
    "t": datetime.fromisoformat,
    "y": date.fromisoformat,
    "h": time.fromisoformat,
    "u": UUID,
    "b": bytes.fromhex,
    "i": lambda parts: timedelta(*parts),
    "l": lambda items: [decode(item) for item in items],
    "s": lambda pairs: {decode(key): decode(item) for key, item in pairs},
}
