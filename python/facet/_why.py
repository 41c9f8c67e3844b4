"""One ray against one box or triangle, with every value on the way, as dictionaries."""
from __future__ import annotations

import ctypes
from ctypes import POINTER, Structure, c_uint32, c_uint8
from typing import Any

import numpy as np

from . import _library as c
from ._bvh import array
from ._library import lib, struct

# FP32 bits are declared as floats: a dictionary has the numbers.
_three = ctypes.c_float * 3
_Ray = struct("Ray", "", ("o", _three), ("d", _three), ("tmin", ctypes.c_float), ("tmax", ctypes.c_float))
_Box = struct("Box", "", ("min", _three), ("max", _three))
_Slab = struct("Slab", "enum:outcome f32:near f32:far f32:cnear f32:cfar")
_Facet = struct("Facet", "enum:outcome", ("edge", _three), ("edges", ctypes.c_bool), ("front", ctypes.c_bool),
                ("t", ctypes.c_float), ("u", ctypes.c_float), ("v", ctypes.c_float))
_Lane = struct("Lane", "enum:outcome", ("value", _three), ("count", c_uint8))
_Axis = struct("Axis", "f32:inv bool:parallel bool:inside f32:near f32:far f32:near_o f32:far_o f32:tn f32:tf")
_BoxTest = struct("BoxTest", "u32:rule u32:inverted", ("axis", _Axis * 3), ("slab", _Slab))
_Vertex = struct("Vertex", "", ("p", _three), ("x", ctypes.c_float), ("y", ctypes.c_float), ("z", ctypes.c_float))
_TriangleTest = struct("TriangleTest", "u32:rule u8:kx u8:ky u8:kz f32:sx f32:sy f32:sz", ("vertex", _Vertex * 3),
                       *((name, ctypes.c_float) for name in ("uv", "det", "wz", "vz", "T")), ("facet", _Facet))
_BoxSteps = struct("BoxSteps", "u32:rule", ("ray", _Ray), ("box", _Box), ("test", _BoxTest), ("lane", _Lane))
_TriangleSteps = struct("TriangleSteps", "u32:rule", ("ray", _Ray), ("triangle", _three * 3), ("test", _TriangleTest),
                        ("lane", _Lane))
_BoxOptions = struct("BoxOptions", "bool:t_clamp bool:w_guard")
_Options = struct("Options", "u32:eps bool:cull_back bool:no_uv")
OUTCOMES = ("miss", "hit", "nan")

for _name, _options, _steps in (("box", _BoxOptions, _BoxSteps), ("triangle", _Options, _TriangleSteps)):
    _function = getattr(lib, "facet_rt_explain_" + _name)
    _function.restype = None
    _function.argtypes = [ctypes.c_void_p, POINTER(_options), ctypes.c_void_p, ctypes.c_void_p, POINTER(_steps),
                          POINTER(ctypes.c_uint)]


def why_box(ray: Any, box: Any, *, t_clamp: bool = False) -> dict[str, Any]:
    """RT.BBOX of one lane. `ray` is float32 (8,): origin, direction, tmin, tmax; `box` (6,): min, max.

    `rule` is the rule of the contract that decided (4 for B4), `test` has its steps; what behind it was not computed is 0."""
    return _why("box", "B", _BoxOptions(t_clamp=bool(t_clamp)), _BoxSteps(), ray, box, 6)


def why_triangle(ray: Any, triangle: Any, *, cull_back: bool = False, epsilon: int = 0) -> dict[str, Any]:
    """RT.TRI of one lane. `triangle` is float32 (9,): three vertices; `epsilon` the instruction's code, 0 to 255."""
    options = _Options(eps=c.number(epsilon, 8, "epsilon") << 23, cull_back=bool(cull_back))
    return _why("triangle", "T", options, _TriangleSteps(), ray, triangle, 9)


def _why(what: str, letter: str, options: Any, steps: Any, ray: Any, shape: Any, count: int) -> dict[str, Any]:
    ray = np.ascontiguousarray(array(ray, np.float32, (8,), "ray"))
    shape = np.ascontiguousarray(array(shape, np.float32, (count,), what))
    flags = ctypes.c_uint()
    getattr(lib, "facet_rt_explain_" + what)(None, options, ray.ctypes.data, shape.ctypes.data, steps, flags)
    out: dict[str, Any] = _plain(steps)
    return {"outcome": out["lane"]["outcome"], "values": out["lane"]["value"][:out["lane"]["count"]],
            "decided": f"{letter}{out['rule']}", "flags": flags.value, **out}


def _plain(value: Any) -> Any:
    if isinstance(value, Structure):
        return {name: OUTCOMES[getattr(value, name)] if name == "outcome" else _plain(getattr(value, name))
                for name, *_ in value._fields_}
    return [_plain(item) for item in value] if isinstance(value, ctypes.Array) else value
