"""The example of an instruction as a whole program, in a link to the inspector.

Registers that hold addresses in it point at data, others hold small numbers. Only programs that run to their end on the machine are
offered: they are run while the site is built."""
import base64
import json
import os
import re
import subprocess
import tempfile
import zlib
from concurrent.futures import ThreadPoolExecutor

ADDRESS = re.compile(r"(?:(?<!\w)(-?\d+))?\(([a-z]\d+)\)")
REGISTER = re.compile(r"\b([xfsv])(\d+)\b")
TILE_DATA = 0x80100000

# No program of the inspector has these: a ray does, whose steps it shows.
OF_RAYS = {"image_bvh8_intersect_ray", "ds_bvh_stack_push8_pop1_rtn_b32"}
RAY = {"example": "boxes", "aov": "picture", "size": "640x360", "pixel": [356, 162], "step": 2}

HART = """# %(text)s
# %(meaning)s

        .text
_start:
%(before)s
# Step from here: Run stops at the breakpoint.
example:
        %(text)s
        %(nop)s
        %(nop)s
        .balign 4
behind: %(nop)s
        %(nop)s
        li      t0, 0x100000            # the finisher: the end of the program
        li      t1, 0x5555
        sw      t1, 0(t0)
stop:   j       stop

        .data
        .balign 64
data:   .word   0x3f800000, 0x40000000, 0x40400000, 0x40800000
        .word   0x3f000000, 0x3e800000, 0x00000000, 0x42c80000
        .balign 64
zeros:  .zero   4032
"""
KERNEL = """# %(text)s
# %(meaning)s

        .globl  kernel
kernel:
%(before)s
# Step from here: Run stops at the breakpoint.
        %(text)s
        NOP
behind: NOP
        EXIT
"""


# They go to an address in a register, less than which the offset is.
JUMPS = {"jalr", "c.jalr", "c.jr", "JALR"}


# They go where a register of the machine says, which is set first.
TRAPS = {"ecall": "mtvec", "ebreak": "mtvec", "c.ebreak": "mtvec", "mret": "mepc"}


def line(text, comment=""):
    return "        %-32s%s" % (text, "# " + comment if comment else "")


def hart_program(card):
    text, before = card["example"]["text"], []
    bases = {register: int(offset or 0) for offset, register in ADDRESS.findall(text)}
    vendor = card["extension"].startswith("XPHMG_")
    if vendor:
        before += [line("li      t0, 0x8000000000300000", "APPLY0: elements are FP32"), line("csrw    CAP.PREC.MODE, t0")]
    if card["extension"] == "XPHMG_RT":
        before += [line("la      t0, zeros", "an empty node, no triangles"), line("csrw    RTNODE, t0"), line("csrw    RTTRI, t0")]
    if card["extension"] == "XPHMG_GFX":
        before += [line("csrwi   GFXCFG, 1", "GFX instructions execute; there is no texture yet")]
    if card["mnemonic"] in TRAPS:
        before += [line("la      t0, behind"), line("csrw    %s, t0" % TRAPS[card["mnemonic"]]), line("li      t0, 0x1800", "mstatus.MPP: mret stays in M mode"),
                   line("csrs    mstatus, t0")]
    if any(kind == "f" for kind, _ in REGISTER.findall(text)):
        before += [line("li      t0, 0x2000", "mstatus.FS: floating point is on"), line("csrs    mstatus, t0")]
    sources = operands_read(card) | (set(found_in(text)) if card["extension"] == "XPHMG_MTX" else set())
    for k, (kind, number) in enumerate(sorted(set(REGISTER.findall(text)), key=lambda r: int(r[1]))):
        name = kind + number
        if card["mnemonic"] in JUMPS and name in sources | set(bases):
            before += [line("la      %s, behind" % name), line("addi    %s, %s, %d" % (name, name, -bases.get(name, 0)))]
        elif card["mnemonic"].startswith("xlds.atoms") and name in bases:
            before += [line("li      t0, 0x7ea0", "XLDSBASE: where LDS begins"), line("csrw    XISEL, t0"), line("csrr    %s, XIREG" % name)]
        elif name in bases or (vendor and kind == "x" and name in sources and card["extension"] not in ("XPHMG_GFX", "XPHMG_PMASK")):
            before.append(line("la      %s, data" % name))
            if bases.get(name):
                before.append(line("addi    %s, %s, %d" % (name, name, -bases[name])))
        elif kind == "x" and name in sources and number != "0":
            before.append(line("li      %s, %d" % (name, 6 - 2 * k)))
        elif kind == "f" and name in sources:
            before += [line("li      t0, %d" % (3 + k)), line("fcvt.%s.w %s, t0" % (precision(card), name))]
    nop = "c.nop" if card["length"] == 2 else "nop"
    return HART % {"text": text, "meaning": one_line(card["semantics"]), "before": "\n".join(before), "nop": nop}


