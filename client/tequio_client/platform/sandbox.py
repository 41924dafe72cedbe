"""Confines a child process that opens models and data of strangers, on Linux.

Two parts of the kernel do it, neither of which needs privileges: Landlock says which files may be
opened, seccomp which system calls fail. What the process starts is confined as well, and nothing
can be undone. After `enter`, this process

* writes only below the folders that it was given, and to the devices that computing needs;
* reads and lists nothing in people's home folders, on drives that they attach and in hidden
  folders, except Python, its own code, and what it was given. It can still ask whether a name
  exists there, how large the file is and when it changed: Landlock does not see `stat`;
* reads the rest of the computer as before, because drivers do. Not the memory that other programs
  share (/dev/shm), unless a driver for computing is present, which may use it. Device nodes have to
  exist by then, so the driver's are made here if they are missing;
* changes modes, owners and attributes of no file, its own included;
* has no network, unless it was given one: no socket that leaves this computer, and no connection
  to a program on it. Creating, binding and listening on local sockets still works: CUDA does so.
  A rank of a cell has TCP with the other ranks: on one computer in a network of their own where
  that is allowed (`cell_network`), else by port, since neither part of the kernel sees addresses;
* reaches into no other process, and gains no privileges from programs with special rights.

Which system calls fail is in `call_filter`.

The rules come in the variable VARIABLE, from `environment`. A rule that the kernel refuses, or no
rules, end the process: that is our mistake. A kernel without one of the parts is not; `enter`
returns what there is, for people to read.

Landlock covers one thread until ABI 8, so `enter` comes before any other thread. (landlock(7),
seccomp(2), linux/landlock.h, linux/seccomp.h.)
"""

from __future__ import annotations

import ctypes
import errno
import importlib.util
import json
import os
import platform
import shutil
import site
import struct
import subprocess
import sys
import sysconfig
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass
from glob import glob
from pathlib import Path
from typing import NoReturn

from tequio_client.platform import call_filter, cell_network
from tequio_client.platform.call_filter import NetworkAccess

VARIABLE = "TEQUIO_SANDBOX"
OFF = "off"
"""Value of VARIABLE in the worker's environment that switches the sandbox off."""
HOMES = (
    *("/home", "/root", "/run/user", "/var/home", "/usr/home"),
    *("/media", "/run/media", "/mnt"),  # drives that people attach; WSL has those of Windows here
)
"""Folders of people; with that of this user, wherever it is."""
_DEVICES = (
    *("/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom"),
    "/dev/dri",  # AMD, Intel
)
_COMPUTE_DEVICES = (
    *("/dev/nvidia*", "/dev/nvhost*", "/dev/nvmap", "/dev/nvgpu*", "/dev/dxg"),  # NVIDIA, WSL
    "/dev/kfd",  # AMD
)
_SHARED_MEMORY = "/dev/shm"  # noqa: S108
_NVIDIA = "0x10de"
_VENDOR_FOLDERS = ("CUDA_", "HIP_", "ROCM_", "ROCR_", "NVIDIA_")
"""Beginnings of variables that may name a folder of a driver's libraries."""
_LOAD_S = 10.0


@dataclass(frozen=True, slots=True, kw_only=True)
class SandboxRules:
    """Permissions of a child; all paths are absolute. Folders to write are read as well."""

    writes: tuple[str, ...]
    reads: tuple[str, ...] = ()
    hidden: tuple[str, ...] = ()
    """Folders in which only `reads` and `writes` are read, beside people's home folders."""
    network: NetworkAccess = NetworkAccess.NONE
    port: int = 0
    """Port of a cell's store on several computers."""

    def encode(self) -> str:
        return json.dumps(asdict(self))

    @classmethod
    def parse(cls, text: str) -> SandboxRules:
        """Read `encode` back; raises KeyError, TypeError or ValueError."""
        fields = json.loads(text)
        return cls(
            writes=tuple(map(str, fields["writes"])),
            reads=tuple(map(str, fields["reads"])),
            hidden=tuple(map(str, fields["hidden"])),
            network=NetworkAccess(fields["network"]),
            port=int(fields["port"]),
        )


