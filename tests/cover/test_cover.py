"""`--cover` and `facet cover` against a second count: the same run's JSONL trace, read with the tables of spec/ by the code
below, which knows nothing of the program's own. Then sums, the report against the tables, and files that are wrong."""
import csv
import json
import os
import re
import shutil
import subprocess
import tempfile

from harness import case, check, check_eq, main

FACET, SOURCE = os.environ["FACET"], os.environ["FACET_SOURCE"]
FOLDER = tempfile.mkdtemp()
FORMATS = {0: "FP16", 1: "FP32", 2: "BF16", 3: "INT8", 4: "INT16", 5: "INT32", 8: "FP8_E4M3", 9: "FP8_E5M2", 10: "INT4",
           11: "INT2"}
ACCUMULATORS = ["FP32", "FP16", "INT32", "INT16"]
ROUNDINGS = ["RNE", "RTZ", "RDN", "RUP", "RMM"]
UNITS = ("XPHMG_RT", "XPHMG_MTX", "XPHMG_GFX", "XPHMG_XMEM")
FLOATS = ("RV64F", "RV64D", "Zfh")

PROGRAM = """
_start: la   t0, handler
        csrw mtvec, t0
        li   t0, 0x6000
        csrs mstatus, t0
        csrr t1, mhartid
        la   s0, data
        fld  fa0, 0(s0)
        fld  fa1, 8(s0)
        fdiv.d fa2, fa0, fa1
        fsflags zero
        fdiv.d fa2, fa0, fa1, rup
        fdiv.d fa2, fa0, fa1, rtz
        fsrmi 2
        fadd.d fa2, fa0, fa1
        fdiv.d fa3, fa0, fa4
        fscsr zero, zero
        .half 0x0505
        .word 0
        ecall
        lw   t1, 0(zero)
        csrr t1, 0x180
        li   t0, 0x8000000000300008     # FP32, ZMODE
        csrw CAP.PREC.MODE, t0
        MTX.LD s0, shape=6, rowmajor=1
        addi a1, s0, 24
        addi a2, s0, 64
        MTX.MUL a2, a1, shape=6
        li   t0, 0x8000000008000000     # FP16, another rounding mode
        csrw CAP.PREC.MODE, t0
        MTX.MUL a2, a1, shape=6
        li   t0, -1
        csrw CAP.PREC.EXC.ST, t0
        svsetvl a5, 4
        pmset 1
        li   t1, 5
        pmlow.wr 2, t1
        svp.one.vlstep 3, 1, 1
        addi s2, t1, 5
        svon.one
        fadd.s fa4, fa0, fa1
        xmem.ldg.w a5, (s0), hint=8, pbank=2
        mv   s1, s0
        mv   a0, s0
        mv   a1, s0
        svon.one
        xmem.ldg.w s4, (s0), pbank=2
        svon.one
        xmem.ldg.w s4, (s0), pbank=1
        pmclr 3
        svon.one
        xmem.ldg.w s4, (s0), pbank=3
        svsetvl a5, 64
        li   t0, 100
        xlds.alloc a3, t0, flags=16
        xlds.alloc a3, s0
        csrw CAP.XMEM.SVMBASE, t0
        csrw RTNODE, t0
        li   t1, 0x7d80
        csrw XISEL, t1
        csrw XIREG, t0                  # a word of ZPTAB
        csrr t1, XIREG
        svon.fpctl rc=3
        addi a1, s0, 24
        MTX.MUL a2, a1, shape=6
        li   t0, 8
        csrw mie, t0
        csrs mstatus, t0
        li   t0, 0x02000000
        li   t1, 1
        sw   t1, 0(t0)
        nop
        li   t0, 0x100000
        li   t1, 0x5555
        sw   t1, 0(t0)
        j    .
        .align 2
handler: csrr t4, mcause
        blt  t4, zero, soft
        csrr t4, mepc
        addi t4, t4, 4
        csrw mepc, t4
        mret
soft:   li   t4, 0x02000000
        sw   zero, 0(t4)
        mret
        .data
        .align 6
data:   .double 1, 3
        .float 1, 2, 3, 4, 5, 6, 0.1, 10, 100
        .zero  200
"""