def found_in(text):
    return [kind + number for kind, number in REGISTER.findall(text)]


def precision(card):
    """Of the registers that a floating-point instruction reads."""
    words = card["mnemonic"].split(".")
    last = words[-1] if words[-1] in "shd" else words[1] if len(words) > 1 and words[1] in "shd" else "s"
    return last


def operands_read(card):
    """Names of the registers in the example but for the first, where that is the result."""
    found = found_in(card["example"]["text"])
    first = card["operands"][0]["name"] if card["operands"] else ""
    return set(found[1:] if first.startswith(("rd", "vd", "fd")) and found else found) | (
        {found[0]} if found and card["syntax"].startswith("c.") else set())


def kernel(card):
    text, before = card["example"]["text"], []
    bases = {register: int(offset or 0) for offset, register in ADDRESS.findall(text)}
    for k, (kind, number) in enumerate(sorted(set(REGISTER.findall(text)), key=lambda r: int(r[1]))):
        name = kind + number
        if card["mnemonic"] in JUMPS and name in bases:
            before += [line("LA      %s, behind" % name), line("ADDI    %s, %s, %d" % (name, name, -bases[name]))]
        elif name in bases:
            before.append(line("LI      %s, 0x%x" % (name, TILE_DATA - bases[name])))
        elif kind == "s" and number != "0":
            before.append(line("LI      %s, %d" % (name, 8 - 4 * k)))
        elif kind == "f":
            before += [line("LI      s20, 0x%x" % (0x3C00 + 0x200 * k)), line("FMV.S2F %s, s20" % name)]
        elif kind == "v":
            word = 4 * k if card["extension"] in ("tile.vector-memory", "tile.vector-atomic") else 0x3F800000 + 0x400000 * k
            before += [line("LI      s20, 0x%x" % word), line("VBCAST.I32 %s, s20" % name)]
    return KERNEL % {"text": text, "meaning": one_line(card["semantics"]), "before": "\n".join(before)}


def one_line(text):
    text = re.sub(r"\s+", " ", text)
    return text if len(text) <= 110 else text[:107].rsplit(" ", 1)[0] + " ..."


def runs_to_its_end(program, machine, text):
    with tempfile.TemporaryDirectory() as folder:
        source, elf = os.path.join(folder, "try.s"), os.path.join(folder, "try.elf")
        with open(source, "w", encoding="utf-8") as f:
            f.write(text)
        if machine == "tile":
            commands = [[program, "tile", "run", source, "--grid", "1x1", "--max-seconds", "5", "-q"]]
        else:
            commands = [[program, "as", "--isa", "xphmg", source, "-o", elf], [program, "run", elf, "--max-seconds", "5", "-q"]]
        return all(subprocess.run(c, capture_output=True, check=False).returncode == 0 for c in commands)


def packed(view, state):
    """As the inspector packs what a link holds: JSON, deflate, base64 for URLs (web/src/shell/data.ts)."""
    squeeze = zlib.compressobj(9, zlib.DEFLATED, -15)
    data = squeeze.compress(json.dumps(state, ensure_ascii=False, separators=(",", ":")).encode()) + squeeze.flush()
    return view + "=" + base64.urlsafe_b64encode(data).decode().rstrip("=")


def examples(program, cards):
    """{(machine, match, mask): part of a link behind `#`} of the instructions whose example runs."""
    def one(card):
        text = kernel(card) if card["isa"] == "tile" else hart_program(card)
        if not runs_to_its_end(program, card["isa"], text):
            return None
        state = {"kind": "tile" if card["isa"] == "tile" else "hart", "source": text,
                 "options": "--grid 1x1" if card["isa"] == "tile" else "", "input": "",
                 "breakpoints": [text[:text.index("# Step from here")].count("\n") + (2 if card["isa"] == "tile" else 3)]}
        return packed("programs", state)

    found = {(c["isa"], c["match"], c["mask"]): packed("bvh", RAY) for c in cards if c["mnemonic"] in OF_RAYS}
    asked = [c for c in cards if c.get("example") and c["isa"] in ("xphmg", "tile")]
    with ThreadPoolExecutor(2) as pool:
        links = list(pool.map(one, asked))
    return found | {(c["isa"], c["match"], c["mask"]): link for c, link in zip(asked, links) if link}
