"""Machines: what all of them can do, and the hart."""
from __future__ import annotations

import contextlib
import ctypes
import dataclasses
import signal
import threading
from typing import Any, Callable, Iterator, Mapping, Optional, Union

from . import _library as c
from ._library import LIMIT, MEMORY, Error, Handle, lib

NONE = 0xFFFFFFFF
NO_LIMIT = 0xFFFFFFFFFFFFFFFF
MAX_CHANGES = 1024  # of one step: the longest vector store has fewer
CHANGES = ("retire", "trap", "reg", "csr", "memory")
# A run is left this often (nanoseconds of work) so that Python can handle signals, and continues with the same bits.
SIGNALS_EVERY = 50_000_000
SIGNALS_WATCHED = 10_000  # the same while callbacks take most of the time, which the machine does not count
# `bool` of a context that is not 0 is always true. It is not a Python function: no signal handler runs and
# raises inside the callback, where the exception would be lost.
_LEAVE = c.PollCall(bool)


@dataclasses.dataclass(frozen=True)
class Stop:
    """Why a machine stands. `reason` is "budget", "breakpoint", "watchpoint", "trap", "exit", "fault", "idle", "request"
    or "memory"; `code` the exit code, trap or fault cause; `steps` those of this call."""

    reason: str
    core: int
    point: int
    pc: int
    steps: int
    code: int
    address: int


@dataclasses.dataclass(frozen=True)
class Change:
    """An architectural write of a step; `text` is the line for people. Changes with equal `key` are the same."""

    kind: str
    core: int
    name: Optional[str]
    address: int
    size: int
    old: int
    new: int
    text: str = dataclasses.field(compare=False)

    @property
    def key(self) -> tuple[str, int, Optional[str], int, int, int]:
        return (self.kind, self.core, self.name, self.address, self.size, self.new)


@dataclasses.dataclass(frozen=True)
class Divergence:
    """Where two machines part: after `step` equal steps, `a` and `b` are the first change that differs (None: one of them
    has no more)."""

    step: int
    a: Optional[Change]
    b: Optional[Change]
    stop_a: Stop
    stop_b: Stop


Event = Mapping[str, Any]
Callback = Callable[[Event], object]


