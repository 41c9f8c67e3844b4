#!/usr/bin/env python3
"""Makes guest/include/xphmg.h and xphmg.inc from spec/: what a guest program in C or assembly needs to
use the XPHMG extensions with an unpatched GNU toolchain.

usage: gen_guest_header.py SPEC_FOLDER xphmg.h xphmg.inc

xphmg.inc holds one GNU as macro per vendor mnemonic, in the syntax of spec/README.md; `.insn` is
underneath, so the encoding is in one place. xphmg.h holds, for C, the same macros inside a
top-level asm, one inline function (or function-like macro, where an operand must be a constant) per
row on top of them, a name for every CSR and field, and a type for every structure in memory.

The rows do not say in a column of their own whether rd is written, read or both; the semantics column
does, in few fixed phrases. role() reads them and refuses a row that uses none, so a new row cannot get
a wrong register constraint in silence."""
import os
import re
import sys

import guest_structs
from csr_tables import identifier
from spec_tables import REGISTER_BITS, Spec

ABI_X = ("zero ra sp gp tp t0 t1 t2 s0 s1 a0 a1 a2 a3 a4 a5 a6 a7 s2 s3 s4 s5 s6 s7 s8 s9 s10 s11 "
         "t3 t4 t5 t6").split()
ABI_F = ("ft0 ft1 ft2 ft3 ft4 ft5 ft6 ft7 fs0 fs1 fa0 fa1 fa2 fa3 fa4 fa5 fa6 fa7 fs2 fs3 fs4 fs5 "
         "fs6 fs7 fs8 fs9 fs10 fs11 ft8 ft9 ft10 ft11").split()

# Result slots of RT instructions are x[rd], x[rd+1], ...: in C always these four temporaries.
SLOTS = ["t3", "t4", "t5", "t6"]

WRITTEN = re.compile(r"(?<![=!<>])x\[rd\] ?=(?!=)")
CONDITIONAL = re.compile(r"(if\([^)]*\)|if \w+: ?)x\[rd\] ?=")


class Bad(Exception):
    """A row that this tool cannot turn into a wrapper."""


def is_register(operand):
    return operand.kind in REGISTER_BITS


def full_semantics(row, rows):
    """A row that says `as MNEMONIC, then` means that row's text too."""
    m = re.match(r"as ([A-Za-z0-9_.]*[A-Za-z0-9])[ ,]", row.semantics)
    twin = next((r for r in rows if m and r.mnemonic == m.group(1)), None)
    return row.semantics if twin is None else twin.semantics + "; " + row.semantics


def role(row, operand, rows):
    """`out`, `in`, `inout` or `slots`: what the instruction does with an x register operand."""
    text = full_semantics(row, rows)
    if operand.name != "rd" or "x[rd] is only read" in text:
        return "in"
    if "rd.. " in text:
        return "slots"
    if "R.r" in text:
        return "in"  # the C form has its windows in memory: rd is an address
    if "into rd lanes" in text or "element register rd" in text:
        return "inout"
    if WRITTEN.search(text):
        reads = len(re.findall(r"x\[rd\]", text)) > len(WRITTEN.findall(text))
        return "inout" if reads or CONDITIONAL.search(text) else "out"
    if "x[rd] and PM[pd] get S" in text:
        return "out"
    if "at x[rd]" in text or "to x[rd]" in text:
        return "in"
    raise Bad("%s:%d: %s: the semantics do not say what happens to x[rd]" % (row.path, row.line, row.mnemonic))


def is_address(row, operand, rows):
    """True when C should see a pointer."""
    name = operand.name
    if any(base >= 0 and row.operands[base] is operand for _, base in row.items):
        return True
    return bool(re.search(r"(?:\b(?:at|base|from|to) |dst=|src=)x\[%s\]|(?<!=)\[x\[%s\],\+" % (name, name),
                          full_semantics(row, rows)))


def limits(operand):
    """Smallest and largest value that may be written for an immediate, and the largest that the field
    itself holds (as the assembler of this repository accepts them)."""
    top = (1 << operand.width()) - 1
    if operand.codec == "minus_one":
        return 1, top + 1
    if operand.codec == "step":
        return 0, 4
    if operand.codec == "modulo":
        return 0, top + 1
    low = 1 if 0 in operand.forbidden else 0
    return low, top


def range_text(operand):
    low, high = limits(operand)
    return "0, 1, 2 or 4" if operand.codec == "step" else "%d..%d" % (low, high)