KERNEL = """
        LUI s3, 0x80100
        CSRRW s1, config, s0
        ADDI s2, s0, 17                 # RTZ and SAT
        FMV.S2F f1, s2
        FADD f2, f1, f1
        CSRRW s1, config, s2
        ADD s4, s3, s3
        FADD f3, f1, f2
        SUB s4, s3, s2
        CSRRS s1, status, s0
        SETMISC s3, 1, 0
        LW s1, 1(s0)
        EXIT
"""


def path(name):
    return os.path.join(FOLDER, name)


def facet(*words):
    return subprocess.run([FACET, *words], stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=600)


def good(*words):
    done = facet(*words)
    check_eq(done.returncode, 0, f"exit code of {words}, which said {done.stderr}")
    return done.stdout


def load(name):
    with open(path(name), encoding="utf-8") as file:
        return json.load(file)


def tsv(name):
    with open(name, encoding="utf-8") as file:
        return list(csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE))


# ---- the tables ----

def extensions():
    return tsv(os.path.join(SOURCE, "spec/extensions.tsv"))


def insn_rows(machine):
    """Rows with mask, match and extension: the first rule that fits."""
    out = []
    rules = [r for r in extensions() if r["isa"] == machine]
    for name in sorted({r["file"] for r in rules}):
        for row in tsv(os.path.join(SOURCE, "spec", name)):
            rule = next(r for r in rules if r["file"] == name and
                        any(re.fullmatch(p.replace(".", "\\.").replace("?", ".").replace("*", ".*"), row["mnemonic"])
                            for p in r["rows"].split()))
            row["extension"] = rule["extension"]
            out.append(row)
    return out


def decode(rows, word, length, mnemonic):
    """The row of a word: where several have its mnemonic, the one that fits and has the most fixed bits."""
    fits = [r for r in rows if r["mnemonic"].lower() == mnemonic.lower() and word & int(r["mask"], 16) == int(r["match"], 16)]
    check(fits, f"no row for {word:#x} {mnemonic}")
    if len(fits) > 1:
        fits = [r for r in fits if all(field_of(r, n, word) != 0 for n in re.findall(r"(\w+)\[[\d:]+\]!=0", r["fields"]))]
    return max(fits, key=lambda r: bin(int(r["mask"], 16)).count("1"))


def field_of(row, name, word):
    hit = re.search(r"\b" + name + r"\[(\d+)(?::(\d+))?\]", row["fields"])
    if hit is None:
        return None
    hi, lo = int(hit.group(1)), int(hit.group(2) or hit.group(1))
    return word >> lo & ((1 << (hi - lo + 1)) - 1)


def csr_table(machine):
    """Name of a row to its fields: (name, high, low, meaning), and its numbers."""
    files = {"xphmg": ["rv64", "cap", "gfx", "rt"], "tile": ["tile"]}[machine]
    out = {}
    for name in files:
        for r in tsv(os.path.join(SOURCE, f"spec/{name}.csr.tsv")):
            hi, _, lo = r["bits"].partition(":")
            out.setdefault(r["csr"], {"addr": r["addr"], "fields": []})["fields"].append(
                (r["field"], int(hi), int(lo or hi), r["meaning"]))
    return out


# ---- the second count ----

