"""libfacet.so.1 as ctypes sees it: where it is, its structs, and how its errors become exceptions.

Everything that goes to C passes the checks here. ctypes itself cuts numbers to their size and
strings at a zero byte without a word.
"""
from __future__ import annotations

import ctypes
import operator
import os
import pathlib
import threading
from ctypes import POINTER, Structure, c_bool, c_char, c_char_p, c_double, c_float, c_int, c_int16, c_int32, c_int64
from ctypes import c_size_t, c_uint8, c_uint16, c_uint32, c_uint64, c_void_p
from typing import Any, Callable, Iterator, Optional, Type, TypeVar
import contextlib

MAJOR = 0  # of the interface that the structs below describe


class Error(Exception):
    """What Facet refused or could not do. `status` is the name of the kind ("usage error", "bad input", ...),
    `where` the guest address, byte offset, line or ray that the message speaks of."""

    def __init__(self, message: str, status: str = "usage error", where: int = 0) -> None:
        super().__init__(message)
        self.status = status
        self.where = where


def _load() -> ctypes.CDLL:
    """FACET_LIBRARY, else the library inside the package (a wheel), else the installed one."""
    packed = pathlib.Path(__file__).with_name("libfacet.so.1")
    name = os.environ.get("FACET_LIBRARY") or (str(packed) if packed.exists() else "libfacet.so.1")
    try:
        library = ctypes.CDLL(name)
        library.facet_version_number.restype = c_int
        number = library.facet_version_number()
    except (OSError, AttributeError) as why:
        raise ImportError(f"no library of Facet: {why}; install libfacet1 or set FACET_LIBRARY") from None
    if number // 1000000 != MAJOR:
        raise ImportError(f"{name} is of major version {number // 1000000}, this package needs {MAJOR}")
    return library


lib = _load()
lib.facet_version.restype = c_char_p
__version__: str = lib.facet_version().decode()

# ---- structs, member by member as in include/facet ----


STRUCTS: dict[str, Type[Structure]] = {}  # by name in C: a test compares them with the headers


def struct(name: str, members: str, *more: tuple[str, Any]) -> Type[Structure]:
    """struct facet_NAME from "u32:core u64:pc ..."; members of other types after them."""
    types = {"u8": c_uint8, "u16": c_uint16, "i16": c_int16, "i32": c_int32, "u32": c_uint32, "u64": c_uint64, "i64": c_int64, "bool": c_bool,
             "size": c_size_t, "f32": c_float, "f64": c_double, "text": c_char_p, "data": c_void_p, "enum": c_int}
    fields = [(member, types[kind]) for kind, member in (word.split(":") for word in members.split())]
    STRUCTS["facet_" + name] = type(name, (Structure,), {"_fields_": [*fields, *more]})
    return STRUCTS["facet_" + name]


CError = struct("error", "enum:status u64:where", ("message", c_char * 480))
Blob = struct("blob", "data:data size:size")
Value = struct("value", "u64:lo u64:hi")
Stop = struct("stop", "enum:reason u32:core u32:point u64:pc u64:steps u64:code u64:address")
Run = struct("run", "u64:budget bool:stop_on_trap")
Watch = struct("watch", "u32:core u32:space u64:address u64:size bool:on_read bool:on_write")
RegDesc = struct("reg_desc", "text:name text:alias text:group u16:width u8:type bool:read_only")
FieldDesc = struct("field_desc", "text:name u8:hi u8:lo u8:access text:meaning")
CsrDesc = struct("csr_desc", "text:name u32:number u16:width u16:field_count", ("fields", POINTER(FieldDesc)))
CoreDesc = struct("core_desc", "text:name", ("regs", POINTER(RegDesc)), ("reg_count", c_uint32), ("pc", c_uint32),
                  ("csrs", POINTER(CsrDesc)), ("csr_count", c_uint32))
Change = struct("change", "enum:kind u32:core u32:index u32:size u64:address", ("old_value", Value),
                ("new_value", Value))