class Machine(Handle):
    """What every machine can do. Names are those of registers ("x5", "t0"), CSRs ("mstatus") and their fields
    ("CAP.PREC.MODE.EW"); `machine["t0"]` is core 0, other cores are `machine.get(name, core)`.

    A machine belongs to one thread at a time; `interrupt` alone may be called from any. Use `with`, or `close`."""

    _what = "machine"

    def __init__(self, handle: Optional[int]) -> None:
        super().__init__(handle, lib.facet_machine_destroy)
        self._failure: Optional[BaseException] = None  # of a callback, until the run is over
        self._asked = threading.Event()
        self._observer: Any = None
        self._changes = (c.Change * MAX_CHANGES)()
        lib.facet_machine_poll(handle, _LEAVE, 1, SIGNALS_EVERY)

    # ---- registers and CSRs ----

    def get(self, name: str, core: int = 0) -> int:
        """The value of a register, a CSR or a field of one."""
        with self._use(change=False) as machine:
            what, index, field = self._find(machine, name, core)
            value = c.Value()
            c.call(f"machine_{what}_read", machine, core, index, value)
            whole = _whole(value)
            if field is None:
                return whole
            desc = self._core(machine, core).csrs[index].fields[field]
            return whole >> int(desc.lo) & (1 << int(desc.hi - desc.lo) + 1) - 1

    def set(self, name: str, value: int, core: int = 0) -> None:
        """Writes as an instruction with every privilege would: a CSR may store something else (`get` tells)."""
        with self._use() as machine:
            what, index, field = self._find(machine, name, core)
            if field is not None:
                status = lib.facet_machine_set(machine, core, c.text(name, "name"), c.number(value, 64, "value"))
                if status:
                    raise Error(f"{name} cannot hold {value:#x}", c.status_name(status))
                return
            whole = c.number(value, 128, "value")
            parts = c.Value(whole & NO_LIMIT, whole >> 64)
            c.call(f"machine_{what}_write", machine, core, index, parts, *([None] if what == "csr" else []))

    def __getitem__(self, name: str) -> int:
        return self.get(name)

    def __setitem__(self, name: str, value: int) -> None:
        self.set(name, value)

    def __iter__(self) -> Iterator[str]:
        """Not a sequence: `names` has the registers."""
        raise TypeError(f"a {self._what} is not iterable; see names()")

    def names(self, core: int = 0) -> dict[str, int]:
        """All registers of a core with their values."""
        with self._use(change=False) as machine:
            table = self._core(machine, c.number(core, 32, "core"))
            regs = [table.regs[i].name.decode() for i in range(table.reg_count)]
        return {name: self.get(name, core) for name in regs}

    def csrs(self, core: int = 0) -> dict[str, list[str]]:
        """All CSRs of a core with the names of their fields."""
        with self._use(change=False) as machine:
            table = self._core(machine, c.number(core, 32, "core"))
            return {csr.name.decode(): [csr.fields[f].name.decode() for f in range(csr.field_count)]
                    for csr in (table.csrs[i] for i in range(table.csr_count))}

    @property
    def cores(self) -> int:
        with self._use(change=False) as machine:
            return int(lib.facet_machine_core_count(machine))

    @property
    def kind(self) -> str:
        with self._use(change=False) as machine:
            return str(lib.facet_machine_kind_name(machine).decode())

    @property
    def steps(self) -> int:
        """Since creation or reset."""
        with self._use(change=False) as machine:
            return int(lib.facet_machine_steps(machine))

    # ---- memory ----

    def read(self, address: int, size: int, space: int = 0, *, bus: bool = False) -> bytes:
        """Bytes of guest memory, all or an Error; with `bus` devices react."""
        size = c.number(size, 48, "size")
        with self._use(change=bus) as machine:
            try:
                data = ctypes.create_string_buffer(max(size, 1))
            except (MemoryError, OverflowError):
                raise Error(f"no memory for {size} bytes", MEMORY) from None
            c.call("machine_bus_read" if bus else "machine_read", machine, c.number(space, 32, "space"),
                   c.number(address, 64, "address"), data, size)
            return data.raw[:size]

    def write(self, address: int, data: Any, space: int = 0, *, bus: bool = False) -> None:
        """Bytes, or the bytes of an array, into guest memory: all or an Error."""
        content = c.octets(data, "data")
        with self._use() as machine:
            c.call("machine_bus_write" if bus else "machine_write", machine, c.number(space, 32, "space"),
                   c.number(address, 64, "address"), content, len(content))

    # ---- running ----

    def step(self) -> Stop:
        """One instruction of one core, in the machine's own order."""
        with self._use() as machine:
            return self._go(machine, lambda stop, _: lib.facet_machine_step(machine, stop), 1)

    def run(self, budget: Optional[int] = None, *, stop_on_trap: bool = False) -> Stop:
        """Runs until something stops it: `budget` steps, the end of the program, a breakpoint, `interrupt`, ...

        An exception in a callback ends the run and is raised here, and so does Ctrl-C; the next run continues."""
        steps = NO_LIMIT if budget is None else c.number(budget, 64, "budget")
        with self._use() as machine:
            return self._go(machine, lambda stop, left: lib.facet_machine_run(
                machine, c.Run(left, bool(stop_on_trap)), stop), steps)

    def step_changes(self) -> list[Change]:
        """A step, and what it wrote in a fixed order: for comparison with another implementation."""
        with self._use() as machine:
            changes, count = self._changes, ctypes.c_size_t()
            self._go(machine, lambda stop, _: c.call(
                "machine_step_changes", machine, changes, len(changes), count, stop), 1)
            if count.value > len(changes):  # some of them would mislead
                raise Error(f"the step has {count.value} changes, more than {len(changes)}", LIMIT)
            return [self._change(machine, changes[i]) for i in range(count.value)]

    def interrupt(self) -> None:
        """From any thread: the current or next run ends soon, with the reason "request"."""
        with self._life:
            if self._handle is None:
                raise Error(f"the {self._what} is closed")
            self._asked.set()
            lib.facet_machine_interrupt(self._handle)

    def reset(self) -> None:
        """As after power-on; memory keeps its contents."""
        with self._use() as machine:
            lib.facet_machine_reset(machine)

    # ---- points, observer, snapshots, text ----

    def add_break(self, pc: int, core: Optional[int] = None) -> int:
        """Stops before the instruction at `pc`; the number is for `remove_point`."""
        point = ctypes.c_uint32()
        with self._use() as machine:
            c.call("machine_break_add", machine, NONE if core is None else c.number(core, 32, "core"),
                   c.number(pc, 64, "pc"), point)
        return point.value

    def add_watch(self, address: int, size: int = 1, *, read: bool = False, write: bool = True, space: int = 0,
                  core: Optional[int] = None) -> int:
        """Stops after an instruction that reads or writes the range."""
        watch = c.Watch(NONE if core is None else c.number(core, 32, "core"), c.number(space, 32, "space"),
                        c.number(address, 64, "address"), c.number(size, 64, "size"), bool(read), bool(write))
        point = ctypes.c_uint32()
        with self._use() as machine:
            c.call("machine_watch_add", machine, watch, point)
        return point.value

    def remove_point(self, point: int) -> None:
        with self._use() as machine:
            c.call("machine_point_remove", machine, c.number(point, 32, "point"))

    def observe(self, **callbacks: Optional[Callback]) -> None:
        """Calls back for events: `retire`, `reg_write`, `csr_write`, `memory`, `trap`, `unit`; none of them ends it.

        Each gets a dictionary with the members of facet/observer.h, registers and CSRs by name. A callback may read the
        machine; an exception in it ends the run, which raises it."""
        for name, callback in callbacks.items():
            if name not in c.EVENTS:
                raise TypeError(f"no event {name!r}, expected {', '.join(c.EVENTS)}")
            if callback is not None and not callable(callback):
                raise TypeError(f"{name} is {type(callback).__name__}, expected something to call")
        wanted = {name: callback for name, callback in callbacks.items() if callback is not None}
        observer = c.Observer(**{name: c.EVENT_CALLS[name](self._told(name, callback))
                                 for name, callback in wanted.items()}) if wanted else None
        with self._use() as machine:
            status = lib.facet_machine_observe_sized(machine, observer, ctypes.sizeof(c.Observer))
            if status:
                raise Error("this library has no such observer", c.status_name(status))
            lib.facet_machine_poll(machine, _LEAVE, 1, SIGNALS_WATCHED if wanted else SIGNALS_EVERY)
            self._observer = observer  # its functions live as long as the machine may call them

    def snapshot(self) -> bytes:
        """The whole state. Equal states give equal bytes."""
        blob = c.Blob()
        with self._use(change=False) as machine:
            c.call("machine_snapshot", machine, blob)
        return c.take(blob)

    def restore(self, snapshot: bytes) -> None:
        """Takes back a snapshot of a machine of the same kind and configuration; bad data changes nothing."""
        data = c.octets(snapshot, "snapshot")
        with self._use() as machine:
            c.call("machine_restore", machine, data, len(data))

    def disassemble(self, address: int, core: int = 0) -> str:
        """One line for the instruction at the address; "" when it cannot be read."""
        line, length = ctypes.create_string_buffer(256), ctypes.c_uint32()
        with self._use(change=False) as machine:
            self._core(machine, c.number(core, 32, "core"))
            lib.facet_machine_disassemble(machine, core, c.number(address, 64, "address"), line, 256, length)
        return line.value.decode() if length.value else ""

    # ---- inside ----

    def _core(self, machine: int, core: int) -> Any:
        table = lib.facet_machine_core(machine, core)
        if not table:
            raise Error(f"no core {core}; the machine has {lib.facet_machine_core_count(machine)}")
        return table.contents

    def _find(self, machine: int, name: str, core: int) -> tuple[str, int, Optional[int]]:
        """"reg" or "csr", its index, and that of a field."""
        encoded = c.text(name, "name")
        self._core(machine, c.number(core, 32, "core"))
        for what in ("reg", "csr"):
            index = getattr(lib, f"facet_machine_find_{what}")(machine, core, encoded)
            if index != NONE:
                return what, index, None
        csr, field = ctypes.c_uint32(), ctypes.c_uint32()
        if lib.facet_machine_find_field(machine, core, encoded, csr, field):
            return "csr", csr.value, field.value
        raise Error(f"core {core} has no register, CSR or field {name!r}")

    def _go(self, machine: int, go: Callable[[Any, int], object], budget: int) -> Stop:
        """Goes on until a stop that is not one of SIGNALS_EVERY. Between two turns Python handles signals."""
        done, self._failure = 0, None
        while True:
            stop = c.Stop()
            with _SignalsLater():
                go(stop, budget - done)
            done += stop.steps
            if self._failure is not None:
                failure, self._failure = self._failure, None
                raise failure
            reason = lib.facet_stop_name(stop.reason).decode()
            if reason != "request" or self._asked.is_set() or done >= budget:
                if reason == "request":
                    self._asked.clear()
                return _stop(stop, done)

    def _told(self, event: str, callback: Callback) -> Callable[..., None]:
        names = [name for name, *_ in c.EVENTS[event]._fields_]

        def tell(_: Any, pointer: Any) -> None:
            if self._failure is not None:
                return  # the run is about to end
            try:
                members = {name: _member(getattr(pointer.contents, name)) for name in names}
                if event in ("reg_write", "csr_write") and self._handle is not None:
                    table = self._core(self._handle, members["core"])
                    rows = table.regs if event == "reg_write" else table.csrs
                    members["name"] = rows[members["index"]].name.decode()
                elif event == "unit":
                    members["values"] = members["values"][:members.pop("count")]
                callback(members)
            except BaseException as failure:
                self._failed(failure)

        return tell

    def _failed(self, failure: BaseException) -> None:
        """Ends the run that called back; _go raises the exception."""
        self._failure = failure
        lib.facet_machine_interrupt(self._handle)

    def _change(self, machine: int, change: Any) -> Change:
        line = ctypes.create_string_buffer(512)
        lib.facet_change_print(machine, change, line, 512)
        kind, table = CHANGES[change.kind], self._core(machine, change.core)
        rows = {"reg": table.regs, "csr": table.csrs}.get(kind)
        size = 0 if rows else change.size
        return Change(kind, change.core, rows[change.index].name.decode() if rows else None, change.address, size,
                      _whole(change.old_value), _whole(change.new_value), line.value.decode(errors="replace"))