class Count:
    def __init__(self, machine, state, cores=1):
        self.machine, self.rows, self.csrs = machine, insn_rows(machine), csr_table(machine)
        self.states = [dict(state) for _ in range(cores)]  # registers and CSRs before the step
        self.retired, self.causes, self.insns, self.seen = 0, {}, {}, {}

    def insn(self, row):
        return self.insns.setdefault(row["syntax"], {"count": 0})

    def bump(self, row, dim, name):
        seen = self.insn(row).setdefault(dim, {})
        seen[name] = seen.get(name, 0) + 1

    def csr(self, name):
        return self.seen.setdefault(name, {"read": 0, "written": 0, "set": 0, "fields": {}})

    def context(self, row, word):
        if self.machine == "tile":
            if row["extension"] in ("tile.fp16", "tile.vector", "tile.integer"):
                config = self.state["config"]
                self.bump(row, "rounding", ROUNDINGS[config & 7])
                self.bump(row, "saturation", "saturate" if config & 16 else "wrap")
            return
        sv, stat = self.state["SVSTATE"], self.state["CAP.PREC.STAT"]
        rsv, unit = sv >> 8 & 1, row["extension"] in UNITS
        vl = (sv & 255) + 1 if rsv else 1
        if unit or rsv:
            self.bump(row, "lanes", "scalar" if not rsv else "1" if vl == 1 else "2-4" if vl <= 4 else "5-16" if vl <= 16
                      else "17-63" if vl < 64 else "64")
            bank = field_of(row, "pbank", word)
            bank = bank if bank is not None else sv >> 10 & 3 if rsv else 0
            active = self.state.get(f"pbank{bank}", 0) & ((1 << vl) - 1)
            self.bump(row, "mask", "no mask" if bank == 0 else "no lane" if active == 0 else
                      "all lanes" if active == (1 << vl) - 1 else "some lanes")
        if unit or (rsv and row["extension"] in FLOATS):
            self.bump(row, "format", "BF16_LITE" if stat >> 28 == 2 and stat >> 23 & 1 else FORMATS[stat >> 28 & 15])
            self.bump(row, "accumulator", ACCUMULATORS[stat >> 24 & 3])
            self.bump(row, "rounding", ROUNDINGS[sv >> 22 & 7 if sv >> 21 & 1 else stat >> 19 & 7])
        elif field_of(row, "rm", word) is not None:
            rm = field_of(row, "rm", word)
            self.bump(row, "rounding", ROUNDINGS[self.state["frm"] if rm == 7 else rm])

    def step(self, line):
        trap, word, row = line.get("trap"), int(line.get("word", "0"), 16), None
        self.state = self.states[line["core"]]
        text = line.get("insn", "")
        if text and not text.startswith("."):
            row = decode(self.rows, word, len(line["word"]), re.sub(r"\.(aq|rl|aqrl)$", "", text.split()[0]))
        if trap is None:
            self.retired += 1
            self.insn(row)["count"] += 1
            self.context(row, word)
        else:
            name = cause_name(self.machine, trap)
            self.causes[name] = self.causes.get(name, 0) + 1
            if row is not None and not trap["interrupt"]:
                self.bump(row, "traps", name)
        named = None
        if row is not None and trap is None and "csr[" in row["fields"]:
            number = field_of(row, "csr", word)
            named = next((n for n, c in self.csrs.items() if number in
                          [int(a, 16) for a in c["addr"].split(";") if re.fullmatch("0x[0-9A-Fa-f]+", a)]), None)
        written = False
        for change in line["changes"]:
            name = change.get("csr", change.get("reg"))
            if name is None:
                continue
            old, new = int(change["old"], 16), int(change["new"], 16)
            own = change.get("core", line["core"]) == line["core"]  # else a job of another hart completes
            state = self.states[change.get("core", line["core"])]
            state[name] = new
            if name == "fcsr":
                state["frm"] = new >> 5 & 7
            if "csr" not in change:
                continue
            if name not in self.csrs:  # of a family: ZPTAB0..31
                name = next(n for n in self.csrs if re.fullmatch(re.sub(r"\d+$", r"\\d+..\\d+", name), n))
            direct = own and trap is None and (named in (name, "XIREG") or row["extension"] == "tile.system")
            self.csr(name)["written" if direct else "set"] += 1
            written = written or direct
            for field, hi, lo, meaning in self.csrs[name]["fields"]:
                size = (1 << (hi - lo + 1)) - 1
                if field.startswith("RSV") or field == "reserved":
                    continue
                changed = (old >> lo & size) != (new >> lo & size)
                small = hi - lo < 4
                if changed or small:
                    at = self.csr(name)["fields"].setdefault(field, {"changed": 0})
                    at["changed"] += changed
                    if small:
                        at["values"] = sorted({*at.get("values", []), new >> lo & size})
                if own and not direct and row is not None and hi == lo and new & ~old & 1 << lo and \
                        re.match("(?i)sticky|accrued", meaning):
                    self.bump(row, "flags", f"{name}.{field}")
        if named is not None and not written:
            self.csr(named)["read"] += 1


