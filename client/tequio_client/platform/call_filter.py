"""The system calls that a confined child may not make: a filter for seccomp, on Linux.

Landlock decides about files by what is opened. The calls refused here reach further than that: into
other processes and the kernel, to programs by way of sockets, and to files that are not opened.

* Modes, owners and attributes of files belong to their user, whom a child runs as. To change a mode
  seems to work and changes nothing, since compilers do so with files of their own; the rest fails.
* A watch on a folder gives the names of the files that are used in it.
* `truncate` empties a file by its name, which Landlock sees from ABI 3 (Linux 6.2) on.
* Memory and queues of System V, in which desktops keep the pictures of windows, need no file.
* `prlimit` sets limits of other processes, and so ends them.
* Local sockets reach the desktop, which starts programs. A child with a network has them only where
  a driver for computing needs them; one without a network makes no connection by them. A local
  datagram needs no connection, so they are of the kinds that have one.
* Netlink carries messages between programs, too, but not by the protocols of routes and devices.
* TCP has two ways around Landlock's rules for ports: MPTCP, and data sent with the first packet.
* In a session or group of its own a process is not found when the child that started it ends.
* In a user namespace of its own a process has all rights of root over parts of the kernel.

A refused call fails as on a computer where it may not be made. (seccomp(2), linux/seccomp.h,
linux/filter.h, linux/audit.h, linux/sched.h; numbers from the kernel's tables of system calls.)
"""

from __future__ import annotations

import ctypes
import errno
import platform
import struct
from collections.abc import Callable, Sequence
from enum import StrEnum
from typing import TypeAlias

Instruction: TypeAlias = tuple[int, int, int, int]
RawCall: TypeAlias = Callable[..., int]
"""Makes a system call of a number with arguments; raises OSError."""


class NetworkAccess(StrEnum):
    NONE = "none"
    CELL = "cell"
    """TCP with ranks of a cell on this computer."""
    HOSTS = "hosts"
    """TCP with ranks of a cell on several computers."""
    ANY = "any"


_AUDIT = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}
_MACHINES = tuple(_AUDIT)
_MISSING = -1
"""A call that an architecture does not have."""
_REFUSED = {
    "ptrace": (101, 117),
    "process_vm_readv": (310, 270),
    "process_vm_writev": (311, 271),
    "bpf": (321, 280),
    "keyctl": (250, 219),
    "add_key": (248, 217),
    "request_key": (249, 218),
    "perf_event_open": (298, 241),
    "unshare": (272, 97),
    "setns": (308, 268),
    "setsid": (112, 157),
    "setpgid": (109, 154),
    "mount": (165, 40),
    "umount2": (166, 39),
    "pivot_root": (155, 41),
    "userfaultfd": (323, 282),
    "open_by_handle_at": (304, 265),
    "kexec_load": (246, 104),
    "kexec_file_load": (320, 294),
    "init_module": (175, 105),
    "finit_module": (313, 273),
    "delete_module": (176, 106),
    # io_uring opens and connects without the calls below.
    "io_uring_setup": (425, 425),
    "io_uring_enter": (426, 426),
    "io_uring_register": (427, 427),
    "inotify_add_watch": (254, 27),
    "fanotify_init": (300, 262),
    "open_tree": (428, 428),
    "move_mount": (429, 429),
    "fsopen": (430, 430),
    "fsconfig": (431, 431),
    "fsmount": (432, 432),
    "fspick": (433, 433),
    "pidfd_getfd": (438, 438),
    "mount_setattr": (442, 442),
    "chown": (92, _MISSING),
    "fchown": (93, 55),
    "lchown": (94, _MISSING),
    "fchownat": (260, 54),
    "setxattr": (188, 5),
    "lsetxattr": (189, 6),
    "fsetxattr": (190, 7),
    "setxattrat": (463, 463),
    "removexattr": (197, 14),
    "lremovexattr": (198, 15),
    "fremovexattr": (199, 16),
    "removexattrat": (466, 466),
    "file_setattr": (469, 469),
    "shmget": (29, 194),
    "shmat": (30, 196),
    "shmctl": (31, 195),
    "semget": (64, 190),
    "semop": (65, 193),
    "semctl": (66, 191),
    "semtimedop": (220, 192),
    "msgget": (68, 186),
    "msgsnd": (69, 189),
    "msgrcv": (70, 188),
    "msgctl": (71, 187),
    "mq_open": (240, 180),
    "mq_unlink": (241, 181),
}
"""Calls by their numbers on x86-64 and ARM64."""
_MODES = {
    "chmod": (90, _MISSING),
    "fchmod": (91, 52),
    "fchmodat": (268, 53),
    "fchmodat2": (452,) * 2,
}
_TRUNCATE = (76, 45)
_CLONE, _CLONE3, _LIMIT = (56, 220), (435, 435), (302, 261)
_SOCKET, _PAIR, _CONNECT = (41, 198), (53, 199), (42, 203)
_SENDING = {"sendto": ((44, 206), 3), "sendmsg": ((46, 211), 2), "sendmmsg": ((307, 269), 3)}
"""Calls that send, and which argument has the flags."""