Divergence = struct("divergence", "bool:found u64:step bool:has_a bool:has_b", ("a", Change), ("b", Change),
                    ("stop_a", Stop), ("stop_b", Stop))

RetireEvent = struct("retire_event", "u32:core u64:pc u64:next_pc u32:word u32:length")
RegEvent = struct("reg_event", "u32:core u32:index", ("old_value", Value), ("new_value", Value))
MemoryEvent = struct("memory_event", "u32:core u32:space u64:address u32:size bool:write", ("value", Value),
                     ("old_value", Value))
TrapEvent = struct("trap_event", "u32:core bool:interrupt u64:pc u64:handler u64:cause u64:value")
UnitEvent = struct("unit_event", "u32:core text:unit text:what u32:count", ("values", c_uint64 * 6))
EVENTS = {"retire": RetireEvent, "reg_write": RegEvent, "csr_write": RegEvent, "memory": MemoryEvent,
          "trap": TrapEvent, "unit": UnitEvent}
EVENT_CALLS = {name: ctypes.CFUNCTYPE(None, c_void_p, POINTER(event)) for name, event in EVENTS.items()}
Observer = struct("observer", "data:context", *EVENT_CALLS.items())

DeviceRead = ctypes.CFUNCTYPE(c_bool, c_void_p, c_uint64, c_uint32, POINTER(c_uint64))
DeviceWrite = ctypes.CFUNCTYPE(c_bool, c_void_p, c_uint64, c_uint32, c_uint64)
Device = struct("device", "data:context", ("read", DeviceRead), ("write", DeviceWrite))
ByteDifference = struct("byte_difference", "u32:space bool:has_a bool:has_b u8:a u8:b u64:address")
CosimConfig = struct("cosim_config", "u32:window bool:own_interrupts u64:snapshot_every")
CosimDifference = struct("cosim_difference", "u64:step u32:core u64:pc bool:has_reference bool:has_design",
                         ("reference", Change), ("design", Change), ("why", c_char_p))

OutputCall = ctypes.CFUNCTYPE(None, c_void_p, c_int, c_void_p, c_size_t)
PollCall = ctypes.CFUNCTYPE(c_bool, c_void_p)
Files = struct("xphmg_files", "data:open data:close data:read data:write data:seek data:length")
Host = struct("xphmg_host", "data:context", ("output", OutputCall), ("files", Files))
XphmgConfig = struct("xphmg_config", "u32:harts u64:ram_bytes u32:quantum u32:instructions_per_tick u32:job_threads "
                     "enum:jobs u64:jobs_seed bool:plain bool:no_semihosting bool:poll_input text:command_line "
                     "text:configuration", ("host", Host), ("host_code", c_uint64))
XphmgFault = struct("xphmg_fault", "u32:core u64:pc u64:cause u64:value u64:handler")

TileConfig = struct("tile_config", "u32:vram bool:strong bool:random u32:seed u32:quantum bool:poison u32:regs "
                    "u32:watchdog bool:plain u32:threads u32:host_code")
Packet = struct("tile_packet", "u32:pc u32:columns u32:rows u32:tile_width u32:tile_height u32:arg_base u32:arg_size "
                "u32:shared_size u32:priority u32:core_mask u32:const_base u32:const_size u32:watchdog")
TileInfo = struct("tile_info", "enum:state enum:queue u64:rounds u64:commands u32:ring_room u32:watchdog u32:hwinfo "
                  "u32:vram_bytes")
CoreReport = struct("tile_core_report", "u64:retired", ("by_class", c_uint64 * 7), ("fault_cause", c_uint32),
                    ("fault_pc", c_uint32), ("fault_addr", c_uint32), ("status", c_uint32), ("gerror", c_uint32),
                    ("tiles", c_uint32))

Mesh = struct("bvh_mesh", "data:positions size:position_stride u32:vertex_count data:indices size:index_stride "
              "u32:triangle_count u32:geometry u32:flags")
Placement = struct("bvh_placement", "", ("object_to_world", c_float * 12), ("mesh", c_uint32), ("mask", c_uint32))
Scene = struct("bvh_scene", "", ("meshes", POINTER(Mesh)), ("mesh_count", c_uint32), ("placements", POINTER(Placement)),
               ("placement_count", c_uint32))