def cause_name(machine, trap):
    names = {2: "illegal instruction", 3: "breakpoint", 5: "load access fault", 7: "store access fault",
             8: "environment call from U mode", 11: "environment call from M mode", 24: "numeric exception",
             25: "unsupported operation"}
    if machine == "tile":
        names = {1: "illegal instruction", 4: "load fault", 7: "misaligned access"}
    return {3: "software interrupt", 7: "timer interrupt"}[trap["cause"]] if trap["interrupt"] else names[trap["cause"]]


def compare(count, cover):
    check_eq(cover["retired"], count.retired, "instructions retired")
    check_eq(cover.get("causes", {}), count.causes, "causes")
    told = {i["syntax"]: {k: v for k, v in i.items() if k != "syntax"} for i in cover["instructions"]}
    check_eq(sorted(told), sorted(count.insns), "instructions")
    for syntax, seen in count.insns.items():
        check_eq(told[syntax], seen, syntax)
    registers = {c["name"]: {k: v for k, v in c.items() if k != "name"} for c in cover["csrs"]}
    check_eq(sorted(registers), sorted(count.seen), "registers")
    for name, seen in count.seen.items():
        check_eq(registers[name], seen, name)


def counted(machine, state, trace, cores):
    count = Count(machine, state, cores)
    with open(path(trace), encoding="utf-8") as file:
        for line in file.readlines()[1:]:
            count.step(json.loads(line))
    return count


def hart_program():
    with open(path("cover.s"), "w") as file:
        file.write(PROGRAM)
    good("as", "--isa", "xphmg", path("cover.s"), "-o", path("cover.elf"))
    return path("cover.elf")


def hart_state(program):
    hart = json.loads(good("run", program, "--break", "_start", "--json", "--dump-state"))["harts"][0]
    return {n: int(v, 16) for n, v in {**hart["registers"], **hart["csrs"]}.items()}


@case()
def counts_of_the_hart_are_those_of_its_trace():
    program = hart_program()
    good("run", program, "--cover", path("c.json"), "--trace", path("c.jsonl"))
    cover = load("c.json")
    compare(counted("xphmg", hart_state(program), "c.jsonl", 1), cover)
    written = {c["name"]: c["written"] for c in cover["csrs"]}
    check_eq(written["ZPTAB0..31"], 1, "written through XIREG")
    # The program was made to reach these; the second count must not be empty in the same way.
    check_eq(set(cover["causes"]), {"illegal instruction", "environment call from M mode", "load access fault",
                                    "software interrupt"}, "causes")
    seen = {dim: set() for dim in ("flags", "format", "rounding", "lanes", "mask")}
    for insn in cover["instructions"]:
        for dim in seen:
            seen[dim] |= set(insn.get(dim, {}))
    check({"fflags.NX", "fflags.DZ", "CAP.XMEM.EVENTS.LDS_OOM"} <= seen["flags"], f"flags {seen['flags']}")
    check({"FP32", "FP16"} <= seen["format"], f"formats {seen['format']}")
    check({"RNE", "RTZ", "RDN", "RUP"} <= seen["rounding"], f"rounding {seen['rounding']}")
    check({"scalar", "2-4"} <= seen["lanes"] and {"no mask", "no lane", "some lanes", "all lanes"} <= seen["mask"],
          f"lanes {seen['lanes']} {seen['mask']}")


