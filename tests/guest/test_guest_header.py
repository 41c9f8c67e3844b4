"""guest/include/xphmg.h and xphmg.inc against the rest of Facet.

The C side: every wrapper is compiled by riscv64-unknown-elf-gcc, with and without optimisation, and
`facet dis` must read back the row and the operands that were asked for. The assembler side: the same
text with random operands goes through GNU as with xphmg.inc and through `facet as`, an independent
encoder; the bytes must be equal. The CSR side: numbers and masks against a reading of the tables that
shares nothing with the generator."""
import csv
import os
import random
import re
import shutil
import subprocess
import sys
import tempfile

HEADER = os.path.abspath(sys.argv.pop(1))
from harness import case, check, check_eq, main, skip

SOURCE, FACET = os.environ["FACET_SOURCE"], os.environ["FACET"]
sys.path.insert(0, os.path.join(SOURCE, "tools"))
from spec_tables import REGISTER_BITS, Spec

GCC, AS, OBJCOPY = ("riscv64-unknown-elf-" + t for t in ("gcc", "as", "objcopy"))
FLAGS = ["-ffreestanding", "-std=gnu11", "-march=rv64imafdc", "-mabi=lp64d", "-Wall", "-Wextra", "-Werror",
         "-I", os.path.dirname(HEADER)]
spec = Spec(os.path.join(SOURCE, "spec"))
spec.read()
ROWS = [r for r in spec.insns["xphmg"] if r.extension.startswith("XPHMG_")]
ROUNDS = 40 if os.environ.get("FACET_TEST_LONG") == "1" else 4


def need_gcc():
    if not all(shutil.which(t) for t in (GCC, AS, OBJCOPY)):
        skip("gcc-riscv64-unknown-elf is not installed")


def run(*command, ok=True):
    done = subprocess.run(command, capture_output=True, text=True)
    if ok:
        check(done.returncode == 0, "%s: %s%s" % (" ".join(command), done.stdout[-2000:], done.stderr[-2000:]))
    return done


def compile_c(text, optimisation, folder):
    source, binary = os.path.join(folder, "t.c"), os.path.join(folder, "t.o")
    with open(source, "w") as f:
        f.write(text)
    run(GCC, optimisation, *FLAGS, "-c", source, "-o", binary)
    return binary


def operands_of(row):
    return [o for o in row.operands if not o.hidden]


def is_register(o):
    return o.kind in REGISTER_BITS


def random_value(o, rng):
    """A value that may be written for an immediate, edges often."""
    top = (1 << o.width()) - 1
    if o.codec == "minus_one":
        return rng.choice([1, top + 1, rng.randint(1, top + 1)])
    if o.codec == "step":
        return rng.choice([0, 1, 2, 4])
    if o.codec == "modulo":
        return rng.choice([1, top + 1, rng.randint(1, top + 1)])
    low = 1 if o.forbidden else 0
    return rng.choice([low, top, rng.randint(low, top)])


def printed(o, value):
    """The immediate as `facet dis` writes it."""
    if o.kind == "enum" and o.print != "number":
        name = next((n for n, v in o.symbols if v == value), None)
        return name if name is not None else str(value)
    return str(value)


def c_name(row):
    name = "xphmg_" + row.mnemonic.lower().replace(".", "_")
    return name + "_imm" if row.mnemonic == "svsetvl" and "imm8" in row.syntax else name


# Registers that the row only writes; every other register operand is an argument.
def written_only(row):
    m = re.search(r"(?<![=!<>])x\[rd\] ?=(?!=)|x\[rd\] and PM", row.semantics)
    if not m or row.mnemonic in ("xlds.cpy", "xmem.dloadc", "xmem.dstorec", "GFX.CULL.COMPACT"):
        return False
    return not row.mnemonic.startswith(("xmem.ldg", "xlds.atoms.cas"))