def is_bad(operand, text):
    """A GNU as expression that is true when `text` is out of range."""
    low, high = limits(operand)
    bad = "(%s) < %d || (%s) > %d" % (text, low, text, high)
    return bad + " || (%s) == 3" % text if operand.codec == "step" else bad


def is_good(operand, text):
    """A C expression that is true when `text` is in range; no comparison that is always true."""
    low, high = limits(operand)
    good = "(unsigned long)(%s)%s <= %d" % (text, " - %d" % low if low else "", high - low)
    return good + " && (%s) != 3" % text if operand.codec == "step" else good


def stored(operand, text):
    """The field's value for the written value `text`, in GNU as."""
    if operand.codec == "minus_one":
        return "((%s) - 1)" % text
    if operand.codec == "step":  # 0 1 2 4 are 0 1 2 3: (true is -1 in GNU as)
        return "((%s) + ((%s) == 4))" % (text, text)
    return "(%s)" % text


def shown(row):
    return [o for o in row.operands if not o.hidden]


def c_name(row, rows):
    name = "xphmg_" + row.mnemonic.lower().replace(".", "_")
    twins = [r for r in rows if r.mnemonic == row.mnemonic]
    if len(twins) > 1 and not all(is_register(o) for o in shown(row)):
        name += "_imm"
    return name


# -- GNU as ----------------------------------------------------------------------------------------

def as_registers(out):
    out.append("/* Numbers of the registers by name; `(a0)` and `0(a0)` are how addresses are written. */")
    for prefix, names in ((".Lxphmg_x.", ABI_X), (".Lxphmg_w.", ABI_X), (".Lxphmg_w.", ABI_F)):
        letter = names[0][0].replace("z", "x")
        plain = ["%s%d" % (letter, i) for i in range(32)]
        for some in (plain, names):
            out.append(".set .Lxphmg_n, 0")
            out.append(".irp r, %s" % ", ".join(some))
            for shape in (("%s", "(%s)", "0(%s)") if prefix == ".Lxphmg_x." else ("%s",)):
                out.append('.set "%s%s", .Lxphmg_n' % (prefix, shape % "\\r"))
            out.append(".set .Lxphmg_n, .Lxphmg_n + 1")
            out.append(".endr")
    for shape in ("%s", "(%s)", "0(%s)"):
        out.append('.set ".Lxphmg_x.%s", 8' % (shape % "fp"))
    out.append('.set ".Lxphmg_w.fp", 8')


def as_word(row, names):
    """The lines that check and place the operands of a row; names: operand -> macro argument."""
    lines, parts = [], ["0x%08x" % row.match]
    for o in shown(row):
        arg = "\\" + names[o.name]
        if is_register(o):
            table = ".Lxphmg_w." if o.kind == "xfreg" else ".Lxphmg_x."
            lines.append('.ifndef "%s%s"' % (table, arg))
            lines.append('.error "%s: %s is not a register, expected one for %s"' % (row.mnemonic, arg, o.name))
            lines.append(".endif")
            value = '"%s%s"' % (table, arg)
        else:
            lines.append(".if %s" % is_bad(o, arg))
            lines.append('.error "%s: %s is %s, expected %s"' % (row.mnemonic, o.name, arg, range_text(o)))
            lines.append(".endif")
            value = stored(o, arg)
        for p in o.pieces:
            bits = value if p.value_lo == 0 else "(%s >> %d)" % (value, p.value_lo)
            parts.append("((%s & 0x%x) << %d)" % (bits, (1 << p.width) - 1, p.word_lo))
    lines.append(".insn 4, " + " | ".join(parts))
    return lines


def as_branch(row):
    """pcrel rows are B-format: `.insn sb` makes the relocation."""
    lines = []
    match = row.match
    rs2 = "x0"
    for o in shown(row):
        if o.kind == "pcrel":
            continue
        if [(p.word_lo, p.value_lo) for p in o.pieces] != [(20, 0)]:
            raise Bad("%s:%d: %s: cannot place %s in a branch" % (row.path, row.line, row.mnemonic, o.name))
        lines.append(".if %s" % is_bad(o, "\\" + o.name))
        lines.append('.error "%s: %s is \\%s, expected %s"' % (row.mnemonic, o.name, o.name, range_text(o)))
        lines.append(".endif")
        rs2 = "x\\" + o.name
    lines.append(".insn sb 0x%x, %d, x%d, %s, \\label" % (match & 0x7F, match >> 12 & 7, match >> 15 & 31, rs2))
    return lines


