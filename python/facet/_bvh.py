"""Bounding volume hierarchies from NumPy arrays, and arrays of rays through them."""
from __future__ import annotations

import ctypes
import dataclasses
import json
import re
from typing import Any, Optional, Sequence

import numpy as np
from numpy.typing import NDArray

from . import _library as c
from ._library import Error, Handle, lib

FORMATS = ("gfx12", "xphmg")
QUALITIES = ("contract", "fast", "high")
SEVERITIES = ("note", "warning", "error")

HIT = np.dtype([("t", np.float32), ("u", np.float32), ("v", np.float32), ("flags", np.uint32), ("primitive", np.uint32),
                ("geometry", np.uint32), ("instance", np.uint32), ("node", np.uint32)])
"""A hit. A miss has t = inf, flags 0 and 0xFFFFFFFF in every number. Flags: 1 hit, 2 the triangle's back."""


@dataclasses.dataclass(frozen=True)
class Finding:
    """What a check found: the rule, the row of the contract that it protects, the byte of the image."""

    severity: str
    rule: str
    requirement: str
    offset: int
    text: str


@dataclasses.dataclass(frozen=True)
class Mesh:
    """Triangles: positions are float32 (n, 3), indices uint32 (k, 3) or None for three vertices after the other."""

    positions: NDArray[np.float32]
    indices: Optional[NDArray[np.uint32]] = None
    geometry: int = 0
    opaque: bool = True
    double_sided: bool = False


@dataclasses.dataclass(frozen=True)
class Placement:
    """A mesh in the world: its number and the matrix object to world, float32 (3, 4)."""

    mesh: int
    object_to_world: NDArray[np.float32]
    mask: int = 0xFF


def array(value: Any, dtype: Any, shape: tuple[Optional[int], ...], what: str) -> NDArray[Any]:
    """The array itself when it has this type and shape (None: any length), else TypeError."""
    wanted = f"{np.dtype(dtype)} ({', '.join('n' if n is None else str(n) for n in shape)})"
    if not isinstance(value, np.ndarray):
        raise TypeError(f"{what} is {type(value).__name__}, expected a NumPy array {wanted}")
    fits = value.ndim == len(shape) and all(n is None or n == have for n, have in zip(shape, value.shape))
    if value.dtype != np.dtype(dtype) or not fits:
        raise TypeError(f"{what} is {value.dtype} {value.shape}, expected {wanted}")
    return value


class _Scene:
    """The struct for C, with copies of the arrays: no index can change after it was checked."""

    def __init__(self, meshes: Sequence[Mesh], placements: Optional[Sequence[Placement]]) -> None:
        self._kept: list[NDArray[Any]] = []
        table = (c.Mesh * max(len(meshes), 1))(*map(self._mesh, meshes))
        places = None
        if placements is not None:
            places = (c.Placement * max(len(placements), 1))(*map(self._placement, placements))
        self.struct = c.Scene(table, len(meshes), places, 0 if placements is None else len(placements))

    def _mesh(self, mesh: Mesh) -> Any:
        if not isinstance(mesh, Mesh):
            raise TypeError(f"a mesh is {type(mesh).__name__}, expected facet.Mesh")
        positions = self._keep(array(mesh.positions, np.float32, (None, 3), "positions"))
        out = c.Mesh(positions=positions.ctypes.data, vertex_count=c.number(len(positions), 32, "number of vertices"),
                     geometry=c.number(mesh.geometry, 30, "geometry"),
                     flags=bool(mesh.opaque) | bool(mesh.double_sided) << 1)
        if mesh.indices is None:
            if len(positions) % 3:
                raise TypeError(f"{len(positions)} vertices without indices, expected a multiple of 3")
            out.triangle_count = len(positions) // 3
        else:
            indices = self._keep(array(mesh.indices, np.uint32, (None, 3), "indices"))
            out.indices, out.triangle_count = indices.ctypes.data, c.number(len(indices), 32, "number of triangles")
        return out

    def _placement(self, placement: Placement) -> Any:
        if not isinstance(placement, Placement):
            raise TypeError(f"a placement is {type(placement).__name__}, expected facet.Placement")
        matrix = array(placement.object_to_world, np.float32, (3, 4), "object_to_world")
        return c.Placement((ctypes.c_float * 12)(*matrix.ravel().tolist()), c.number(placement.mesh, 32, "mesh"),
                           c.number(placement.mask, 8, "mask"))

    def _keep(self, value: NDArray[Any]) -> NDArray[Any]:
        self._kept.append(np.array(value, order="C", copy=True))
        return self._kept[-1]