def environment(rules: SandboxRules, cache: Path) -> dict[str, str]:
    """Variables for a child with these rules; drivers and libraries write below `cache`.

    Creates the folders to write; raises OSError. What the rules name has to exist when the child
    starts: Landlock has rules for files, not for names.
    """
    if os.environ.get(VARIABLE) == OFF:
        return {VARIABLE: OFF}
    for folder in (*map(Path, rules.writes), cache / "temp"):
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    caches = {
        "XDG_CACHE_HOME": "xdg",
        "CUDA_CACHE_PATH": "cuda",
        "TRITON_CACHE_DIR": "triton",
        "TORCHINDUCTOR_CACHE_DIR": "inductor",
        "MIOPEN_USER_DB_PATH": "miopen",
        "MIOPEN_CUSTOM_CACHE_DIR": "miopen",
        "NEO_CACHE_DIR": "neo",
        "TMPDIR": "temp",
    }
    return {VARIABLE: rules.encode(), **{name: str(cache / one) for name, one in caches.items()}}


def enter(variables: Mapping[str, str] = os.environ) -> str:
    """Confine this process as its rules say; returns what confines it now, in words.

    Ends the process if it has no valid rules, or the kernel refuses them.
    """
    text = variables.get(VARIABLE, "")
    if text == OFF:
        return f"none: switched off by {VARIABLE}"
    try:
        rules = SandboxRules.parse(text)
    except (KeyError, TypeError, ValueError):
        _refuse(f"{VARIABLE} holds no rules for a sandbox: start this program through the worker")
    if sys.platform != "linux":
        return f"none: not available on {platform.system() or sys.platform}"
    if threading.active_count() > 1 or len(os.listdir("/proc/self/task")) > 1:  # noqa: PTH208
        _refuse("a thread was started before the sandbox: it would not be confined")
    _load_cuda_driver()
    lacks = missing_nodes(Path("/"))
    try:
        is_apart = rules.network is NetworkAccess.CELL and cell_network.enter_own_network()
        confined = _confine(rules, is_apart=is_apart)
    except OSError as err:
        _refuse(f"the sandbox could not be set up: {err}")
    if lacks:
        sys.stderr.write(f"{lacks}\n")
    return f"{confined}; {lacks}" if lacks else confined


def is_available(variables: Mapping[str, str] = os.environ) -> bool:
    """True if a child of this process will be confined in its files and in its network."""
    is_off = variables.get(VARIABLE) == OFF
    if sys.platform != "linux" or is_off or not call_filter.is_known_machine():
        return False
    return _landlock_abi() > 0


def empty_temp(variables: Mapping[str, str] = os.environ) -> None:
    """Delete what an earlier child left in its folder for temporary files; call it confined."""
    # In the child: the worker has no reason to walk through folders that strangers' code filled.
    temp = variables.get("TMPDIR", "")
    try:
        is_own = any(
            _is_around(one, {temp}) for one in SandboxRules.parse(variables[VARIABLE]).writes
        )
    except (KeyError, TypeError, ValueError):
        return
    if not is_own:
        return
    # What lies too deep for it counts as too large, and the worker deletes it.
    with suppress(RecursionError):
        shutil.rmtree(temp, ignore_errors=True)
    with suppress(OSError):
        os.makedirs(temp, mode=0o700, exist_ok=True)  # noqa: PTH103 - a text, as all paths here


def _confine(rules: SandboxRules, *, is_apart: bool) -> str:
    _give_up_privileges()
    abi = _landlock_abi()
    if abi:
        _restrict(rules, abi, is_apart=is_apart)
    is_known = call_filter.is_known_machine()
    lacks = "" if is_known else f"no seccomp rules for {platform.machine()}"
    if is_known:
        try:
            call_filter.install(
                rules.network,
                _call,
                has_local=bool(_compute_devices()),
                can_truncate=abi >= _ABI_TRUNCATE,
            )
        except OSError as err:
            if err.errno not in _NO_FILTERS:
                raise
            lacks = "this kernel has no seccomp filters"
    parts = [f"Landlock {abi}"] if abi else []
    parts += [] if lacks else ["seccomp"]
    missing = [] if abi else ["this kernel has no Landlock"]
    missing += [lacks] if lacks else []
    apart = ", in a network of its own" if is_apart else ""
    lacking = f" ({', '.join(missing)})" if missing else ""
    return " and ".join(parts or ["none"]) + apart + lacking