@case()
def harts_and_late_jobs_are_told_apart():
    program = hart_program()
    good("run", program, "--harts", "3", "--cover", path("h.json"), "--trace", path("h.jsonl"))
    compare(counted("xphmg", hart_state(program), "h.jsonl", 3), load("h.json"))
    good("as", "--isa", "xphmg", os.path.join(SOURCE, "examples/xphmg/ticket.s"), "-o", path("ticket.elf"))
    for jobs in ("now", "late", "late:3"):
        facet("run", path("ticket.elf"), "--harts", "2", "--jobs", jobs, "--cover", path("h.json"), "--trace", path("h.jsonl"))
        compare(counted("xphmg", hart_state(path("ticket.elf")), "h.jsonl", 2), load("h.json"))


@case()
def the_run_is_the_same_with_lint_and_trace_beside_it():
    program = hart_program()
    good("run", program, "--cover", path("c1.json"))
    good("run", program, "--cover", path("c2.json"), "--lint", "--trace", path("c.jsonl"), "--plain")
    check_eq(load("c1.json"), load("c2.json"), "counts")


@case()
def counts_of_the_tile_machine_are_those_of_its_trace():
    with open(path("kernel.s"), "w") as file:
        file.write(KERNEL)
    done = facet("tile", "run", path("kernel.s"), "--cover", path("t.json"), "--trace", path("t.jsonl"), "--grid", "2x2")
    check_eq(done.returncode, 1, f"exit code, after {done.stderr} {done.stdout}")
    cover = load("t.json")
    compare(counted("tile", {"config": 0}, "t.jsonl", 4), cover)
    check_eq(cover["machine"], "tile", "machine")
    rounding = {n for i in cover["instructions"] for n in i.get("rounding", {})}
    check_eq(rounding, {"RNE", "RTZ"}, "rounding modes")


@case()
def files_are_added_up():
    program = hart_program()
    good("run", program, "--cover", path("a.json"))
    check_eq(facet("run", program, "--cover", path("b.json"), "--max-instructions", "10").returncode, 124, "exit code")
    good("cover", "merge", path("a.json"), path("b.json"), path("b.json"), "-o", path("sum.json"))
    a, b, total = load("a.json"), load("b.json"), load("sum.json")
    check_eq(b["retired"], 10, "retired in 10 steps")
    check_eq((total["runs"], total["retired"]), (3, a["retired"] + 20), "runs and instructions")

    def counts(file):
        return {i["syntax"]: i["count"] for i in file["instructions"]}

    for syntax, count in counts(total).items():
        check_eq(count, counts(a).get(syntax, 0) + 2 * counts(b).get(syntax, 0), syntax)
    good("cover", "merge", path("a.json"), "-o", path("one.json"))
    check_eq(load("one.json"), a, "the sum of one file")
    check_eq(json.loads(good("cover", "merge", path("b.json"), path("a.json"), path("b.json"), "-o", "-")), total, "order")


