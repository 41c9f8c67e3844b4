"""One ray against one box or triangle, one sample of a texture: every value on the way, as dictionaries."""
from __future__ import annotations

import ctypes
from ctypes import POINTER, c_uint32, c_uint8
from typing import Any, Optional, Sequence, Union

import numpy as np
from numpy.typing import NDArray

from . import _library as c
from ._bvh import array
from ._library import lib, struct
from ._numbers import FLOATS, Elements, Flag, Format

# FP32 bits are declared as floats: a dictionary has the numbers.
_three = ctypes.c_float * 3
_Ray = struct("rt_ray", "", ("o", _three), ("d", _three), ("tmin", ctypes.c_float), ("tmax", ctypes.c_float))
_Box = struct("rt_box", "", ("min", _three), ("max", _three))
_Slab = struct("rt_slab", "enum:outcome f32:near f32:far f32:cnear f32:cfar")
_Facet = struct("rt_facet", "enum:outcome", ("edge", _three), ("edges", ctypes.c_bool), ("front", ctypes.c_bool),
                ("t", ctypes.c_float), ("u", ctypes.c_float), ("v", ctypes.c_float))
_Lane = struct("rt_lane", "enum:outcome", ("value", _three), ("count", c_uint8))
_Axis = struct("rt_axis_steps", "f32:inv bool:parallel bool:inside f32:near f32:far f32:near_o f32:far_o f32:tn f32:tf")
_BoxTest = struct("rt_box_steps", "u32:rule u32:inverted", ("axis", _Axis * 3), ("slab", _Slab))
_Vertex = struct("rt_vertex_steps", "", ("p", _three), ("x", ctypes.c_float), ("y", ctypes.c_float), ("z", ctypes.c_float))
_TriangleTest = struct("rt_triangle_steps", "u32:rule u8:kx u8:ky u8:kz f32:sx f32:sy f32:sz", ("vertex", _Vertex * 3),
                       *((name, ctypes.c_float) for name in ("uv", "det", "wz", "vz", "T")), ("facet", _Facet))
_BoxSteps = struct("rt_box_lane_steps", "u32:rule", ("ray", _Ray), ("box", _Box), ("test", _BoxTest), ("lane", _Lane))
_TriangleSteps = struct("rt_triangle_lane_steps", "u32:rule", ("ray", _Ray), ("triangle", _three * 3), ("test", _TriangleTest),
                        ("lane", _Lane))
_BoxOptions = struct("rt_box_options", "bool:t_clamp bool:w_guard")
_Options = struct("rt_options", "u32:eps bool:cull_back bool:no_uv")
_Tap = struct("gfx_tap", "u8:kind u32:x u32:y", ("word", c_uint32 * 4))
_Footprint = struct("gfx_footprint", "u8:kind u16:fu u16:fv i64:fx i64:fy i64:i i64:j", ("tap", _Tap * 4))
_Lerp = struct("gfx_lerp", "bool:computed u32:weight u32:diff u32:result")
_Channel = struct("gfx_channel_steps", "", ("tap", c_uint32 * 4), ("lerp", _Lerp * 3), ("filtered", c_uint32),
                  ("srgb", ctypes.c_int), ("result", c_uint32),
                  *((name, c_uint32) for name in ("tap_flags", "filter_flags", "srgb_flags", "narrow_flags")))
_SampleSteps = struct("gfx_sample_steps", "", ("channel", _Channel * 4))
_Sample = struct("gfx_sample_record", "", ("footprint", _Footprint), ("steps", _SampleSteps), ("result", c_uint32 * 4))
_Sampler = struct("gfx_sampler", "", ("numbers", POINTER(c.Conv)), ("memory", ctypes.c_void_p), *(
    (name, ctypes.c_uint64) for name in ("memory_size", "base")), *(
    (name, c_uint32) for name in ("pitch", "plane_stride", "width", "height")), ("format", ctypes.c_int32),
    ("wrap", ctypes.c_int), *((name, ctypes.c_bool) for name in ("normalized", "bilinear", "srgb", "raw")),
    ("border", ctypes.c_float * 4), ("reserved", c_uint32))
OUTCOMES = ("miss", "hit", "nan")
WRAPS = ("clamp", "repeat", "mirror", "border")
TAPS = ("skip", "border", "texel")
FOOTPRINTS = ("taps", "null texture", "nan coordinate")
SRGB = ("none", "end", "line", "power")

for _name, _options, _steps in (("box", _BoxOptions, _BoxSteps), ("triangle", _Options, _TriangleSteps)):
    _function = getattr(lib, "facet_rt_explain_" + _name)
    _function.restype = None
    _function.argtypes = [POINTER(c.Conv), POINTER(_options), ctypes.c_void_p, ctypes.c_void_p, POINTER(_steps),
                          POINTER(ctypes.c_uint)]
lib.facet_gfx_explain_sample_sized.argtypes = [POINTER(_Sampler), ctypes.c_size_t, POINTER(c_uint32), POINTER(_Sample),
                                               POINTER(ctypes.c_uint), POINTER(c.CError)]
lib.facet_gfx_format_find.argtypes = [ctypes.c_char_p]


