"""The effective numeric state: CAP.PREC.MODE and ALT are applied, CAP.PREC.STAT shows what comes of them. The model is the
composition of numeric.md 7, step by step."""
from hart import Case

MODE, ALT, STAT, EXC_EN = "0x7d0", "0x7d1", "0x7d2", "0x7d3"
APPLY = 1 << 63
# field: (lowest bit, bits, legal values or None)
MODE_FIELDS = {"SAE": (2, 1, None), "ZMODE": (3, 1, None), "UNS": (4, 1, None), "Q": (5, 1, None), "ZP": (6, 8, None),
               "ZP_EN": (14, 2, 3), "SAT_MODE": (16, 1, None), "PACK": (17, 2, 3), "EW": (19, 2, None), "PET": (21, 3, 6),
               "ACCW": (24, 3, 4), "FP_RMODE": (27, 2, None), "SAE_DEF": (29, 1, None), "SAT": (30, 1, None),
               "FP_RMODE2": (32, 1, None), "DENORM_FTZ": (33, 1, None), "NAN_POL": (34, 2, 3), "SCALE_SH": (40, 8, None)}
ALT_FIELDS = {"VER": (0, 3, None), "PACK": (3, 3, 3), "ZP_OFFS": (6, 8, None), "ZP": (14, 8, None), "SAT": (22, 1, None),
              "MIXED": (23, 1, None), "ALT_ACCW": (24, 2, None), "ALT_FMT": (26, 4, None), "ALT_EN": (30, 1, None),
              "SCALE_SH": (40, 8, None)}
NATIVE = {0: 16, 1: 32, 2: 16, 3: 8, 4: 16, 5: 32, 8: 8, 9: 8, 10: 4, 11: 2}
FORMATS = {1: (2, 1, 0), 2: (8, 0, 0), 3: (9, 0, 0), 4: (10, 0, 1), 5: (11, 0, 2)}  # ALT_FMT: PET, EW, least PACK


def image(fields, values):
    return sum(values.get(name, 0) << lo for name, (lo, _, _) in fields.items())


def legal(fields, values):
    out = {}
    for name, (_, bits, limit) in fields.items():
        value = values.get(name, 0) & (1 << bits) - 1
        out[name] = value if limit is None or value < limit else 0
    if out.get("FP_RMODE2") and out["FP_RMODE"]:
        out["FP_RMODE2"] = out["FP_RMODE"] = 0
    return out


def stat(mode_written, alt_written, exc_en=0):
    mode, alt = legal(MODE_FIELDS, mode_written), legal(ALT_FIELDS, alt_written)
    pet, ew, pack, accw, sat = (mode[n] for n in ("PET", "EW", "PACK", "ACCW", "SAT"))
    unsupported = any(mode_written.get(n, 0) != mode[n] for n in ("PET", "ACCW", "PACK")) or alt_written.get("PACK", 0) != alt["PACK"]
    on = 0
    if alt["ALT_EN"] and (alt["ALT_FMT"] not in FORMATS or alt["VER"]):
        unsupported = True
    elif alt["ALT_EN"]:
        on = 1
        pet, ew, least = FORMATS[alt["ALT_FMT"]]
        pack = max(mode["PACK"], alt["PACK"], least)
        accw = alt["ALT_ACCW"] or accw
        sat |= alt["SAT"]
    native = NATIVE[pet]
    while native << pack > 64:
        pack -= 1
        unsupported = True
    unsupported |= native > 8 << ew
    while native << pack > 8 << ew:
        ew += 1
    sae = mode["SAE_DEF"] | mode["SAE"]
    mask = 0 if sae else exc_en & 31
    return pet << 28 | ew << 26 | accw << 24 | on << 23 | sat << 22 | (mode["FP_RMODE2"] << 2 | mode["FP_RMODE"]) << 19 | \
        mode["Q"] << 18 | pack << 16 | int(unsupported) << 15 | mode["ZMODE"] << 11 | sae << 10 | mode["NAN_POL"] << 8 | mask << 3


FP32, INT8 = {"PET": 1, "EW": 2}, {"PET": 3, "EW": 2}


class Walk:
    """Applies images one after the other and looks at all three registers."""

    def __init__(self, suite, name, rows):
        self.c = Case("xphmg/prec/" + name, rows)
        suite.add(self.c)
        self.mode, self.alt, self.exc_en = {"EW": 1}, {}, 0

    def look(self, what):
        self.c.csrr(MODE, image(MODE_FIELDS, legal(MODE_FIELDS, self.mode)), f"MODE after {what}")
        self.c.csrr(ALT, image(ALT_FIELDS, legal(ALT_FIELDS, self.alt)), f"ALT after {what}")
        self.c.csrr(STAT, stat(self.mode, self.alt, self.exc_en), f"STAT after {what}")

    def set_mode(self, **values):
        self.mode = values
        self.c.csrw(MODE, image(MODE_FIELDS, values) | APPLY)
        self.look(f"MODE {values}")

    def set_alt(self, **values):
        self.alt = values
        self.c.csrw(ALT, image(ALT_FIELDS, values) | APPLY)
        self.look(f"ALT {values}")