BvhConfig = struct("bvh_config", "enum:format enum:quality bool:obb u32:children u32:leaf_triangles text:element "
                   "bool:quantized f64:reach u32:threads bool:allow_update", ("reserved", c_uint8 * 3))
CFinding = struct("bvh_finding", "text:rule text:requirement u64:offset enum:severity", ("text", c_char * 160))
Rays = struct("bvh_rays", "size:count data:origin size:origin_stride data:direction size:direction_stride "
              "data:t_min size:t_min_stride data:t_max size:t_max_stride")
TraceConfig = struct("bvh_trace_config", "bool:any_hit bool:cull_back u32:mask u32:threads bool:plain u8:device",
                     ("reserved", c_uint8 * 2))

AssembleConfig = struct("isa_assemble_config", "enum:isa bool:flat bool:has_base u64:base text:name",
                        ("include_folders", POINTER(c_char_p)), ("include_count", c_size_t))
Insn = struct("isa_insn", "text:mnemonic text:syntax text:fields text:semantics text:extension text:file u32:line u32:id "
              "u32:length u32:mask u32:match u32:operand_count")
Operand = struct("isa_operand", "text:name text:meaning i64:value i64:field u8:bits bool:hidden")

Policy = struct("num_policy", "u8:rm u8:flush u8:saturate u8:nan bool:flush_operand")
Conv = struct("conv", "u8:elem u8:acc u8:rm u8:nan_pol bool:ftz bool:sat bool:sat_mode bool:uns bool:mixed_step bool:plain "
              "i16:scale i16:zp")

Gfx12Config = struct("gfx12_config", "u32:lanes u32:stack_entries u64:image_base u64:image_bytes",
                     ("resource", c_uint32 * 4), ("profile", c_int), ("opaque_sense", c_int))
Gfx12Callbacks = struct("gfx12_callbacks", "data:context data:visit data:any_hit data:procedural")
Gfx12Query = struct("gfx12_query", "", ("origin", c_float * 3), ("direction", c_float * 3), ("t_min", c_float),
                    ("t_max", c_float), ("api_flags", c_uint32), ("instance_mask", c_uint32), ("address", c_uint64),
                    ("root", c_uint32), ("max_steps", c_uint64), ("callbacks", Gfx12Callbacks))
Gfx12Hit = struct("gfx12_hit", "bool:found bool:procedural bool:opaque bool:backface f32:t f32:u f32:v "
                  "u32:primitive_index u32:geometry_index u32:node u64:base u32:instance u32:instance_user_data")
Gfx12Stats = struct("gfx12_stats", "u64:steps u64:boxes u64:primitives u64:instances u64:walk_backs u64:pushes "
                    "u32:max_depth u32:lost_walks")
Gfx12Lane = struct("gfx12_lane", "enum:state", ("hit", Gfx12Hit), ("stats", Gfx12Stats))
Vimage = struct("gfx12_vimage", "bool:dual u8:vdata", ("vaddr", c_uint8 * 5), ("rsrc", c_uint8))
Ds = struct("gfx12_ds", "bool:pop2 u8:vdst u8:addr u8:data0 u8:data1 u8:offset0 u8:offset1")

# ---- calls ----

_machine, _core, _error = c_void_p, c_uint32, POINTER(CError)


def _declare(result: Any, name: str, *arguments: Any) -> None:
    function = getattr(lib, name)
    function.restype, function.argtypes = result, list(arguments)