def _refuse(why: str) -> NoReturn:
    sys.stderr.write(f"{why}\n")
    sys.exit(78)  # EX_CONFIG of sysexits.h


def _load_cuda_driver() -> None:
    # CUDA loads parts of the driver and makes device nodes at its first use, by a program with
    # root's rights. In the sandbox that program has none, so it is started here, as CUDA itself
    # would. Without a desktop (a headless machine) nothing else has made the nodes before.
    program = shutil.which("nvidia-modprobe", path="/usr/bin:/bin:/usr/sbin:/sbin")
    missing = _nvidia_nodes_missing(Path("/"))
    if program is None or not missing:
        return
    cards = range(max(len(glob("/proc/driver/nvidia/gpus/*")), 1))  # noqa: PTH207 - absolute
    for options in (["-c=255", *(f"-c={card}" for card in cards)], ["-u", "-c=0"]):
        try:
            subprocess.run(  # noqa: S603 - one of the system's folders
                [program, *options], check=False, timeout=_LOAD_S, stdout=subprocess.DEVNULL
            )
        except (OSError, subprocess.SubprocessError) as err:
            sys.stderr.write(f"nvidia-modprobe failed: {err}\n")


def missing_nodes(root: Path) -> str:
    """Say which nodes CUDA lacks on a computer with an NVIDIA card, and what to do; may be empty.

    A node that is made after the sandbox was entered stays closed to the child.
    """
    missing = _nvidia_nodes_missing(root)
    if not missing:
        return ""
    return (
        f"NVIDIA card without {', '.join(missing)}: install nvidia-modprobe, or run `sudo "
        "nvidia-smi` and `sudo nvidia-modprobe -u -c=0`, and start the worker again"
    )


def _nvidia_nodes_missing(root: Path) -> list[str]:
    """Names of the device nodes that CUDA needs and that are missing; none without a driver."""
    # Without the module there is nothing to make nodes for: another driver may be in use. It is
    # looked for by its card, as a headless machine loads it with the first program that asks.
    vendors = (root / "sys" / "bus" / "pci" / "devices").glob("*/vendor")
    if not any(_first_line(one) == _NVIDIA for one in vendors):
        return []
    is_other = (root / "sys" / "module" / "nouveau").exists()
    is_installed = (root / "proc" / "driver" / "nvidia").exists() or any(
        (root / "usr" / folder / "nvidia-smi").exists() for folder in ("bin", "sbin")
    )
    if is_other or not is_installed:
        return []
    nodes = ("nvidiactl", "nvidia-uvm")
    missing = [f"/dev/{name}" for name in nodes if not (root / "dev" / name).exists()]
    has_card = any((root / "dev").glob("nvidia[0-9]*"))
    return missing if has_card else [*missing, "/dev/nvidia0"]


def _first_line(file: Path) -> str:
    with suppress(OSError):
        return file.read_text("utf-8").strip()
    return ""


# Landlock. linux/landlock.h; the numbers are the same on every architecture.

_CREATE_RULESET, _ADD_RULE, _RESTRICT_SELF = 444, 445, 446
_VERSION_FLAG = 1
_PATH_BENEATH, _NET_PORT = 1, 2
_WRITE_FILE, _READ_FILE, _READ_DIR, _REFER, _TRUNCATE = 1 << 1, 1 << 2, 1 << 3, 1 << 13, 1 << 14
_READ = _READ_FILE | _READ_DIR
_REMOVE_AND_MAKE = sum(1 << bit for bit in range(4, 13))
_MAKE_OTHERS = 1 << 6 | 1 << 10 | 1 << 11 | 1 << 12
"""Devices, pipes and links, refused everywhere: the worker would follow a link out of the sandbox,
and wait at a pipe for somebody that writes."""
_NAMED_ONLY = getattr(os, "O_PATH", 0) | getattr(os, "O_CLOEXEC", 0)
_BIND_TCP, _CONNECT_TCP = 1 << 0, 1 << 1
_SCOPES = 0b11
"""No abstract socket and no signal reaches out of the sandbox."""
_ABI_REFER, _ABI_TRUNCATE, _ABI_NETWORK, _ABI_SCOPES = 2, 3, 4, 6
_MISSING = (errno.ENOSYS, errno.EOPNOTSUPP, errno.EPERM)
"""Errors of a kernel without it, or of a container that forbids it."""


