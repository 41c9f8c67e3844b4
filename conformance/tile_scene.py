"""Pictures as command lists: a frame, a depth buffer, textures, and descriptors by the names of spec/tile.layout.tsv."""
import random
import struct

import tables
from tile_list import List

LAYOUTS = {}
for _row in tables.rows("tile.layout.tsv"):
    LAYOUTS.setdefault(_row["structure"], []).append(_row)


def named(row, value):
    """The number of a value of a member: names of the row, joined by | for flags."""
    if not isinstance(value, str):
        return value
    codes = dict(part.split("=") for part in row["legal"].split() if "=" in part)
    numbers = [int(codes[name], 0) for name in value.split("|") if name]
    return sum(1 << n for n in numbers) if row["type"] == "flags" else numbers[0]


def encode(structure, **members):
    """A structure as bytes; what is left out has its default."""
    head, *rows = LAYOUTS[structure]
    value, used = 0, set()
    for row in rows:
        name, hi, lo = row["member"], *map(int, (row["bits"].lstrip("|").split(":") * 2)[:2])
        if name in members:
            used.add(name)
            given = members[name]
        elif row["type"] == "fixed":
            given = int(row["legal"].split()[0])
        elif row["default"] != "-":
            given = row["default"]
            if row["type"] == "f32":
                given = float(given)
            elif given[0] == "0":
                given = int(given, 0)
        else:
            continue
        if row["type"].startswith("f32"):
            given = given if isinstance(given, (list, tuple)) else [given]
            number = int.from_bytes(b"".join(struct.pack("<I", g) if isinstance(g, int) else struct.pack("<f", g) for g in given), "little")
        elif row["type"] in ("pair", "ipair"):
            number = given if isinstance(given, int) else given[0] & 0xFFFF | (given[1] & 0xFFFF) << 16
        else:
            number = named(row, given)
            if row["type"] == "flags":
                number &= (1 << hi - lo + 1) - 1
        value |= (number & (1 << hi - lo + 1) - 1) << 8 * int(row["offset"], 0) + lo
    missing = set(members) - used
    if missing:
        raise ValueError(f"{structure} has no {missing}")
    return value.to_bytes(int(head["offset"], 0), "little")


def vertex(x=0.0, y=0.0, z=0.0, w=1.0, u=0.0, v=0.0, color=0xFFFFFFFF):
    return encode("VERTEX", x=x, y=y, z=z, w=w, u=u, v=v, color=color)


class Scene(List):
    """A list with room for descriptors, a frame and, when asked for, a depth buffer."""

    def __init__(self, name, rows, width=24, height=16, small=False, depth=None, depth_fill=0xFF, fill=0x33, pitch=0, room=0x2000,
                 vram=131072, status=True):
        super().__init__(name, rows, vram)
        self.random = random.Random(name)
        self.descriptors = bytearray(room)
        self.used = 0
        self.buffer("descriptors", self.descriptors, room)
        self.width, self.height, self.small, self.depth = width, height, small, depth
        size = 2 if small else 4
        self.stride = size * width + pitch
        self.base = self.buffer("frame", size=self.stride * height, fill=fill)
        self.frame(self.base, width, height, self.stride, small)
        if pitch:
            self.observe("frame")  # with what lies between the rows
        if depth:
            self.depth_size = 2 if depth == "D16" else 4
            self.depth_stride = self.depth_size * width + pitch
            self.depth_base = self.buffer("depth", size=self.depth_stride * height, fill=depth_fill)
            self.observe("depth")
        if status:
            self.observe("status")

    def put(self, data, align=64):
        """Bytes among the descriptors; their address."""
        self.used = -(-self.used // align) * align
        at = self.used
        self.descriptors[at:at + len(data)] = data
        self.used += len(data)
        if self.used > len(self.buffers[0][2]) or len(self.descriptors) != self.buffers[0][3]:
            raise ValueError(f"{self.name}: no room for descriptors")
        return self.buffers[0][1] + at

    def rstate(self, slot=0, **fields):
        state = dict(fb_base=self.base, fb_stride=self.stride, fb_format="RGB565" if self.small else "ARGB8888",
                     fb_wh=(self.width, self.height))
        if self.depth:
            state |= dict(depth_base=self.depth_base, depth_stride=self.depth_stride, depth_format=self.depth,
                          depth_function="less", flags="DEPTH")
        at = self.put(encode("RSTATE", **(state | fields)))
        self.command("LOAD_RSTATE", slot, at)
        return at

    def sampler(self, index=0, **fields):
        at = self.put(encode("SAMPLER", **fields))
        self.command("LOAD_SAMPLER", index, at)
        return at

    def texture(self, name, width, height, form="ARGB8888", pitch=0, texels=None):
        """Random texels; the members of a SAMPLER that shows them."""
        size = {"RGB565": 2, "ARGB8888": 4, "PAL8": 1}[form]
        rows = []
        for y in range(height):
            for x in range(width):
                value = texels[y * width + x] if texels else self.random.getrandbits(8 * size)
                rows.append(value.to_bytes(size, "little"))
            rows.append(bytes(self.random.getrandbits(8) for _ in range(pitch)))
        return dict(base=self.buffer(name, b"".join(rows)), stride=size * width + pitch, width=width, height=height, format=form)

    def triangle(self, *vertices, state="current", flags="", blend="state", more=0, arg1=None):
        """Vertices as dictionaries or bytes."""
        block = self.put(b"".join(v if isinstance(v, bytes) else vertex(**v) for v in vertices), 32) if arg1 is None else arg1
        at = self.put(encode("RDRAW", state_id=state, flags=flags, blend=blend), 16)
        self.command("RDRAW", at, block, more)

    def rectangle(self, x, y, w, h, color=0, state="current", flags="", blend="state", slot=0xFFFFFFFF, more=0, **fields):
        fields = fields or {"color": color}
        at = self.put(encode("RRECT", state_id=state, flags=flags, blend=blend, xy=(x, y), wh=(w, h), **fields), 16)
        self.command("RRECT", at, slot, more)

    def gstate(self, slot=0, **fields):
        state = dict(mvp=[1.0, 0.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0, 1.0])
        self.command("LOAD_GSTATE", slot, self.put(encode("GSTATE", **(state | fields)), 64))

    def gparam(self, slot=0, **fields):
        self.command("LOAD_GPARAM", slot, self.put(encode("GPARAM", **fields), 32))

    def gdraw(self, count, arg1=0, arg2=0, **fields):
        self.command("GDRAW", self.put(encode("GDRAW", count=count, **fields), 16), arg1, arg2)
