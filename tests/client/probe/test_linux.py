"""AMD's and Intel's cards over made trees of sysfs and procfs."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tequio_client.ipc.facts import MachineFacts, ProbeInstructions, decode_machine_facts, encode
from tequio_client.probe.linux import SCAN_S, DrmCards, DrmPrograms
from tequio_client.probe.machine import merge_cards

OURS, GAME = 41, 77
RADEON, ARC = "0000:03:00.0", "0000:0c:00.0"


class MachineFiles:
    """One machine's files."""

    def __init__(self, root: Path) -> None:
        self.sys, self.proc = root / "sys", root / "proc"
        self.proc.mkdir(parents=True)
        self.now_s = 100.0
        self.programs = DrmPrograms(self.proc, clock=lambda: self.now_s)
        self.cards = DrmCards(self.sys, self.programs)

    def card(self, number: int, address: str, vendor: str, **files: str) -> None:
        """Put a card there; two underscores in a file's name lead into a folder."""
        device = self.sys / "devices/pci0000:00" / address
        for name, content in {"vendor": vendor, "device": "0x73bf", **files}.items():
            file = device / name.replace("__", "/")
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(content + "\n")
        drm = self.sys / f"class/drm/card{number}"
        drm.mkdir(parents=True)
        (drm / "device").symlink_to(device)
        (self.sys / f"class/drm/card{number}-HDMI-A-1").mkdir()

    def program(self, pid: int, *infos: str, target: str = "/dev/dri/renderD128") -> None:
        """Let a program hold the card open, with one `fdinfo` for each descriptor."""
        for fd, info in enumerate(infos):
            for folder in ("fd", "fdinfo"):
                (self.proc / str(pid) / folder).mkdir(parents=True, exist_ok=True)
            link = self.proc / str(pid) / "fd" / str(fd)
            link.unlink(missing_ok=True)
            link.symlink_to(target)
            (self.proc / str(pid) / "fdinfo" / str(fd)).write_text(info)


@pytest.fixture
def tree(tmp_path: Path) -> MachineFiles:
    return MachineFiles(tmp_path)


def radeon(tree: MachineFiles, **files: str) -> None:
    answers = {
        "gpu_busy_percent": "42",
        "mem_info_vram_total": str(16 << 30),
        "mem_info_vram_used": str(4 << 30),
        "product_name": "Radeon RX 6800",
        "hwmon__hwmon3__temp1_input": "57000",
        "hwmon__hwmon3__power1_average": "98000000",
        "hwmon__hwmon3__power1_cap": "203000000",
    }
    tree.card(1, RADEON, "0x1002", **answers | files)


def gfx(client: int, busy_ns: int, address: str = RADEON) -> str:
    return (
        f"pos:\t0\ndrm-driver:\tamdgpu\ndrm-pdev:\t{address}\ndrm-client-id:\t{client}\n"
        f"drm-engine-gfx:\t{busy_ns} ns\ndrm-engine-capacity-gfx:\t1\ndrm-memory-vram:\t17 KiB\n"
    )


def test_a_radeon_tells_what_sysfs_has(tree: MachineFiles) -> None:
    radeon(tree)
    [gpu] = tree.cards.read(ProbeInstructions()).gpus
    assert (gpu.id, gpu.name, gpu.load) == ("cuda:0", "Radeon RX 6800", 0.42)
    assert (gpu.memory_mb, gpu.free_mb) == (16_384, 12_288)
    assert gpu.temperature_c == pytest.approx(57)
    assert gpu.watts == pytest.approx(98)
    assert gpu.watts_limit == pytest.approx(203)


@pytest.mark.parametrize("garbage", ["", "-7", "busy", "\x00\xff", "9" * 40])
def test_garbage_in_sysfs_is_never_an_exception_nor_a_wild_number(
    tree: MachineFiles, garbage: str
) -> None:
    names = ("gpu_busy_percent", "mem_info_vram_total", "mem_info_vram_used",
             "hwmon__hwmon3__temp1_input", "hwmon__hwmon3__power1_average")  # fmt: skip
    radeon(tree, **dict.fromkeys(names, garbage))
    told = MachineFacts(gpus=merge_cards([tree.cards.read(ProbeInstructions())]))
    assert decode_machine_facts(encode(told)) == told