def lockstep(a: Machine, b: Machine, budget: int) -> Optional[Divergence]:
    """Steps both until their changes differ (a Divergence), one of them ends or the budget is spent (None)."""
    for one in (a, b):
        if not isinstance(one, Machine):
            raise TypeError(f"{type(one).__name__} is not a machine")
    if a is b:
        raise Error("a machine cannot be compared with itself")
    left, out, done, equal = c.number(budget, 64, "budget"), c.Divergence(), 0, 0
    # The library ends a stretch of lockstep for an exception in a callback only when it is over.
    stretch = 100000 if a._observer is None and b._observer is None else 1000
    with a._use() as first, b._use() as second:
        begin = lib.facet_machine_steps(first)
        while left > done:
            with _SignalsLater():
                c.call("lockstep_run", first, second, min(left - done, stretch), out)
            equal += out.step
            for one in (a, b):
                if one._failure is not None:
                    failure, one._failure = one._failure, None
                    raise failure
            reasons = {lib.facet_stop_name(out.stop_a.reason), lib.facet_stop_name(out.stop_b.reason)}
            done = lib.facet_machine_steps(first) - begin
            if out.found:
                return Divergence(equal, a._change(first, out.a) if out.has_a else None,
                                  b._change(second, out.b) if out.has_b else None, _stop(out.stop_a, done),
                                  _stop(out.stop_b, done))
            asked = a._asked.is_set() or b._asked.is_set()
            if not reasons <= {b"budget", b"request"} or (b"request" in reasons and asked):
                a._asked.clear()
                b._asked.clear()
                break
    return None


