"""Makes seeds of fuzz targets (tests/fuzz/corpus): for assembler, disassembler and ELF one text per group of rows,
the forms that the rows do not show, words of every row, and a few executables; for others small files of their kind.

Usage: make_corpus.py FACET (the program); run it after a change of the tables."""
import os
import random
import re
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "..", "tools"))
from spec_tables import Spec

facet = os.path.abspath(sys.argv[1])
spec = Spec(os.path.join(HERE, "..", "..", "spec"))
spec.read()
rng = random.Random(1)

FORMS = {
    "xphmg": """# forms
1: la a0, x; lw a1, x
 li a2, 0x123456789abcdef
 bnez a0, 1b
 beq a0, a1, 1f
 rt.bbox rd=a0, rs1=a1, imm=T_CLAMP|PACK_HINT
 amoadd.w.aqrl a0, a1, (a2)
 .macro m a, b=2
 .byte \\a, \\b, \\@
 .endm
 m 1
 .rept 2
 m 3, 4
 .endr
 .zero 1
 .if 1 << 3 > 2
 .word %lo(x), ~1 << 3
 .else
 nonsense
 .endif
 .data
y: .zero 3
x: .asciz "s\\n"
 .set q, x + 1
 .globl q
 .balign 8
 .dword q, .
1: .section .t, "ax"
 .address 0x90000000
 j .
 .entry x
""",
    "tile": """; forms
_start: MOVI s1, tab
 LW s2, 40(s1)
 LW.P s3, tab
 BNE s1, s2, _start
 AADD s1, s2, (s3), aq
 VLD.C v3, c5(s0)
 CSRR s1, sampler[3].width
 J . + 8
tab: .word 1, tab
 .float 1.5
""",
}


def texts(isa):
    rows = spec.insns[isa]
    for start in range(0, len(rows), 40):
        lines = []
        for row in rows[start:start + 40]:
            word = row.match
            for o in row.operands:
                word |= o.place(rng.getrandbits(o.width())) if not o.hidden else 0
            out = subprocess.run([facet, "dis", "--isa", isa, "--hex", "%x" % word],
                                 capture_output=True, text=True, check=True)
            lines.append(out.stdout)
        yield "".join(lines)
    yield FORMS[isa]


def put(folder, name, data):
    path = os.path.join(HERE, "corpus", folder)
    os.makedirs(path, exist_ok=True)
    with open(os.path.join(path, name), "wb") as f:
        f.write(data)


for which, isa in enumerate(("xphmg", "tile")):
    mark = bytes([which])
    for i, text in enumerate(texts(isa)):
        name = "%s%02d" % (isa, i)
        put("assemble", name, mark + text.encode())
        flat = subprocess.run([facet, "as", "-", "--isa", isa, "--format", "bin", "-o", "-"],
                              input=re.sub(r" \.address.*\n", "", text).encode(), capture_output=True)
        if flat.returncode != 0:
            sys.exit(flat.stderr.decode())
        put("disassemble", name, mark + flat.stdout[:400])
    elf = subprocess.run([facet, "as", "-", "--isa", isa, "-o", "-"], input=FORMS[isa].encode(),
                         capture_output=True, check=True)
    put("elf", isa, elf.stdout)


def read(*path):
    with open(os.path.join(HERE, "..", "..", *path), "rb") as f:
        return f.read()


# fuzz_picture: machine, quality, samples and bounces, then a scene.
for i, name in enumerate(("triangle.glb", "textured.glb", "instancing.glb", "skin.glb", "text.gltf")):
    put("picture", name, bytes([i * 0x15 & 0x3F]) + read("tests/fuzz/corpus/gltf", name))

put("aabbs", "two.json", b'{"aabbs": [{"min": [0, 0, 0], "max": [1, 1, 1]}, {"min": [2, 0, 0], "max": [3, 1, 1], '
    b'"geometry": 5, "primitive": 7, "opaque": true}]}\n')