def add(suite):
    w = Walk(suite, "reset", "CAP-299")
    w.look("reset")
    for name, values, rows in (
            ("accw", range(8), "CAP-208 CAP-280 CAP-258"), ("pack", range(4), "CAP-226 CAP-285 CAP-258"),
            ("sat", range(2), "CAP-282 CAP-258"), ("zmode", range(2), "CAP-268 CAP-290"), ("q", range(2), "CAP-284"),
            ("nan_pol", range(4), "CAP-270 CAP-292"), ("sae_def", range(2), "CAP-269 CAP-291"), ("zp_en", range(4), "CAP-231"),
            ("fp_rmode", range(4), "CAP-283")):
        w = Walk(suite, name.replace("_", "-"), rows)
        for value in values:
            w.set_mode(**INT8, **{name.upper(): value})
    w = Walk(suite, "pet", "CAP-213 CAP-278 CAP-258")
    for value in range(6):
        w.set_mode(PET=value, EW=3)
    w = Walk(suite, "pet-reserved", "CAP-220")
    for value in (6, 7):
        w.set_mode(**FP32)
        w.set_mode(PET=value, EW=2)
    w = Walk(suite, "ew", "CAP-221 CAP-279 CAP-258")
    for value in range(4):
        w.set_mode(PET=3, EW=value)
    w = Walk(suite, "rmm", "CAP-283")
    for value in range(8):
        w.set_mode(**FP32, FP_RMODE=value & 3, FP_RMODE2=value >> 2)
    w = Walk(suite, "apply0", "CAP-195 CAP-196 CAP-197 CAP-240")
    w.set_mode(**FP32, ACCW=2, PACK=1)
    w.c.csrw(MODE, image(MODE_FIELDS, INT8) | 1 << 31)  # no APPLY0
    w.c.csrr(STAT, stat(w.mode, w.alt), "STAT after a write without APPLY0")
    w.mode = INT8
    w.c.csrw(MODE, image(MODE_FIELDS, INT8) | APPLY | 3)
    w.look("reserved bits 1:0 written")
    w = Walk(suite, "ie-mask", "CAP-293 CAP-294")
    for value in (0x1E, 1, 0x1F, 0x10, 0):
        w.exc_en = value
        w.c.csrw(EXC_EN, value)
        w.set_mode(**FP32)
    w = Walk(suite, "apply1", "CAP-242")
    w.set_mode(**FP32)
    w.c.csrw(ALT, image(ALT_FIELDS, {"ALT_EN": 1, "ALT_FMT": 2}) | 1 << 31)
    w.c.csrr(STAT, stat(w.mode, {}), "STAT after a write without APPLY1")
    w.set_alt(ALT_EN=1, ALT_FMT=2)
    w = Walk(suite, "alt-en", "CAP-243 CAP-281 CAP-031")
    w.set_mode(**FP32)
    for on in (0, 1, 0, 1):
        w.set_alt(ALT_EN=on, ALT_FMT=2)
    w = Walk(suite, "alt-fmt", "CAP-244 CAP-259")
    for mode in ({"PET": 2, "EW": 1}, {"PET": 5, "EW": 2}):
        w.set_mode(**mode)
        for value in range(16):
            w.set_alt(ALT_EN=1, ALT_FMT=value)
    w = Walk(suite, "alt-unsupported", "CAP-023 CAP-038 CAP-272 CAP-273 CAP-274 CAP-286")
    w.set_mode(PET=2, EW=1, PACK=1, SAT=1, ACCW=1)
    for value in (0, *range(6, 16)):
        w.set_alt(ALT_EN=1, ALT_FMT=value, ALT_ACCW=3)
    w = Walk(suite, "alt-ver", "CAP-251")
    w.set_mode(**FP32)
    for value in range(8):
        w.set_alt(ALT_EN=1, ALT_FMT=2, VER=value)
    w = Walk(suite, "alt-accw", "CAP-245 CAP-260")
    for mode in range(4):
        w.set_mode(**FP32, ACCW=mode)
        for value in range(4):
            w.set_alt(ALT_EN=1, ALT_FMT=3, ALT_ACCW=value)
    w = Walk(suite, "alt-sat", "CAP-261")
    for mode in range(2):
        w.set_mode(**FP32, SAT=mode)
        for value in range(2):
            w.set_alt(ALT_EN=1, ALT_FMT=2, SAT=value)
    w = Walk(suite, "alt-inherits", "CAP-262 CAP-264")
    w.set_alt(ALT_EN=1, ALT_FMT=4)
    for mode in ({"Q": 1}, {"FP_RMODE": 3}, {"FP_RMODE": 2, "Q": 1}, {"ZMODE": 1, "NAN_POL": 2}):
        w.set_mode(**FP32, **mode)
    w = Walk(suite, "alt-pack", "CAP-250 CAP-266")
    for fmt in FORMATS:
        for mode in range(3):
            w.set_mode(**INT8, PACK=mode)
            for value in range(3):
                w.set_alt(ALT_EN=1, ALT_FMT=fmt, PACK=value)