def c_function(index, row, rng):
    """The text of a C function whose only vendor instruction is the row's, the values of its immediates,
    and the registers expected when it is optimised: arguments a0.. in order, the result a0."""
    operands = operands_of(row)
    params, args, expect = [], [], {}
    slots = row.mnemonic in ("rt.bbox", "rt.tri")
    returns = "void"
    optional = [o for o in operands if o.optional]
    given = rng.randint(0, len(optional)) if optional else 0
    label = ""
    for o in operands:
        if o.kind == "pcrel":
            args.append("there")
            label = " return 1; there: return 2;"
            returns = "int"
        elif slots and o.name == "rd":
            args.append("(struct xphmg_slots){{0}}")
            expect[o.name] = "x28"
        elif is_register(o):
            if o.name == "rd" and written_only(row):
                expect[o.name] = "x10"
                returns = "uint64_t"
                continue
            register = "a%d" % len(params)
            expect[o.name] = "x%d" % (10 + len(params))
            params.append("void *%s" % register)
            args.append(register if not takes_number(row, o) else "(uint64_t)" + register)
            if o.name == "rd" and (row.mnemonic.startswith(("xmem.ldg", "xlds.atoms.cas", "xmem.svm"))
                                   or row.mnemonic in ("MTX.RED", "GFX.CULL.COMPACT")):
                returns = "uint64_t"
        else:
            value = random_value(o, rng)
            if o.optional and optional.index(o) >= given:
                value = o.default
            else:
                args.append(str(value))
            expect[o.name] = printed(o, value)
    call = "%s(%s);" % (c_name(row), ", ".join(args))
    if slots:
        call = "return %s.slot[0];" % call[:-1]
        returns = "uint64_t"
    elif returns == "uint64_t":
        call = "return " + call
    text = "%s f%d(%s) { %s%s }\n" % (returns, index, ", ".join(params) or "void", call, label)
    return text, expect


def takes_number(row, o):
    """Functions (rows without immediates) want an integer where the operand is no address."""
    if any(not is_register(x) for x in operands_of(row)):
        return False
    address = any(base >= 0 and row.operands[base] is o for _, base in row.items)
    text = row.semantics
    return not address and not re.search(
        r"(?:\b(?:at|base|from|to) |dst=|src=)x\[%s\]|(?<!=)\[x\[%s\],\+" % (o.name, o.name), text)


def vendor_lines(binary):
    """{function: [(mnemonic, [operand texts])]} of the vendor instructions."""
    names = {r.mnemonic.lower() for r in ROWS}
    found, current = {}, None
    for line in run(FACET, "dis", binary).stdout.splitlines():
        m = re.match(r"(f\d+):", line)
        if m:
            current = m.group(1)
            found[current] = []
        m = re.match(r"\s+([A-Za-z][\w.]*)\s*([^#]*)", line)
        if m and m.group(1).lower() in names and current:
            found[current].append((m.group(1), [x.strip() for x in m.group(2).split(",") if x.strip()]))
    return found


def check_rows(optimisation, registers):
    need_gcc()
    rng = random.Random(4)
    with tempfile.TemporaryDirectory() as folder:
        for _ in range(ROUNDS):
            text, expected = "#include <xphmg.h>\n", []
            for i, row in enumerate(ROWS):
                function, expect = c_function(i, row, rng)
                text += function
                expected.append(expect)
            lines = vendor_lines(compile_c(text, optimisation, folder))
            for i, (row, expect) in enumerate(zip(ROWS, expected)):
                got = lines.get("f%d" % i, [])
                check_eq(len(got), 1, "vendor instructions in the wrapper of " + row.syntax)
                check_eq(got[0][0], row.mnemonic, "mnemonic")
                operands = operands_of(row)
                check_eq(len(got[0][1]), len(operands), "operands of " + row.syntax)
                for o, shown in zip(operands, got[0][1]):
                    if o.kind == "pcrel" or (is_register(o) and not registers):
                        continue
                    shown = re.sub(r"^.*=|[()]", "", shown)
                    check_eq(shown, expect[o.name], "%s of %s" % (o.name, row.syntax))


@case()
def every_wrapper_becomes_its_row_with_its_operands():
    check_rows("-O2", True)


@case()
def every_wrapper_compiles_without_optimisation():
    check_rows("-O0", False)