_calls: list[tuple[Any, ...]] = [
    ("isa_decode_word_sized", c_int, c_uint32, POINTER(Insn), c_size_t, POINTER(Operand), c_size_t, c_size_t,
     POINTER(c_size_t), _error),
    ("isa_assemble_sized", POINTER(AssembleConfig), c_size_t, c_char_p, c_size_t, POINTER(Blob), POINTER(Blob),
     _error),
    ("isa_disassemble", c_char_p, c_size_t, POINTER(Blob), _error),
    ("machine_reg_read", _machine, _core, c_uint32, POINTER(Value), _error),
    ("machine_reg_write", _machine, _core, c_uint32, Value, _error),
    ("machine_csr_read", _machine, _core, c_uint32, POINTER(Value), _error),
    ("machine_csr_write", _machine, _core, c_uint32, Value, POINTER(Value), _error),
    ("machine_set", _machine, _core, c_char_p, c_uint64),
    ("machine_read", _machine, c_uint32, c_uint64, c_void_p, c_size_t, _error),
    ("machine_write", _machine, c_uint32, c_uint64, c_void_p, c_size_t, _error),
    ("machine_bus_read", _machine, c_uint32, c_uint64, c_void_p, c_size_t, _error),
    ("machine_bus_write", _machine, c_uint32, c_uint64, c_void_p, c_size_t, _error),
    ("machine_break_add", _machine, c_uint32, c_uint64, POINTER(c_uint32), _error),
    ("machine_watch_add", _machine, POINTER(Watch), POINTER(c_uint32), _error),
    ("machine_point_remove", _machine, c_uint32, _error),
    ("machine_snapshot", _machine, POINTER(Blob), _error),
    ("machine_restore", _machine, c_char_p, c_size_t, _error),
    ("machine_step_changes", _machine, POINTER(Change), c_size_t, POINTER(c_size_t), POINTER(Stop), _error),
    ("machine_observe_sized", _machine, POINTER(Observer), c_size_t),
    ("lockstep_run", _machine, _machine, c_uint64, POINTER(Divergence), _error),
    ("machine_add_device_sized", _machine, c_char_p, c_uint64, c_uint64, POINTER(Device), c_size_t, _error),
    ("lockstep_filter_ignore", c_void_p, c_char_p, _error),
    ("lockstep_filter_compare", c_void_p, c_char_p, _error),
    ("cosim_create_sized", _machine, POINTER(CosimConfig), c_size_t, POINTER(c_void_p), _error),
    ("cosim_symbols", c_void_p, c_char_p, c_size_t, _error),
    ("cosim_wrote", c_void_p, _core, c_char_p, c_uint64, _error),
    ("cosim_wrote_memory", c_void_p, _core, c_uint64, c_char_p, c_size_t, _error),
    ("cosim_unit_wrote", c_void_p, _core, c_char_p, c_uint64, _error),
    ("cosim_unit_wrote_memory", c_void_p, _core, c_uint64, c_char_p, c_size_t, _error),
    ("cosim_retired", c_void_p, _core, c_uint64, c_uint32, POINTER(c_int), _error),
    ("cosim_trapped", c_void_p, _core, c_uint64, c_uint64, c_uint64, POINTER(c_int), _error),
    ("cosim_finish", c_void_p, POINTER(c_int), _error),
    ("cosim_get_difference_sized", c_void_p, POINTER(CosimDifference), c_size_t, _error),
    ("cosim_replay", c_void_p, POINTER(Blob), POINTER(c_uint64), _error),
    ("xphmg_set_line", _machine, _core, c_uint32, c_int, _error),
    ("xphmg_wait_for_told", _machine, c_bool, _error),
    ("xphmg_take", _machine, _core, c_uint64, c_uint64, c_bool, _error),
    ("xphmg_next_load", _machine, _core, c_uint64, c_uint64, c_uint64, _error),
    ("xphmg_next_csr", _machine, _core, c_uint32, c_uint64, _error),
    ("xphmg_given", _machine, _core, c_bool, POINTER(c_uint32), _error),
    ("xphmg_set_turn", _machine, _core, _error),
    ("xphmg_break_reservation", _machine, _core, _error),
    ("xphmg_create_sized", POINTER(XphmgConfig), c_size_t, POINTER(c_void_p), _error),
    ("xphmg_load_elf", _machine, c_char_p, c_size_t, _error),
    ("xphmg_input", _machine, c_char_p, c_size_t, _error),
    ("xphmg_input_end", _machine, _error),
    ("xphmg_get_fault_sized", _machine, POINTER(XphmgFault), c_size_t, _error),
    ("tile_create_sized", POINTER(TileConfig), c_size_t, POINTER(c_void_p), _error),
    ("tile_clear", _machine, _error),
    ("tile_load_elf", _machine, c_char_p, c_size_t, POINTER(c_uint32), _error),
    ("tile_dispatch", _machine, POINTER(Packet), _error),
    ("tile_set_turn", _machine, _core, _error),
    ("tile_next_load", _machine, _core, c_uint32, c_uint32, Value, _error),
    ("tile_next_csr", _machine, _core, c_uint32, c_uint32, _error),
    ("tile_given", _machine, _core, c_bool, POINTER(c_uint32), _error),
    ("tile_get_info_sized", _machine, POINTER(TileInfo), c_size_t, _error),
    ("tile_get_core_report_sized", _machine, c_uint32, POINTER(CoreReport), c_size_t, _error),
    ("bvh_build_sized", POINTER(Scene), POINTER(BvhConfig), c_size_t, POINTER(c_void_p), _error),
    ("bvh_open", c_char_p, c_size_t, POINTER(c_void_p), _error),
    ("bvh_refit", c_void_p, POINTER(Scene), POINTER(c_void_p), _error),
    ("bvh_check", c_void_p, POINTER(CFinding), c_size_t, POINTER(c_uint64), POINTER(c_uint64), _error),
    ("bvh_dump", c_void_p, c_bool, POINTER(Blob), _error),
    ("bvh_explain_ray_sized", c_void_p, POINTER(TraceConfig), c_size_t, POINTER(c_float), c_bool, POINTER(Blob),
     _error),
    ("gfx12_create_sized", POINTER(Gfx12Config), c_size_t, POINTER(c_void_p), _error),
    ("gfx12_set_program", _machine, POINTER(c_uint32), c_size_t, c_bool, _error),
    ("gfx12_start", _machine, c_uint32, POINTER(Gfx12Query), _error),
    ("gfx12_read_lane_sized", _machine, c_uint32, POINTER(Gfx12Lane), c_size_t, _error),
    ("gfx12_vimage_parse", c_char_p, POINTER(Vimage), _error),
    ("gfx12_ds_parse", c_char_p, POINTER(Ds), _error),
    ("bvh_trace_sized", c_void_p, POINTER(TraceConfig), c_size_t, POINTER(Rays), c_void_p, c_size_t, _error),
]
for _name, *_arguments in _calls:
    _declare(c_int, "facet_" + _name, *_arguments)