@case()
def the_report_is_what_the_tables_have_besides():
    program = hart_program()
    good("run", program, "--cover", path("r.json"))
    cover, report = load("r.json"), json.loads(good("cover", "report", path("r.json"), "--json"))
    sections = {s["name"]: s for s in report["sections"]}
    for part in report["sections"]:
        for key in ("total", "reached"):
            check_eq(part[key], sum(g[key] for g in part["groups"]), f"{key} of {part['name']}")
        for group in part["groups"]:
            check_eq(group["total"] - group["reached"], len(group["missing"]), f"missing of {group['name']}")

    def missing(name):
        return {n for g in sections[name]["groups"] for n in g["missing"]}

    rows = {r["syntax"] for r in insn_rows("xphmg")}
    check_eq(missing("instructions reached"), rows - {i["syntax"] for i in cover["instructions"]}, "instructions")
    check_eq(sections["instructions reached"]["total"], len(rows), "rows")
    written = {c["name"] for c in cover["csrs"] if c["written"]}
    lost = missing("CSRs written by an instruction")
    check(not lost & written and {"GFXCFG", "mscratch"} <= lost and "mhartid" not in lost, "registers")
    check({"fcsr.FRM", "GFXCFG.EN"} & missing("CSR fields changed") == {"GFXCFG.EN"}, "fields")
    check({"store access fault", "timer interrupt", "INT8"} <= missing("states in which instructions ran"), "states")
    # Flags are found by the words of the tables: all of EXC.ST and fflags, the four of STAT, and EVENTS.
    flags = next(g for g in sections["states in which instructions ran"]["groups"] if g["name"] == "flags")
    check_eq(flags["total"], 5 + 7 + 4 + 8, "flags")
    # Rows by the names in them: this program never runs GFX.SAMPLE, and runs MTX.MUL. Two rows about GFX.SAMPLE name
    # other instructions as well.
    touched = missing("requirement rows touched")
    about = json.loads(good("spec", "GFX.SAMPLE", "--json"))
    ids = re.findall(r'"(GFX-\d+)"', json.dumps(about))
    check(len(ids) > 10 and len(set(ids) - touched) <= 2, f"rows of GFX.SAMPLE are touched: {sorted(set(ids) - touched)}")
    ids = set(re.findall(r'"(MTX-\d+)"', json.dumps(json.loads(good("spec", "MTX.MUL", "--json")))))
    check(len(ids) > 10 and len(ids - touched) > len(ids) // 2, "rows of MTX.MUL are not touched")


@case()
def formats_of_alt():
    """alt=1 takes the format and the accumulator of CAP.PREC.ALT, which is not enabled here."""
    with open(path("alt.s"), "w") as file:
        file.write("""_start: li t0, 0x8000000000300008   # FP32
            csrw CAP.PREC.MODE, t0
            li   t0, 0x8000000009000000         # FP8_E4M3 with FP16
            csrw CAP.PREC.ALT, t0
            la   s0, data
            addi a0, s0, 256
            GFX.SHADE a0, s0, nc=1, alt=1
            GFX.SHADE a0, s0, nc=1
            GFX.SHADE a0, s0, nc=1, ppp=0
            li   t0, 0x100000
            li   t1, 0x5555
            sw   t1, 0(t0)
            j    .
            .data
            .align 6
        data: .zero 1024
        """)
    good("as", "--isa", "xphmg", path("alt.s"), "-o", path("alt.elf"))
    good("run", path("alt.elf"), "--cover", path("alt.json"))
    row = next(row for row in load("alt.json")["instructions"] if row["syntax"].startswith("GFX.SHADE"))
    check_eq((row["format"], row["accumulator"]),
             ({"FP8_E4M3": 1, "FP32": 1, "FP16": 1}, {"FP16": 1, "FP32": 2}), "formats")


@case()
def the_report_is_text_and_a_page():
    good("run", hart_program(), "--cover", path("r.json"))
    report = json.loads(good("cover", "report", path("r.json"), "--json"))
    text = good("cover", "report", path("r.json"), "--missing", "--html", path("r.html"))
    with open(path("r.html"), encoding="utf-8") as file:
        page = file.read()
    for part in report["sections"]:
        check(re.search(re.escape(part["name"]) + rf" +{part['reached']} of +{part['total']}\n", text), part["name"])
        for group in part["groups"]:
            for name in group["missing"]:
                check(f" {name}\n" in text and f"<code>{name}</code>" in page, f"{name} is not told")
    check("http" not in page and "<script" not in page and page.endswith("</html>\n"), "the page stands alone")
    check("<code>MTX.MUL" in page and "FP16: 1" in page, "the page has the counts")


@case()
def wrong_files_are_refused():
    good("run", hart_program(), "--cover", path("w.json"))
    facet("tile", "run", os.path.join(SOURCE, "examples/tile/fill.s"), "--cover", path("tile.json"))
    text = json.dumps(load("w.json"))

    def refused(part, *words):
        before = sorted(os.listdir(FOLDER))
        done = facet("cover", *words)
        check_eq((done.returncode, done.stdout), (2, ""), f"{words}: {done.stderr}")
        check(part in done.stderr and done.stderr.count("\n") == 1, f"{words}: {done.stderr!r} lacks {part!r}")
        check_eq(sorted(os.listdir(FOLDER)), before, "files")

    for change, part in (
            (lambda t: t[:-1], "wrong.json"), (lambda t: "[]", "facet_cover"), (lambda t: "{}", "facet_cover"),
            (lambda t: t.replace('"facet_cover": 1', '"facet_cover": 2'), "expected 1"),
            (lambda t: t.replace('"xphmg"', '"gfx12"'), "xphmg or tile"),
            (lambda t: t.replace('"runs": 1', '"runs": -1'), "runs: expected a count"),
            (lambda t: t.replace('"retired"', '"tired"'), "retired: expected a count"),
            (lambda t: t.replace('"causes": {', '"causes": {"no such": 1, '), "causes: has a name"),
            (lambda t: t.replace('"instructions": [', '"instructions": [1, '), "instructions[0].syntax"),
            (lambda t: t.replace('"instructions": [', '"x": ['), "instructions: expected a list"),
            (lambda t: t.replace("lui rd, uimm", "lui rd"), "syntax"),
            (lambda t: t.replace('"rounding": {"RNE"', '"rounding": {"RNX"'), "rounding: has a name"),
            (lambda t: t.replace('"count": 1', '"count": 1.5'), "count: expected a count"),
            (lambda t: t.replace('"mtvec"', '"xtvec"'), "csrs["),
            (lambda t: t.replace('"fields": {', '"fields": [], "x": {'), "fields: expected an object"),
            (lambda t: t.replace('"values": [', '"values": [16, '), "from 0 to 15"),
            (lambda t: re.sub(r'"changed": \d+', '"changed": "1"', t), "changed: expected a count")):
        changed = change(text)
        check(changed != text, f"the change for {part!r} changes nothing")
        with open(path("wrong.json"), "w") as file:
            file.write(changed)
        refused(part, "report", path("wrong.json"))
        refused(part, "merge", path("w.json"), path("wrong.json"), "-o", path("none.json"))
    refused("is of machine tile", "merge", path("w.json"), path("tile.json"), "-o", path("none.json"))
    refused("an input", "merge", path("w.json"), "-o", path("w.json"))
    refused("-o FILE", "merge", path("w.json"))
    refused("only the page", "report", path("w.json"), "--html", "-", "--json")
    refused("only the page", "report", path("w.json"), "--html", "-", "--missing")
    kernel = os.path.join(SOURCE, "examples/tile/fill.s")
    shutil.copy(kernel, path("fill.s"))
    for words, part in ((("run", path("cover.elf"), "--cover", path("cover.elf")), "is the program"),
                        (("run", path("cover.elf"), "--cover", "-"), "not '-'"),
                        (("run", path("cover.elf"), "--cover", path("n.png"), "--framebuffer", path("n.png")), "--cover"),
                        (("run", path("cover.elf"), "--cover", path("n"), "--trace", path("n")), "the trace"),
                        (("tile", "run", path("fill.s"), "--cover", path("fill.s")), "the kernel"),
                        (("tile", "run", kernel, "--cover", path("n"), "--save", path("n")), "--cover"),
                        (("tile", "run", kernel, "--cover", path("n"), "--out", "0x80000000,4=" + path("n")), "--cover")):
        done = facet(*words)
        check(done.returncode == 2 and part in done.stderr and not os.path.exists(path("n")), f"{words}: {done.stderr}")


@case()
def sums_stop_at_the_largest_number():
    with open(path("big.json"), "w") as file:
        json.dump({"facet_cover": 1, "machine": "tile", "runs": 2**63 - 1, "retired": 2**63 - 2, "instructions": [],
                   "csrs": []}, file)
    total = json.loads(good("cover", "merge", path("big.json"), path("big.json"), "-o", "-"))
    check_eq((total["runs"], total["retired"]), (2**63 - 1, 2**63 - 1), "sums")


try:
    main("cover")
finally:
    shutil.rmtree(FOLDER)