def _scene(meshes: Any, placements: Any) -> _Scene:
    if isinstance(meshes, np.ndarray):
        meshes = [Mesh(meshes)]
    elif isinstance(meshes, Mesh):
        meshes = [meshes]
    try:
        return _Scene(list(meshes), None if placements is None else list(placements))
    except TypeError as error:
        raise TypeError(f"geometry: {error}") from None


class Bvh(Handle):
    """A hierarchy of one of the two formats. `Bvh.build` makes one from arrays, `Bvh.open` from an image."""

    _what = "hierarchy"

    def __init__(self, handle: Optional[int]) -> None:
        if not isinstance(handle, _Pointer):
            raise TypeError("use Bvh.build or Bvh.open")
        super().__init__(handle.value, lib.facet_bvh_destroy)

    @classmethod
    def build(cls, meshes: Any, placements: Optional[Sequence[Placement]] = None, *, format: str = "gfx12",
              quality: str = "contract", obb: bool = False, children: int = 0, leaf_triangles: int = 0,
              element: Optional[str] = None, quantized: bool = False, reach: float = 0.0, threads: int = 1,
              allow_update: bool = False) -> Bvh:
        """From a Mesh, a list of them, or an array (3 k, 3) of float32; docs/python.md says what the options mean."""
        scene, out = _scene(meshes, placements), _Pointer()
        config = c.BvhConfig(format=c.one_of(format, FORMATS, "format"), quality=c.one_of(quality, QUALITIES, "quality"),
                             obb=bool(obb), children=c.number(children, 32, "children"),
                             leaf_triangles=c.number(leaf_triangles, 32, "leaf_triangles"),
                             element=None if element is None else c.text(element, "element"), quantized=bool(quantized),
                             reach=reach, threads=c.number(threads, 16, "threads"), allow_update=bool(allow_update))
        c.call("bvh_build_sized", scene.struct, config, ctypes.sizeof(config), out)
        return cls(out)  # type: ignore[arg-type]

    @classmethod
    def open(cls, image: bytes) -> Bvh:
        """From the bytes of an image, which are copied; its first bytes tell the format."""
        data, out = c.octets(image, "image"), _Pointer()
        c.call("bvh_open", data, len(data), out)
        return cls(out)  # type: ignore[arg-type]

    def refit(self, meshes: Any, placements: Optional[Sequence[Placement]] = None) -> Bvh:
        """A new hierarchy with the same tree for moved geometry."""
        scene, out = _scene(meshes, placements), _Pointer()
        with self._use(change=False) as bvh:
            c.call("bvh_refit", bvh, scene.struct, out)
        return type(self)(out)  # type: ignore[arg-type]

    @property
    def format(self) -> str:
        with self._use(change=False) as bvh:
            return FORMATS[lib.facet_bvh_get_format(bvh)]

    @property
    def image(self) -> bytes:
        """A copy of the image."""
        size = ctypes.c_size_t()
        with self._use(change=False) as bvh:
            data = lib.facet_bvh_get_image(bvh, size)
            return ctypes.string_at(data, size.value) if size.value else b""

    def check(self) -> list[Finding]:
        """What is wrong with the image, by offset; [] when it is sound."""
        count, errors = ctypes.c_uint64(), ctypes.c_uint64()
        with self._use(change=False) as bvh:
            c.call("bvh_check", bvh, None, 0, count, errors)
            found = (c.CFinding * max(count.value, 1))()
            c.call("bvh_check", bvh, found, count.value, count, errors)
        return [Finding(SEVERITIES[one.severity], one.rule.decode(), one.requirement.decode(), one.offset,
                        one.text.decode(errors="replace")) for one in found[:count.value]]

    def dump(self, *, json: bool = False) -> str:
        """The whole image as a listing, or as JSON that `facet bvh` turns back into the same bytes."""
        text = c.Blob()
        with self._use(change=False) as bvh:
            c.call("bvh_dump", bvh, bool(json), text)
        return c.take(text).decode()

    def trace(self, origins: NDArray[np.float32], directions: NDArray[np.float32], *,
              t_min: Optional[NDArray[np.float32]] = None, t_max: Optional[NDArray[np.float32]] = None,
              any_hit: bool = False, cull_back: bool = False, mask: int = 0xFF, threads: int = 1,
              plain: bool = False, device: str = "cpu", out: Optional[NDArray[Any]] = None) -> NDArray[Any]:
        """The hits (dtype HIT) of n rays: float32 (n, 3) for origins and directions, (n,) for t_min and t_max.

        Views are read where they lie. `plain` takes no fast ways, for the same hits; so does `device`, "gpu" or
        "opencl:N" of `facet devices`, which is kept open with the image. `out` takes the hits; otherwise there is a new array. When one ray cannot be traced, the Error's `where` is its number."""
        origins = array(origins, np.float32, (None, 3), "origins")
        count = len(origins)
        directions = array(directions, np.float32, (count, 3), "directions")
        limits = [None if limit is None else array(limit, np.float32, (count,), what)
                  for limit, what in ((t_min, "t_min"), (t_max, "t_max"))]
        hits = np.empty(count, HIT) if out is None else array(out, HIT, (count,), "out")
        if not (hits.flags.c_contiguous and hits.flags.writeable and hits.flags.aligned):
            raise TypeError("out is not a contiguous array that can be written")
        rays = [value if value is None else _readable(value) for value in (origins, directions, *limits)]
        places = [part for value in rays
                  for part in ((None, 0) if value is None else (value.ctypes.data, value.strides[0]))]
        config = _trace_config(any_hit, cull_back, mask, threads, plain)
        config.device = _device(device)
        with self._use() as bvh:
            c.call("bvh_trace_sized", bvh, config, ctypes.sizeof(config), c.Rays(count, *places), hits.ctypes.data, 0)
        return hits

    def why(self, origin: Any, direction: Any, *, t_min: float = 0.0, t_max: float = float("inf"), any_hit: bool = False,
            cull_back: bool = False, mask: int = 0xFF) -> dict[str, Any]:
        """What one ray does in an image of GFX12, as `facet bvh why --json` writes it: `steps` has every node that was visited
        (the first 1000) with all values on the way to its result registers, `result` the hit."""
        ray = (ctypes.c_float * 8)(*c.vector(origin, "origin"), *c.vector(direction, "direction"), t_min, t_max)
        config, text = _trace_config(any_hit, cull_back, mask, 1, True), c.Blob()
        with self._use(change=False) as bvh:
            c.call("bvh_explain_ray_sized", bvh, config, ctypes.sizeof(config), ray, True, text)
        out: dict[str, Any] = json.loads(c.take(text))
        return out


