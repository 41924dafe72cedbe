"""Our own code can be imported on Windows and macOS: what these lack is used on other systems only.

`make types` checks the same code by the types of both systems.
"""

from __future__ import annotations

import subprocess
import sys

IMPORTED_ELSEWHERE = """
import ctypes, gc, importlib, os, pkgutil, signal, socket, subprocess, sys, time, types

LACKING = {
    "win32": {
        "modules": ("fcntl", "pwd", "grp", "resource", "termios", "posix", "_posixsubprocess"),
        os: (
            "fork forkpty getuid geteuid getgid getegid getgroups setuid setsid killpg nice uname "
            "getloadavg getpgid sched_getaffinity sched_yield statvfs fchmod fchown chown mkfifo "
            "pread pwrite preadv sendfile sync posix_fallocate posix_fadvise memfd_create eventfd "
            "pidfd_open sysconf confstr wait wait3 wait4 WNOHANG openpty ttyname "
            "O_PATH O_CLOEXEC O_NOFOLLOW O_NONBLOCK O_DIRECTORY O_SYNC"
        ).split(),
        signal: (
            "SIGKILL SIGHUP SIGUSR1 SIGUSR2 SIGALRM SIGCHLD SIGQUIT SIGPIPE SIGSTOP SIGCONT alarm "
            "setitimer pthread_kill pthread_sigmask sigwait"
        ).split(),
        socket: "AF_UNIX AF_NETLINK MSG_NOSIGNAL send_fds recv_fds SO_REUSEPORT".split(),
        time: "tzset pthread_getcpuclockid clock_gettime CLOCK_MONOTONIC CLOCK_BOOTTIME".split(),
    },
    "darwin": {
        "modules": ("winreg", "msvcrt", "_winapi", "spwd"),
        os: (
            "sched_getaffinity posix_fallocate posix_fadvise memfd_create eventfd pidfd_open "
            "prlimit splice copy_file_range O_PATH O_LARGEFILE"
        ).split(),
        socket: "AF_NETLINK SO_PEERCRED SOCK_CLOEXEC".split(),
        time: ("CLOCK_BOOTTIME",),
    },
}
ONLY_THERE = {
    "win32": {
        ctypes: {"WinDLL": ctypes.CDLL, "windll": None, "WINFUNCTYPE": ctypes.CFUNCTYPE},
        signal: {"SIGBREAK": 21, "CTRL_C_EVENT": 0, "CTRL_BREAK_EVENT": 1},
        subprocess: {"CREATE_NO_WINDOW": 0x08000000, "CREATE_NEW_PROCESS_GROUP": 0x200},
        socket: {"SO_EXCLUSIVEADDRUSE": -5},
    },
    "darwin": {},
}
OURS = ("tequio_client", "tequio_shared")


def modules():
    for name in OURS:
        path = importlib.import_module(name).__path__
        found = (one.name for one in pkgutil.walk_packages(path, f"{name}."))
        yield from (one for one in found if not one.endswith("__main__"))


def forget():
    for name in [one for one in sys.modules if one.partition(".")[0] in OURS]:
        del sys.modules[name]


def import_on(system):
    forget()
    sys.platform = system
    lacking, before = dict(LACKING[system]), []
    for name in lacking.pop("modules"):
        before.append((sys.modules, name, sys.modules.get(name)))
        sys.modules[name] = None
    for module, names in lacking.items():
        for name in names:
            if hasattr(module, name):
                before.append((module, name, getattr(module, name)))
                delattr(module, name)
    for module, added in ONLY_THERE[system].items():
        for name, value in added.items():
            setattr(module, name, value)
    for name in names_of_modules:
        try:
            importlib.import_module(name)
        except Exception as err:
            print(f"{system}: {name}: {type(err).__name__}: {err}")
    for place, name, value in before:
        if place is sys.modules:
            place.pop(name, None) if value is None else place.__setitem__(name, value)
        else:
            setattr(place, name, value)


gc.disable()  # it takes an eighth of the time of imports
names_of_modules = sorted(modules())
for name in names_of_modules:  # with everything from elsewhere, which stays
    importlib.import_module(name)
for system in LACKING:
    import_on(system)
print(len(names_of_modules))
"""


def test_every_module_can_be_imported_where_windows_and_macos_lack_something() -> None:
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", IMPORTED_ELSEWHERE],
        capture_output=True,
        text=True,
        check=False,
    )
    *problems, count = done.stdout.splitlines() or [done.stderr]
    assert problems == []
    assert int(count) > 300, done.stderr
