"""Sessions that check a design against a machine (docs/lockstep.md)."""
from __future__ import annotations

import ctypes
import dataclasses
from typing import Any, Mapping, Optional

from . import _library as c
from ._library import Error, Handle, lib
from ._machine import Change, Machine

RESULTS = ("same", "different", "ended")


@dataclasses.dataclass(frozen=True)
class Difference:
    """The first step in which design and reference differ; None: that side did nothing there."""

    step: int
    core: int
    pc: int
    reference: Optional[Change]
    design: Optional[Change]
    why: str


class Cosim(Handle):
    """Checks what a design retires against a machine, which belongs to the session from then on and is closed with it.

    `program`: an ELF file, for names in reports. `retired` and `trapped` answer "same", "different" or "ended"."""

    _what = "session"

    def __init__(self, machine: Machine, *, program: Optional[bytes] = None, window: int = 0, snapshot_every: int = 0,
                 own_interrupts: bool = False) -> None:
        self._must_be_new()
        if not isinstance(machine, Machine):
            raise TypeError(f"{type(machine).__name__} is not a machine")
        if getattr(machine, "_session", None) is not None:
            raise Error("the machine belongs to another session")
        config = c.CosimConfig(c.number(window, 32, "window"), bool(own_interrupts),
                               c.number(snapshot_every, 64, "snapshot_every"))
        handle = ctypes.c_void_p()
        with machine._use() as reference:
            c.call("cosim_create_sized", reference, config, ctypes.sizeof(config), handle)
            machine._session = True  # type: ignore[attr-defined]
            machine._destroy = lambda _: None  # the session does
        self.machine = machine
        super().__init__(handle.value, self._end)
        if program is not None:
            elf = c.octets(program, "program")
            with self._use() as session:
                c.call("cosim_symbols", session, elf, len(elf))

    def _end(self, handle: Optional[int]) -> None:
        self.machine._handle = None
        lib.facet_cosim_destroy(handle)

    def ignore(self, *what: str) -> None:
        """Leaves out kinds, registers, CSRs, fields and ranges: facet/lockstep.h has the names."""
        self._rules("ignore", what)

    def compare(self, *what: str) -> None:
        """Takes `ignore` back."""
        self._rules("compare", what)

    def _rules(self, verb: str, what: tuple[str, ...]) -> None:
        with self._use() as session:
            for rule in what:
                c.call("lockstep_filter_" + verb, lib.facet_cosim_filter(session), c.text(rule, "rule"))

    def _wrote(self, session: int, prefix: str, core: int, writes: Optional[Mapping[str, int]],
               stores: Optional[Mapping[int, bytes]]) -> None:
        for name, value in (writes or {}).items():
            c.call(prefix + "wrote", session, core, c.text(name, "name"), c.number(value, 64, name))
        for address, data in (stores or {}).items():
            content = c.octets(data, "data")
            c.call(prefix + "wrote_memory", session, core, c.number(address, 64, "address"), content, len(content))

    def unit_wrote(self, writes: Optional[Mapping[str, int]] = None, stores: Optional[Mapping[int, bytes]] = None,
                   core: int = 0) -> None:
        """What a unit of the design wrote by itself: compared when the reference does the work."""
        with self._use() as session:
            self._wrote(session, "cosim_unit_", c.number(core, 32, "core"), writes, stores)

    def _step(self, name: str, core: int, writes: Optional[Mapping[str, int]], stores: Optional[Mapping[int, bytes]],
              *arguments: int) -> str:
        result = ctypes.c_int()
        with self._use() as session:
            with self.machine._use():
                self._wrote(session, "cosim_", c.number(core, 32, "core"), writes, stores)
                c.call(name, session, core, *arguments, result)
        if self.machine._failure is not None:  # of a callback
            failure, self.machine._failure = self.machine._failure, None
            raise failure
        return RESULTS[result.value]

    def retired(self, pc: int, writes: Optional[Mapping[str, int]] = None, *,
                stores: Optional[Mapping[int, bytes]] = None, word: int = 0, core: int = 0) -> str:
        """The design retired the instruction at pc, which wrote registers and CSRs by name, and memory."""
        return self._step("cosim_retired", core, writes, stores, c.number(pc, 64, "pc"), c.number(word, 32, "word"))

    def trapped(self, pc: int, cause: int, value: int = 0, writes: Optional[Mapping[str, int]] = None, *,
                core: int = 0) -> str:
        """The design took a trap instead of the instruction at pc."""
        return self._step("cosim_trapped", core, writes, None, c.number(pc, 64, "pc"), c.number(cause, 64, "cause"),
                          c.number(value, 64, "value"))

    def finish(self) -> str:
        """The design has ended: nothing that its units wrote may be left."""
        result = ctypes.c_int()
        with self._use() as session:
            c.call("cosim_finish", session, result)
        return RESULTS[result.value]

    @property
    def steps(self) -> int:
        with self._use(change=False) as session:
            return int(lib.facet_cosim_steps(session))

    @property
    def report(self) -> str:
        """Lines about the first difference; "" without one."""
        with self._use(change=False) as session:
            return str(lib.facet_cosim_report(session).decode(errors="replace"))

    @property
    def difference(self) -> Optional[Difference]:
        out = c.CosimDifference()
        with self._use(change=False) as session:
            try:
                c.call("cosim_get_difference_sized", session, out, ctypes.sizeof(out))
            except Error:
                return None
            with self.machine._use(change=False) as machine:
                return Difference(out.step, out.core, out.pc,
                                  self.machine._change(machine, out.reference) if out.has_reference else None,
                                  self.machine._change(machine, out.design) if out.has_design else None,
                                  out.why.decode(errors="replace"))

    def snapshot_at(self, step: int) -> None:
        """The replay is to be the state just before this step, with all that the reference was told for it: for a second run."""
        with self._use() as session:
            lib.facet_cosim_snapshot_at(session, c.number(step, 64, "step"))

    def replay(self) -> tuple[int, bytes]:
        """A state from before the difference, and its step: for `restore`, or for a file and `facet gdb --resume`."""
        blob, step = c.Blob(), ctypes.c_uint64()
        with self._use() as session:
            c.call("cosim_replay", session, blob, step)
        return step.value, c.take(blob)