_NO_FILTERS = (errno.EINVAL, errno.ENOSYS, errno.EPERM, errno.EACCES)
"""Errors of a kernel, an emulator or a container without seccomp filters."""


def _landlock_abi() -> int:
    """Version of Landlock in this kernel; 0 for none."""
    try:
        return _call(_CREATE_RULESET, 0, 0, _VERSION_FLAG)
    except OSError as err:
        if err.errno in _MISSING:
            return 0
        raise


def _restrict(rules: SandboxRules, abi: int, *, is_apart: bool) -> None:
    write = _WRITE_FILE | _REMOVE_AND_MAKE
    write |= _REFER if abi >= _ABI_REFER else 0
    write |= _TRUNCATE if abi >= _ABI_TRUNCATE else 0
    network = 0 if is_apart else _BIND_TCP
    network |= 0 if is_apart or rules.network is NetworkAccess.ANY else _CONNECT_TCP
    attributes = struct.pack("=Q", write | _READ)
    attributes += struct.pack("=Q", network) if abi >= _ABI_NETWORK else b""
    attributes += struct.pack("=Q", _SCOPES) if abi >= _ABI_SCOPES else b""
    ruleset = _call(_CREATE_RULESET, attributes, len(attributes), 0)
    try:
        devices = _devices()
        allowed = write & ~_MAKE_OTHERS | _READ
        for path in (*rules.writes, "/proc/self"):
            _allow(ruleset, path, allowed)
        for path in rules.reads:
            _allow(ruleset, path, _READ)
        _allow(ruleset, "/dev", _READ_DIR)
        # Found here, not named by the worker: one that is not for this user needs no rule.
        for path in devices:
            with suppress(OSError):
                _allow(ruleset, path, allowed)
        for path in _readable(rules):
            with suppress(OSError):
                _allow(ruleset, path, _READ)
        if (
            network
            and abi >= _ABI_NETWORK
            and rules.network in (NetworkAccess.CELL, NetworkAccess.HOSTS)
        ):
            _allow_ranks(ruleset, rules.port)
        _call(_RESTRICT_SELF, ruleset, 0)
    finally:
        os.close(ruleset)


def _allow(ruleset: int, path: str, rights: int) -> None:
    opened = os.open(path, _NAMED_ONLY)
    try:
        if not os.path.isdir(path):  # noqa: PTH112 - a text, as of the loop over all of them
            rights &= _WRITE_FILE | _READ_FILE | _TRUNCATE
        rule = struct.pack("=Qi", rights, opened)
        _call(_ADD_RULE, ruleset, _PATH_BENEATH, rule, 0)
    finally:
        os.close(opened)


def _allow_ranks(ruleset: int, port: int) -> None:
    """Allow TCP with a cell's store, and with ports that the system gives to gloo and NCCL.

    A rule for each port: some 28,000, which take a tenth of a second.
    """
    # 0 is a socket that leaves the choice to the system.
    for one in {0, port}:
        _call(_ADD_RULE, ruleset, _NET_PORT, struct.pack("=QQ", _BIND_TCP, one), 0)
    first, last = cell_network.connectable_ports()
    for one in {port or first, *range(first, last + 1)}:
        _call(_ADD_RULE, ruleset, _NET_PORT, struct.pack("=QQ", _CONNECT_TCP, one), 0)


def _devices() -> list[str]:
    """Devices that computing needs, and the memory that their drivers may share with others."""
    compute = _compute_devices()
    plain = [one for pattern in _DEVICES for one in glob(pattern)]  # noqa: PTH207 - absolute
    return [*plain, *compute, _SHARED_MEMORY] if compute else plain


def _compute_devices() -> list[str]:
    return [one for pattern in _COMPUTE_DEVICES for one in glob(pattern)]  # noqa: PTH207 - as above