def as_macro(rows, out):
    """One macro for all rows of a mnemonic: a register row first, then the immediate one."""
    row = rows[0]
    args = []
    for o in shown(row):
        if o.optional:
            args.append("%s=%d" % (o.name, o.default))
        else:
            args.append("%s:req" % o.name)
    for r in rows:
        out.append("/* %s */" % r.syntax)
    out.append(".macro %s %s" % (row.mnemonic.lower(), ", ".join(args)))
    if any(o.kind == "pcrel" for o in shown(row)):
        out.extend(as_branch(row))
    elif len(rows) == 1:
        out.extend(as_word(row, {o.name: o.name for o in shown(row)}))
    else:
        if len(rows) != 2 or len(shown(rows[0])) != len(shown(rows[1])):
            raise Bad("%s:%d: %s: cannot tell its rows apart" % (row.path, row.line, row.mnemonic))
        if not is_register(shown(rows[0])[-1]) or is_register(shown(rows[1])[-1]):
            raise Bad("%s:%d: %s: register row expected first" % (row.path, row.line, row.mnemonic))
        other = {o.name: mine.name for o, mine in zip(shown(rows[1]), shown(row))}
        out.append('.ifdef ".Lxphmg_x.\\%s"' % shown(row)[-1].name)
        out.extend(as_word(row, {o.name: o.name for o in shown(row)}))
        out.append(".else")
        out.extend(as_word(rows[1], other))
        out.append(".endif")
    out.append(".endm")


def as_lines(rows):
    out = []
    as_registers(out)
    # Link-time optimisation makes one assembler file of several that include the header.
    out.extend([".ifndef .Lxphmg_macros", ".set .Lxphmg_macros, 1"])
    groups = {}
    for row in rows:
        groups.setdefault(row.mnemonic, []).append(row)
    for group in groups.values():
        as_macro(group, out)
    out.append(".endif")
    return out


# -- C ---------------------------------------------------------------------------------------------

def comment(row, extra, out):
    """Syntax and semantics of the row; `*/` cannot occur in it."""
    out.append("/* %s" % row.syntax)
    text = row.semantics.replace("*/", "* /").replace("/*", "/ *")
    while text:
        cut = len(text) if len(text) <= 95 else text.rfind(" ", 0, 95)
        cut = 95 if cut <= 0 else cut
        out.append(" * " + text[:cut])
        text = text[cut:].lstrip()
    for line in extra:
        out.append(" * " + line)
    out[-1] += " */"


