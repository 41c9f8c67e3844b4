"""What was observed on a card, and the contract's examples of the dual and the stack instructions."""
import json
import os

from gfx12_case import Case
from tables import SPEC

SILICON = {"box8-all-hit": "G12-229 G12-001 G12-047 G12-210", "box8-extent-clips": "G12-230 G12-199", "box8-range-two": "G12-231",
           "tri-first-hit": "G12-232 G12-104 G12-212 G12-213 G12-214", "tri-last-pair-single": "G12-233 G12-217",
           "box8-triangles-first": "G12-234 G12-206", "box8-mask-none": "G12-292", "box8-mask-every-other": "G12-292",
           "tri-back-side": "G12-292", "tri-second-hit": "G12-292", "tri-both-missed": "G12-292",
           "box8-far-to-near-unsorted": "G12-292", "box8-far-to-near": "G12-292"}
EXAMPLES = {"dual-box-and-triangle": "G12-002 G12-245", "dual-triangle-hit": "G12-245", "stack-push-three": "G12-249",
            "stack-push-instance": "G12-249 G12-251", "stack-end-of-pair": "G12-249 G12-248", "stack-end-of-range": "G12-249",
            "stack-empty": "G12-250 G12-251", "stack-two-boxes": "G12-249"}


def add(suite):
    for path, names, source, folder in (
            (os.path.join(SPEC, "gfx12-silicon.json"), SILICON, "silicon", "silicon"),
            (os.path.join(SPEC, "../examples/gfx12/instructions.json"), EXAMPLES, "worked-example", "examples")):
        with open(path) as f:
            for vector in json.load(f)["cases"]:
                suite.add(Case(f"gfx12/{folder}/{vector['name']}", names[vector["name"]], source, vector))