put("cover", "hart.json", b'''{"facet_cover": 1, "machine": "xphmg", "runs": 1, "retired": 3, "causes": {"illegal instruction": 1},
"instructions": [{"syntax": "lui rd, uimm", "count": 2}, {"syntax": "MTX.MUL rd, rs1, shape=5, transpose=0, sat_hint=0, vec_count=0, stride=0", "count": 1,
"flags": {"CAP.PREC.EXC.ST.NX": 1}, "format": {"FP32": 1}, "rounding": {"RNE": 1}, "lanes": {"scalar": 1}, "mask": {"no mask": 1}}],
"csrs": [{"name": "mtvec", "read": 0, "written": 1, "set": 0, "fields": {"BASE": {"changed": 1}, "MODE": {"changed": 0,
"values": [0]}}}]}
''')
put("cover", "tile.json", b'''{"facet_cover": 1, "machine": "tile", "runs": 2, "retired": 9, "instructions": [{"syntax":
"ADD rd, rs1, rs2", "count": 9, "saturation": {"wrap": 9}}], "csrs": [{"name": "config", "read": 1, "written": 0, "set": 0,
"fields": {}}]}
''')
put("aabbs", "many.json", b'{"aabbs": [%s]}\n' % b", ".join(
    b'{"min": [%d, %d, -1e30], "max": [%d, %d.5, 1e-40]}' % (i, i * i, i + 1, i * i) for i in range(24)))

case = read("examples/tile/k1/case.json").replace(b"out.bin", b"a.bin")
put("tile_case", "k1", case + b"---\n" + read("examples/tile/k1/kernel.s") + b"---\n" + read("examples/tile/k1/out.bin"))
put("tile_case", "options", case.replace(b'"grid"', b'"options": {"mem": "strong", "sched": "rnd:7", "poison": true, '
    b'"regs": 16, "vram": 65536, "wdog": 100}, "inputs": [{"address": "0x80003000", "file": "a.bin"}], "grid"') +
    b"---\n" + read("examples/tile/k1/kernel.s") + b"---\n" + b"12345678" * 3)

for i, text in enumerate((b"full", b"min,pmask_banks=4", b"prof,feat0=0x1d11,rt_node8=0", b"full,mtx_descq=1,flags=3",
                          b"min,xmem_cap=0x1,alt_formats=0x3f,cap_vers=2,rtcap=0x7f,mtxcap=0xff")):
    put("xphmg_config", str(i), text)

# fuzz_wire: offset (3), operation, value (4); the stream of the small scene is a few kilobytes.
put("wire", "unchanged", b"")
put("wire", "cut", bytes([0, 1, 0, 1, 0, 0, 0, 0]))
put("wire", "counts", b"".join(bytes([at & 255, at >> 8, 0, 2, 0xFF, 0xFF, 0xFF, 0x07]) for at in range(4, 64, 8)))
put("wire", "raw", b"!" + b"1WSF" + bytes(64))

# fuzz_snapshot: whole machines after so many steps; examples/xphmg/hello.s writes and ends, ticket.s waits for a job.
with tempfile.TemporaryDirectory() as folder:
    for name, program, options in (("hello0", "hello", ["--steps", "0"]), ("hello7", "hello", ["--steps", "7"]),
                                   ("late", "ticket", ["--steps", "20", "--jobs", "late:5"]),
                                   ("two_harts", "hello", ["--steps", "5", "--harts", "2", "--config", "min"])):
        subprocess.run([facet, "as", "--isa", "xphmg", os.path.join(HERE, "../../examples/xphmg", program + ".s"),
                        "-o", program + ".elf"], check=True, cwd=folder)
        subprocess.run([facet, "snapshot", program + ".elf", "--ram", "64k", "-o", name, "-q"] + options, check=True,
                       cwd=folder)
        put("snapshot", name, read(folder, name))

# fuzz_gfx12_drivers: the driver, then a structure or a capture as tests/gfx12/dialects writes them.
sys.path.insert(0, os.path.join(HERE, "..", "gfx12"))
from dialects import gpurt, hiprt, model, radv, rra

BLASES = [[model.Geometry(model.grid(2)), model.Geometry(model.soup(3), opaque=False)]]
PLACED = [model.Instance(0, model.turn(30, 2))]
for number, name, made in ((1, "radv", radv.scene(BLASES, PLACED, address=0x10000, infos=True)),
                           (1, "radv2025", radv.scene(BLASES, PLACED, mode="pair", layout="2025")),
                           (2, "gpurt", gpurt.scene(BLASES, PLACED, address=0x10000)),
                           (3, "hiprt", hiprt.scene([BLASES[0][:1]], PLACED, address=0x10000))):
    put("gfx12_drivers", name + "_tlas", bytes([number]) + made.segments[0].data)
    put("gfx12_drivers", name + "_blas", bytes([number]) + made.segments[1].data)
    if name == "gpurt":
        put("gfx12_drivers", "rra", bytes([0]) + rra.capture(made))
