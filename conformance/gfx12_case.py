"""Vectors of the GFX12 instructions (spec/README.md, "GFX12 vector files"): one file each, NAME.json. The signature is v0..v9 and, where
the case has them, origin and direction; of a stack instruction the results, the address operand and LDS."""
import json


class Case:
    kind, config = "vector", "full"

    def __init__(self, name, rows, source, vector):
        self.name, self.rows, self.source, self.vector = name, rows.split() if isinstance(rows, str) else rows, source, vector

    def parts(self):
        keys = ("expected", "expected_address", "expected_lds") if "address" in self.vector else \
            ("expected", "expected_origin", "expected_direction")
        for key in keys:
            value = self.vector.get(key, [])
            yield key, [v if isinstance(v, int) else int(v, 16) for v in (value if isinstance(value, list) else [value])]

    def words(self):
        return [w for _, values in self.parts() for w in values]

    def labels(self):
        stack = "address" in self.vector
        names = {"expected": "result " if stack else "v", "expected_address": "address", "expected_lds": "lds ",
                 "expected_origin": "origin ", "expected_direction": "direction "}
        return [names[key] + (str(i) if key != "expected_address" else "") for key, values in self.parts()
                for i in range(len(values))]

    def write(self, path, tools):
        with open(path + ".json", "w") as f:
            json.dump({"cases": [self.vector]}, f, indent=1)
            f.write("\n")
        return ".json"