def test_graphics_inside_a_processor_is_not_lent(tree: MachineFiles) -> None:
    tree.card(0, "0000:00:02.0", "0x8086")
    tree.card(1, ARC, "0x8086", hwmon__hwmon1__energy1_input="2500000")
    [gpu] = tree.cards.read(ProbeInstructions()).gpus
    assert gpu.id == "xpu:0"
    assert gpu.energy_j == pytest.approx(2.5)


def test_beside_a_card_of_nvidia_a_radeon_is_not_called_cuda(tree: MachineFiles) -> None:
    radeon(tree)
    tree.card(0, "0000:01:00.0", "0x10de")
    assert [gpu.id for gpu in tree.cards.read(ProbeInstructions()).gpus] == ["rocm:0"]


def test_the_load_of_a_game_is_counted_and_ours_is_not(tree: MachineFiles) -> None:
    radeon(tree)
    tree.program(OURS, gfx(1, 0))
    tree.program(GAME, gfx(2, 5_000), gfx(2, 5_000))  # two descriptors of one client
    assert tree.cards.read(ProbeInstructions(ours=(OURS,))).gpus[0].others_load is None
    tree.now_s += 2
    tree.program(OURS, gfx(1, 1_600_000_000))
    tree.program(GAME, gfx(2, 500_005_000), gfx(2, 500_005_000))
    assert tree.cards.read(ProbeInstructions(ours=(OURS,))).gpus[0].others_load == pytest.approx(
        0.25
    )


def test_the_cycles_of_the_xe_driver_count_as_time(tree: MachineFiles) -> None:
    def xe(cycles: int, total: int) -> str:
        return (
            f"drm-pdev: {ARC}\ndrm-client-id: 9\n"
            f"drm-cycles-rcs: {cycles}\ndrm-total-cycles-rcs: {total}\n"
        )

    tree.card(1, ARC, "0x8086")
    tree.program(GAME, xe(1_000, 50_000))
    tree.cards.read(ProbeInstructions())
    tree.now_s += 1
    tree.program(GAME, xe(31_000, 90_000))
    [gpu] = tree.cards.read(ProbeInstructions()).gpus
    assert gpu.load == pytest.approx(0.75)
    assert gpu.others_load == pytest.approx(0.75)


def test_nobody_on_the_card_is_no_load(tree: MachineFiles) -> None:
    radeon(tree)
    tree.cards.read(ProbeInstructions())
    tree.now_s += 1
    assert tree.cards.read(ProbeInstructions()).gpus[0].others_load == 0.0


def test_a_driver_that_counts_nothing_leaves_the_load_unknown(tree: MachineFiles) -> None:
    radeon(tree)
    tree.program(GAME, "pos:\t0\nflags:\t02\n")
    tree.cards.read(ProbeInstructions())
    tree.now_s += 1
    assert tree.cards.read(ProbeInstructions()).gpus[0].others_load is None


def test_a_program_that_starts_later_is_found_at_the_next_look(tree: MachineFiles) -> None:
    radeon(tree)
    tree.cards.read(ProbeInstructions())
    tree.program(GAME, gfx(3, 0))
    tree.now_s += SCAN_S
    tree.cards.read(ProbeInstructions())
    tree.program(GAME, gfx(3, 1_000_000_000))
    tree.now_s += 1
    assert tree.cards.read(ProbeInstructions()).gpus[0].others_load == 1.0


def test_the_real_procfs_is_read_quickly() -> None:

    if os.name != "posix" or not Path("/proc/self/fd").exists():
        pytest.skip("no procfs")
    programs = DrmPrograms(Path("/proc"))
    programs.loads(())
    assert programs.loads(()) is not None or list(Path("/dev").glob("dri/*"))