def why_box(ray: Any, box: Any, *, t_clamp: bool = False, numbers: Optional[Elements] = None) -> dict[str, Any]:
    """RT.BBOX of one lane. `ray` is float32 (8,): origin, direction, tmin, tmax; `box` (6,): min, max.

    `rule` is the rule of the contract that decided (4 for B4), `test` has its steps; what comes after it was not computed and is
    0. With `numbers` both arrays are uint32: elements of that format."""
    return _why("box", "B", _BoxOptions(t_clamp=bool(t_clamp)), _BoxSteps(), ray, box, 6, numbers)


def why_triangle(ray: Any, triangle: Any, *, cull_back: bool = False, epsilon: int = 0,
                 numbers: Optional[Elements] = None) -> dict[str, Any]:
    """RT.TRI of one lane. `triangle` is float32 (9,): three vertices; `epsilon` the instruction's code, 0 to 255; `numbers` as
    in `why_box`."""
    options = _Options(eps=c.number(epsilon, 8, "epsilon") << 23, cull_back=bool(cull_back))
    return _why("triangle", "T", options, _TriangleSteps(), ray, triangle, 9, numbers)


def _why(what: str, letter: str, options: Any, steps: Any, ray: Any, shape: Any, count: int,
         numbers: Optional[Elements]) -> dict[str, Any]:
    ray = np.ascontiguousarray(array(ray, np.float32 if numbers is None else np.uint32, (8,), "ray"))
    shape = np.ascontiguousarray(array(shape, ray.dtype, (count,), what))
    flags = ctypes.c_uint()
    getattr(lib, "facet_rt_explain_" + what)(None if numbers is None else numbers._conv(), options, ray.ctypes.data,
                                             shape.ctypes.data, steps, flags)
    out: dict[str, Any] = _outcomes(c.plain(steps))
    return {"outcome": out["lane"]["outcome"], "values": out["lane"]["value"][:out["lane"]["count"]],
            "decided": f"{letter}{out['rule']}", "flags": Flag(flags.value), **out}


def _outcomes(value: Any) -> Any:
    """Names for the numbers of outcomes."""
    if isinstance(value, dict):
        return {name: OUTCOMES[item] if name == "outcome" else _outcomes(item) for name, item in value.items()}
    return value


def why_sample(texels: NDArray[Any], u: Union[int, float], v: Union[int, float], *, format: str = "UNORM8_RGBA",
               wrap: str = "clamp", normalized: bool = True, bilinear: bool = True, srgb: bool = False, raw: bool = False,
               border: Sequence[float] = (0.0, 0.0, 0.0, 0.0), numbers: Optional[Elements] = None) -> dict[str, Any]:
    """GFX.SAMPLE of one pair of coordinates: footprint, taps, filter, colour and result of every channel.

    `texels` is the texture's memory as an array of (height, width, ...), row by row. The result is four FP32 numbers in `values`;
    with `numbers`, u and v are bits of its elements, and so is `result`. Accumulators are bits."""
    if not isinstance(texels, np.ndarray) or texels.ndim < 2 or texels.dtype.hasobject:
        raise TypeError("texels are not an array of (height, width, ...)")
    memory, uv, flags = np.ascontiguousarray(texels), (c_uint32 * 2)(*_coordinates(u, v, numbers)), ctypes.c_uint()
    code = lib.facet_gfx_format_find(c.text(format, "format"))
    colour = [float(one) for one in border]
    if code < 0 or len(colour) != 4:
        raise ValueError(f"format {format!r} with a border of {len(colour)} numbers, expected a format of textures and 4")
    sampler = _Sampler(memory=memory.ctypes.data, memory_size=memory.nbytes, width=c.number(texels.shape[1], 32, "width"),
                       height=c.number(texels.shape[0], 32, "height"), format=code, wrap=c.one_of(wrap, WRAPS, "wrap"),
                       normalized=bool(normalized), bilinear=bool(bilinear), srgb=bool(srgb), raw=bool(raw),
                       border=(ctypes.c_float * 4)(*colour))
    if numbers is not None:
        sampler.numbers = ctypes.pointer(numbers._conv())
    record = _Sample()
    c.call("gfx_explain_sample_sized", sampler, ctypes.sizeof(sampler), uv, record, flags)
    return _sampled(c.plain(record), flags.value, numbers)


def _coordinates(u: Any, v: Any, numbers: Optional[Elements]) -> list[int]:
    if numbers is not None:
        return [c.number(one, numbers.width, what) for one, what in ((u, "u"), (v, "v"))]
    return [Format("FP32").bits(float(one)).bits for one in (u, v)]


def _sampled(record: dict[str, Any], flags: int, numbers: Optional[Elements]) -> dict[str, Any]:
    """The record with names for its enumerators, and the result as numbers."""
    footprint, channels = record["footprint"], record["steps"]["channel"]
    footprint["kind"] = FOOTPRINTS[footprint["kind"]]
    for tap in footprint["tap"]:
        tap["kind"] = TAPS[tap["kind"]]
    for channel in channels:
        channel["srgb"] = SRGB[channel["srgb"]]
        for name in ("tap_flags", "filter_flags", "srgb_flags", "narrow_flags"):
            channel[name] = Flag(channel[name])
    out = {"footprint": footprint, "channels": channels, "result": record["result"], "flags": Flag(flags)}
    if numbers is None or numbers.element in FLOATS:
        element = Format("FP32" if numbers is None else numbers.element)
        out["values"] = [element.number(bits) for bits in record["result"]]
    return out
