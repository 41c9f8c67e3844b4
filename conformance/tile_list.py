"""Command lists of the tile machine (docs/tile-draw.md) as cases: folder NAME with list.json, its buffers as .bin and .hex.

The signature is the frame, then what `observe` names, as docs/conformance.md says. What is expected comes from the model of
tile_graphics.py, which runs the same commands over the same bytes.
"""
import json
import os
import struct

from tile_case import hex_words
from tile_graphics import Queue, Step
from tile_raster import VRAM

RING_BYTES = 4096
REGISTERS = ("LAST_STATUS", "LAST_ERROR", "INT_STATUS", "FENCE_VALUE", "CMDQ_CONS")
CORE = ("fault_cause", "fault_addr", "fault_pc", "status")


def floats(*values):
    return struct.pack(f"<{len(values)}f", *values)


def words(*values):
    return struct.pack(f"<{len(values)}I", *(v & 0xFFFFFFFF for v in values))


def xy(x, y):
    return x & 0xFFFF | (y & 0xFFFF) << 16


class List:
    kind = "list"

    def __init__(self, name, rows, vram=131072, source="exact"):
        self.name, self.rows, self.source, self.config = name, rows.split() if isinstance(rows, str) else rows, source, "full"
        self.vram, self.buffers, self.next, self.steps, self.seen = vram, [], 0, [], []
        self.answer = None

    # ---- memory ----

    def buffer(self, name, data=b"", size=0, fill=0, align=64):
        """A piece of VRAM behind the others; its address. `fill`: of the bytes behind the data."""
        at = -(-self.next // align) * align
        size = size or len(data)
        self.buffers.append((name, VRAM + at, data, size, fill, align))
        self.next = at + size
        return VRAM + at

    def place(self, align=64):
        """Where the next buffer will lie."""
        return VRAM + -(-self.next // align) * align

    def slots(self):
        return VRAM + -(-self.next // 64) * 64

    def frame(self, base, width, height, stride=None, small=False):
        self.picture = base, width, height, stride or width * (2 if small else 4), small

    def observe(self, *names):
        self.seen += names

    # ---- steps ----

    def command(self, name, *args, flags=(), fence=0, payload=None, count=0, effect=None):
        """`effect` stands for the kernel of a DISPATCH: what it does to the memory, and how it ends."""
        self.steps.append(Step(name, list(args) + [0] * (3 - len(args)), flags, fence, payload, count, effect))

    def host(self, name, **members):
        self.steps.append(Step(name, [members.get("offset", members.get("slot", 0)), members.get("value", members.get("cores", 0)), 0]))

    # ---- what is expected ----

    def run(self):
        if self.answer is None:
            slots = self.slots()
            queue = Queue(self.vram, slots + 1024, RING_BYTES, slots)
            for _, address, data, size, fill, _ in self.buffers:
                at = address - VRAM
                queue.memory.bytes[at:at + size] = data + bytes([fill]) * (size - len(data))
            status = []
            for step in self.steps:
                queue.step(step)
                status.append((step.name, queue.registers()))
            self.answer = self.look(queue, status, slots)
        return self.answer

    def look(self, queue, status, slots):
        out, labels = [], []
        base, width, height, stride, small = self.picture

        def memory(address, size, name):
            data = queue.memory.bytes[address - VRAM:address - VRAM + size]
            data += bytes(-len(data) % 4)
            out.extend(struct.unpack(f"<{len(data) // 4}I", data))
            labels.extend(name(k) for k in range(len(data) // 4))
        for y in range(height):
            memory(base + y * stride, width * (2 if small else 4),
                   lambda k, y=y: f"pixels {2 * k} and {2 * k + 1} of row {y}" if small else f"pixel {k}, {y}")
        for name in self.seen:
            found = [b for b in self.buffers if b[0] == name]
            if name == "status":
                for n, (step, values) in enumerate(status):
                    out.extend(values)
                    labels.extend(f"{r} after commands[{n}] ({step})" for r in REGISTERS)
            elif name == "answers":
                out += [len(queue.answers)] + queue.answers
                labels += ["words that READ_MEM returned"] + [f"word {k} of them" for k in range(len(queue.answers))]
            elif name == "cores":
                out += queue.cores
                labels += [f"{CORE[k % 4]} of core {k // 4}" for k in range(16)]
            elif name == "slots":
                memory(slots, 1024, lambda k: f"completion slot {k}")
            else:
                memory(found[0][1], found[0][3], lambda k, name=name: f"{name} + {4 * k:#x}")
        return out, labels

    def words(self):
        return self.run()[0]

    def labels(self):
        return self.run()[1]

    # ---- files ----

    def write(self, path, tools):
        os.makedirs(path)
        buffers = {}
        for name, _, data, size, fill, align in self.buffers:
            one = {}
            if data:
                one["file"] = name + ".bin"
                with open(os.path.join(path, name + ".bin"), "wb") as f:
                    f.write(data)
                with open(os.path.join(path, name + ".hex"), "w") as f:
                    f.write(hex_words(data))
            if size > len(data):
                one["size"] = size
                if fill:
                    one["fill"] = fill
            if align != 64:
                one["align"] = align
            buffers[name] = one
        base, width, height, stride, small = self.picture
        out = {"machine": {"vram": self.vram}, "buffers": buffers,
               "frame": {"base": f"{base:#x}", "width": width, "height": height, "stride": stride,
                         "format": "RGB565" if small else "ARGB8888"}}
        lines = [f"  {json.dumps(key)}: {json.dumps(value)},\n" for key, value in out.items()]
        with open(os.path.join(path, "list.json"), "w") as f:
            f.write("{\n" + "".join(lines) + '  "commands": [\n    ')
            f.write(",\n    ".join(json.dumps(step.json()) for step in self.steps))
            f.write(f'\n  ],\n  "observe": {json.dumps(self.seen)}\n}}\n')
        return ""
