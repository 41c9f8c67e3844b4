"""Case folders of the tile machine (spec/README.md, "Tile case folders"), with their code and data as $readmemh hex too.

Folder NAME holds case.json, kernel.s where there is a text, kernel.bin, kernel.hex (32-bit words from kernel_address on), for
each input inN.bin and inN.hex, for each output outN.bin. The signature is the end (0 ok, 1 fault), then for each listed
fault its cause, pc and address where the case has them, then the outputs as words.
"""
import json
import os


def hex_words(data):
    data += bytes(-len(data) % 4)
    return "".join(f"{int.from_bytes(data[i:i + 4], 'little'):08x}\n" for i in range(0, len(data), 4))


class Case:
    kind = "tile"

    def __init__(self, name, rows, source="exact", address=0x80000000, code=b"", text=None, title=""):
        self.name, self.rows, self.source, self.config = name, rows.split() if isinstance(rows, str) else rows, source, "full"
        self.address, self.code, self.asm, self.title = address, code, text, title or name
        self.grid, self.tile, self.packet, self.options = (1, 1), (0, 0), {}, {}
        self.inputs, self.outputs, self.faults, self.notes = [], [], [], []

    def input(self, address, data):
        self.inputs.append((address, bytes(data)))

    def output(self, address, data, labels=()):
        self.outputs.append((address, bytes(data)))
        self.notes += list(labels)

    def fault(self, core, cause, pc=None, address=None):
        self.faults.append({"core": core, "cause": cause} | ({"pc": pc} if pc is not None else {}) |
                           ({"address": address} if address is not None else {}))

    def words(self):
        out = [int(bool(self.faults))]
        for fault in sorted(self.faults, key=lambda f: f["core"]):
            out += [fault[key] for key in ("cause", "pc", "address") if key in fault]
        for _, data in self.outputs:
            data += bytes(-len(data) % 4)
            out += [int.from_bytes(data[i:i + 4], "little") for i in range(0, len(data), 4)]
        return out

    def labels(self):
        out = ["end: 0 ok, 1 fault"]
        for fault in sorted(self.faults, key=lambda f: f["core"]):
            out += [f"{key} of the fault of core {fault['core']}" for key in ("cause", "pc", "address") if key in fault]
        return out + self.notes

    def write(self, path, tools):
        os.makedirs(path)

        def put(name, data):
            with open(os.path.join(path, name), "wb") as f:
                f.write(data)
        if self.asm is not None:
            put("kernel.s", self.asm.encode())
        if self.asm is not None and not self.code:
            tools.assemble(os.path.join(path, "kernel.s"), os.path.join(path, "kernel.bin"), "tile", "bin", self.address)
            tools.assemble(os.path.join(path, "kernel.s"), os.path.join(path, "kernel.hex"), "tile", "hex", self.address)
        else:
            put("kernel.bin", self.code)
            put("kernel.hex", hex_words(self.code).encode())
        for i, (_, data) in enumerate(self.inputs):
            put(f"in{i}.bin", data)
            put(f"in{i}.hex", hex_words(data).encode())
        for i, (_, data) in enumerate(self.outputs):
            put(f"out{i}.bin", data)
        case = {"name": self.title, "requirement_ids": sorted(set(self.rows)), "kernel_address": f"{self.address:#x}",
                "grid": list(self.grid), "tile": list(self.tile)} | self.packet
        if self.options:
            case["options"] = self.options
        case["inputs"] = [{"address": f"{a:#x}", "file": f"in{i}.bin"} for i, (a, _) in enumerate(self.inputs)]
        case["outputs"] = [{"address": f"{a:#x}", "length": len(d), "file": f"out{i}.bin"} for i, (a, d) in enumerate(self.outputs)]
        case["expected"] = {"result": "fault" if self.faults else "ok"} | ({"faults": self.faults} if self.faults else {})
        put("case.json", (json.dumps(case, indent=1) + "\n").encode())
        return ""
