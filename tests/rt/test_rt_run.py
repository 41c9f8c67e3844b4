"""RT programs under `facet run`: machines that lack parts of RT (--config)."""
import os
import subprocess
import tempfile

from harness import case, check, check_eq, main

FACET = os.environ["FACET"]
FOLDER = tempfile.TemporaryDirectory()

PROGRAM = """
_start: la      t0, handler
        csrw    mtvec, t0
        la      a0, ray
        la      t0, tile
        ori     t0, t0, {node}
        csrw    0x82A, t0
        la      t0, range
        csrw    0x82B, t0
        la      a1, job
{setup}
there:  {insn}
        li      t1, 0x5555          # works: exit code 0
        j       end
        .align  2
handler:
        csrr    t2, mcause
        csrr    t3, 0x821           # RTSTAT.LAST_EC
        srli    t3, t3, 2
        andi    t3, t3, 0x3F
        slli    t2, t2, 3
        or      t2, t2, t3          # exit code: cause * 8 + LAST_EC
        slli    t1, t2, 16
        li      t3, 0x3333
        or      t1, t1, t3
end:    li      t0, 0x100000
        sw      t1, 0(t0)
        j       .
        .balign 64
tile:   .fill 256, 1, 0
ray:    .fill 64, 1, 0
range:  .fill 16, 1, 0
job:    .dword 0, 0, 0, 0, 0
        .word {opts}, 0
        .fill 24, 1, 0
"""
UNSUPPORTED = 25 * 8 + 2


def facet(*words):
    return subprocess.run([FACET, *words], capture_output=True, text=True, timeout=600,
                          stdin=subprocess.DEVNULL)


def program(insn, node=0, opts=0, setup=""):
    base = os.path.join(FOLDER.name, "program")
    with open(base + ".s", "w", encoding="utf-8") as file:
        file.write(PROGRAM.format(insn=insn, node=node, opts=opts, setup=setup))
    done = facet("as", "--isa", "xphmg", base + ".s", "-o", base + ".elf")
    check_eq(done.returncode, 0, done.stderr)
    return base + ".elf"


@case("RT-068 RT-072 RT-073 RT-074 RT-075 RT-255 RT-282 RT-283")
def a_machine_can_lack_each_part():
    job = ["rt_descq", "rt_watertight"]
    parts = (  # instruction, RTNODE bits, opts, what it needs
        ("rt.bbox x12, a0", 0, 0, ["rt_node4"]),
        ("rt.bbox x12, a0", 8, 0, ["rt_node8"]),
        ("rt.bbox x12, a0, pack_hint", 0, 0, ["rt_node4", "rt_pack_hint"]),
        ("rt.tri x12, a0", 0, 0, ["rt_watertight"]),
        ("rt.tri x12, a0, pack_hint", 0, 0, ["rt_watertight", "rt_pack_hint"]),
        ("rt.tri x12, a0, eps_ctl", 0, 0, ["rt_watertight", "rt_eps_ctl"]),
        ("xsubmit.rt x12, a1", 0, 0, job + ["rt_node4"]),
        ("xsubmit.rt x12, a1", 0, 1 << 5, job + ["rt_node8"]),
        ("xsubmit.rt x12, a1", 0, 1 << 2, job + ["rt_node4", "rt_pack_hint"]),
        ("xsubmit.rt x12, a1", 0, 1 << 3, job + ["rt_node4", "rt_eps_ctl"]))
    keys = {key for *_, needs in parts for key in needs}
    check_eq(len(keys), 6)
    for insn, node, opts, needs in parts:
        elf = program(insn, node, opts)
        check_eq(facet("run", elf).returncode, 0, f"{insn} on the full machine")
        for key in sorted(keys):
            code = facet("run", elf, "--config", f"full,{key}=0").returncode
            check_eq(code, UNSUPPORTED if key in needs else 0, f"{insn}, {opts} without {key}")
    code = facet("run", elf, "--config", "full,rt_eps_ctl=0", "--plain").returncode
    check_eq(code, UNSUPPORTED, "the plain executor")


@case()
def keys_that_are_none():
    for config, wanted in (("full,rt_node8=2", "rt_node8: expected 0 to 1"),
                           ("full,rt_node16=0", "rt_node16"),
                           ("full,rtcap=0x40", "rtcap: unknown bits 0x40"),
                           ("full,alt_formats=0x40", "alt_formats=0x40: expected a mask of bits 1 to 5")):
        done = facet("run", program("rt.bbox x12, a0"), "--config", config)
        check_eq(done.returncode, 2)
        check(wanted in done.stderr, done.stderr)


main("rt_run")