@case()
def gnu_as_and_facet_as_agree_on_every_mnemonic():
    need_gcc()
    rng = random.Random(5)
    lines = []
    for _ in range(8 * ROUNDS):
        for row in ROWS:
            parts, keyed = [], False
            for o in operands_of(row):
                if o.kind == "pcrel":
                    parts.append("near")
                    continue
                if is_register(o):
                    n = rng.randint(0, 31)
                    text = rng.choice(["x%d" % n, "f%d" % n] if o.kind == "xfreg" else ["x%d" % n])
                    base = any(b >= 0 and row.operands[b] is o for _, b in row.items)
                    parts.append(rng.choice(["(%s)", "0(%s)"]) % text if base else text)
                    continue
                value = random_value(o, rng)
                if o.optional and rng.random() < 0.3:
                    keyed = True  # left out: what follows must be named
                    continue
                keyed |= o.optional and rng.random() < 0.3
                parts.append("%s=%d" % (o.name, value) if keyed else str(value))
            lines.append("%s %s" % (row.mnemonic.lower(), ", ".join(parts)))
    # Branches reach 4 KiB: a label before every 200 lines.
    chunks = []
    for i in range(0, len(lines), 200):
        chunk = "\n".join(lines[i:i + 200])
        chunks.append("near%d:\n%s" % (i, re.sub(r"\bnear\b", "near%d" % i, chunk)))
    body = "\n".join(chunks) + "\n"
    with tempfile.TemporaryDirectory() as folder:
        gnu, ours = os.path.join(folder, "gnu.s"), os.path.join(folder, "ours.s")
        with open(gnu, "w") as f:
            f.write('.include "xphmg.inc"\n.text\n' + body)
        with open(ours, "w") as f:
            f.write(body)
        run(AS, "-I", os.path.dirname(HEADER), "-march=rv64imafdc", gnu, "-o", gnu + ".o")
        run(OBJCOPY, "-O", "binary", "-j", ".text", gnu + ".o", gnu + ".bin")
        run(FACET, "as", "--isa", "xphmg", "--format", "bin", ours, "-o", ours + ".bin")
        a, b = open(gnu + ".bin", "rb").read(), open(ours + ".bin", "rb").read()
        check_eq(len(a), len(b), "bytes")
        check_eq(len(a), 4 * len(lines), "bytes")
        for i, line in enumerate(lines):
            check_eq(a[4 * i:4 * i + 4].hex(), b[4 * i:4 * i + 4].hex(), line)


@case()
def assembly_files_use_the_header_too():
    need_gcc()
    with tempfile.TemporaryDirectory() as folder:
        source = os.path.join(folder, "t.S")
        with open(source, "w") as f:
            f.write("#include <xphmg.h>\nf0: csrw XPHMG_CSR_SVDST, t0\n li t0, XPHMG_SVSTATE_EN\n"
                    " rt.bbox a0, a1, flags=XPHMG_RT_BBOX_FLAGS_T_CLAMP|XPHMG_RT_BBOX_FLAGS_W_GUARD\n"
                    " svsetvl a0, fp\n")
        run(GCC, *FLAGS, "-c", source, "-o", source + ".o")
        text = run(FACET, "dis", source + ".o").stdout
    for part in ("csrrw x0, SVDST, x5", "rt.bbox x10, x11, flags=9", "svsetvl x10, x8", "addi x5, x0, 256"):
        check(part in text, "%r is not in:\n%s" % (part, text))


MISTAKES = [
    ("xphmg_xmem_ldg_w(0, p, 0, 4);", "pbank is 0..3"),
    ("xphmg_xmem_ldg_w(0, p, 0, 1, 2);", "too many operands"),
    ("xphmg_xmem_ldg_w(0, p, -1);", "hint is 0..63"),
    ("xphmg_svp_one_vlstep(0, 1, 1);", "vl is 1..64"),
    ("xphmg_svp_one_vlstep(1, 3, 1);", "sstep is 0, 1, 2 or 4"),
    ("xphmg_svsetvl_imm(0);", "imm8 is 1..255"),
    ("xphmg_pmclr(v);", "not constant"),
    ('__asm__("pmclr 4");', "pbank is 4, expected 0..3"),
    ('__asm__("pmlow.rd 1, q7");', "q7 is not a register"),
    ('__asm__("pcmp.eq.u a0");', "rs2"),
]


@case()
def mistakes_are_refused_with_a_reason():
    need_gcc()
    with tempfile.TemporaryDirectory() as folder:
        source = os.path.join(folder, "t.c")
        for call, reason in MISTAKES:
            with open(source, "w") as f:
                f.write("#include <xphmg.h>\nvoid f(void *p, int v) { (void)p; (void)v; %s }\n" % call)
            done = run(GCC, *FLAGS, "-c", source, "-o", source + ".o", ok=False)
            check(done.returncode != 0, call + " compiles")
            check(reason in done.stderr, "%s: %r is not in:\n%s" % (call, reason, done.stderr))


