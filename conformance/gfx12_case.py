"""Vectors of the GFX12 instructions (spec/README.md, "GFX12 vector files"): one file each, NAME.json, with one instruction or a list of
them. The signature is, one instruction after the other, v0..v9 and, where the vector has them, origin and direction; of a stack
instruction the results, the address operand and LDS."""
import json

INTERSECT, STACK = ("expected", "expected_origin", "expected_direction"), ("expected", "expected_address", "expected_lds")
NAMES = {"expected": "v", "expected_address": "address", "expected_lds": "lds ", "expected_origin": "origin ",
         "expected_direction": "direction "}
NUMBERS = ("node_pointer", "instance_mask", "offset0", "offset1")


def number(value):
    return value if isinstance(value, int) else int(value, 16)


def shown(key, value):
    """Dwords in hexadecimal, and short where most of them are zero."""
    if isinstance(value, list):
        return [0 if v == 0 else shown(key, v) for v in value]
    return f"{value:#x}" if isinstance(value, int) and key not in NUMBERS else value


class Case:
    kind, config = "vector", "full"

    def __init__(self, name, rows, source, vectors):
        self.name, self.rows, self.source = name, rows.split() if isinstance(rows, str) else rows, source
        self.vectors = vectors if isinstance(vectors, list) else [vectors]

    def parts(self):
        """(label, word)"""
        for n, vector in enumerate(self.vectors):
            stack = "address" in vector
            before = f"{vector['name']}: " if len(self.vectors) > 1 else ""
            for key in STACK if stack else INTERSECT:
                value = vector.get(key, [])
                values = value if isinstance(value, list) else [value]
                for i, v in enumerate(values):
                    name = "result " if stack and key == "expected" else NAMES[key]
                    yield before + name + ("" if key == "expected_address" else str(i)), number(v)

    def words(self):
        return [word for _, word in self.parts()]

    def labels(self):
        return [label for label, _ in self.parts()]

    def write(self, path, tools):
        lines = [json.dumps({key: shown(key, value) for key, value in vector.items()}) for vector in self.vectors]
        with open(path + ".json", "w") as f:
            f.write('{"cases": [\n' + ",\n".join(lines) + "\n]}\n")
        return ".json"
