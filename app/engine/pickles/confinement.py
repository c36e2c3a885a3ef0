"""Confinement of a process to its open pipes, its memory and its processor time."""

from __future__ import annotations

import os
import struct
import sys
from collections.abc import Callable

MAX_MEMORY = 1536 * 2**20
MAX_SECONDS = 3600
"""Processor seconds of the process; who waits for an answer has a limit of its own."""


def confine() -> str:
    """Give up what this process does not need; return what is in force: ``filter``, ``limits`` or ``process``.

    POSIX (``limits``): no file or connection can be opened, no file grows, no core is written, memory and processor
    time are bounded. Linux on x86-64 and ARM (``filter``): the kernel refuses all but some 30 system calls
    (``_SYSTEM_CALLS``), so nothing is renamed, removed, started or sent. Windows (``process``): nothing of that.

    Modules that are wanted later must be loaded before.
    """
    try:
        import resource
    except ImportError:
        return "process"
    bounds = [
        ("RLIMIT_NOFILE", 3), ("RLIMIT_FSIZE", 0), ("RLIMIT_CORE", 0), ("RLIMIT_NPROC", 0), ("RLIMIT_AS", MAX_MEMORY),
        ("RLIMIT_CPU", MAX_SECONDS),
    ]  # fmt: skip
    filtered = sys.platform == "linux" and _prepared_filter()
    for name, bound in bounds:
        number = getattr(resource, name, None)
        if number is None:
            continue
        try:
            resource.setrlimit(number, (bound, bound))
        except (OSError, ValueError):
            continue  # this system has no such bound
    return "filter" if filtered and filtered() else "limits"


_SYSTEM_CALLS = {
    # read, write, close, fstat, poll, lseek, mmap, mprotect, munmap, brk, rt_sigaction, rt_sigprocmask, rt_sigreturn,
    # select, sched_yield, mremap, madvise, setitimer, getpid, exit, gettimeofday, sigaltstack, futex, restart_syscall,
    # clock_gettime, exit_group, pselect6, ppoll, getrandom
    "x86_64": (0xC000003E, (0, 1, 3, 5, 7, 8, 9, 10, 11, 12, 13, 14, 15, 23, 24, 25, 28, 38, 39, 60, 96, 131, 202, 219,
                            228, 231, 270, 271, 318)),
    "aarch64": (0xC00000B7, (63, 64, 57, 80, 62, 222, 226, 215, 214, 134, 135, 139, 124, 216, 233, 103, 172, 93, 169,
                             132, 98, 128, 113, 94, 72, 73, 278)),
}  # fmt: skip


def _prepared_filter() -> Callable[[], bool] | None:
    """Return a function that has the kernel refuse all other system calls; ``None`` where that is not known here.

    Its parts are loaded before files can't be opened any more.
    """
    known = _SYSTEM_CALLS.get(os.uname().machine)
    if known is None or struct.calcsize("P") != 8:
        return None
    try:
        import ctypes

        libc = ctypes.CDLL(None, use_errno=True)
        prctl = libc.prctl
    except (ImportError, OSError, AttributeError):
        return None
    architecture, calls = known
    # struct sock_filter: load the architecture, else kill; load the call's number; allow the listed; refuse the rest
    rules = [(0x20, 0, 0, 4), (0x15, 1, 0, architecture), (0x06, 0, 0, 0x80000000), (0x20, 0, 0, 0)]
    rules += [(0x15, len(calls) - at, 0, call) for at, call in enumerate(calls)]
    rules += [(0x06, 0, 0, 0x00050001), (0x06, 0, 0, 0x7FFF0000)]
    program = ctypes.create_string_buffer(b"".join(struct.pack("HBBI", *rule) for rule in rules))

    class Program(ctypes.Structure):
        _fields_ = (("length", ctypes.c_ushort), ("rules", ctypes.c_void_p))

    given = Program(len(rules), ctypes.cast(program, ctypes.c_void_p))

    def install() -> bool:
        no_new_privileges, seccomp, mode_filter, dies_with_parent, killed = 38, 22, 2, 1, 9
        prctl(dies_with_parent, killed, 0, 0, 0)
        if prctl(no_new_privileges, 1, 0, 0, 0) != 0:
            return False
        return prctl(seccomp, mode_filter, ctypes.byref(given), 0, 0) == 0

    return install