_declare(c_char_p, "facet_status_name", c_int)
_declare(None, "facet_cosim_destroy", c_void_p)
_declare(c_void_p, "facet_cosim_filter", c_void_p)
_declare(c_char_p, "facet_cosim_report", c_void_p)
_declare(c_uint64, "facet_cosim_steps", c_void_p)
_declare(None, "facet_cosim_snapshot_at", c_void_p, c_uint64)
_declare(None, "facet_blob_free", POINTER(Blob))
_declare(c_size_t, "facet_isa_print_word", c_int, c_uint32, c_uint64, c_char_p, c_size_t)
_declare(None, "facet_machine_destroy", _machine)
_declare(None, "facet_machine_reset", _machine)
_declare(c_char_p, "facet_machine_kind_name", _machine)
_declare(c_uint32, "facet_machine_core_count", _machine)
_declare(POINTER(CoreDesc), "facet_machine_core", _machine, _core)
_declare(c_uint32, "facet_machine_find_reg", _machine, _core, c_char_p)
_declare(c_uint32, "facet_machine_find_csr", _machine, _core, c_char_p)
_declare(c_bool, "facet_machine_find_field", _machine, _core, c_char_p, POINTER(c_uint32), POINTER(c_uint32))
_declare(c_char_p, "facet_stop_name", c_int)
_declare(None, "facet_machine_step", _machine, POINTER(Stop))
_declare(None, "facet_machine_run", _machine, POINTER(Run), POINTER(Stop))
_declare(None, "facet_machine_interrupt", _machine)
_declare(None, "facet_machine_poll", _machine, PollCall, c_void_p, c_uint64)
_declare(c_uint64, "facet_machine_steps", _machine)
_declare(c_size_t, "facet_machine_disassemble", _machine, _core, c_uint64, c_char_p, c_size_t, POINTER(c_uint32))
_declare(c_size_t, "facet_change_print", _machine, POINTER(Change), c_char_p, c_size_t)
_declare(c_char_p, "facet_xphmg_cause_name", c_uint64)
_declare(c_char_p, "facet_tile_cause_name", c_uint32)
_declare(None, "facet_bvh_destroy", c_void_p)
_declare(c_int, "facet_bvh_get_format", c_void_p)
_declare(c_void_p, "facet_bvh_get_image", c_void_p, POINTER(c_size_t))
_declare(c_char_p, "facet_gfx12_cause_name", c_uint64)
_declare(None, "facet_gfx12_vimage_encode", POINTER(Vimage), POINTER(c_uint32))
_declare(None, "facet_gfx12_ds_encode", POINTER(Ds), POINTER(c_uint32))
_policy, _flags = POINTER(Policy), POINTER(ctypes.c_uint)
for _name, _operands in {"add": 2, "sub": 2, "mul": 2, "div": 2, "min": 2, "max": 2, "sqrt": 1, "rcp": 1, "rsqrt": 1,
                         "dp2": 4}.items():
    _declare(c_uint64, "facet_num_" + _name, c_int, *[c_uint64] * _operands, _policy, _flags)