class _SignalsLater:
    """Signals wait until the library has returned. A handler that raises while a callback begins would be lost: ctypes
    prints such an exception and continues. The C library is called directly: a step is short, and the module `signal` makes a
    set of 64 objects at every call."""

    _mask = ctypes.CDLL(None).pthread_sigmask
    _mask.argtypes = [ctypes.c_int, ctypes.c_char_p, ctypes.c_char_p]
    _all = b"\xff" * 128  # sigset_t of Linux; what cannot wait does not

    def __enter__(self) -> None:
        self._before = ctypes.create_string_buffer(128)
        try:
            self._mask(signal.SIG_BLOCK, self._all, self._before)
        except BaseException:  # of a signal that came before
            self._mask(signal.SIG_SETMASK, self._before, None)
            raise

    def __exit__(self, *_: object) -> None:
        self._mask(signal.SIG_SETMASK, self._before, None)


def _stop(stop: Any, steps: int) -> Stop:
    return Stop(lib.facet_stop_name(stop.reason).decode(), stop.core, stop.point, stop.pc, steps, stop.code, stop.address)


def _whole(value: Any) -> int:
    return int(value.lo | value.hi << 64)


def _member(value: Any) -> Any:
    if isinstance(value, c.Value):
        return _whole(value)
    if isinstance(value, bytes):
        return value.decode()
    return list(value) if isinstance(value, ctypes.Array) else value


