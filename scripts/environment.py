"""The one place where environment variables are set: offline and silent model libraries.

The libraries read these when they are imported, so `apply` comes before any such import. Shell
jobs take the same values with `eval "$(python scripts/environment.py)"`.
"""

import os

OFFLINE = {
    "HF_HUB_OFFLINE": "1",
    "HF_HUB_DISABLE_TELEMETRY": "1",
    "HF_HUB_DISABLE_PROGRESS_BARS": "1",
    "VLLM_NO_USAGE_STATS": "1",
    "DO_NOT_TRACK": "1",
    "TOKENIZERS_PARALLELISM": "false",
}


def apply() -> None:
    """Set the offline variables in this process and its children."""
    os.environ.update(OFFLINE)


def shell_lines() -> list[str]:
    """The same variables as `export NAME=value` lines for a POSIX shell."""
    return [f"export {name}={value}" for name, value in OFFLINE.items()]


if __name__ == "__main__":
    print("\n".join(shell_lines()))
