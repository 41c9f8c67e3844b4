"""`facet gdb` with a real GDB: a C program built with symbols, scripted sessions over a socket and a
pipe. Nothing here waits for a time: ports are read from what facet prints, and the interrupt is sent
when the program has said that it runs."""
import json
import os
import re
import shutil
import signal
import socket
import subprocess
import tempfile
import threading

from guest_build import PROGRAM, build
from harness import case, check, check_eq, main, skip

FACET = os.environ["FACET"]
GDB = shutil.which("gdb-multiarch")


def need_tools():
    if GDB is None:
        skip("gdb-multiarch is not installed")
    build()


class Server:
    """A running `facet gdb` and its port."""

    def __init__(self, *words, stdin=subprocess.DEVNULL):
        self.process = subprocess.Popen([FACET, "gdb", PROGRAM, "--port", "0", *words], text=True,
                                        stdin=stdin, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        line = self.process.stderr.readline()
        match = re.fullmatch(r"facet gdb: listening on 127\.0\.0\.1:(\d+)\n", line)
        check(match, f"facet gdb printed {line!r}")
        self.port = int(match.group(1))

    def finish(self):
        """Its exit code and what the program printed, after the debugger has gone."""
        out, err = self.process.communicate(timeout=120)
        check_eq(err, "", "standard error")
        return self.process.returncode, out


def gdb_words(target, commands):
    words = [GDB, "-batch", "-nx", "-ex", "set confirm off", "-ex", "set width 0",
             "-ex", "set style enabled off", "-ex", f"target remote {target}"]
    for command in commands:
        words += ["-ex", command]
    return words + [PROGRAM]


def session(*commands, words=(), code=0, printed=None):
    """The output of GDB for these commands."""
    need_tools()
    server = Server(*words)
    result = subprocess.run(gdb_words(f":{server.port}", commands), stdin=subprocess.DEVNULL,
                            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                            errors="replace", timeout=300)
    got, out = server.finish()
    check_eq(got, code, f"exit code of facet gdb, where GDB said\n{result.stdout}\nand it")
    if printed is not None:
        check_eq(out, printed, "what the program printed")
    for bad in ("Cannot", "Invalid cast", "Remote failure", "not supported", "warning:", "Traceback"):
        check(bad not in result.stdout, f"GDB complains:\n{result.stdout}")
    return result.stdout


def values(text):
    """The values of `print` commands in order."""
    return re.findall(r"^\$\d+ = (.*)$", text, re.M)


def check_order(text, *parts):
    at = 0
    for part in parts:
        found = text.find(part, at)
        check(found >= 0, f"{part!r} does not come in its place in\n{text}")
        at = found + len(part)


@case()
def breaks_steps_and_ends():
    text = session("break main", "continue", "next", "next", "print counter", "break add",
                   "continue", "print a", "print b", "finish", "delete", "continue",
                   printed="start\nsum done\n")
    check_order(text, "Breakpoint 1, main ()", "Breakpoint 2, add (", "Value returned is",
                "exited with code 067")
    check_eq(values(text)[:3], ["0", "0", "1"], "values")


@case()
def base_registers_are_read_and_written():
    text = session("break main", "continue", "print $pc", "print $x2 == $sp", "set $a5 = 0x123456789",
                   "print/x $a5", "set $fa3 = 0.625", "print $fa3", "print $f13.double",
                   "print/x $misa", "set $mscratch = 77", "print $mscratch", "print $mhartid",
                   "set $fcsr = 0x61", "maintenance flush register-cache", "print/x $frm",
                   "print/x $fflags", "print $priv", "stepi", "print/x $a5", "print $pmpaddr3",
                   "print/x $mstatus & 0x6000", "set $pc = done", "print $pc", "detach")
    check_eq(values(text), [
        "(void (*)()) 0x%x <main>" % symbol("main"), "1", "0x123456789",
        "{float = 0, double = 0.625}", "0.625", "0x800000000090112f", "77", "0", "0x3", "0x1",
        "3", "0x123456789", "0", "0x6000", "(void (*)()) 0x%x <done>" % symbol("done")], "values")


@case()
def a_hart_without_f_has_no_registers_f():
    need_tools()
    server = Server("--config", "rv64,isa=rv64imac")
    commands = ("print $ft0", "print $fcsr", "print/x $misa", "print $p0", "set $a5 = 3", "print $a5", "kill")
    words = gdb_words(f":{server.port}", commands)[:-1]  # GDB refuses a program that was compiled for registers f
    result = subprocess.run(words, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                            errors="replace", timeout=300)
    server.finish()
    check_eq(values(result.stdout), ["void", "void", "0x8000000000101105", "void", "3"], "values")


def symbol(name):
    nm = subprocess.run(["riscv64-unknown-elf-nm", PROGRAM], stdout=subprocess.PIPE, text=True,
                        check=True).stdout
    return int(re.search(rf"^([0-9a-f]+) \w {name}$", nm, re.M).group(1), 16)


FIELDS = ("[ ZP=0 ZP_EN=0 PACK=0 EW=1 PET=0 ACCW=0 FP_RMODE=0 NAN_POL=0 SCALE_SH=0 ]")


@case("CAP-526")
def staged_images_are_registers_of_the_debugger():
    flush = "maintenance flush register-cache"
    text = session("set $cap_prec_mode = 0x300000", flush, "print/x $cap_prec_mode", "print/x $cap_prec_smode",
                   "set $cap_prec_salt = 0x8000000049c00000", flush, "print/x $cap_prec_salt", "print/x $cap_prec_alt",
                   "detach")
    check_eq(values(text), ["0x80000", "0x8000000000300000", "0x8000000049c00000", "0x0"], "values")


@case()
def vendor_registers_have_names():
    flush = "maintenance flush register-cache"
    text = session("print/x $cap_id", "print $cap_prec_mode_fields", "set $cap_prec_exc_en = 3",
                   flush, "print/x $cap_prec_exc_en", "set $p0 = 1", "set $pbank1 = 0xf0f0",
                   "set $pbank3 = 0x8000000000000001", flush, "print $p0", "print/x $pbank1",
                   "print/x $pbank2", "print/x $pbank3", "set $mtx4_1_7 = 0x1122334455667788",
                   flush, "print/x $mtx4_1_7", "print/x $xldsbase", "set $zptab5 = 0x7f", flush,
                   "print/x $zptab5", "stepi", "print/x $pbank1", "set $cap_id = 0", flush,
                   "print/x $cap_id", "detach")
    check_eq(values(text), ["0x50484d47", FIELDS, "0x3", "1", "0xf0f0", "0x0", "0x8000000000000001",
                            "0x1122334455667788", "0x40000000", "0x7f", "0xf0f0", "0x50484d47"],
             "values")


@case()
def every_csr_of_the_machine_can_be_read():
    """The names from `facet run --dump-state`, each as a GDB register."""
    need_tools()
    dump = subprocess.run([FACET, "run", PROGRAM, "--json", "--dump-state"], stdout=subprocess.PIPE,
                          stderr=subprocess.DEVNULL, text=True).stdout
    hart = json.loads(dump)["harts"][0]
    names = [re.sub(r"[^a-z0-9]", "_", name.lower())
             for name in list(hart["registers"]) + list(hart["csrs"])]
    check(len(names) > 300, f"only {len(names)} registers")
    shown = values(session(*[f"print ${name}" for name in names], "detach"))
    check_eq(len(shown), len(names), "number of registers that GDB prints")
    check_eq([name for name, value in zip(names, shown) if value == "void"], [],
             "registers that GDB does not know")


@case()
def watchpoints_stop_after_the_write():
    text = session("watch counter", "continue", "print sum", "continue", "print counter",
                   "rwatch forever", "delete 1", "continue", "detach")
    check_order(text, "Hardware watchpoint 1: counter", "Old value = 0", "New value = 1",
                "add (a=", "Old value = 1", "New value = 3", "add (a=",
                "Hardware read watchpoint 2: forever", "Value = 0")
    check_eq(values(text), ["1", "3"], "values")


@case()
def a_watchpoint_stops_beside_the_instruction():
    """Forwards behind the store, backwards before it."""
    text = session("break add", "continue", "delete", "watch counter", "continue",
                   "x/i $pc - 4", "reverse-continue", "x/i $pc", "stepi", "print counter",
                   "detach")
    places = re.findall(r"0x([0-9a-f]+) <add\+(\d+)>:\s+(\w+)", text)
    check_eq([place[2] for place in places], ["sd", "sd"], f"instructions in\n{text}\nwhich")
    check_eq(places[0][0], places[1][0], "address of the store")
    check_order(text, "Old value = 0", "New value = 1", "Old value = 1", "New value = 0")


@case()
def time_goes_back():
    text = session("break add if b == 4", "continue", "print a",
                   "delete", "tbreak add", "reverse-continue", "print b", "reverse-stepi",
                   "reverse-step", "watch counter", "continue", "reverse-continue",
                   "print counter", "delete", "reverse-continue", "print $pc == _start",
                   "break main", "continue", "delete", "continue", printed="start\nsum done\n")
    check_order(text, "Breakpoint 1, add (", "Temporary breakpoint 2, add (",
                "Hardware watchpoint 3: counter", "Old value = 3", "New value = 6",
                "Old value = 6", "New value = 3", "No more reverse-execution history",
                "Breakpoint 4, main ()", "exited with code 067")
    check_eq(values(text), ["6", "3", "3", "1"], "values")


@case()
def reverse_step_undoes_a_step():
    text = session("break add", "continue", "continue", "print $pc", "print counter", "stepi",
                   "stepi", "stepi", "reverse-stepi", "reverse-stepi", "reverse-stepi",
                   "print $pc", "print counter", "reverse-finish", "reverse-next", "detach")
    got = values(text)
    check_eq(got[2:], got[:2], "pc and counter after going back")


@case()
def memory_is_written():
    text = session("break spin", "break done", "set var forever = 2", "print forever", "continue",
                   "print forever", "print ratio", "set var ratio = -4.25", "print ratio",
                   "x/2xw &forever", "detach")
    check_eq(values(text), ["2", "2", "1.5", "-4.25"], "values")
    check("Breakpoint 1, spin ()" in text, text)


@case()
def harts_are_threads():
    text = session("set var forever = 1", "info threads", "break main", "continue", "thread 2",
                   "print $mhartid",
                   "set $s3 = 5", "thread 1", "print $mhartid", "print $s3", "thread 2",
                   "print $s3", "stepi", "print $mhartid", "reverse-stepi", "print $s3", "detach",
                   words=("--harts", "3"))
    for hart in ("hart0", "hart1", "hart2"):
        check(f"({hart})" in text, f"no {hart} in\n{text}")
    check_eq(values(text), ["1", "0", "0", "5", "1", "5"], "values")


@case()
def monitor_commands():
    text = session("stepi", "stepi", "monitor steps", "monitor dis 0x%x 1" % 0x80000000,
                   "monitor csr cap_prec_mode", "monitor reset", "monitor steps", "detach")
    check_order(text, "steps 2, reached 2", "hart0: 2 retired", "0x80000000: ",
                "CAP.PREC.MODE (0x7d0) = 0x80000", "SAE", "back at the beginning", "steps 0")


@case("XM-161 XM-163")
def late_jobs_are_listed_and_undone():
    """A job under way, its completion at the wait, and both again backwards."""
    need_tools()
    source = os.path.join(os.environ["FACET_SOURCE"], "examples/xphmg/ticket.s")
    elf = os.path.join(os.path.dirname(PROGRAM), "ticket.elf")
    subprocess.run([FACET, "as", "--isa", "xphmg", source, "-o", elf], check=True)
    words = [GDB, "-batch", "-nx"]
    for command in ("set confirm off", "set width 0", f"target remote | {FACET} gdb {elf} --jobs late --stdio",
                    "monitor jobs", "stepi 8", "monitor jobs", "print/x *(int *)&results", "stepi",
                    "print/x *(int *)&results", "monitor jobs", "reverse-stepi", "print/x *(int *)&results",
                    "monitor jobs", "watch *(int *)&results", "continue", "reverse-continue",
                    "print/x *(int *)&results", "delete", "continue"):
        words += ["-ex", command]
    text = subprocess.run(words + [elf], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          text=True, timeout=300).stdout
    under_way = "hart0: mtx 0x200000000000001 of 0x80000068"
    check_order(text, "no jobs under way", under_way, "no jobs under way", under_way, "watchpoint", "exited with code 070")
    check_eq(values(text), ["0x0", "0x41880000", "0x0", "0x0"], text)


@case()
def gdb_learns_the_vendor_instructions():
    """x/i keeps GDB's text where there is one, and takes ours for words that are not RISC-V's."""
    place = symbol("main") & ~3
    text = session(f"set var *(int *)0x{place:x} = 0x0015e50b", f"set var *(int *)0x{place + 4:x} = 0x00b50533",
                   f"x/2i 0x{place:x}", 'python exec(gdb.execute("monitor python", to_string=True))',
                   f"x/2i 0x{place:x}", f"monitor dis 0x{place:x} 1", "detach")
    lines = re.findall(r"^ +0x[0-9a-f]+ <.*>:\t(.*)$", text, re.M)
    ours = re.search(rf"^0x{place:x}: (.*)$", text, re.M).group(1)
    check_eq(len(lines), 4, text)
    check(lines[0].startswith("."), lines[0])
    check_eq(lines[1:], ["add\ta0,a0,a1", ours, "add\ta0,a0,a1"])
    check(not ours.startswith("."), "a vendor word has a name")


@case()
def ctrl_c_stops_a_running_program():
    need_tools()
    server = Server()
    words = gdb_words(f":{server.port}", ["set var forever = 1", "continue", "print forever",
                                          "bt 1", "set var forever = 2", "continue"])
    gdb = subprocess.Popen(words, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                           stderr=subprocess.STDOUT, text=True)
    for line in server.process.stdout:  # comes while the program runs
        if line == "spinning\n":
            break
    gdb.send_signal(signal.SIGINT)
    text, _ = gdb.communicate(timeout=300)
    check_order(text, "Program received signal SIGINT", "$1 = 1", "spin ()",
                "exited with code 067")
    check_eq(server.finish()[0], 0, "exit code of facet gdb")


@case()
def a_pipe_serves_as_well():
    need_tools()
    target = f"| {FACET} gdb {PROGRAM} --stdio"
    result = subprocess.run(gdb_words(target, ["break done", "continue", "print code", "kill"]),
                            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                            stderr=subprocess.STDOUT, text=True, timeout=300)
    check_order(result.stdout, "Breakpoint 1, done (", "$1 = 55")


@case()
def input_is_the_same_again():
    """The program reads a line; going back before the read and forward again reads it again."""
    need_tools()
    read_end, write_end = os.pipe()
    os.write(write_end, b"hallo\n")
    os.close(write_end)
    server = Server(stdin=read_end)
    os.close(read_end)
    commands = ["set var read_some = 1", "break got_input", "continue", "print buffer[0]",
                "print length", "reverse-continue", "print buffer[0]", "continue",
                "print buffer[0]", "print length", "delete", "continue"]
    text = subprocess.run(gdb_words(f":{server.port}", commands), stdin=subprocess.DEVNULL,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                          timeout=300).stdout
    check_eq(values(text), ["104 'h'", "6", "0 '\\000'", "104 'h'", "6"], "values")
    check_eq(server.finish(), (0, "start\nsum done\nread\n"), "exit code and output")


LONG_WRITE = """
_start: la      a1, text
        mv      t0, a1
        li      t1, 0x6161616161616161
        li      t2, 48 << 20
        add     t2, t2, t0
fill:   sd      t1, 0(t0)
        addi    t0, t0, 8
        bltu    t0, t2, fill
        li      a0, 4                   # SYS_WRITE0
        call    semihost
        la      a1, ending
        li      a0, 0x20                # SYS_EXIT_EXTENDED
        call    semihost
        .align  4
semihost:
        .word   0x01f01013, 0x00100073, 0x40705013
        ret
        .data
        .align  3
ending: .dword  0x20026, 0
text:
"""


def framed(text):
    return f"${text}#{sum(text.encode()) % 256:02x}".encode()


def next_answer(line):
    """What came for the debugger's console before it is left out."""
    while True:
        while line.read(1) != b"$":
            pass
        answer = b""
        while not answer.endswith(b"#"):
            answer += line.read(1)
        line.read(2)
        line.write(b"+")
        if not re.fullmatch(rb"O[0-9a-f]+#", answer):
            return answer[:-1].decode()


@case()
def a_write_that_was_left_half_way_is_printed_once():
    """Nobody reads the output while the interrupt comes, so the write cannot have ended."""
    with tempfile.TemporaryDirectory() as folder:
        program = os.path.join(folder, "write.elf")
        subprocess.run([FACET, "as", "--isa", "xphmg", "-", "-o", program], input=LONG_WRITE.encode(),
                       check=True, timeout=60)
        server = subprocess.Popen([FACET, "gdb", program, "--ram", "64M", "--port", "0"],
                                  stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                  stderr=subprocess.PIPE)
        port = int(server.stderr.readline().rsplit(b":", 1)[1])
        with socket.create_connection(("127.0.0.1", port), timeout=120) as connection, \
                connection.makefile("rwb", buffering=0) as line:
            line.write(framed("c"))
            text = server.stdout.read(1 << 20)
            line.write(b"\x03")
            rest = []
            reader = threading.Thread(target=lambda: rest.append(server.stdout.read()))
            reader.start()
            stops = [next_answer(line)]
            for packet in ("bs", "bs", "c"):
                line.write(framed(packet))
                stops.append(next_answer(line))
        reader.join()
        check_eq(server.wait(timeout=60), 0, "exit code of facet gdb")
    check_eq(stops, ["T02thread:1;", "T05thread:1;", "T05thread:1;", "W00"], "stops")
    check_eq(len(text + rest[0]), 48 << 20, "bytes printed")


def talk(port, *packets):
    """Raw packets over a socket; everything that came back until facet closed."""
    with socket.create_connection(("127.0.0.1", port), timeout=120) as line:
        for packet in packets:
            line.sendall(packet)
        line.shutdown(socket.SHUT_WR)
        got = b""
        while True:
            piece = line.recv(65536)
            if not piece:
                return got
            got += piece


@case()
def rubbish_does_no_harm():
    need_tools()
    server = Server("--keep")
    talk(server.port, bytes(range(256)) * 20)
    talk(server.port, b"$" + b"a" * 100000)
    talk(server.port, b"$" + b"a" * 100000 + b"#00")
    talk(server.port, b"$c#63")  # gone while it runs
    got = talk(server.port, b"$qC#b4$vKill;1#6e")
    check(b"$QC1#c5" in got, f"{got!r}")
    check_eq(server.finish()[0], 0, "exit code of facet gdb")


@case()
def bad_options_are_refused():
    need_tools()
    for words, expected in ((["--port", "65536"], "port"), (["--harts", "0"], "harts"),
                            (["--ram", "3"], "ram"), (["--config", "nonsense"], "nonsense"),
                            (["--files", "/no/such/folder"], "/no/such/folder")):
        result = subprocess.run([FACET, "gdb", PROGRAM, *words], stdin=subprocess.DEVNULL,
                                stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                                timeout=60)
        check_eq(result.returncode, 2, f"exit code of {words}")
        check(expected in result.stderr, f"{words}: {result.stderr!r}")
    server = Server()
    result = subprocess.run([FACET, "gdb", PROGRAM, "--port", str(server.port)],
                            stdin=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, timeout=60)
    check_eq(result.returncode, 2, "exit code for a port in use")
    check("in use" in result.stderr, result.stderr)
    server.process.send_signal(signal.SIGINT)
    check_eq(server.finish()[0], 130, "exit code after Ctrl-C")


@case()
def signals_end_the_command_also_while_a_debugger_is_there():
    need_tools()
    for number in (signal.SIGINT, signal.SIGTERM):
        server = Server()
        with socket.create_connection(("127.0.0.1", server.port)) as line:
            line.sendall(b"$?#3f")
            check(line.recv(1) == b"+", "the debugger is heard")
            server.process.send_signal(number)
            check_eq(server.finish()[0], 128 + number, "exit code")


main("gdb")
