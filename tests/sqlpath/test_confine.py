"""The walls around a query's process, tried from inside it."""

from __future__ import annotations

import gc
import subprocess
import sys
import textwrap
from collections.abc import Callable
from pathlib import Path

import pytest

from sqlpath.confine import filter_program
from sqlpath.errors import ConfinementError, QueryError
from sqlpath.execute import Database
from sqlpath.pool import Limits
from tests.models import ROOT

BEFORE = """
import ctypes, mmap, os, resource, signal, socket, subprocess, sys, threading
from sqlpath.confine import allow_seconds, confine, leave_network
print("network left" if leave_network() else "filter alone", flush=True)
held = open("/dev/null", "wb")
confine(1 << 30)
"""


def inside(code: str) -> str:
    """What a process prints that confines itself and then runs `code`."""
    program = BEFORE + textwrap.dedent(code)
    done = subprocess.run(  # noqa: S603
        [sys.executable, "-c", program], capture_output=True, text=True, cwd=ROOT, check=False
    )
    return done.stdout.partition("\n")[2].strip() or f"ended {done.returncode}"


REFUSED = {
    "a file is read": "open('/etc/passwd')",
    "a file is written": "open('/tmp/confined', 'w')",
    "a folder is listed": "os.listdir('/')",
    "a file is deleted": "os.unlink('/tmp/x')",
    "a file is renamed": "os.rename('/tmp/x', '/tmp/y')",
    "a folder is made": "os.mkdir('/tmp/confined')",
    "a link is made": "os.symlink('/etc/passwd', '/tmp/confined')",
    "a socket is made": "socket.socket()",
    "a pair of sockets is made": "socket.socketpair()",
    "a process is forked": "os.fork()",
    "a program is run": "os.execv('/bin/true', ['true'])",
    "a parent is killed": "os.kill(os.getppid(), 0)",
    "memory becomes a file": "os.memfd_create('x')",
}


@pytest.mark.parametrize("what", REFUSED)
def test_nothing_gets_out(what: str) -> None:
    assert (
        inside(f"""
        try:
            {REFUSED[what]}
            print("done")
        except PermissionError:
            print("refused")
    """)
        == "refused"
    )


def test_threads_that_were_there_are_behind_the_same_walls() -> None:
    program = BEFORE.replace(
        "confine(1 << 30)",
        textwrap.dedent("""
        go, said = threading.Event(), []
        def other():
            go.wait()
            try:
                open("/etc/passwd")
                said.append("done")
            except PermissionError:
                said.append("refused")
        thread = threading.Thread(target=other)
        thread.start()
        confine(1 << 30)
        go.set()
        thread.join()
        print(*said)
    """),
    )
    done = subprocess.run(  # noqa: S603
        [sys.executable, "-c", program], capture_output=True, text=True, cwd=ROOT, check=True
    )
    assert done.stdout.splitlines()[1:] == ["refused"]


def test_new_threads_are_allowed() -> None:
    assert (
        inside("""
        thread = threading.Thread(target=lambda: print("ran"))
        thread.start()
        thread.join()
    """)
        == "ran"
    )


def test_address_space_is_limited() -> None:
    assert (
        inside("""
        try:
            bytearray(2 << 30)
            print("done")
        except MemoryError:
            print("refused")
    """)
        == "refused"
    )


def test_limits_can_not_be_raised() -> None:
    assert (
        inside("""
        try:
            resource.setrlimit(resource.RLIMIT_AS, (4 << 30, 4 << 30))
            open("/etc/passwd")
            print("done")
        except (PermissionError, ValueError):
            print("refused")
    """)
        == "refused"
    )


def test_processor_time_ends_the_process() -> None:
    assert (
        inside("""
        allow_seconds(0)
        while True:
            pass
    """)
        == "ended -24"
    )


def test_machine_without_a_filter_runs_nothing() -> None:
    with pytest.raises(ConfinementError, match="riscv64"):
        filter_program("riscv64")


@pytest.mark.parametrize("machine", ["x86_64", "aarch64"])
def test_filter_is_whole_steps_that_end_in_a_verdict(machine: str) -> None:
    program = filter_program(machine)
    assert len(program) % 8 == 0
    assert program[-8:][:2] == b"\x06\x00"


def test_query_process_has_its_limits(opened: Callable[[Limits], Database]) -> None:
    database = opened(Limits(address_space=3 * 2**29, processes=1))
    (worker,) = database._pool._free
    limits = Path(f"/proc/{worker.pid}/limits").read_text()
    assert str(3 * 2**29) in next(line for line in limits.splitlines() if "address space" in line)
    assert Path(f"/proc/{worker.pid}/status").read_text().count("Seccomp:\t2") == 1


def test_process_that_does_not_stop_is_killed_and_replaced(
    opened: Callable[[Limits], Database],
) -> None:
    database = opened(Limits(seconds=0.2, processes=1))
    (before,) = database._pool._free
    with pytest.raises(QueryError) as caught:
        database.run("q", "SELECT length(array_to_string(range(40000000), ','))", {})
    assert caught.value.reason in ("deadline", "query_failed", "worker_lost")
    assert database.run("q", "SELECT 1", {}).rows == ((1,),)
    (after,) = database._pool._free
    assert caught.value.reason == "query_failed" or after.pid != before.pid


def test_no_process_is_left(opened: Callable[[Limits], Database]) -> None:
    database = opened(Limits(processes=1))
    (worker,) = database._pool._free
    database.close()
    assert not Path(f"/proc/{worker.pid}").exists()


def test_pool_that_nobody_closed_leaves_no_process(file: Path) -> None:
    database = Database.open(file, Limits(processes=1))
    (worker,) = database._pool._free
    pid = worker.pid
    del database, worker
    gc.collect()
    assert not Path(f"/proc/{pid}").exists()