def _host_code(heat: Optional[int], bits: int) -> int:
    """How often code is entered before it becomes code of the host, as the command line counts: 0 is never."""
    if heat is None:
        return 0  # the library's own choice
    return c.number(heat, bits, "host_code") or (1 << bits) - 1


def _configuration(given: Union[str, Mapping[str, Union[str, int]]]) -> str:
    """A list as it is; keys and values as a list, `configuration` first."""
    if isinstance(given, str):
        return given
    if not isinstance(given, Mapping):
        raise TypeError(f"configuration is {type(given).__name__}, expected a text or keys with values")
    words = [str(given.get("configuration", "full"))]
    for key, value in given.items():
        if isinstance(value, bool) or not isinstance(value, (str, int)) or "," in str(value):
            raise ValueError(f"configuration: {key} is {value!r}, expected a number or a text without commas")
        words += [f"{key}={value}"] if key != "configuration" else []
    return ",".join(words)


class Xphmg(Machine):
    """RV64GC harts with the XPHMG extensions, RAM at 0x80000000 and a small platform (docs/run.md).

    `configuration` makes another core of it: "rv64,isa=rv64imac,pmp=0", or {"configuration": "rv64", "pmp": 0}.
    `host_code`: code that is entered this often becomes code of the host, 0: none does; same results.
    `output` gets (stream, bytes) with stream 1 or 2; without it the console is kept in `console`."""

    def __init__(self, program: Optional[Union[bytes, str]] = None, *, harts: int = 1, ram_bytes: int = 0,
                 configuration: Union[str, Mapping[str, Union[str, int]]] = "full", quantum: int = 0, threads: int = 0, plain: bool = False,
                 no_semihosting: bool = False, command_line: str = "",
                 output: Optional[Callable[[int, bytes], object]] = None, host_code: Optional[int] = None) -> None:
        self._must_be_new()
        if output is not None and not callable(output):
            raise TypeError(f"output is {type(output).__name__}, expected something to call")
        self.console = bytearray()
        self._output = output
        self._devices: list[Any] = []  # what the library calls must live
        self._hears = c.OutputCall(self._hear)
        config = c.XphmgConfig(
            harts=c.number(harts, 32, "harts"), ram_bytes=c.number(ram_bytes, 64, "ram_bytes"),
            quantum=c.number(quantum, 32, "quantum"), job_threads=c.number(threads, 32, "threads"),
            plain=bool(plain), no_semihosting=bool(no_semihosting),
            command_line=c.text(command_line, "command_line"), configuration=c.text(_configuration(configuration), "configuration"),
            host_code=_host_code(host_code, 64))
        config.host.output = self._hears
        handle = ctypes.c_void_p()
        c.call("xphmg_create_sized", config, ctypes.sizeof(config), handle)
        super().__init__(handle.value)
        if program is not None:
            self.load(program)

    def load(self, program: Union[bytes, str]) -> None:
        """An ELF file, or a text to assemble; every hart starts at its entry."""
        from ._isa import assemble
        elf = assemble(program) if isinstance(program, str) else c.octets(program, "program")
        with self._use() as machine:
            c.call("xphmg_load_elf", machine, elf, len(elf))

    def input(self, data: bytes, *, end: bool = False) -> None:
        """Appends to what the guest can read from its console; `end`: no more will come."""
        content = c.octets(data, "data")
        with self._use() as machine:
            c.call("xphmg_input", machine, content, len(content))
            if end:
                c.call("xphmg_input_end", machine)

    # ---- what the host tells (docs/lockstep.md) ----

    def set_line(self, interrupt: int, level: Optional[bool], core: int = 0) -> None:
        """Holds interrupt line 3, 7 or 11 high (True) or low (False); None gives it back to the platform. A device's
        callback may do this."""
        with self._use(change=False) as machine:
            c.call("xphmg_set_line", machine, c.number(core, 32, "core"), c.number(interrupt, 32, "interrupt"),
                   0 if level is None else 2 if level else 1)

    def wait_for_told(self, waits: bool = True) -> None:
        """Interrupts are taken only by `take`, and WFI does not wait."""
        with self._use() as machine:
            c.call("xphmg_wait_for_told", machine, bool(waits))

    def take(self, cause: int, value: int = 0, *, anyway: bool = False, core: int = 0) -> None:
        """The next step is this trap (bit 63: an interrupt); an Error when the hart may not, unless `anyway`."""
        with self._use() as machine:
            c.call("xphmg_take", machine, c.number(core, 32, "core"), c.number(cause, 64, "cause"),
                   c.number(value, 64, "value"), bool(anyway))

    def next_load(self, value: int, first: int = 0, last: int = NO_LIMIT, core: int = 0) -> None:
        """The next load from an address in first..last gives this value."""
        with self._use() as machine:
            c.call("xphmg_next_load", machine, c.number(core, 32, "core"), c.number(first, 64, "first"),
                   c.number(last, 64, "last"), c.number(value, 64, "value"))

    def next_csr(self, name: str, value: int, core: int = 0) -> None:
        """The next csr* instruction with this CSR reads this value."""
        with self._use() as machine:
            what, index, field = self._find(machine, name, core)
            if what != "csr" or field is not None:
                raise Error(f"{name} is not a CSR")
            c.call("xphmg_next_csr", machine, core, self._core(machine, core).csrs[index].number,
                   c.number(value, 64, "value"))

    def given(self, *, drop: bool = False, core: int = 0) -> int:
        """How many values no load or read has asked for yet; `drop` throws them away."""
        left = ctypes.c_uint32()
        with self._use() as machine:
            c.call("xphmg_given", machine, c.number(core, 32, "core"), bool(drop), left)
        return left.value

    def set_turn(self, core: int) -> None:
        """The next step is of this hart."""
        with self._use() as machine:
            c.call("xphmg_set_turn", machine, c.number(core, 32, "core"))

    def break_reservation(self, core: int = 0) -> None:
        """The next SC of the hart fails."""
        with self._use() as machine:
            c.call("xphmg_break_reservation", machine, c.number(core, 32, "core"))

    def add_device(self, name: str, base: int, size: int, read: Optional[Callable[[int, int], Optional[int]]] = None,
                   write: Optional[Callable[[int, int, int], object]] = None) -> None:
        """A device of the host: read(offset, size) gives a number, or None for an access fault; write(offset, size, value)
        refuses with False."""
        def reads(_: Any, offset: int, count: int, value: Any) -> bool:
            try:
                answer = read(offset, count) if read is not None else None
                if answer is None:
                    return False
                value[0] = c.number(answer, 64, f"what {name} reads")
                return True
            except BaseException as failure:
                self._failed(failure)
                return False

        def writes(_: Any, offset: int, count: int, value: int) -> bool:
            try:
                return write is not None and write(offset, count, value) is not False
            except BaseException as failure:
                self._failed(failure)
                return False

        device = c.Device(None, c.DeviceRead(reads), c.DeviceWrite(writes))
        with self._use() as machine:
            c.call("machine_add_device_sized", machine, c.text(name, "name"), c.number(base, 64, "base"),
                   c.number(size, 64, "size"), device, ctypes.sizeof(device))
        self._devices.append(device)

    def fault(self) -> dict[str, Any]:
        """After a stop with the reason "fault": the trap that had no handler."""
        fault = c.XphmgFault()
        with self._use(change=False) as machine:
            c.call("xphmg_get_fault_sized", machine, fault, ctypes.sizeof(fault))
        members = {name: getattr(fault, name) for name, *_ in c.XphmgFault._fields_}
        return {**members, "name": lib.facet_xphmg_cause_name(fault.cause).decode()}

    def _hear(self, _: Any, stream: int, data: int, size: int) -> None:
        try:
            content = ctypes.string_at(data, size) if size else b""
            if self._output is not None:
                self._output(stream, content)
            else:
                self.console += content
        except BaseException as failure:
            self._failed(failure)