def wrapper(row, rows, out):
    name = c_name(row, rows)
    operands = shown(row)
    roles = {o.name: role(row, o, rows) for o in operands if is_register(o)}
    branch = any(o.kind == "pcrel" for o in operands)
    constants = [o for o in operands if not is_register(o) and o.kind != "pcrel"]
    result = next((o for o in operands if roles.get(o.name) in ("out", "inout")), None)
    slots = next((o for o in operands if roles.get(o.name) == "slots"), None)
    # Predicates live in the hart, not in memory; everything else may touch memory or must not move
    # across accesses.
    memory = row.extension != "XPHMG_PMASK"
    extra = []
    if any(o.kind == "xfreg" for o in operands) and re.search(r"\b[AR]\.[ar]\d|\bA\.a", row.semantics):
        extra.append("In C the windows lie in memory (GFXCFG.AMEM, DMEM = 1): pass addresses. For register")
        extra.append("windows use the assembler macro.")
    if row.mnemonic.startswith(("svon.", "svp.")):
        extra.append("Acts on the next instructions, which the compiler chooses: in C only right before an asm")
        extra.append("statement makes sense; better write both in one.")
    if slots:
        extra.append("C: result slot k, x[rd+k], is slot[k]; a slot that is not written keeps `old`.")
    comment(row, extra, out)

    # Operands of the asm by number: a macro's parameters would replace names in brackets.
    args, outputs, inputs, checks = [], [], [], []
    parameters = []  # (C declaration) where the wrapper is a function
    template = []
    written = 1 if result is not None else len(SLOTS) if slots is not None else 0
    for o in operands:
        part = "%%%d" % (written + len(inputs))
        if o.kind == "pcrel":
            template.append("%%l%d" % (written + len(inputs)))
            args.append("label")
        elif not is_register(o):
            template.append(part)
            args.append(o.name)
            inputs.append('"i"(%s)' % o.name)
            checks.append('_Static_assert(%s, "%s: %s is %s");'
                          % (is_good(o, o.name), row.mnemonic, o.name, range_text(o)))
        elif roles[o.name] == "slots":
            template.append(SLOTS[0])
            args.append("old")
        else:
            if roles[o.name] != "in":
                part = "%0"
            base = any(b >= 0 and row.operands[b] is o for _, b in row.items)
            template.append("(%s)" % part if base else part)
            if roles[o.name] != "out":
                args.append(o.name)
                parameters.append(("const volatile void *%s" if is_address(row, o, rows) else "uint64_t %s") % o.name)
            if roles[o.name] == "in":
                inputs.append('"r"((uint64_t)(%s))' % o.name)
    text = '"%s"' % (row.mnemonic.lower() + (" " + ", ".join(template) if template else ""))
    clobbers = ' : "memory"' if memory else ""
    if branch:
        body = ["__asm__ goto(%s : : %s : %s : label);"
                % (text, ", ".join(inputs), '"memory"' if memory else "")]
        emit_macro(name, args, constants, checks, body, None, out)
        out.append("")
        return
    if result is not None:
        start = "(uint64_t)(%s)" % result.name if roles[result.name] == "inout" else None
        outputs.append('"%s"(xphmg_value_)' % ("+r" if start else "=r"))
        declare = "uint64_t xphmg_value_%s;" % (" = " + start if start else "")
        body = [declare, statement(text, outputs, inputs, clobbers)]
        value = "xphmg_value_"
    elif slots is not None:
        body = ["struct xphmg_slots xphmg_value_ = (old);"]
        for k, r in enumerate(SLOTS):
            body.append('register uint64_t xphmg_%s_ __asm__("%s") = xphmg_value_.slot[%d];' % (r, r, k))
            outputs.append('"+r"(xphmg_%s_)' % r)
        body.append(statement(text, outputs, inputs, clobbers))
        body += ["xphmg_value_.slot[%d] = xphmg_%s_;" % (k, r) for k, r in enumerate(SLOTS)]
        value = "xphmg_value_"
    else:
        body = [statement(text, outputs, inputs, clobbers)]
        value = None
    if constants or slots is not None:  # a macro
        emit_macro(name, args, constants, checks, body, value, out)
    else:
        out.append("static inline __attribute__((always_inline)) %s %s(%s)" % ("uint64_t" if value else "void", name, ", ".join(parameters) or "void"))
        out.append("{")
        out.extend("    " + line for line in body)
        if value:
            out.append("    return %s;" % value)
        out.append("}")
    out.append("")


def statement(text, outputs, inputs, clobbers):
    if not outputs and not inputs and not clobbers:
        return "__asm__ volatile(%s);" % text
    return "__asm__ volatile(%s : %s : %s%s);" % (text, ", ".join(outputs), ", ".join(inputs), clobbers)


def emit_macro(name, args, constants, checks, body, value, out):
    """A function-like macro: operands that must be constants stay constants, also without optimisation.
    Optional operands may be left out from the right, as in assembly."""
    optional = [o for o in constants if o.optional]
    inner = name
    if optional:
        inner = name + "_"
        required = args[:len(args) - len(optional)]
        if args[len(required):] != [o.name for o in optional]:
            raise Bad("%s: optional operands are not the last ones" % name)
        if any(o.default for o in optional[1:]):
            raise Bad("%s: only the first optional operand may have a default other than 0" % name)
        zeros = ", ".join("0" for _ in optional)
        first = "XPHMG_FIRST_(__VA_ARGS__ __VA_OPT__(,) %d)" % optional[0].default
        out.append("#define %s(%s...) \\" % (name, "".join(a + ", " for a in required)))
        out.append("    XPHMG_CALL_(%s, %d __VA_OPT__(- XPHMG_COUNT_(__VA_ARGS__)), %s%s, XPHMG_REST_(__VA_ARGS__) %s)" % (
            inner, len(optional), "".join("%s, " % a for a in required), first, zeros))
        args = ["xphmg_left_"] + args + ["..."]
        checks = ['_Static_assert((xphmg_left_) >= 0, "%s: too many operands");' % name] + checks
    lines = checks + body + ([value + ";"] if value else [])
    out.append("#define %s(%s) \\" % (inner, ", ".join(args)))
    if value:
        out.append("    __extension__({ \\")
        out.extend("        %s \\" % line for line in lines)
        out.append("    })")
    else:
        out.append("    do { \\")
        out.extend("        %s \\" % line for line in lines)
        out.append("    } while (0)")