for _name in ("eq", "lt", "le"):
    _declare(c_bool, "facet_num_" + _name, c_int, c_uint64, c_uint64, _policy, _flags)
_declare(c_uint64, "facet_num_fma", c_int, *[c_uint64] * 3, c_bool, c_bool, _policy, _flags)
_declare(c_uint64, "facet_num_convert", c_int, c_int, c_uint64, _policy, _flags)
_declare(c_uint64, "facet_num_to_int", c_int, c_uint64, ctypes.c_uint, c_bool, _policy, _flags)
_declare(c_uint64, "facet_num_from_i64", c_int, c_int64, _policy, _flags)
_declare(c_uint64, "facet_num_from_u64", c_int, c_uint64, _policy, _flags)
_declare(c_uint64, "facet_num_from_double", c_int, c_double, _policy, _flags)
_declare(c_uint64, "facet_num_from_text", c_int, c_char_p, POINTER(c_size_t), _flags)
_declare(c_double, "facet_num_to_double", c_int, c_uint64)
_declare(ctypes.c_uint, "facet_num_fclass", c_int, c_uint64)
_declare(c_uint32, "facet_widen", POINTER(Conv), c_uint32, _flags)
_declare(c_uint32, "facet_narrow", POINTER(Conv), c_uint32, _flags)
_declare(c_int, "facet_format_find", c_char_p)
_declare(c_uint32, "facet_format_bits", c_int)
_declare(c_char_p, "facet_format_name", c_int)


def call(name: str, *arguments: Any) -> None:
    """facet_NAME with an error behind its arguments; anything but FACET_OK is an Error."""
    error = CError()
    status = getattr(lib, "facet_" + name)(*arguments, ctypes.byref(error))
    if status:
        raise Error(error.message.decode(errors="replace"), status_name(status), error.where)


def status_name(status: int) -> str:
    return str(lib.facet_status_name(status).decode())


LIMIT, MEMORY, FAULT = (status_name(status) for status in (5, 4, 6))


def take(blob: Any) -> bytes:
    """The bytes of a blob, which is freed."""
    try:
        return ctypes.string_at(blob.data, blob.size) if blob.size else b""
    finally:
        lib.facet_blob_free(ctypes.byref(blob))


# ---- what goes to C ----