def _readable(rules: SandboxRules) -> Iterator[str]:
    """Folders and files to allow for reading: all but the hidden ones, and Python in these.

    Landlock has no rule that forbids, so everything beside the way to a hidden folder is allowed.
    One pass over the folders on that way.
    """
    homes = {os.path.realpath(one) for one in (os.path.expanduser("~"), *HOMES)} - {"/"}  # noqa: PTH111
    hidden = homes | {os.path.realpath(one) for one in (*rules.hidden, _SHARED_MEMORY)} - {"/"}
    yield from _siblings("/", hidden)
    for folder in (*_python_folders(), *_driver_folders()):
        real = os.path.realpath(folder)
        if not _is_around(real, hidden):
            yield real
        # Python may have been started in somebody's home folder, which is then in its path.
        elif not _is_around(real, homes):
            yield from _siblings(real, hidden)


def _is_around(folder: str, others: set[str]) -> bool:
    """Check whether the folder is one of the others, or contains one of them."""
    return any(one == folder or one.startswith(folder.rstrip("/") + "/") for one in others)


def _siblings(folder: str, hidden: set[str]) -> Iterator[str]:
    with os.scandir(folder) as entries:
        paths = [os.path.join(folder, one.name) for one in entries if not one.is_symlink()]  # noqa: PTH118
    for path in paths:
        if path in hidden:
            continue
        if _is_around(path, hidden):
            try:
                yield from _siblings(path, hidden)
            except PermissionError:
                continue
        else:
            yield path


def _python_folders() -> Iterator[str]:
    """Folders of the interpreter, its packages and our own code, wherever they are."""
    yield from (sys.prefix, sys.base_prefix, sys.exec_prefix, site.getusersitepackages())
    yield from sysconfig.get_paths().values()
    yield from (one for one in sys.path if one and one != os.getcwd())  # noqa: PTH109
    yield os.path.dirname(os.path.realpath(sys.executable))  # noqa: PTH120
    # Installed in place, their folders are not in sys.path.
    for name in ("tequio_client", "tequio_shared", "torch", "numpy"):
        spec = importlib.util.find_spec(name)
        for folder in (spec.submodule_search_locations if spec else None) or ():
            yield os.path.realpath(folder)


def _driver_folders() -> Iterator[str]:
    yield from filter(None, os.environ.get("LD_LIBRARY_PATH", "").split(":"))
    for name, value in os.environ.items():
        if name.startswith(_VENDOR_FOLDERS) and value.startswith("/"):
            yield value


_NO_NEW_PRIVILEGES = 38
_CAPABILITY_VERSION = 0x20080522
_KEPT_CAPABILITIES = sum(1 << bit for bit in (0, 1, 2, 3, 14, 23, 24))
"""Owners and modes of files, locked memory, priorities and limits; what drivers may use."""


def _give_up_privileges() -> None:
    """Gain none from other programs; and as root, keep none that reach other processes."""
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.prctl(_NO_NEW_PRIVILEGES, 1, 0, 0, 0):
        raise OSError(ctypes.get_errno(), "prctl(PR_SET_NO_NEW_PRIVS)")
    header = struct.pack("=Ii", _CAPABILITY_VERSION, 0)
    sets = ctypes.create_string_buffer(24)  # effective, permitted, inheritable; then bits 32 to 63
    if libc.capget(header, sets):
        raise OSError(ctypes.get_errno(), "capget")
    effective, permitted, *_ = struct.unpack("=6I", sets.raw)
    low = (effective & _KEPT_CAPABILITIES, permitted & _KEPT_CAPABILITIES, 0)
    if libc.capset(header, struct.pack("=6I", *low, 0, 0, 0)):
        raise OSError(ctypes.get_errno(), "capset")


def _call(number: int, *arguments: int | bytes) -> int:
    """Make a system call; raises OSError."""
    libc = ctypes.CDLL(None, use_errno=True)
    libc.syscall.restype = ctypes.c_long
    plain: Sequence[object] = [
        ctypes.c_char_p(one) if isinstance(one, bytes) else ctypes.c_long(one) for one in arguments
    ]
    result: int = libc.syscall(ctypes.c_long(number), *plain)
    if result < 0:
        code = ctypes.get_errno()
        raise OSError(code, f"system call {number}: {os.strerror(code)}")
    return result