def symbols(spec, names, out):
    """XPHMG_RT_BBOX_FLAGS_T_CLAMP and so on: what operands.tsv calls the values of an operand."""
    for rule in spec.operand_rules:
        if rule["isa"] != "xphmg" or not rule["symbols"]:
            continue
        for pattern in rule["rows"]:
            stem = re.sub(r"\.\*$", "", pattern)
            if not any(n == stem or n.startswith(stem + ".") for n in names):
                continue
            for operand in rule["operand"]:
                for symbol, value in rule["symbols"]:
                    out.append("#define XPHMG_%s_%s_%s %d" % (
                        identifier(stem), identifier(operand), identifier(symbol), value))


def csrs(spec, out):
    for csr in spec.csrs:
        if csr["isa"] != "xphmg":
            continue
        family = csr["count"] > 1
        name = identifier(re.sub(r"\d+\.\.\d+$", "", csr["name"]))
        indirect = "XISEL" in csr["address"] or csr["number"] > 0xFFF
        out.append("/* %s */" % csr["name"])
        if indirect:
            if family:
                out.append("#define XPHMG_XI_%s(k) (0x%X + (k))" % (name, csr["number"] - csr["first"]))
            else:
                out.append("#define XPHMG_XI_%s 0x%X" % (name, csr["number"]))
        direct = csr["alias"] if indirect else csr["number"]
        if direct:
            if family:
                out.append("#define XPHMG_CSR_%s(k) (0x%X + (k))" % (name, direct - csr["first"]))
            else:
                out.append("#define XPHMG_CSR_%s 0x%X" % (name, direct))
        names = [f["name"] for f in csr["fields"]]
        for f in csr["fields"]:
            if names.count(f["name"]) > 1 or re.match(r"(RSV|RSVD|RSV\d+|RESERVED)$", f["name"].upper()):
                continue
            mask = (2 << f["hi"]) - (1 << f["lo"])
            field = "XPHMG_%s_%s" % (name, identifier(f["name"]))
            out.append("#define %s XPHMG_U64_(0x%X) /* %s: %s */" % (
                field, mask, f["access"], f["meaning"].replace("*/", "* /").replace("/*", "/ *")))
            out.append("#define %s_LSB %d" % (field, f["lo"]))
            if not f["rule"].joined:  # a pair of fields holds the number: no value of this one alone
                out += ["#define %s_%s %d" % (field, identifier(name), value) for name, value in f["rule"].names]


HEAD = """/* XPHMG for guest programs in C and assembly. Made by tools/gen_guest_header.py from spec/: do not edit.
 *
 * In C (GNU C11, riscv64-unknown-elf-gcc): one function or function-like macro per vendor instruction,
 * xphmg_MNEMONIC with `_` for `.`, operands in the order of the row. A register that is only written
 * is the result; one that is read and written is an argument and the result; immediates must be
 * constant expressions, and those with a default may be left out from the right. In every asm
 * statement after this header, and in .S files, the mnemonics themselves work too, written as
 * spec/README.md says: asm("xmem.ldg.w a0, (a1), pbank=2"). GNU as needs no patch.
 *
 * XPHMG_CSR_NAME is a CSR's number, XPHMG_XI_NAME its number for XISEL/XIREG, XPHMG_NAME_FIELD the
 * mask of a field and XPHMG_NAME_FIELD_LSB its lowest bit. */
#ifndef XPHMG_H
#define XPHMG_H
"""

