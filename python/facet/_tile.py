"""The tile GPU: kernels on NumPy arrays."""
from __future__ import annotations

import ctypes
import struct
from typing import Any, Optional, Sequence, Union

import numpy as np

from . import _library as c
from ._isa import assemble
from ._library import Error, lib
from ._machine import Machine, _host_code

VRAM_BASE = 0x80000000
CORES = 4
STATES = ("idle", "running", "waiting", "done", "faulted")


class Tile(Machine):
    """Four SIMD cores with VRAM at 0x80000000 (docs/tile.md).

    `host_code`: instructions that are jumped to this often become code of the host, 0: none do; same results."""

    def __init__(self, *, vram: int = 0, strong: bool = False, seed: Optional[int] = None, quantum: int = 0,
                 registers: int = 0, watchdog: int = 0, plain: bool = False, threads: int = 0,
                 host_code: Optional[int] = None) -> None:
        config = c.TileConfig(vram=c.number(vram, 32, "vram"), strong=bool(strong), random=seed is not None,
                              seed=c.number(seed or 0, 32, "seed"), quantum=c.number(quantum, 32, "quantum"),
                              regs=c.number(registers, 32, "registers"), watchdog=c.number(watchdog, 32, "watchdog"),
                              plain=bool(plain), threads=c.number(threads, 16, "threads"),
                              host_code=_host_code(host_code, 32))
        handle = ctypes.c_void_p()
        c.call("tile_create_sized", config, ctypes.sizeof(config), handle)
        super().__init__(handle.value)

    def load(self, program: Union[bytes, str]) -> int:
        """An ELF file, or a text to assemble; the address of its first instruction."""
        elf = assemble(program, "tile") if isinstance(program, str) else c.octets(program, "program")
        entry = ctypes.c_uint32()
        with self._use() as machine:
            c.call("tile_load_elf", machine, elf, len(elf), entry)
        return entry.value

    def clear(self) -> None:
        """Cores idle, queue empty, memories zero."""
        with self._use() as machine:
            c.call("tile_clear", machine)

    def dispatch(self, pc: int, columns: int = 1, rows: int = 1, **packet: int) -> None:
        """Starts a kernel for a grid of tiles; `run` runs it. `packet`: members of struct facet_tile_packet."""
        known = {name for name, *_ in c.Packet._fields_}
        members = {"pc": pc, "columns": columns, "rows": rows, **packet}
        for name, value in members.items():
            if name not in known:
                raise TypeError(f"a packet has no {name!r}")
            c.number(value, 32, name)
        with self._use() as machine:
            c.call("tile_dispatch", machine, c.Packet(**members))

    # ---- what the host tells (docs/lockstep.md) ----

    def set_turn(self, core: int) -> None:
        """The next step is of this core."""
        with self._use() as machine:
            c.call("tile_set_turn", machine, c.number(core, 32, "core"))

    def next_load(self, value: int, first: int = 0, last: int = 0xFFFFFFFF, core: int = 0) -> None:
        """The next load from an address in first..last gives this value, of up to 128 bits."""
        given = c.number(value, 128, "value")
        with self._use() as machine:
            c.call("tile_next_load", machine, c.number(core, 32, "core"), c.number(first, 32, "first"),
                   c.number(last, 32, "last"), c.Value(given & (1 << 64) - 1, given >> 64))

    def next_csr(self, name: str, value: int, core: int = 0) -> None:
        """The next CSRRW or CSRRS with this register reads this value."""
        with self._use() as machine:
            what, index, field = self._find(machine, name, core)
            if what != "csr" or field is not None:
                raise Error(f"{name} is not a CSR")
            c.call("tile_next_csr", machine, core, self._core(machine, core).csrs[index].number,
                   c.number(value, 32, "value"))

    def given(self, *, drop: bool = False, core: int = 0) -> int:
        """How many values no load or read has asked for yet; `drop` throws them away."""
        left = ctypes.c_uint32()
        with self._use() as machine:
            c.call("tile_given", machine, c.number(core, 32, "core"), bool(drop), left)
        return left.value

    def info(self) -> dict[str, Any]:
        """Where the last dispatch stands: its state, rounds, ..."""
        info = c.TileInfo()
        with self._use(change=False) as machine:
            c.call("tile_get_info_sized", machine, info, ctypes.sizeof(info))
        return {**{name: getattr(info, name) for name, *_ in c.TileInfo._fields_}, "state": STATES[info.state]}

    def report(self, core: int) -> dict[str, Any]:
        """What a core has done, and the fault that ended it."""
        report = c.CoreReport()
        with self._use(change=False) as machine:
            c.call("tile_get_core_report_sized", machine, c.number(core, 32, "core"), report, ctypes.sizeof(report))
        members = {name: getattr(report, name) for name, *_ in c.CoreReport._fields_}
        return {**members, "by_class": list(report.by_class),
                "fault": lib.facet_tile_cause_name(report.fault_cause).decode() if report.fault_cause else None}

    def kernel(self, program: Union[bytes, str], grid: tuple[int, int], *arguments: Any, **packet: int) -> dict[str, Any]:
        """Runs a kernel on arrays and waits for its end; arrays that can be written have its results afterwards.

        Argument i is word i at `arg_base`: the address of a copy of the array in VRAM, a whole number of 32 bits, or the
        bits of a float. The program lives in the lower half of VRAM, the arrays in the upper. Returns `info`.
        A kernel that faults or waits is an Error, and no array has changed."""
        columns, rows = _grid(grid)
        base = VRAM_BASE + self.info()["vram_bytes"] // 2
        end = VRAM_BASE + self.info()["vram_bytes"]
        words, arrays = [], []
        free = base + _rounded(4 * len(arguments))
        for number, argument in enumerate(arguments):
            if not isinstance(argument, np.ndarray):
                words.append(_word(argument, f"argument {number}"))
                continue
            if argument.dtype.hasobject:
                raise TypeError(f"argument {number} is an array of Python objects, expected numbers")
            words.append(free)
            arrays.append((free, argument))
            free += _rounded(argument.nbytes)
        if free > end:
            raise Error(f"the arguments need {free - base} bytes, half of VRAM has {end - base}", c.LIMIT)
        entry = self.load(program)
        self.write(base, struct.pack(f"<{len(words)}I", *words))
        for address, argument in arrays:
            self.write(address, np.ascontiguousarray(argument).view(np.uint8).reshape(-1) if argument.size else b"")
        self.dispatch(entry, columns, rows, arg_base=base, arg_size=4 * len(words), **packet)
        stop = self.run()
        info = self.info()
        if info["state"] != "done":
            raise Error(self._failure_text(info["state"], stop.reason), c.FAULT)
        for address, argument in arrays:
            if argument.flags.writeable:
                argument[...] = np.frombuffer(self.read(address, argument.nbytes), argument.dtype).reshape(argument.shape)
        return info

    def _failure_text(self, state: str, reason: str) -> str:
        reports = [(core, self.report(core)) for core in range(CORES)]
        faults = [f"core {core}: {report['fault']} at pc {report['fault_pc']:#x}, address {report['fault_addr']:#x}"
                  for core, report in reports if report["fault"]]
        return f"the kernel is not done ({state}, stopped by {reason})" + "".join("; " + fault for fault in faults)


def _grid(grid: Any) -> tuple[int, int]:
    try:
        columns, rows = grid
    except (TypeError, ValueError):
        raise TypeError(f"grid is {grid!r}, expected (columns, rows)") from None
    return c.number(columns, 32, "columns"), c.number(rows, 32, "rows")


def _word(value: Any, what: str) -> int:
    if isinstance(value, (float, np.floating)):
        return int(np.float32(value).view(np.uint32))
    return c.number(value, 32, what)


def _rounded(size: int) -> int:
    """To lines of 64 bytes, so that no two arguments share one."""
    return -(-size // 64) * 64
