"""`facet run` from outside: C programs made by Debian's cross compiler and picolibc, HTIF programs, exit
codes, limits, standard input, refusals; and the same files on qemu-system-riscv64, an independent
machine, with the same output."""
import json
import os
import re
import shutil
import signal
import socket
import struct
import subprocess
import tempfile
import time

from harness import case, check, check_eq, main, skip

FACET, SOURCE = os.environ["FACET"], os.environ["FACET_SOURCE"]
GCC, QEMU = "riscv64-unknown-elf-gcc", "qemu-system-riscv64"
PICOLIBC = ["--specs=picolibc.specs", "--oslib=semihost", "--crt0=semihost", "-march=rv64imafdc",
            "-mabi=lp64d", "-mcmodel=medany", "-O1"]
LAYOUT = ["-Wl,--defsym=%s=%s" % pair for pair in (
    ("__flash", "0x80000000"), ("__flash_size", "0x200000"), ("__ram", "0x80200000"),
    ("__ram_size", "0x200000"))]
FOLDER = tempfile.mkdtemp()


def path(name):
    return os.path.join(FOLDER, name)


def facet(*words, stdin="", **more):
    return subprocess.run([FACET, *words], input=stdin, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          text=True, errors="replace", timeout=600, **more)


def assemble(name, text):
    with open(path(name + ".s"), "w") as file:
        file.write(text)
    done = facet("as", "--isa", "xphmg", path(name + ".s"), "-o", path(name))
    check_eq(done.returncode, 0, f"exit code of the assembler, which said {done.stderr}")
    return path(name)


