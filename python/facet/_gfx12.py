"""The GFX12 machine: lanes that execute the intersect and stack instructions one by one."""
from __future__ import annotations

import ctypes
from typing import Any, Optional, Sequence, Union

from . import _library as c
from ._bvh import Bvh
from ._library import Error, lib
from ._machine import Machine

PROFILES = ("silicon", "gpurt")
OPAQUE_SENSES = ("hw", "seed")
LANE_STATES = ("idle", "runs", "ended")
ROOT = 5


class Gfx12(Machine):
    """Up to 32 lanes over a BVH image at `image_base`, LDS and code (docs/gfx12.md). A lane is a core: v0 to v255, s0 to s107, pc and the
    variables of the traversal loop. `start` gives a lane a ray, `run` or `step` runs the lanes, `lane` tells the hit.

    Images of `Bvh.build` belong at 0: their pointers are addresses. `stack_entries` of the built-in program are 8 to 31, `resource` the four dwords of the descriptor."""

    def __init__(self, image: Union[Bvh, bytes, None] = None, *, lanes: int = 1, stack_entries: int = 16,
                 image_base: int = 0, image_bytes: int = 0, resource: Sequence[int] = (0, 0, 0, 0),
                 profile: str = "silicon", opaque_sense: str = "hw") -> None:
        if isinstance(image, Bvh) and image.format != "gfx12":
            raise Error(f"a hierarchy of format {image.format}, expected gfx12")
        content = image.image if isinstance(image, Bvh) else c.octets(b"" if image is None else image, "image")
        dwords = [c.number(word, 32, "resource") for word in resource]
        if len(dwords) != 4:
            raise ValueError(f"resource has {len(dwords)} dwords, expected 4")
        config = c.Gfx12Config(
            lanes=c.number(lanes, 32, "lanes"), stack_entries=c.number(stack_entries, 32, "stack_entries"),
            image_base=c.number(image_base, 64, "image_base"), image_bytes=c.number(image_bytes, 64, "image_bytes"),
            resource=(ctypes.c_uint32 * 4)(*dwords), profile=c.one_of(profile, PROFILES, "profile"),
            opaque_sense=c.one_of(opaque_sense, OPAQUE_SENSES, "opaque_sense"))
        handle = ctypes.c_void_p()
        c.call("gfx12_create_sized", config, ctypes.sizeof(config), handle)
        super().__init__(handle.value)
        self._image_base = image_base
        if content:
            self.write(image_base, content)

    def load(self, program: Union[str, Sequence[int]], *, loop: bool = False) -> None:
        """Another program for all lanes: lines of text, or dwords. `loop`: with the rules of the traversal loop around the
        instructions, and back to the first after the last; else a lane ends after the last."""
        dwords = _assembled(program) if isinstance(program, str) else [c.number(word, 32, "a dword") for word in program]
        with self._use() as machine:
            c.call("gfx12_set_program", machine, (ctypes.c_uint32 * max(len(dwords), 1))(*dwords), len(dwords), bool(loop))

    def start(self, origin: Any, direction: Any, *, lane: int = 0, t_min: float = 0.0, t_max: float = float("inf"),
              flags: int = 0, mask: int = 0xFF, address: Optional[int] = None, root: int = ROOT,
              max_steps: int = 0) -> None:
        """Gives a ray to a lane, which runs from then on. `flags` are API ray flags; `address` is that of the acceleration
        structure (that of the image unless given), `root` its first node."""
        query = c.Gfx12Query(
            origin=c.vector(origin, "origin"), direction=c.vector(direction, "direction"), t_min=float(t_min),
            t_max=float(t_max), api_flags=c.number(flags, 32, "flags"), instance_mask=c.number(mask, 8, "mask"),
            address=c.number(self._image_base if address is None else address, 64, "address"),
            root=c.number(root, 32, "root"), max_steps=c.number(max_steps, 64, "max_steps"))
        with self._use() as machine:
            c.call("gfx12_start", machine, c.number(lane, 32, "lane"), query)

    def lane(self, lane: int = 0) -> dict[str, Any]:
        """`state` ("idle", "runs" or "ended"), `hit` (None while nothing was found) and `stats` of a lane."""
        out = c.Gfx12Lane()
        with self._use(change=False) as machine:
            c.call("gfx12_read_lane_sized", machine, c.number(lane, 32, "lane"), out, ctypes.sizeof(out))
        hit = c.plain(out.hit)
        return {"state": LANE_STATES[out.state], "hit": hit if hit.pop("found") else None, "stats": c.plain(out.stats)}

    @staticmethod
    def cause(code: int) -> str:
        """The name of a fault's code."""
        return str(lib.facet_gfx12_cause_name(c.number(code, 64, "code")).decode())


def _assembled(text: str) -> list[int]:
    """The dwords of the lines; `#` starts a comment."""
    dwords: list[int] = []
    for number, raw in enumerate(text.splitlines(), 1):
        line = raw.split("#")[0].strip()
        if line:
            kind, record, count = ("ds", c.Ds(), 2) if line.lower().startswith("ds_") else ("vimage", c.Vimage(), 3)
            try:
                c.call(f"gfx12_{kind}_parse", c.text(line, "program"), record)
            except Error as error:
                raise Error(f"line {number}: {error}", error.status, number) from None
            words = (ctypes.c_uint32 * count)()
            getattr(lib, f"facet_gfx12_{kind}_encode")(record, words)
            dwords += words
    return dwords