_NAMESPACES = 0x7E020000  # CLONE_NEW…
_AF_UNIX, _AF_INET, _AF_INET6, _AF_NETLINK = 1, 2, 10, 16
_STREAM, _DATAGRAM, _SEQPACKET, _TYPE_BITS = 1, 2, 5, 0xF
_ANY_PROTOCOL, _TCP, _UDP = 0, 6, 17
_ROUTE, _DEVICE_EVENTS = 0, 15
_FAST_OPEN = 0x20000000

_SET_FILTER = 1
_LOAD, _EQUAL, _AT_LEAST, _HAS_BIT = 0x20, 0x15, 0x35, 0x45
_AND, _RETURN = 0x54, 0x06
_NUMBER, _ARCHITECTURE, _ARGUMENTS = 0, 4, 16
_X32 = 0x40000000
_ALLOW: Instruction = (_RETURN, 0, 0, 0x7FFF0000)


def is_known_machine() -> bool:
    """True if there are numbers for this processor."""
    return platform.machine() in _AUDIT


def install(network: NetworkAccess, call: RawCall, *, has_local: bool, can_truncate: bool) -> None:
    """Filter the calls of this process from now on; raises OSError.

    `has_local`: local sockets exist beside a network. `can_truncate`: Landlock sees `truncate`.
    """
    lines = program(platform.machine(), network, has_local=has_local, can_truncate=can_truncate)
    packed = b"".join(struct.pack("=HBBI", *one) for one in lines)
    buffer = ctypes.create_string_buffer(packed, len(packed))
    header = struct.pack("@HP", len(lines), ctypes.addressof(buffer))
    call({"x86_64": 317, "aarch64": 277}[platform.machine()], _SET_FILTER, 0, header)