def compile_c(name, text, *flags):
    if shutil.which(GCC) is None or not os.path.isdir("/usr/lib/picolibc/riscv64-unknown-elf"):
        skip("gcc-riscv64-unknown-elf and picolibc-riscv64-unknown-elf are not installed")
    with open(path(name + ".c"), "w") as file:
        file.write(text)
    done = subprocess.run([GCC, *PICOLIBC, path(name + ".c"), "-o", path(name), *LAYOUT, *flags],
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    check_eq(done.returncode, 0, f"exit code of {GCC}, which said {done.stdout}")
    return path(name)


def qemu(program):
    if shutil.which(QEMU) is None:
        skip("qemu-system-misc is not installed")
    return subprocess.run([QEMU, "-machine", "virt", "-cpu", "rv64", "-bios", "none", "-display", "none",
                           "-monitor", "none", "-serial", "none", "-chardev", "stdio,id=console",
                           "-semihosting-config", "enable=on,chardev=console", "-kernel", program],
                          stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          text=True, errors="replace", timeout=600)


CALL = """
        .align 4
semihost: .word 0x01f01013, 0x00100073, 0x40705013
        ret
"""

EXIT = """
        la      a1, ending
        li      a0, 0x20
        call    semihost
        .data
        .align 3
ending: .dword 0x20026, %d
        .text
""" + CALL


@case()
def c_program_reads_prints_and_exits():
    with open(os.path.join(SOURCE, "examples/xphmg/greet.c"), encoding="utf-8") as file:
        program = compile_c("greet", file.read())
    for extra in ([], ["--plain"]):
        done = facet("run", program, "one", "two", *extra, stdin="Ada\n")
        check_eq(done.stderr, "", "standard error")
        check(done.stdout.endswith("argument 2: one\nargument 3: two\nname? hello Ada, 2/3 is 0.666667\n"),
              f"printed {done.stdout!r}")
        check_eq(done.returncode, 3, "exit code")
    done = facet("run", program, "--", "-x", "--json", stdin="Bo\n")
    check("argument 2: -x\nargument 3: --json\n" in done.stdout, f"printed {done.stdout!r}")


@case()
def same_file_on_qemu():
    program = compile_c("sums", r"""
        #include <math.h>
        #include <stdint.h>
        #include <stdio.h>
        #include <stdlib.h>
        #include <string.h>
        static uint32_t state = 1;
        static uint32_t next(void) { return state = state * 1664525u + 1013904223u; }
        static int order(const void *a, const void *b)
        {
            uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
            return x < y ? -1 : x > y;
        }
        int main(void)
        {
            uint32_t *values = malloc(2000 * sizeof *values), sum = 0;
            double d = 0;
            float f = 1;
            for (int i = 0; i < 2000; i++) { values[i] = next(); }
            qsort(values, 2000, sizeof *values, order);
            for (int i = 0; i < 2000; i++) {
                sum = sum * 31 + values[i];
                d += sqrt(values[i]) / (i + 1.0);
                f = f * 1.0001f + (float)values[i] * 1e-9f;
            }
            printf("%u %.17g %.9g %lld\n", sum, d, f, (long long)sum * -77 / 13);
            printf("%s|%8.3e|%-6d|%x\n", "text", d, -42, sum);
            return 42;
        }""", "-lm")
    mine, other = facet("run", program), qemu(program)
    check_eq(mine.stdout, other.stdout, "what facet prints, against qemu")
    check_eq(mine.returncode, 42, "exit code")
    check_eq(other.returncode, 42, "exit code of qemu")
    check_eq(facet("run", program, "--plain").stdout, other.stdout, "what the plain executor prints")


@case()
def example_runs_on_both():
    program = assemble("hello", open(os.path.join(SOURCE, "examples/xphmg/hello.s")).read())
    mine, other = facet("run", program), qemu(program)
    check_eq((mine.returncode, mine.stdout), (0, "hello from xphmg\n"), "exit code and output")
    check_eq(other.stdout, mine.stdout, "what qemu prints")


@case()
def htif_program_prints_reads_and_exits():
    text = """
        la      s0, tohost
        la      s1, fromhost
        li      s3, 0x0101000000000000
again:  li      t0, 0x0100000000000000
        sd      t0, 0(s0)
1:      ld      t1, 0(s1)
        beqz    t1, 1b
        sd      zero, 0(s1)
        andi    t1, t1, 0xff
        li      t2, '.'
        beq     t1, t2, done
        addi    t1, t1, 1
        or      t1, t1, s3
2:      ld      t0, 0(s0)
        bnez    t0, 2b
        sd      t1, 0(s0)
        j       again
done:   li      t0, %d
        sd      t0, 0(s0)
        j       .
        .data
        .align  6
tohost: .dword  0
fromhost: .dword 0
"""
    for code, expected in ((0, 0), (7, 7), (300, 255)):
        program = assemble("htif", text % (code << 1 | 1))
        done = facet("run", program, stdin="HAL.")
        check_eq((done.stdout, done.returncode), ("IBM", expected), "output and exit code")
        check_eq(facet("run", program, "--plain", stdin="HAL.").stdout, "IBM", "plain output")
        stats = facet("run", program, "--stats", stdin="HAL.").stderr
        check_eq(f"facet run: *** FAILED *** (tohost = {code})\n" in stats, code != 0, "the failure in --stats")
        check(f"exit, code {expected}, after " in stats, "the code in --stats")


@case()
def limits_end_with_124():
    program = assemble("loop", "_start: addi t0, t0, 1\n j _start\n")
    done = facet("run", program, "--max-instructions", "1001", "--dump-state", "--json")
    result = json.loads(done.stdout)
    check_eq(done.returncode, 124, "exit code")
    check_eq((result["reason"], result["instructions"], result["exit_code"]),
             ("instruction limit", 1001, 124), "reason, instructions and exit code")
    check_eq(result["harts"][0]["registers"]["x5"], hex(501), "x5")
    check("instruction limit reached at 0x80000004" in done.stderr, f"said {done.stderr!r}")
    done = facet("run", program, "--max-seconds", "0.01")
    check_eq(done.returncode, 124, "exit code")
    check("time limit" in done.stderr, f"said {done.stderr!r}")


@case()
def the_time_limit_holds_while_the_program_waits_for_input():
    program = assemble("asks", "_start: li a0, 7\n li a1, 0\n call semihost\n j .\n" + CALL)
    with subprocess.Popen([FACET, "run", program, "--max-seconds", "0.05"], stdin=subprocess.PIPE,
                          stderr=subprocess.PIPE, text=True) as asks:
        try:
            asks.wait(timeout=100)  # standard input stays open and silent
        finally:
            asks.kill()
        check_eq(asks.returncode, 124, "exit code")
        check("time limit" in asks.stderr.read(), "what was said")


# A job of @RAYS@ rays, each through three leaves of @TRIANGLES@ triangles without an extent.
ENDLESS_JOB = """
        .globl  _start
_start: li      t0, 0x8000000000300000 # FP32
        csrw    CAP.PREC.MODE, t0
        la      a0, job
        la      t0, rays
        li      t1, @RAYS@
        li      t2, 0x3dcccccd
        li      t3, 0x3f800000
1:      sw      t2, 0(t0)
        sw      t2, 4(t0)
        sw      t3, 20(t0)
        sw      t3, 28(t0)
        sd      t1, 56(t0)
        addi    t0, t0, 64
        addi    t1, t1, -1
        bnez    t1, 1b
        xsubmit.rt t0, a0
        la      t0, answers
        lwu     a0, 4(t0)       # how many rays came to an end
        li      t0, 0x100000
        slli    a0, a0, 16
        li      t1, 0x3333
        or      t1, t1, a0
        sw      t1, 0(t0)
        j       .
        .balign 64
heap:   .float  -1, -1, -1, 1, 1, 1, -1, -1, -1, 1, 1, 1, -1, -1, -1, 1, 1, 1, 0, 0, 0, 0, 0, 0
        .zero   16
        .word   8, 8, 8, 0x2a
        .word   0, @TRIANGLES@
        .dword  empty
job:    .dword  heap, queue, answers, answers, empty
        .word   0, 0
        .zero   24
        .balign 16
queue:  .word   0, @RAYS@ - 1, @RAYS@, 0
        .dword  rays
        .balign 16
answers: .word  0, 0, 1000, 0
        .dword  entries
        .section .bss
        .balign 64
empty:  .zero   64
        .balign 64
entries: .zero  64000
        .balign 64
rays:   .zero   @RAYS@ * 64
"""
JOB_RAM = ["--ram", "128M"]


def job(name, rays, triangles):
    return assemble(name, ENDLESS_JOB.replace("@RAYS@", str(rays)).replace("@TRIANGLES@", str(triangles)))


def stopped_by(number, *words):
    """Exit code and standard error of a program that gets a signal after half a second, or later when it had not begun to
    run by then."""
    for seconds in (0.5, 5, 50):
        with subprocess.Popen([FACET, "run", *words], stdin=subprocess.PIPE, stdout=subprocess.DEVNULL,
                              stderr=subprocess.PIPE, text=True) as process:
            try:
                process.wait(timeout=seconds)
            except subprocess.TimeoutExpired:
                process.send_signal(number)
            try:
                said = process.communicate(timeout=100)[1]
            finally:
                process.kill()
        if process.returncode >= 0:
            break
    return process.returncode, said


@case()
def stops_say_who_wrote_what_they_read():
    program = assemble("why", "_start: li a0, 0x1000\n add a1, a0, a0\n li a2, 1\n.Lx: ld a3, 8(a1)\n ret\n")
    done = facet("run", program)
    check_eq(done.returncode, 125)
    check("  ld x13, 8(x11)\n  x11 (a1) = 0x0000000000002000, written at 0x80000004 <_start+4>: add x11, x10, x10\n" in done.stderr, done.stderr)
    stopped = json.loads(facet("run", program, "--json").stdout)["stopped"]
    check_eq([(r["name"], r["value"], r["written"]["pc"]) for r in stopped["registers"]], [("x11", "0x0000000000002000", "0x80000004")])
    lost = assemble("lost", "_start: li a0, 0x50000000\n jalr a0\n")  # where no instruction is: the jump that led there
    done = facet("run", lost)
    check(done.stderr.endswith("  reached from 0x80000004 <_start+4>: jalr x1, 0(x10)\n"
                               "  x10 (a0) = 0x0000000050000000, written at 0x80000000 <_start>: lui x10, 0x50000\n"), done.stderr)
    jump = json.loads(facet("run", lost, "--json").stdout)["stopped"]["reached_from"]
    check_eq((jump["pc"], jump["symbol"], [r["name"] for r in jump["registers"]]), ("0x80000004", "_start", ["x10"]))


@case("RT-267")
def jobs_that_failed_are_told_where_the_program_stops():
    """A job does not trap: what stopped it, who submitted it and its descriptor are told at the next stop."""
    mtx = ("_start: li t0, 0x8000000000300000\n csrw CAP.PREC.MODE, t0\n la a0, job\nask: xsubmit.mtx a1, a0\n xfence.wait a1\n .word 0\n"
           " .data\n .align 3\njob: .dword @MATRIX@, vector, result\n .word 37, 5, 1, 0\n .zero 24\nvector: .float 5, 6\nresult: .word 0, 0\n")
    bad = assemble("badjob", mtx.replace("@MATRIX@", "0x20000000"))
    for words in ([], ["--jobs", "late"], ["--jobs", "late:3"]):
        said = facet("run", bad, *words).stderr
        check("  mtx job 0x0200000000000001 failed: MTXSTAT.JOB_ERR = 5 load_access_fault, submitted at 0x8000001c <ask>: xsubmit.mtx x11, x10\n"
              "  XPHMG_MTX_DESC at 0x80000028: mat = 0x20000000 (no memory) vin = 0x80000068 vout = 0x80000070 ld_imm = 0x25 " in said, said)
        told = json.loads(facet("run", bad, *words, "--json").stdout)["stopped"]["jobs"]
        check_eq([(j["unit"], j["id"], j["error"], j["submitted"]["pc"], j["descriptor"]["members"]["mat"]) for j in told],
                 [("mtx", "0x200000000000001", 5, "0x8000001c", "0x20000000")])
    good = facet("run", assemble("goodjob", mtx.replace("@MATRIX@", "vector")), "--json")
    check_eq(json.loads(good.stdout)["stopped"]["jobs"], [])
    rt = ("_start: li t0, 1\n csrw RTCFG, t0\n la a0, job\n xsubmit.rt a2, a0\n xfence.wait a2\n addi a0, a0, 4\n xsubmit.rt a2, a0\n"
          " .data\n .balign 64\njob: .dword bvh, queue, 0, 0, 0x20000000\n .word 16, 0\n .zero 24\n .balign 64\nbvh: .zero 256\n"
          "queue: .dword 0x20000000, 0x100, 7\n")
    said = facet("run", assemble("rtjob", rt)).stderr
    check("  rt job 0x0100000000000001 failed: RTSTAT.LAST_EC = 4 EC_QUEUE, submitted at 0x80000010 <_start+16>: xsubmit.rt x12, x10\n" in said, said)
    check("tri_buf = 0x20000000 (no memory) opts = 0x10 ANY_HIT\n" in said, said)
    check("  XPHMG_RT_DESC at 0x80000044: " in said, said)  # that of the instruction that trapped
    sample = assemble("sample", "_start: li t0, 1\n csrw GFXCFG, t0\n li a0, 0x20000000\n GFX.SAMPLE a2, a0, d=1\n")
    check("  TextureDesc at 0x20000000: no memory\n" in facet("run", sample).stderr, "a texture's descriptor")


@case()
def what_was_asked_for_before_is_not_the_instruction_at_pc():
    text = ENDLESS_JOB.replace("@RAYS@", "1000").replace("@TRIANGLES@", "1500000")
    program = assemble("late", text.replace("xsubmit.rt t0, a0", "xsubmit.rt t0, a0\n xfence.wait t0"))
    done = facet("run", program, *JOB_RAM, "--max-seconds", "1", "--jobs", "late:1")
    check("time limit reached at" in done.stderr and ": in the middle of a job\n" in done.stderr,
          f"said {done.stderr!r}")


@case()
def a_job_of_days_ends_with_the_time_or_a_signal():
    program = job("days", 1000000, 1500000)
    for threads in ("1", "3"):
        for seconds in ("1", "10", "100"):  # a busy host may not come to the job in one
            done = facet("run", program, *JOB_RAM, "--max-seconds", seconds, "--job-threads", threads)
            check_eq(done.returncode, 124, "exit code")
            check("time limit reached at" in done.stderr, f"said {done.stderr!r}")
            if "in the middle of xsubmit.rt" in done.stderr:
                break
        check("in the middle of xsubmit.rt" in done.stderr, f"said {done.stderr!r}")
    for number, code in ((signal.SIGINT, 130), (signal.SIGTERM, 143), (signal.SIGHUP, 129)):
        result, said = stopped_by(number, program, *JOB_RAM, "--job-threads", "3")
        check_eq(result, code, "exit code")
        check("interrupted at" in said, f"said {said!r}")


def packet(text):
    return b"$%s#%02x" % (text, sum(text) % 256)


@case()
def a_debugger_stops_a_job_of_days():
    program = job("days", 1000000, 1500000)
    for goes in (False, True):  # asks to stop, or just goes away
        with subprocess.Popen([FACET, "gdb", program, *JOB_RAM, "--port", "0"], stdin=subprocess.DEVNULL,
                              stderr=subprocess.PIPE, text=True) as server:
            try:
                port = int(re.search(r":(\d+)", server.stderr.readline()).group(1))
                with socket.create_connection(("127.0.0.1", port), timeout=100) as line:
                    line.sendall(packet(b"c"))
                    time.sleep(1)
                    if not goes:
                        line.sendall(b"\x03")
                        said = b""
                        while not re.search(rb"\$T02[^#]*#", said):
                            piece = line.recv(4096)
                            check(piece != b"", f"an answer, not only {said!r}")
                            said += piece
                        line.sendall(b"+" + packet(b"k"))
                server.wait(timeout=100)
            finally:
                server.kill()
            check_eq(server.returncode, 0, "exit code of facet gdb")


@case()
def a_program_of_long_calls_ends_with_a_signal():
    # WRITE0 of a string of 64 MB, again and again
    program = assemble("calls", """
        .globl  _start
_start: li      sp, 0x80010000
        li      t0, 0x80100000
        li      t1, 0x84100000
        li      t2, 0x4141414141414141
1:      sd      t2, 0(t0)
        addi    t0, t0, 8
        bltu    t0, t1, 1b
2:      li      a0, 4
        li      a1, 0x80100000
        call    semihost
        j       2b
""" + CALL)
    result, said = stopped_by(signal.SIGINT, program, "--ram", "128M")
    check_eq(result, 130, "exit code")
    check("interrupted at" in said, f"said {said!r}")


@case()
def a_job_that_was_left_goes_on_out_of_a_snapshot():
    program = job("short", 20, 40000)
    whole = facet("run", program, *JOB_RAM)
    check_eq(whole.returncode, 19, f"rays, all of them; said {whole.stderr!r}")
    state, end, other = path("half.snap"), path("end.snap"), path("other.snap")
    words = [program, *JOB_RAM]
    for turn in range(3):  # wherever the clock cuts: mostly inside the job; a quick machine may be through it early
        done = facet("snapshot", *words, "--max-seconds", "0.02", "-o", state)
        if turn > 0 and "before the time was over" in done.stderr:
            break
        check_eq(done.returncode, 0, f"exit code of snapshot, which said {done.stderr!r}")
        words = ["--resume", state]
    check_eq(facet("run", "--resume", state).returncode, 19, "rays of the resumed run")
    steps = json.loads(facet("run", program, *JOB_RAM, "--json").stdout)["steps"] - 1
    check_eq(facet("snapshot", program, *JOB_RAM, "--steps", str(steps), "-o", end).returncode, 0, "whole")
    left = steps - json.loads(facet("snapshot", "--info", state, "--json").stdout)["steps"]
    check_eq(facet("snapshot", "--resume", state, "--steps", str(left), "-o", other).returncode, 0, "rest")
    with open(end, "rb") as a, open(other, "rb") as b:
        check(a.read() == b.read(), "the same state")


@case()
def an_endless_program_ends_when_nobody_reads_its_output():
    program = assemble("flood", "_start: li t0, 0x10000000\n1: sb t0, 0(t0)\n j 1b\n")
    for options in ([], ["--trace", "-"]):
        with subprocess.Popen([FACET, "run", program, *options], stdin=subprocess.DEVNULL,
                              stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as flood:
            flood.stdout.read(3)
            flood.stdout.close()
            try:
                flood.wait(timeout=100)
            finally:
                flood.kill()
            check_eq(flood.returncode, -signal.SIGPIPE, f"exit code with {options}")
    done = facet("run", program, "--trace", "/dev/full")
    check_eq(done.returncode, 2, "exit code")
    check("/dev/full" in done.stderr, f"said {done.stderr!r}")


@case()
def a_breakpoint_is_found_by_name_and_by_address():
    program = assemble("stops", "_start: li a5, 1\nmiddle: li a5, 2\n li a5, 3\n" + EXIT % 0)
    for place in ("middle", "0x80000004", "_start+4", "_start+0x4", "middle+0"):
        done = facet("run", program, "--break", place, "--json", "--dump-state")
        result = json.loads(done.stdout)
        check_eq((done.returncode, result["reason"], result["pc"]), (0, "breakpoint", "0x80000004"), place)
        check_eq(result["harts"][0]["registers"]["x15"], "0x1", "a5")
        check("<middle>" in done.stderr and "addi" in done.stderr, f"said {done.stderr!r}")


@case()
def a_trap_without_handler_and_a_dead_wait_end_with_125():
    program = assemble("fault", "_start: nop\n li t0, 0x40\n sd t0, 0(t0)\n")
    done = facet("run", program)
    check_eq(done.returncode, 125, "exit code")
    for part in ("store access fault", "cause 7", "0x40", "0x80000008 <_start+8>", "handler at 0x0"):
        check(part in done.stderr, f"{part!r} is not in {done.stderr!r}")
    done = facet("run", assemble("wait", "_start: wfi\n j _start\n"))
    check_eq(done.returncode, 125, "exit code")
    check("WFI" in done.stderr, f"said {done.stderr!r}")


@case()
def json_tells_every_end_apart():
    ask = "_start: li a0, 7\n li a1, 0\n call semihost\n j _start\n" + CALL
    for text, options, code, expected in (
            (EXIT % 300, [], 255, {"reason": "exit", "program_exit": 300}),
            ("_start: j .\n", ["--max-instructions", "7"], 124, {"reason": "instruction limit", "steps": 7}),
            ("_start: j .\n", ["--max-seconds", "0.01"], 124, {"reason": "time limit"}),
            ("_start: nop\n", ["-b", "_start"], 0, {"reason": "breakpoint", "steps": 0}),
            ("_start: wfi\n", [], 125, {"reason": "idle"}),
            (ask, [], 125, {"reason": "end of input"}),
            ("_start: xfence.waiti 1\n", [], 125, {"reason": "deadlock"}),
            ("_start: nop\n lw t0, 64(zero)\n", [], 125, {"reason": "fault", "fault": {
                "hart": 0, "pc": "0x80000004", "interrupt": False, "cause": 5, "name": "load access fault",
                "value": "0x40", "handler": "0x0"}})):
        done = facet("run", assemble("ends", text), "--json", *options)
        result = json.loads(done.stdout)
        check_eq(done.returncode, code, f"exit code after {expected}")
        check_eq(result["exit_code"], code, f"exit_code of {expected}")
        check_eq({key: result[key] for key in expected}, expected, "result")
        check_eq("program_exit" in result, expected["reason"] == "exit", "whether there is program_exit")
        check_eq("fault" in result, expected["reason"] == "fault", "whether there is fault")
        check_eq(done.stderr == "", expected["reason"] == "exit", f"whether something was said: {done.stderr!r}")


@case()
def a_configuration_is_chosen():
    program = assemble("config", "_start: csrr a5, CAP.PMASK.CAP\n" + EXIT % 0)
    for name, expected in ((None, 0x17), ("full", 0x17), ("min", 0x13), ("prof", 0x17), ("min,pmask_banks=4", 0x17),
                           ("full,pmask_banks=2,pmask_level=1", 0x13)):
        options = [] if name is None else ["--config", name]
        done = facet("run", program, "--json", "--dump-state", *options)
        check_eq(json.loads(done.stdout)["harts"][0]["registers"]["x15"], hex(expected), f"a5 with {name}")
    for name, part in (("big", "full, min, prof or rv64"), ("", "full, min, prof or rv64"), (",pmask_banks=2", "full, min, prof or rv64"),
                       ("full,banks=2", "banks"), ("full,pmask_banks=5", "1 to 4"),
                       ("full,", "key=value"), ("full,feat0=0x100000000", "feat0")):
        refused(program, "--config", name, parts=(part,))


@case("CAP-528")
def a_machine_that_a_document_forbids_is_refused():
    program = assemble("units", "_start: csrr a5, CAP.FEAT0\n" + EXIT % 0)
    for feat0, fine in ((0x4D19, 0x5D19), (0x5519, 0x5D19), (0x0400, 0x1C00)):
        refused(program, "--config", f"full,feat0={feat0:#x}",
                parts=("GFX needs RSV and MTX", f"{fine:#x}", f"{feat0 & ~0x400:#x} without GFX"))
    for name, expected in (("full,feat0=0x4119", 0x4119), ("full,feat0=0x5d19", 0x5D19), ("min", 0x1C08),
                           ("min,feat0=0x8", 8)):
        done = facet("run", program, "--json", "--dump-state", "--config", name)
        check_eq(json.loads(done.stdout)["harts"][0]["registers"]["x15"], hex(expected), f"FEAT0 of {name}")
    program = assemble("matrix", "_start: la a0, here\n here: mtx.ld a0, 5\n" + EXIT % 0)
    check_eq(facet("run", program, "--config", "min").returncode, 0, "mtx.ld on min")
    check_eq(facet("run", program, "--config", "min,feat0=0x1008").returncode, 125, "mtx.ld without MTX")


@case("CAP-529")
def a_profile_is_chosen():
    program = assemble("profile", "_start: csrr a5, CAP.PROF.CUR\n csrr a6, CAP.TIER.WAVE\n" + EXIT % 0)
    for number, waves in ((0, 0), (1, 1), (2, 3)):
        done = facet("run", program, "--json", "--dump-state", "--config", "prof", "--profile", str(number), "--harts", "2")
        for hart in json.loads(done.stdout)["harts"][:1]:
            check_eq(hart["registers"]["x15"], hex(number), "CAP.PROF.CUR")
            check_eq(hart["registers"]["x16"], hex(waves), "CAP.TIER.WAVE")
    refused(program, "--config", "prof", "--profile", "3", parts=("P3", "0x7"))
    refused(program, "--config", "prof", "--profile", "64", parts=("profile",))
    refused(program, "--profile", "0", parts=("no profiles",))


COUNTERS = """
_start: csrrwi x0, minstret, 0
        csrrwi x0, mcycle, 5
        li t0, 5
        csrrw x0, mcountinhibit, t0
        csrrwi x0, minstret, 7
        csrrsi t1, mcycle, 16
"""


@case()
def a_written_counter_is_told_as_it_is_stored():
    program = assemble("counters", COUNTERS + EXIT % 0)
    written = [("minstret", 0), ("mcycle", 5), ("mcountinhibit", 5), ("minstret", 7), ("mcycle", 0x17)]
    for options in ([], ["--plain"]):
        check_eq(facet("run", program, "--trace", path("counters.jsonl"), *options).returncode, 0, "exit code")
        with open(path("counters.jsonl"), encoding="utf-8") as file:
            told = [c for line in file.read().splitlines()[1:] for c in json.loads(line)["changes"] if "csr" in c]
        check_eq([(c["csr"], int(c["new"], 16)) for c in told], written, "written counters")
    facet("run", program, "--trace", path("counters.log"), "--trace-format", "spike")
    with open(path("counters.log"), encoding="utf-8") as file:
        log = [line.split(" ")[-2:] for line in file.read().splitlines() if re.search(r" c\d+_m", line)]
    check_eq([(name.split("_")[1], int(value, 16)) for name, value in log], written, "Spike's commit log")


@case()
def several_harts_have_their_numbers():
    program = assemble("harts", """
        la      s0, count
        li      t0, 1
        amoadd.w zero, t0, (s0)
        bnez    a0, park
1:      lw      t0, 0(s0)
        li      t1, 5
        bne     t0, t1, 1b
""" + EXIT % 5 + "park: wfi\n j park\n .data\n .align 3\ncount: .dword 0\n")
    check_eq(facet("run", program, "--harts", "5").returncode, 5, "exit code")


@case()
def files_are_reached_only_below_the_granted_folder():
    folder = path("granted")
    os.makedirs(folder)
    with open(path("secret"), "w") as file:
        file.write("secret")
    with open(os.path.join(folder, "in.txt"), "w") as file:
        file.write("contents")
    os.symlink("../secret", os.path.join(folder, "link"))
    text = """
        la      a1, open
        li      a0, 1
        call    semihost
        bltz    a0, no
        la      a1, read
        sd      a0, 0(a1)
        li      a0, 6
        call    semihost
        la      a1, buffer
        li      a0, 4
        call    semihost
""" + EXIT % 0 + """
no:     la      a1, ending
        li      t0, 77
        sd      t0, 8(a1)
        li      a0, 0x20
        call    semihost
        .data
        .align  3
open:   .dword  name, %d, %d
read:   .dword  0, buffer, 63
buffer: .zero   64
name:   .string "%s"
"""
    for name, mode, code, output in (("in.txt", 0, 0, "contents"), ("../secret", 0, 77, ""), ("link", 0, 77, ""),
                                     (path("secret"), 0, 77, ""), ("new.txt", 4, 0, ""), ("none", 0, 77, "")):
        program = assemble("files", text % (mode, len(name), name))
        done = facet("run", program, "--files", folder)
        check_eq((done.returncode, done.stdout), (code, output), f"{name}: exit code and output")
    check(os.path.exists(os.path.join(folder, "new.txt")), "new.txt was not made")
    program = assemble("files", text % (0, 6, "in.txt"))
    check_eq(facet("run", program).returncode, 77, "exit code without a granted folder")


def refused(*words, parts=()):
    done = facet("run", *words)
    check_eq(done.returncode, 2, f"exit code of {words}")
    check_eq(done.stdout, "", "standard output")
    for part in parts:
        check(part in done.stderr, f"{part!r} is not in {done.stderr!r}")


@case()
def bad_files_and_options_are_refused():
    program = assemble("fine", "_start: nop\n" + EXIT % 0)
    data = open(program, "rb").read()

    def variant(name, change):
        with open(path(name), "wb") as file:
            file.write(change(bytearray(data)))
        return path(name)

    def patch(at, form, value):
        return lambda d: d[:at] + struct.pack(form, value) + d[at + struct.calcsize(form):]

    refused(path("nowhere"), parts=("nowhere",))
    refused(variant("empty", lambda d: b""), parts=("empty",))
    refused(variant("cut", lambda d: d[:100]), parts=("offset",))
    refused(variant("rv32", patch(4, "B", 1)), parts=("32-bit", "RV64"))
    refused(variant("over", patch(64 + 56 + 24, "<Q", 0x80000000)), parts=("segments 0 and 1", "0x80000000"))
    refused(variant("x86", patch(18, "<H", 62)), parts=("x86",))
    refused(variant("entry", patch(24, "<Q", 0x10)), parts=("entry point 0x10",))
    refused(variant("low", patch(64 + 24, "<Q", 0x1000)), parts=("0x1000", "RAM is 0x80000000"))
    refused(variant("wrap", patch(64 + 40, "<Q", 2 ** 64 - 1)), parts=("wrap",))
    refused(program, "--ram", "5000", parts=("5000",))
    refused(program, "--ram", "lots", parts=("lots",))
    refused(program, "--harts", "0", parts=("harts",))
    for place in ("nosuch", "0x80000001", "_start+1", "_start+", "nosuch+4", "_start+x", "+4", ""):
        refused(program, "--break", place, parts=(f"--break {place}:", "SYMBOL+N"))
    refused(program, "--files", path("nodir"), parts=("nodir",))


TRACED = """
        la      t0, handler
        csrw    mtvec, t0
        li      t0, 0x6000
        csrs    mstatus, t0
        la      s0, data
        li      s1, 20
loop:   ld      t1, 0(s0)
        addi    t1, t1, 0x123
        sd      t1, 0(s0)
        sb      t1, 9(s0)
        fcvt.d.l ft0, t1
        fdiv.d  ft1, ft0, ft2
        fsqrt.d ft2, ft0
        fsw     ft2, 12(s0)
        csrrw   t2, mscratch, t1
        lr.w    t3, (s0)
        sc.w    t4, t3, (s0)
        amoadd.d t5, t1, (s0)
        .half   0x0505                  # c.addi a0, 1
        ecall
        .word   0
        addi    s1, s1, -1
        bnez    s1, loop
        la      t0, user
        csrw    mepc, t0
        li      t0, 0x1800
        csrc    mstatus, t0
        mret
user:   csrr    t0, mstatus             # not for U mode
        .align  2
handler: csrr   t0, mcause
        csrr    t6, mepc
        li      t0, 8
        csrr    t0, mstatus
        addi    t6, t6, 4
        csrw    mepc, t6
        la      t0, user
        bgtu    t6, t0, done
        mret
done:
""" + EXIT % 0 + """
        .data
        .align  3
data:   .dword  1, 2, 3
"""


def traced(*options):
    program = assemble("traced", TRACED)
    done = facet("run", program, "--trace", path("trace"), "--dump-state", "--json", *options)
    check_eq(done.returncode, 0, f"exit code of the traced run, which said {done.stderr}")
    with open(path("trace"), encoding="utf-8") as file:
        return json.loads(done.stdout), file.read().splitlines()


@case()
def a_trace_rebuilds_the_final_state():
    result, lines = traced()
    steps = [json.loads(line) for line in lines]
    check_eq(steps[0], {"facet_trace": 1, "machine": "xphmg", "cores": ["hart0"]}, "header")
    check_eq(len(steps) - 1, result["steps"], "number of steps")
    registers, csrs, memory = {}, {}, {}
    pc = "0x80000000"
    for number, step in enumerate(steps[1:]):
        check_eq(step["step"], number, "step number")
        check_eq(step["pc"], pc, "pc, against next of the step before")
        pc = step["next"]
        for change in step["changes"]:
            for kind, state in (("reg", registers), ("csr", csrs)):
                if kind in change:
                    name = change[kind]
                    check_eq(change["old"], state.get(name, change["old"]), f"old value of {name}")
                    state[name] = change["new"]
            if "store" in change:
                at, size = int(change["store"], 16), change["size"]
                for i, (old, new) in enumerate(zip(*(int(change[k], 16).to_bytes(size, "little")
                                                     for k in ("old", "new")))):
                    check_eq(old, memory.get(at + i, old), f"old byte at {at + i:#x}")
                    memory[at + i] = new
            if "load" in change:
                at, size = int(change["load"], 16), change["size"]
                for i, value in enumerate(int(change["value"], 16).to_bytes(size, "little")):
                    check_eq(value, memory.get(at + i, value), f"loaded byte at {at + i:#x}")
                    memory[at + i] = value
    hart = result["harts"][0]
    check_eq(pc, hart["registers"]["pc"], "pc")
    for name, value in registers.items():
        check_eq(value, hart["registers"][name], name)
    for name, value in hart["registers"].items():
        check(name in registers or name == "pc" or int(value, 16) == (3 if name == "priv" else 0),
              f"{name} is {value}, which the trace does not tell")
    for name in ("mstatus", "mepc", "mcause", "mtval", "mtvec", "mscratch", "fflags"):
        check_eq(csrs[name], hart["csrs"][name], name)
    causes = [step["trap"]["cause"] for step in steps[1:] if "trap" in step]
    check_eq(causes, [11, 2] * 20 + [2], "causes of the traps")


VENDOR = """
        li      t0, 0x8000000000300008  # FP32, ZMODE
        csrw    CAP.PREC.MODE, t0
        svsetvl a5, 4
        pmset   1
        li      t1, 5
        pmlow.wr 2, t1
        pmnot   2
        svp.one.vlstep 3, 1, 2
        addi    s2, t1, 5
        la      a0, data
        MTX.LD  a0, shape=6, rowmajor=1
        addi    a1, a0, 24
        addi    a2, a0, 64
        MTX.MUL a2, a1, shape=6
        li      t0, 100
        xlds.alloc a3, t0, flags=16
        xlds.atoms.add.d a4, (a3), t0
        xmem.ldg.w a5, (a0), hint=8, pbank=2
        xfence.signal 2
        xfence.waiti 2
        li      t0, 0x2000              # no memory there
        csrw    CAP.XMEM.SVMBASE, t0
        csrw    RTNODE, t0              # the registers of RT have two numbers
        la      t0, handler
        csrw    mtvec, t0
        svon.one
        xmem.svm s4, x0
        .align  2
handler: svend
""" + EXIT % 0 + """
        .data
        .align  6
data:   .float  1, 2, 3, 4, 5, 6, 0.1, 10, 100
        .zero   100
"""

# CSRs that count by themselves or show other state.
VIEWS = {"mcycle", "minstret", "cycle", "instret", "time", "mip", "fcsr", "MTX2", "MTX3", "MTX4", "MTXBIAS"}


@case()
def a_trace_tells_every_change_of_vendor_state():
    program = assemble("vendor", VENDOR)
    done = facet("run", program, "--break", "0x80000000", "--json", "--dump-state")
    state = json.loads(done.stdout)["harts"][0]
    traces = []
    for options in ([], ["--plain"]):
        done = facet("run", program, "--trace", path("vendor.jsonl"), "--json", "--dump-state", *options)
        check_eq(done.returncode, 0, f"exit code, after {done.stderr}")
        with open(path("vendor.jsonl"), encoding="utf-8") as file:
            traces.append(file.read())
    check_eq(traces[0], traces[1], "the trace with the cache of blocks, against the one without")
    told = set()
    for line in traces[0].splitlines()[1:]:
        step = json.loads(line)
        state["registers"]["pc"] = step["next"]
        for change in step["changes"]:
            for kind, where in (("reg", "registers"), ("csr", "csrs")):
                if kind in change:
                    name = change[kind]
                    check_eq(change["old"], state[where][name], f"old value of {name} in step {step['step']}")
                    state[where][name] = change["new"]
                    told.add(name)
            if "unit" in change:
                told.add(change["unit"] + " " + change["what"])
    end = json.loads(done.stdout)["harts"][0]
    for where in ("registers", "csrs"):
        for name, value in end[where].items():
            check(name in VIEWS or state[where][name] == value,
                  f"{name} is {value}, the trace tells {state[where][name]}")
    for name in ("CAP.PREC.MODE", "CAP.PREC.STAT", "CAP.PREC.EXC.ST", "CAP.XMEM.EVENTS", "SVSTATE", "SVFAULTI", "MTXSTAT",
                 "RTNODE", "XTOK2", "XLDSUSED0", "p0", "pbank1", "pbank2", "mtx3_0_0", "x22", "xmem lds.alloc", "xmem hint",
                 "xmem signal", "xmem wait", "mtx policy"):
        check(name in told, f"{name} is not told")


@case()
def formats_for_viewers_tell_what_the_lines_tell():
    every = [json.loads(line) for line in traced()[1][1:]]
    pcs = [int(s["pc"], 16) for s in every]

    events = json.loads("".join(traced("--trace-format", "perfetto")[1]))["traceEvents"]
    check(all({"ph", "cat", "pid", "tid", "name", "ts"} <= set(e) for e in events), "members of events")
    slices = [e for e in events if e["ph"] == "X"]
    check_eq([(e["ts"], int(e["args"]["pc"], 16), e["dur"]) for e in slices],
             [(s["step"], pc, 1) for s, pc in zip(every, pcs)], "slices")
    check_eq(sum(e["ph"] == "i" and e["name"].startswith(("trap", "interrupt")) for e in events),
             sum("trap" in s for s in every), "instants of traps")

    waves = traced("--trace-format", "vcd")[1]
    names, state, times, seen = read_waves(waves)
    check_eq((times, seen), ([s["step"] for s in every], pcs), "times and pcs of the waves")
    last = {c["reg"]: int(c["new"], 16) for s in every for c in s["changes"] if "reg" in c}
    check_eq({name: state.get(name) for name in last}, last, "registers at the end of the waves")

    rows = [line.rstrip("\n").split("\t") for line in traced("--trace-format", "konata")[1]]
    check_eq(rows[:2], [["Kanata", "0004"], ["C=", "0"]], "head of the Kanata log")
    check_eq([int(r[3].split(":")[0], 16) for r in rows if r[0] == "L"], pcs, "rows of the Kanata log")
    check_eq([r[3] for r in rows if r[0] == "R"], ["1" if "trap" in s else "0" for s in every], "flushed rows")
    check_eq([r[1:] for r in rows if r[0] == "S"], [r[1:] for r in rows if r[0] == "E"], "stages that end")
    check_eq(sum(int(r[1]) for r in rows if r[0] == "C"), len(every), "cycles")
    check_eq(traced("--trace-core", "0")[1], traced()[1], "the only core")
    check_eq(len(traced("--trace-core", "1")[1]), 1, "lines of a core that is not there")


def read_waves(lines):
    """Declared variables, their last values, the times, and the values of step_pc."""
    names, scopes, state, times, seen = {}, [], {}, [], []
    for line in lines:
        words = line.split()
        if words[0] == "$scope":
            scopes.append(words[2])
        elif words[0] == "$upscope":
            scopes.pop()
        elif words[0] == "$var":
            check(words[3] not in names and words[5:] == ["$end"], f"a variable declared once: {line}")
            names[words[3]] = (words[4], int(words[2]))
        elif words[0] == "$enddefinitions":
            check_eq(scopes, [], "open scopes")
        elif line[0] == "#":
            check(not times or int(line[1:]) > times[-1], "time rises")
            times.append(int(line[1:]))
        elif line[0] in "b01":
            bits, key = (words[0][1:], words[1]) if line[0] == "b" else (line[0], words[0][1:])
            name, width = names[key]
            check(len(bits) <= width, f"{name} has {width} bits")
            state[name] = int(bits, 2)
            if name == "step_pc":
                seen.append(int(bits, 2))
    return names, state, times, seen


@case()
def gtkwave_reads_the_waves():
    """A reader that is not ours: VCD to GTKWave's own format and back."""
    if shutil.which("vcd2fst") is None:
        skip("gtkwave is not installed")
    own = read_waves(traced("--trace-format", "vcd")[1])
    for tool, source, target in (("vcd2fst", "trace", "waves.fst"), ("fst2vcd", "waves.fst", "waves.vcd")):
        done = subprocess.run([tool, path(source), path(target)] if tool == "vcd2fst" else [tool, "-f", path(source), "-o", path(target)],
                              capture_output=True, text=True, timeout=100)
        check_eq((done.returncode, done.stderr), (0, ""), tool)
    with open(path("waves.vcd"), encoding="utf-8") as file:
        head, rest = re.split(r"(?<=\$enddefinitions \$end\n)", file.read())
    lines = [line for line in head.splitlines() if line.startswith(("$var", "$scope", "$upscope", "$enddef"))] + rest.splitlines()
    other = read_waves([line for line in lines if not line.startswith(("$dump", "$end"))])
    check_eq(sorted(other[0].values()), sorted(own[0].values()), "variables")
    check_eq(other[1:], own[1:], "values, times and pcs")


@case()
def jobs_are_slices_of_a_timeline():
    program = assemble("queued", open(os.path.join(os.environ["FACET_SOURCE"], "examples/xphmg/ticket.s"), encoding="utf-8").read())
    told = {}
    for name in ("jsonl", "perfetto"):
        facet("run", program, "--jobs", "late", "--trace", path(name), "--trace-format", name)
        with open(path(name), encoding="utf-8") as file:
            told[name] = file.read()
    at = [(c["what"], step["step"], c["values"][0]) for step in map(json.loads, told["jsonl"].splitlines()[1:])
          for c in step["changes"] if c.get("unit") == "mtx" and c["what"] in ("submit", "start", "done")]
    events = json.loads(told["perfetto"])["traceEvents"]
    jobs = [e for e in events if e["ph"] in "bne"]
    check_eq([({"b": "submit", "n": "start", "e": "done"}[e["ph"]], e["ts"], e["id"].split()[2]) for e in jobs], at, "jobs")
    check(len(at) >= 3 and len({(e["cat"], e["name"]) for e in jobs}) * 3 == len(at), f"each begins and ends: {jobs}")
    tracks = {e["tid"]: e["args"]["name"] for e in events if e["name"] == "thread_name"}
    check_eq(len(set(tracks.values())), len(tracks), "names of tracks")
    check_eq({tracks[e["tid"]] for e in jobs}, {"hart0 mtx"}, "where jobs stand")
    check_eq({tracks[e["tid"]] for e in events if e["ph"] == "X"}, {"hart0"}, "where steps stand")


@case()
def trace_conditions_triggers_and_the_last_steps_keep_what_they_say():
    lines = traced()[1][1:]
    every = [json.loads(line) for line in lines]
    number = lambda text: int(text, 16)

    def those(condition):
        return [line for line, step in zip(lines, every) if condition(step)]

    def accesses(step):
        return [(number(c.get("load") or c["store"]), c["size"]) for c in step["changes"] if "load" in c or "store" in c]

    def branches(step):
        length = len(step.get("word", "0x")) // 2 - 1
        target = re.search(r"\. [+-] \d+$", step.get("insn", "")) is not None
        return target or ("trap" not in step and number(step["next"]) != number(step["pc"]) + length)

    conditions = {
        "class=load": lambda s: any("load" in c for c in s["changes"]),
        "class=store": lambda s: any("store" in c for c in s["changes"]),
        "class=unit": lambda s: any("unit" in c for c in s["changes"]),
        "class=branch": branches,
        "class=csr": lambda s: s.get("insn", "").startswith("csrr"),
        "class=zicsr": lambda s: s.get("insn", "").startswith("csrr"),
        "trap": lambda s: "trap" in s,
        "core=0": lambda s: s["core"] == 0,
        "core=1|2": lambda s: s["core"] in (1, 2),
    }
    pcs = sorted({number(s["pc"]) for s in every})
    low, high = pcs[len(pcs) // 4], pcs[len(pcs) // 2]
    conditions[f"pc={low:#x}..{high:#x}"] = lambda s: low <= number(s["pc"]) <= high
    touched = [a for s in every for a in accesses(s)]
    byte = touched[0][0] + touched[0][1] - 1
    conditions[f"addr={byte:#x}"] = lambda s: any(at <= byte < at + size for at, size in accesses(s))
    for text, condition in conditions.items():
        check_eq(traced("--trace-only", text)[1][1:], those(condition), text)
    check(those(conditions["class=load"]) and those(conditions["class=branch"]) and those(conditions["trap"]), "the program does all of it")
    check_eq(
        traced("--trace-only", f"class=load|store,pc={low:#x}..{high:#x}")[1][1:],
        those(lambda s: accesses(s) and low <= number(s["pc"]) <= high),
        "two kinds of conditions",
    )
    check_eq(traced("--trace-last", "5")[1][1:], lines[-5:], "the last five")
    check_eq(traced("--trace-last", "100000")[1][1:], lines, "more than there are")
    check_eq(traced("--trace-last", "2", "--trace-only", "trap")[1][1:], those(conditions["trap"])[-2:], "the last traps")
    repeated = [s["pc"] for s in every]
    place = next(pc for pc in repeated if repeated.count(pc) > 1)
    hits = [i for i, pc in enumerate(repeated) if pc == place]
    check_eq(traced("--trace-start", place)[1][1:], lines[hits[0]:], "from a place on")
    check_eq(traced("--trace-start", f"{place},2")[1][1:], lines[hits[1]:], "from its second step on")
    check_eq(traced("--trace-stop", f"{place},2")[1][1:], lines[:hits[1] + 1], "up to its second step")
    check_eq(traced("--trace-start", place, "--trace-stop", place)[1][1:], [lines[hits[0]]], "one step")


@case()
def words_that_are_no_conditions_are_refused():
    elf = assemble("conditions", "_start: j .\n")
    for option, text in (
        ("--trace-only", ""), ("--trace-only", "pc"), ("--trace-only", "pc="), ("--trace-only", "pc=2..1"),
        ("--trace-only", "class=loads"), ("--trace-only", "sym=nobody"), ("--trace-only", "core=x"),
        ("--trace-only", "word=1"), ("--trace-only", "core=" + "|".join("0" * 17)), ("--trace-only", "trap," * 999),
        ("--trace-start", "nobody"), ("--trace-start", "_start,0"), ("--trace-stop", "_start,"), ("--trace-last", "0"),
    ):
        result = facet("run", elf, "--trace", "-", option, text)
        check_eq(result.returncode, 2, f"{option} {text[:40]}")
        check("expected" in result.stderr, f"{option} {text[:40]}: {result.stderr}")
    result = facet("run", elf, "--trace", "-", "--trace-only", "class=load,sym=_start|nobody")
    check("'nobody': expected a symbol of the program\n" in result.stderr, result.stderr)
    result = facet("run", elf, "--trace-last", "3")
    check_eq(result.returncode, 2, "--trace-last without --trace")


@case()
def trace_filters_keep_what_they_say():
    lines = traced()[1][1:]
    every = [json.loads(line) for line in lines]

    def kept(*options):
        return traced(*options)[1][1:]

    def those(condition):
        return [line for line, step in zip(lines, every) if condition(step)]

    check_eq(kept("--trace-insn", "f*.d"),
             those(lambda s: s.get("insn", "").split(" ")[0] in ("fdiv.d", "fsqrt.d")), "f*.d")
    check_eq(kept("--trace-insn", "l?"), those(lambda s: s.get("insn", "").startswith("ld ")), "l?")
    check_eq(kept("--trace-pc", "loop..0x80000030"),
             those(lambda s: 0x80000020 <= int(s["pc"], 16) <= 0x80000030), "addresses")
    check_eq(kept("--trace-pc", "loop"), those(lambda s: s["pc"] == "0x80000020"), "one address")
    check_eq(kept("--trace-from", "100"), lines[100:], "from 100")
    check_eq(kept("--trace-from", "100", "--trace-count", "7"), lines[100:107], "seven from 100")
    refused(path("traced"), "--trace-count", "3", parts=("--trace FILE",))
    refused(path("traced"), "--trace", path("t"), "--trace-pc", "loop..nosuch", parts=("nosuch",))
    refused(path("traced"), "--trace", path("no/such/folder"), parts=("no/such/folder",))


@case()
def spike_format_is_that_of_log_commits():
    lines = traced("--trace-format", "spike")[1]
    every = [json.loads(line) for line in traced()[1][1:]]
    check_eq(len(lines), len([s for s in every if "trap" not in s]), "number of lines")
    for line in (
            "core   0: 3 0x0000000080000020 (0x00043303) x6  0x0000000000000001 mem 0x{data}",
            "core   0: 3 0x0000000080000028 (0x00643023) mem 0x{data} 0x0000000000000124",
            "core   0: 3 0x000000008000002c (0x006404a3) mem 0x{data9} 0x24",
            "core   0: 3 0x0000000080000034 (0x1a2070d3) f1  0x7ff0000000000000 c1_fflags 0x0000000000000008",
            "core   0: 3 0x0000000080000050 (0x0505) x10 0x0000000000000001"):
        address = next(int(c["load"], 16) for s in every for c in s["changes"] if "load" in c)
        line = line.format(data="%016x" % address, data9="%016x" % (address + 9))
        check(line in lines, f"{line!r} is not in\n" + "\n".join(lines[:30]))
    check(any(line.startswith("core   0: 3") and "c768_mstatus" in line for line in lines), "mret's mstatus")


@case("XM-152 XM-160")
def jobs_complete_when_asked():
    """examples/xphmg/ticket.s waits for its job; with FORGET it does not, and finds zeros where jobs take their time."""
    source = os.path.join(SOURCE, "examples/xphmg/ticket.s")
    for name, words in (("ticket", []), ("forget", ["-D", "FORGET"])):
        check_eq(facet("as", "--isa", "xphmg", source, "-o", path(name), *words).returncode, 0, "exit code of as")
    for jobs in ("now", "late", "late:1", "late:0xFFFFFFFFFFFFFFFF"):
        for more in ([], ["--plain"], ["--harts", "1", "--job-threads", "2"]):
            check_eq(facet("run", path("ticket"), "--jobs", jobs, *more).returncode, 56, f"sum with {jobs} {more}")
    check_eq(facet("run", path("forget")).returncode, 56, "sum of a machine that does jobs at once")
    check_eq(facet("run", path("forget"), "--jobs", "late").returncode, 0, "sum of a machine that is late")
    for jobs in ("", "later", "late:", "late:x", "late:1x", "late:-1", "late: 1", "late:0", "late:0x0", "late:0x10000000000000000", "NOW"):
        done = facet("run", path("ticket"), "--jobs", jobs)
        check_eq((done.returncode, done.stdout), (2, ""), f"--jobs {jobs!r}")
        check("expected now, late, or late:SEED" in done.stderr, f"said {done.stderr!r}")


@case("XM-161 XM-163")
def jobs_under_way_are_shown_and_kept():
    source = os.path.join(SOURCE, "examples/xphmg/ticket.s")
    check_eq(facet("as", "--isa", "xphmg", source, "-o", path("ticket")).returncode, 0, "exit code of as")
    job = {"hart": 0, "unit": "mtx", "id": "0x200000000000001"}
    done = facet("run", path("ticket"), "--jobs", "late", "--break", "_start+32", "--json", "--dump-state")
    listed = json.loads(done.stdout)["under_way"]
    check_eq([{key: work[key] for key in job} for work in listed], [job], "jobs at the wait")
    text = facet("run", path("ticket"), "--jobs", "late", "--break", "_start+32", "--dump-state").stderr
    check("under way: mtx 0x200000000000001 of hart0" in text, text)
    check("under way" not in facet("run", path("ticket"), "--jobs", "late", "--dump-state").stderr, "jobs at the end")
    lines = facet("run", path("ticket"), "--jobs", "late", "--trace", "-").stdout.splitlines()[1:]
    steps = [[change.get("what") for change in json.loads(line)["changes"]] for line in lines]
    at = [i for i, step in enumerate(steps) if "submit" in step or "done" in step]
    check_eq(len(at), 2, "steps with submit or done")
    check_eq([what for what in steps[at[1]] if what in ("start", "done", "wait")], ["start", "done", "wait"], "events")
    check("xfence.wait" in lines[at[1]], lines[at[1]])
    saved = path("ticket.snap")
    check_eq(facet("snapshot", path("ticket"), "--jobs", "late:9", "--steps", "8", "-o", saved).returncode, 0, "save")
    info = json.loads(facet("snapshot", "--info", saved, "--json").stdout)
    check_eq((info["jobs"], info["jobs_seed"], len(info["under_way"])), ("late", "0x9", 1), "--info")
    check("jobs           late:9\n" in facet("snapshot", "--info", saved).stdout, "seed of --info")
    check_eq(facet("run", "--resume", saved).returncode, 56, "sum after --resume")
    whole, rest = (json.loads(facet("run", *words, "--json").stdout)
                   for words in ((path("ticket"), "--jobs", "late:9"), ("--resume", saved)))
    for count in ("instructions", "steps"):
        check_eq(rest[count], whole[count] - 8, f"{count} of the run after --resume")
    check_eq(facet("run", "--resume", saved, "--jobs", "now").returncode, 2, "--resume with --jobs")
    check_eq(facet("snapshot", path("ticket"), "--jobs", "late", "--steps", "8", "-o", saved).returncode, 0, "save")
    info = json.loads(facet("snapshot", "--info", saved, "--json").stdout)
    check_eq((info["jobs"], info["jobs_seed"]), ("late", None), "--info without a seed")
    check("jobs           late\n" in facet("snapshot", "--info", saved).stdout, "--info without a seed")


try:
    main("run")
finally:
    shutil.rmtree(FOLDER)
