"""Takes away from the calling process what a query must never have; nothing gives it back.

Network: a network namespace of its own where the kernel allows one, and always a system call filter
(seccomp(2)) under which no socket can be made. Files: the filter refuses to open, create, rename or
delete any; what is open already stays open. No other program can be started, no process traced.
Address space, processor time and the size of written files have limits (setrlimit(2)).

Linux on x86-64 and AArch64; elsewhere ConfinementError: without walls nothing runs.
"""

from __future__ import annotations

import ctypes
import os
import platform
import resource
import struct
import sys
from typing import Final

from sqlpath.errors import ConfinementError

CLONE_NEWUSER, CLONE_NEWNET = 0x10000000, 0x40000000
PR_SET_DUMPABLE, PR_SET_NO_NEW_PRIVS = 4, 38
SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_TSYNC = 1, 1
ALLOW, KILL, DENY = 0x7FFF0000, 0x80000000, 0x00050000 | 13  # EACCES
ABSENT = 0x00050000 | 38  # ENOSYS
LOAD_WORD, JUMP_EQUAL, JUMP_LEAST, JUMP_SET, RETURN = 0x20, 0x15, 0x35, 0x45, 0x06
X32: Final = 0x40000000
"""Numbers from here on are another interface to the same calls on x86-64."""

_SECCOMP: Final = {"x86_64": 317, "aarch64": 277}
_CLONE: Final = {"x86_64": 56, "aarch64": 220}
_CLONE3: Final = 435
CLONE_THREAD: Final = 0x00010000

# Numbers of the calls that are refused, in the order of the names.
_DENIED: Final = {
    "x86_64": (
        0xC000003E,
        {
            **{"open": 2, "creat": 85, "openat": 257, "openat2": 437, "open_by_handle_at": 304},
            **{"socket": 41, "connect": 42, "accept": 43, "bind": 49, "listen": 50},
            **{"socketpair": 53, "accept4": 288, "sendto": 44, "sendmsg": 46, "sendmmsg": 307},
            **{"fork": 57, "vfork": 58, "execve": 59, "execveat": 322, "ptrace": 101},
            **{"rename": 82, "renameat": 264, "renameat2": 316, "mkdir": 83, "mkdirat": 258},
            **{"rmdir": 84, "unlink": 87, "unlinkat": 263, "link": 86, "linkat": 265},
            **{"symlink": 88, "symlinkat": 266, "mknod": 133, "mknodat": 259, "truncate": 76},
            **{"chmod": 90, "fchmodat": 268, "chown": 92, "fchownat": 260, "mount": 165},
            **{"process_vm_readv": 310, "process_vm_writev": 311, "io_uring_setup": 425},
            **{"bpf": 321, "userfaultfd": 323, "memfd_create": 319, "kill": 62, "tkill": 200},
            **{"setns": 308, "unshare": 272, "pidfd_getfd": 438, "perf_event_open": 298},
        },
    ),
    "aarch64": (
        0xC00000B7,
        {
            **{"openat": 56, "openat2": 437, "open_by_handle_at": 265},
            **{"socket": 198, "connect": 203, "accept": 202, "bind": 200, "listen": 201},
            **{"socketpair": 199, "accept4": 242, "sendto": 206, "sendmsg": 211, "sendmmsg": 269},
            **{"execve": 221, "execveat": 281, "ptrace": 117},
            **{"renameat": 38, "renameat2": 276, "mkdirat": 34, "unlinkat": 35, "linkat": 37},
            **{"symlinkat": 36, "mknodat": 33, "truncate": 45, "fchmodat": 53, "fchownat": 54},
            **{"process_vm_readv": 270, "process_vm_writev": 271, "io_uring_setup": 425},
            **{"bpf": 280, "userfaultfd": 282, "memfd_create": 279, "kill": 129, "tkill": 130},
            **{"mount": 40, "setns": 268, "unshare": 97, "pidfd_getfd": 438},
            **{"perf_event_open": 241},
        },
    ),
}


def leave_network() -> bool:
    """Move into a network namespace without any interface; False where the kernel refuses that.

    Called while the process has one thread. Some containers refuse it; the filter then suffices.
    """
    libc = ctypes.CDLL(None, use_errno=True)
    return bool(libc.unshare(CLONE_NEWUSER | CLONE_NEWNET) == 0)


def confine(address_space: int) -> None:
    """Put every wall up but the one on processor time, which grows query by query.

    `address_space` in bytes. Raises ConfinementError where a wall that is always needed fails.
    """
    libc = ctypes.CDLL(None, use_errno=True)
    resource.setrlimit(resource.RLIMIT_AS, (address_space, address_space))
    resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    _must(libc.prctl(PR_SET_DUMPABLE, 0, 0, 0, 0), "PR_SET_DUMPABLE")
    _must(libc.prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), "PR_SET_NO_NEW_PRIVS")
    program = filter_program(platform.machine())
    held = ctypes.create_string_buffer(program, len(program))
    count = len(program) // 8
    head = struct.pack("HxxxxxxP", count, ctypes.addressof(held))
    pointer = ctypes.create_string_buffer(head, len(head))
    call = ctypes.c_long(_SECCOMP[platform.machine()])
    everywhere = SECCOMP_FILTER_FLAG_TSYNC  # every thread of the process, not this one alone
    _must(libc.syscall(call, SECCOMP_SET_MODE_FILTER, everywhere, pointer), "seccomp")


def filter_program(machine: str) -> bytes:
    """The filter in classic BPF for one kind of processor; ConfinementError for others."""
    if sys.platform != "linux" or machine not in _DENIED:
        raise ConfinementError(f"no system call filter for `{sys.platform}` on `{machine}`")
    architecture, denied = _DENIED[machine]
    steps = [
        (LOAD_WORD, 0, 0, 4),
        (JUMP_EQUAL, 1, 0, architecture),
        (RETURN, 0, 0, KILL),
        (LOAD_WORD, 0, 0, 0),
        (JUMP_LEAST, 0, 1, X32),
        (RETURN, 0, 0, KILL),
    ]
    # A new thread may be made, a new process may not; clone3 hides its flags, so it "does not exist".
    steps += [
        *((JUMP_EQUAL, 0, 1, _CLONE3), (RETURN, 0, 0, ABSENT)),
        *((JUMP_EQUAL, 0, 4, _CLONE[machine]), (LOAD_WORD, 0, 0, 16)),
        *((JUMP_SET, 0, 1, CLONE_THREAD), (RETURN, 0, 0, ALLOW), (RETURN, 0, 0, DENY)),
    ]
    for number in sorted(denied.values()):
        steps += [(JUMP_EQUAL, 0, 1, number), (RETURN, 0, 0, DENY)]
    steps.append((RETURN, 0, 0, ALLOW))
    return b"".join(struct.pack("HBBI", *step) for step in steps)


def allow_seconds(seconds: float) -> None:
    """Let this process use so many more seconds of processor time; then the kernel ends it."""
    used = resource.getrusage(resource.RUSAGE_SELF)
    limit = int(used.ru_utime + used.ru_stime + seconds) + 1
    _, hard = resource.getrlimit(resource.RLIMIT_CPU)
    resource.setrlimit(resource.RLIMIT_CPU, (limit, hard))


def _must(result: int, what: str) -> None:
    if result != 0:
        raise ConfinementError(f"`{what}` failed: {os.strerror(ctypes.get_errno())}")