def number(value: Any, bits: int, what: str) -> int:
    """A whole number of this many bits, not cut."""
    try:
        whole = operator.index(value)
    except TypeError:
        raise TypeError(f"{what} is {type(value).__name__}, expected a whole number") from None
    if not 0 <= whole < 1 << bits:
        raise ValueError(f"{what} is {whole}, expected 0 to 2^{bits} - 1")
    return whole


def text(value: Any, what: str) -> bytes:
    if not isinstance(value, str):
        raise TypeError(f"{what} is {type(value).__name__}, expected str")
    encoded = value.encode(errors="replace")
    if b"\0" in encoded:
        raise ValueError(f"{what} has a zero character")
    return encoded


def octets(value: Any, what: str) -> bytes:
    """The bytes of anything with a buffer; they are copied unless they are bytes already."""
    if isinstance(value, bytes):
        return value
    try:
        return memoryview(value).tobytes()
    except TypeError:
        raise TypeError(f"{what} is {type(value).__name__}, expected bytes or another buffer") from None


def one_of(value: Any, names: tuple[str, ...], what: str) -> int:
    if not isinstance(value, str) or value not in names:
        raise ValueError(f"{what} is {value!r}, expected one of {', '.join(names)}")
    return names.index(value)


def vector(value: Any, what: str) -> Any:
    """Three floats from anything that has three numbers."""
    try:
        numbers = [float(item) for item in value]
    except (TypeError, ValueError):
        raise TypeError(f"{what} is {value!r}, expected three numbers") from None
    if len(numbers) != 3:
        raise TypeError(f"{what} has {len(numbers)} numbers, expected three")
    return (c_float * 3)(*numbers)


def plain(value: Any) -> Any:
    """A struct as a dictionary, an array as a list."""
    if isinstance(value, Structure):
        return {name: plain(getattr(value, name)) for name, *_ in value._fields_}
    return [plain(item) for item in value] if isinstance(value, ctypes.Array) else value


# ---- handles ----

Self = TypeVar("Self", bound="Handle")


class Handle:
    """Something of the library that belongs to one thread at a time and is destroyed once.

    A call while another thread is inside is an Error, because waiting could take forever; so is a
    change from within a callback of the machine that is running."""

    _handle: Optional[int] = None
    _what = "object"

    def __init__(self, handle: Optional[int], destroy: Callable[[Optional[int]], None]) -> None:
        if self._handle is not None:
            destroy(handle)
        self._must_be_new()
        self._destroy = destroy
        self._life = threading.RLock()  # held while the pointer is used from outside of _use, and by its end
        self._gate = threading.Lock()
        self._owner: Optional[list[int]] = None  # made for one use: the number of its thread
        self._handle = handle

    def _must_be_new(self) -> None:
        """What the library may call back is replaced only when there is nothing yet that could."""
        if self._handle is not None:
            raise Error(f"the {self._what} exists already")

    @contextlib.contextmanager
    def _use(self, change: bool = True) -> Iterator[int]:
        """The pointer, for this thread alone. A signal may raise after any call that is made here, so that the end
        of a use is an assignment and no call."""
        if self._handle is None:
            raise Error(f"the {self._what} is closed")
        owner, mine = self._owner, [threading.get_ident()]
        if owner == mine:
            if change:
                raise Error(f"the {self._what} is running: a callback may read it, not change it")
            yield self._handle
            return
        try:
            with self._gate:
                if self._owner is None:
                    self._owner = mine
            if self._owner is not mine:
                raise Error(f"the {self._what} is in use by another thread")
            if self._handle is None:
                raise Error(f"the {self._what} is closed")
            yield self._handle
        finally:
            if self._owner is mine:
                self._owner = None

    def close(self) -> None:
        """Gives the memory back. Closing twice is allowed; everything else is then an Error."""
        if self._handle is None:
            return
        with self._use() as handle, self._life:
            self._handle = None
            self._destroy(handle)

    def __enter__(self: Self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __del__(self) -> None:
        handle, self._handle = self._handle, None
        if handle is not None:
            self._destroy(handle)

    def __reduce__(self) -> Any:
        raise TypeError(f"a {self._what} cannot be copied or pickled; save its bytes instead")