def program(
    machine: str, network: NetworkAccess, *, has_local: bool, can_truncate: bool
) -> list[Instruction]:
    """The filter of a machine, in the order in which the kernel reads it."""
    at = _MACHINES.index(machine)
    denied = [one[at] for one in _REFUSED.values()]
    denied += [] if can_truncate else [_TRUNCATE[at]]
    lines: list[Instruction] = [
        (_LOAD, 0, 0, _ARCHITECTURE),
        (_EQUAL, 1, 0, _AUDIT[machine]),
        _fails(errno.EPERM),  # calls of another architecture have other numbers
        (_LOAD, 0, 0, _NUMBER),
        (_AT_LEAST, 0, 1, _X32),
        _fails(errno.EPERM),
    ]
    for number in denied:
        lines += _of_call(number, [_fails(errno.EPERM)])
    for numbers in _MODES.values():
        lines += _of_call(numbers[at], [_fails(0)])
    lines += _of_call(_CLONE[at], [*_without(0, _NAMESPACES, errno.EPERM), _ALLOW])
    # Its flags are in memory, which a filter does not see; C's library goes on with `clone`.
    lines += _of_call(_CLONE3[at], [_fails(errno.ENOSYS)])
    lines += _of_call(_LIMIT[at], [*_one_of(0, (0,), errno.EPERM), _ALLOW])
    if network is NetworkAccess.NONE:
        # As if nobody listened: a driver that looks for a service of its own goes on without.
        lines += _of_call(_CONNECT[at], [_fails(errno.ECONNREFUSED)])
    elif network is not NetworkAccess.ANY:
        for numbers, flags in _SENDING.values():
            send = [*_without(flags, _FAST_OPEN, errno.EOPNOTSUPP), _ALLOW]
            lines += _of_call(numbers[at], send)
    lines += _of_call(_SOCKET[at], _sockets(network, has_local=has_local))
    pair = [*_one_of(1, (_STREAM, _SEQPACKET), errno.EACCES, _TYPE_BITS), _ALLOW]
    return [*lines, *_of_call(_PAIR[at], pair), _ALLOW]


def _sockets(network: NetworkAccess, *, has_local: bool) -> list[Instruction]:
    """Rules for `socket`, whose arguments are family, kind and protocol."""
    local = [*_one_of(1, (_STREAM, _SEQPACKET), errno.EACCES, _TYPE_BITS), _ALLOW]
    netlink = [*_one_of(2, (_ROUTE, _DEVICE_EVENTS), errno.EACCES), _ALLOW]
    lines = [_argument(0), *_of_value(_AF_NETLINK, netlink)]
    # Where connections are allowed, local sockets exist only where a driver needs them.
    if network is NetworkAccess.NONE or has_local:
        lines += _of_value(_AF_UNIX, local)
    if network is NetworkAccess.NONE:
        return [*lines, _fails(errno.EACCES)]
    has_datagrams = network is NetworkAccess.ANY
    kinds = (_STREAM, _DATAGRAM) if has_datagrams else (_STREAM,)
    protocols = (_ANY_PROTOCOL, _TCP, _UDP) if has_datagrams else (_ANY_PROTOCOL, _TCP)
    return [
        *lines,
        *_one_of(0, (_AF_INET, _AF_INET6), errno.EACCES),
        *_one_of(1, kinds, errno.EACCES, _TYPE_BITS),
        *_one_of(2, protocols, errno.EACCES),
        _ALLOW,
    ]


def _of_call(number: int, then: Sequence[Instruction]) -> list[Instruction]:
    return [] if number == _MISSING else _of_value(number, then)


def _of_value(value: int, then: Sequence[Instruction]) -> list[Instruction]:
    """Decide where this value is loaded; `then` ends in a decision."""
    return [(_EQUAL, 0, len(then), value), *then]


def _one_of(
    argument: int, values: Sequence[int], error: int, bits: int | None = None
) -> list[Instruction]:
    """Go on if the argument, or those bits of it, has one of the values."""
    masked: list[Instruction] = [] if bits is None else [(_AND, 0, 0, bits)]
    return [
        _argument(argument),
        *masked,
        *((_EQUAL, len(values) - at, 0, one) for at, one in enumerate(values)),
        _fails(error),
    ]


def _without(argument: int, bits: int, error: int) -> list[Instruction]:
    """Go on if none of the bits is set in the argument."""
    return [_argument(argument), (_HAS_BIT, 0, 1, bits), _fails(error)]


def _argument(number: int) -> Instruction:
    """Load the lower half of an argument: the kernel reads no more of these."""
    return (_LOAD, 0, 0, _ARGUMENTS + 8 * number)


def _fails(error: int) -> Instruction:
    """Fail with an error number; with 0 the call seems to work."""
    return (_RETURN, 0, 0, 0x00050000 | error)
