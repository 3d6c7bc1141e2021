"""How a module that is run as a program ends: with its exit code, also where nobody reads on."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from typing import NoReturn


def run(main: Callable[[], int]) -> NoReturn:
    """Run `main` and exit with what it returns; with 0 where the reader of a pipe went away (`| head`)."""
    try:
        code = main()
        sys.stdout.flush()
    except BrokenPipeError:
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, sys.stdout.fileno())  # the interpreter flushes once more at its end
        code = 0
    sys.exit(code)