def table_rows():
    for name in ("rv64", "cap", "gfx", "rt"):
        with open(os.path.join(SOURCE, "spec", name + ".csr.tsv"), encoding="utf-8") as f:
            yield from csv.DictReader(f, delimiter="\t", quoting=csv.QUOTE_NONE)


@case()
def every_csr_and_field_has_its_number_and_mask():
    need_gcc()
    lines, seen = [], {}
    for r in table_rows():
        seen.setdefault((r["csr"], r["field"]), []).append(r)
    for (name, field), rows in seen.items():
        family = re.match(r"([A-Za-z]+)(\d+)\.\.(\d+)$", name)
        c = (family.group(1) if family else name).upper().replace(".", "_")
        address = rows[0]["addr"]
        if family:
            base = re.search(r"0x[0-9A-Fa-f]+", address).group(0)
            first = int(family.group(2))
            where = "XI" if "XISEL" in address else "CSR"
            for k in (first, int(family.group(3))):
                lines.append("XPHMG_%s_%s(%d) == %s + %d" % (where, c, k, base, k - first))
        elif address.startswith("XISEL "):
            lines.append("XPHMG_XI_%s == %s" % (c, address[6:]))
        elif ";" in address:
            lines.append("XPHMG_XI_%s == %s" % (c, address.split(";")[0]))
            lines.append("XPHMG_CSR_%s == %s" % (c, address.split(";")[1]))
        else:
            lines.append("XPHMG_CSR_%s == %s" % (c, address))
        if len(rows) > 1 or re.match(r"(?i)rsv|reserved", field):
            continue
        high, _, low = rows[0]["bits"].partition(":")
        high, low = int(high), int(low or high)
        f = "XPHMG_%s_%s" % (c, re.sub(r"\W", "_", field.upper()))
        lines.append("%s == 0x%xull" % (f, ((1 << (high - low + 1)) - 1) << low))
        lines.append("%s_LSB == %d" % (f, low))
    lines = sorted(set(lines))
    check(len(lines) > 900, "only %d statements" % len(lines))
    text = "#include <xphmg.h>\n" + "".join('_Static_assert(%s, "%s");\n' % (x, x) for x in lines)
    text += ("_Static_assert(XPHMG_FIELD(XPHMG_MSTATUS_FS, 3) == 0x6000, \"\");\n"
             "_Static_assert(XPHMG_FIELD_OF(XPHMG_MSTATUS_FS, 0x4fff) == 2, \"\");\n"
             "_Static_assert(XPHMG_FIELD_SET(0x7fff, XPHMG_MSTATUS_FS, 1) == 0x3fff, \"\");\n")
    with tempfile.TemporaryDirectory() as folder:
        compile_c(text, "-O0", folder)


@case()
def csr_macros_become_the_instructions():
    need_gcc()
    text = """#include <xphmg.h>
uint64_t f0(void) { return xphmg_csr_read(XPHMG_CSR_SVSTATE); }
void f1(uint64_t a) { xphmg_csr_write(XPHMG_CSR_CAP_PREC_MODE, a); }
void f2(uint64_t a) { xphmg_csr_set(XPHMG_CSR_MSTATUS, a); }
void f3(uint64_t a) { xphmg_csr_clear(XPHMG_CSR_RTCFG, a); }
uint64_t f4(uint64_t a) { return xphmg_csr_swap(XPHMG_CSR_FCSR, a); }
uint64_t f5(uint64_t k) { return xphmg_xi_read(XPHMG_XI_ZPTAB(k)); }
void f6(uint64_t a) { xphmg_xi_write(XPHMG_XI_XTICKRT, a); }
"""
    with tempfile.TemporaryDirectory() as folder:
        binary = compile_c(text, "-O2", folder)
        got = [re.sub(r"\s+", " ", m) for m in
               re.findall(r"\n\s+(csrr[^#\n]*?)\s*#", run(FACET, "dis", binary).stdout)]
    check_eq(len(got), 9, "CSR instructions")
    for shown, wanted in zip(got, [
            r"csrrs x10, SVSTATE, x0", r"csrrw x0, CAP.PREC.MODE, x10", r"csrrs x0, mstatus, x10",
            r"csrrc x0, RTCFG, x10", r"csrrw x10, fcsr, x10", r"csrrw x0, XISEL, x\d+",
            r"csrrs x10, XIREG, x0", r"csrrw x0, XISEL, x\d+", r"csrrw x0, XIREG, x10"]):
        check(re.match(wanted + "$", shown), "%s, expected %s" % (shown, wanted))


main("guest_header")