C_PART = """
#ifndef __ASSEMBLER__
#include <stdint.h>

/* ---- CSR access ---------------------------------------------------------------------------------
 * `csr` is a constant, XPHMG_CSR_... or a number. */
#define xphmg_csr_read(csr) \\
    __extension__({ \\
        uint64_t xphmg_value_; \\
        __asm__ volatile("csrr %0, %1" : "=r"(xphmg_value_) : "i"(csr) : "memory"); \\
        xphmg_value_; \\
    })
#define xphmg_csr_write(csr, value) \\
    __asm__ volatile("csrw %0, %1" : : "i"(csr), "r"((uint64_t)(value)) : "memory")
#define xphmg_csr_set(csr, bits) \\
    __asm__ volatile("csrs %0, %1" : : "i"(csr), "r"((uint64_t)(bits)) : "memory")
#define xphmg_csr_clear(csr, bits) \\
    __asm__ volatile("csrc %0, %1" : : "i"(csr), "r"((uint64_t)(bits)) : "memory")
/* Writes and returns what was there. */
#define xphmg_csr_swap(csr, value) \\
    __extension__({ \\
        uint64_t xphmg_value_; \\
        __asm__ volatile("csrrw %0, %1, %2" \\
                         : "=r"(xphmg_value_) \\
                         : "i"(csr), "r"((uint64_t)(value)) \\
                         : "memory"); \\
        xphmg_value_; \\
    })

/* Registers selected by XISEL/XIREG; `select` is XPHMG_XI_... and may be computed. A handler that uses
 * these must save and restore XISEL. */
static inline uint64_t xphmg_xi_read(uint64_t select)
{
    xphmg_csr_write(XPHMG_CSR_XISEL, select);
    return xphmg_csr_read(XPHMG_CSR_XIREG);
}

static inline void xphmg_xi_write(uint64_t select, uint64_t value)
{
    xphmg_csr_write(XPHMG_CSR_XISEL, select);
    xphmg_csr_write(XPHMG_CSR_XIREG, value);
}

/* Fields by mask: the value of one field in its place, and out of a register's value. */
#define XPHMG_FIELD(mask, value) (((uint64_t)(value) * ((mask) & -(mask))) & (mask))
#define XPHMG_FIELD_OF(mask, from) (((uint64_t)(from) & (mask)) / ((mask) & -(mask)))
#define XPHMG_FIELD_SET(from, mask, value) (((uint64_t)(from) & ~(mask)) | XPHMG_FIELD(mask, value))

/* Results of rt.bbox and rt.tri in registers. */
struct xphmg_slots {
    uint64_t slot[4];
};

/* Optional operands: the first given one or the default, the others, how many. */
#define XPHMG_CALL_(macro, ...) macro(__VA_ARGS__)
#define XPHMG_FIRST_(...) XPHMG_FIRST1_(__VA_ARGS__, 0)
#define XPHMG_FIRST1_(first, ...) first
#define XPHMG_REST_(...) __VA_OPT__(XPHMG_REST1_(__VA_ARGS__))
#define XPHMG_REST1_(first, ...) __VA_OPT__(__VA_ARGS__,)
#define XPHMG_COUNT_(...) ((int)(sizeof((long[]){__VA_ARGS__}) / sizeof(long)))
"""


def header(spec, rows, macros):
    out = [HEAD]
    out.append("/* ---- values of operands ---- */")
    symbols(spec, [r.mnemonic for r in rows], out)
    out.append("\n/* ---- control and status registers ---- */")
    out.append("#ifdef __ASSEMBLER__\n#define XPHMG_U64_(number) number\n#else")
    out.append("#define XPHMG_U64_(number) number##ull\n#endif")
    csrs(spec, out)
    layouts = [s for s in spec.layouts if s.machine == "xphmg"]
    out.append("\n/* ---- values in structures ---- */")
    guest_structs.constants(layouts, out)
    out.append(C_PART)
    out.append("/* ---- structures in memory ---- */\n")
    guest_structs.structures(layouts, out)
    out.append("/* ---- the instructions, for the assembler ---- */")
    out.append("__asm__(")
    for line in macros:
        if not line.startswith("/*"):
            out.append('    "%s\\n"' % line.replace("\\", "\\\\").replace('"', '\\"'))
    out.append(");\n")
    extension = None
    for row in rows:
        if row.extension != extension:
            extension = row.extension
            out.append("/* ---- %s ---- */\n" % extension)
        wrapper(row, rows, out)
    out.append('#else\n#include "xphmg.inc"\n#endif\n\n#endif')
    return out


def main(argv):
    if len(argv) != 4:
        sys.stderr.write(__doc__ + "\n")
        return 2
    spec = Spec(argv[1])
    if not spec.read():
        sys.stderr.write("\n".join(spec.findings) + "\n")
        return 1
    rows = [r for r in spec.insns["xphmg"] if r.extension.startswith("XPHMG_")]
    try:
        macros = as_lines(rows)
        text = header(spec, rows, macros)
    except Bad as e:
        sys.stderr.write("%s\n" % e)
        return 1
    intro = ["/* XPHMG mnemonics for GNU as. Made by tools/gen_guest_header.py from spec/: do not edit.",
             " * Use: #include <xphmg.h> in .S files, .include \"xphmg.inc\" (as -I FOLDER) in .s files. */"]
    for path, lines in ((argv[2], text), (argv[3], intro + macros)):
        with open(path + ".new", "w", encoding="utf-8") as f:
            f.write("\n".join(lines) + "\n")
        os.replace(path + ".new", path)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv))