def _device(name: str) -> int:
    """As facet_bvh_trace_config has it."""
    number = re.fullmatch("opencl:([0-9]{1,3})", name)
    if name not in ("cpu", "gpu") and (number is None or int(number[1]) >= 254):
        raise ValueError(f"device is {name!r}; expected cpu, gpu or opencl:N")
    return {"cpu": 0, "gpu": 255}[name] if number is None else int(number[1]) + 1


def _trace_config(any_hit: bool, cull_back: bool, mask: int, threads: int, plain: bool) -> Any:
    if not 1 <= c.number(mask, 8, "mask"):
        raise ValueError("mask is 0: no ray would hit anything")
    return c.TraceConfig(any_hit=bool(any_hit), cull_back=bool(cull_back), mask=mask,
                         threads=c.number(threads, 16, "threads"), plain=bool(plain))


class _Pointer(ctypes.c_void_p):
    """What the library hands out: so that a number from elsewhere never becomes a hierarchy."""


def _readable(value: NDArray[Any]) -> NDArray[Any]:
    """The array, or a copy when its rows are not packed floats at rising, aligned addresses."""
    packed = value.flags.aligned and value.strides[0] >= 0 and (value.ndim == 1 or value.strides[1] == value.itemsize)
    return value if packed else np.ascontiguousarray(value)
