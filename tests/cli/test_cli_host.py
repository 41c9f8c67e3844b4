"""What the host may do to a command: end it at any moment, refuse to write, stop reading what it prints; and what
names in files may do to the terminal. Seeded; the seed is printed when a case fails."""
import glob
import json
import os
import random
import re
import resource
import shutil
import signal
import stat
import subprocess
import tempfile
import time

from harness import case, check, check_eq, main, skip

FACET = os.environ["FACET"]
SOURCE = os.environ["FACET_SOURCE"]
scratch = tempfile.TemporaryDirectory()
PATIENCE = 60  # seconds; nothing here takes more than one on a free machine

# Bytes that a terminal would obey, as text shows them.
EVIL = "a\x1b[2J\x07\x7f\u009b\u202eé"
SHOWN = "a\\u001b[2J\\u0007\\u007f\\u009b\\u202eé"


def path(name):
    return os.path.join(scratch.name, name)


def facet(*words, **more):
    more = {"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "timeout": PATIENCE,
            "cwd": scratch.name} | more
    return subprocess.run([FACET, *words], **more)


def write(name, data):
    with open(path(name), "wb") as file:
        file.write(data if isinstance(data, bytes) else data.encode())
    return name


def read(name):
    with open(path(name), "rb") as file:
        return file.read()


def assemble(name, text):
    write(f"{name}.s", text)
    done = facet("as", f"{name}.s", "--isa", "xphmg", "-o", f"{name}.elf")
    check_eq(done.returncode, 0, f"facet as: {done.stderr.decode()}; exit code")
    return f"{name}.elf"


EXIT = """
ending: la      a1, 1f
        li      a0, 0x20
        call    semihost
        j       .
        .balign 16
semihost: slli  x0, x0, 0x1f
        ebreak
        srai    x0, x0, 7
        ret
        .data
        .balign 8
1:      .dword  0x20026, 0
        .text
"""
# Opens argument 1's name to write and writes 1000 bytes ten times; exits with 0, or with the errno of what failed.
WRITER = """
_start: la      a1, opened
        li      a0, 1
        call    semihost
        bltz    a0, failed
        la      a1, written
        sd      a0, 0(a1)
        li      s0, 10
again:  li      a0, 5
        la      a1, written
        call    semihost
        bnez    a0, failed
        addi    s0, s0, -1
        bnez    s0, again
        j       ending
failed: li      a0, 0x13
        li      a1, 0
        call    semihost
        la      a1, 1f
        sd      a0, 8(a1)
        j       ending
""" + EXIT + """
        .data
opened: .dword  name, %d, %d
written: .dword 0, bytes, 1000
name:   .string "%s"
bytes:  .zero   1000
"""
ENDLESS = "_start: addi a0, a0, 1\n j _start\n"


# ---- ends ----

class Watched:
    """A folder that a command writes into."""

    def __init__(self, name):
        self.path = path(name)
        shutil.rmtree(self.path, ignore_errors=True)
        os.mkdir(self.path)

    def names(self):
        return sorted(os.listdir(self.path))


def end_at_any_time(number, rounds, old):
    """Ends `scene make` by a signal after a random time. The file is whole, or as it was."""
    seed = random.randrange(1 << 30)
    source = random.Random(seed)
    folder = Watched("ended")
    words = ["scene", "make", "knot", "--size", "200", "-o", os.path.join(folder.path, "k.glb")]
    began = time.monotonic()
    check_eq(facet(*words).returncode, 0, "exit code")
    takes = time.monotonic() - began
    with open(words[-1], "rb") as file:
        whole = file.read()
    ended = 0
    for turn in range(rounds):
        if old:
            with open(words[-1], "wb") as file:
                file.write(b"old")
        elif os.path.exists(words[-1]):
            os.remove(words[-1])
        child = subprocess.Popen([FACET, *words], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        time.sleep(source.random() * takes * turn / rounds)  # the first one at once: it cannot be too late
        child.send_signal(number)
        code = child.wait(PATIENCE)
        ended += code == -number
        takes *= 1 if code == -number else 0.7  # a machine that has become faster
        check(code in (0, -number), f"seed {seed}: exit code {code}")
        found = None
        if os.path.exists(words[-1]):
            with open(words[-1], "rb") as file:
                found = file.read()
        check(found == whole or found == (b"old" if old else None), f"seed {seed}: the file is neither old nor new")
        check(set(folder.names()) <= {"k.glb"}, f"seed {seed}: {folder.names()} is left")
    check(ended > 0, f"seed {seed}: no round was ended by the signal")


def needs_nameless_files():
    """Some file systems know no file without a name; then only a signal that can be caught leaves nothing."""
    try:
        os.close(os.open(scratch.name, os.O_TMPFILE | os.O_WRONLY))
    except OSError as why:
        skip(f"no nameless files in {scratch.name}: {why}")


@case()
def signals_leave_nothing_temporary():
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT):
        end_at_any_time(number, 10, True)


@case()
def a_signal_removes_the_files_of_a_measurement():
    folder = Watched("measured")
    for number in (signal.SIGINT, signal.SIGTERM):
        child = subprocess.Popen([FACET, "bench", "isa"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                                 env=os.environ | {"TMPDIR": folder.path})
        until = time.monotonic() + PATIENCE
        while not glob.glob(os.path.join(folder.path, "*", "bench.s")) and time.monotonic() < until:
            time.sleep(0.01)
        check_eq(len(folder.names()), 1, "folders of the measurement")
        child.send_signal(number)
        check_eq(child.wait(PATIENCE), -number, "exit code")
        check_eq(folder.names(), [], "what is left")


@case()
def a_kill_leaves_nothing_temporary():
    needs_nameless_files()
    end_at_any_time(signal.SIGKILL, 30, False)


def limited(size):
    return lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))


@case()
def a_limit_of_file_size_is_reported():
    folder = Watched("limited")
    target = os.path.join(folder.path, "k.glb")
    for old in (None, b"old"):
        if old is not None:
            with open(target, "wb") as file:
                file.write(old)
        done = facet("scene", "make", "knot", "-o", target, preexec_fn=limited(8192))
        check_eq(done.returncode, 2, "exit code")
        check(b"k.glb: cannot write: File too large" in done.stderr, done.stderr)
        check_eq(folder.names(), [] if old is None else ["k.glb"], "names")
    check_eq(read("limited/k.glb"), b"old", "the old file")


@case()
def permissions_and_links_of_a_replaced_file_stay():
    folder = Watched("links")
    target, link = os.path.join(folder.path, "a.elf"), os.path.join(folder.path, "link.elf")
    write("links/a.elf", "old")
    os.chmod(target, 0o600)
    os.symlink("a.elf", link)
    write("nothing.s", "_start: nop\n")
    check_eq(facet("as", "nothing.s", "--isa", "xphmg", "-o", link).returncode, 0, "exit code")
    check(os.path.islink(link), "the link was replaced")
    check_eq(stat.S_IMODE(os.stat(target).st_mode), 0o600, "permissions")
    check(read("links/a.elf").startswith(b"\x7fELF"), "what the link points to is not the new file")


# ---- traces ----

@case()
def a_trace_is_whole_or_not_there():
    folder = Watched("traces")
    program, trace = assemble("endless", ENDLESS), os.path.join(folder.path, "t.jsonl")
    done = facet("run", program, "--trace", trace, preexec_fn=limited(65536))
    check_eq((done.returncode, folder.names()), (2, []), "exit code and files")
    check(b"t.jsonl: cannot write: File too large" in done.stderr, done.stderr)
    write("traces/t.jsonl", "old")
    done = facet("run", program, "--trace", trace, preexec_fn=limited(65536))
    check_eq((done.returncode, folder.names(), read("traces/t.jsonl")), (2, ["t.jsonl"], b"old"), "exit code and file")
    with open("/dev/full", "wb") as full:  # what the program prints is lost: no run to keep a trace of
        hello = os.path.join(SOURCE, "examples/xphmg/hello.s")
        check_eq(facet("as", hello, "--isa", "xphmg", "-o", "hello.elf").returncode, 0, "exit code")
        check_eq(facet("run", "hello.elf", "--trace", trace, stdout=full).returncode, 2, "exit code")
    check_eq(read("traces/t.jsonl"), b"old", "the old trace")
    kernel = os.path.join(SOURCE, "examples/tile/fill.s")
    done = facet("tile", "run", kernel, "--grid", "4x3", "--arg", "target=0x80100000", "--arg", "stride=256", "--arg",
                 "color=1", "--trace", trace, preexec_fn=limited(8192))
    check_eq((done.returncode, read("traces/t.jsonl")), (2, b"old"), "exit code and file of tile run")


def start_tracing(program, trace):
    """A run that has written lines already: they are in a file without a name."""
    child = subprocess.Popen([FACET, "run", program, "--trace", trace], cwd=scratch.name, stderr=subprocess.DEVNULL)
    folder = f"/proc/{child.pid}/fd"
    began = time.monotonic()
    while time.monotonic() < began + PATIENCE:
        for name in os.listdir(folder):
            try:
                info = os.stat(os.path.join(folder, name))
                target = os.readlink(os.path.join(folder, name))
            except FileNotFoundError:
                continue  # closed meanwhile
            if info.st_size > 0 and target.startswith(os.path.dirname(trace)) and stat.S_ISREG(info.st_mode):
                return child
        time.sleep(0.01)
    child.kill()
    check(False, f"no line after {PATIENCE} s")


@case()
def a_trace_of_a_stopped_run_is_kept():
    folder = Watched("stopped")
    program, trace = assemble("endless", ENDLESS), os.path.join(folder.path, "t.jsonl")
    check_eq(facet("run", program, "--trace", trace, "--max-instructions", "1000").returncode, 124, "exit code")
    old = read("stopped/t.jsonl")
    check(len(old.splitlines()) >= 1000, "lines are missing")
    child = start_tracing(program, trace)
    check(read("stopped/t.jsonl") == old, "the old trace has changed while the new one is made")
    child.send_signal(signal.SIGINT)
    check_eq(child.wait(PATIENCE), 130, "exit code")
    lines = read("stopped/t.jsonl").splitlines()
    check(lines != old.splitlines() and json.loads(lines[-1]), "the new trace is not there")
    check_eq(folder.names(), ["t.jsonl"], "names")


@case()
def a_killed_run_leaves_no_trace():
    needs_nameless_files()
    folder = Watched("killed")
    program = assemble("endless", ENDLESS)
    for _ in range(3):
        child = start_tracing(program, os.path.join(folder.path, "t.jsonl"))
        child.kill()
        check_eq(child.wait(PATIENCE), -signal.SIGKILL, "exit code")
        check_eq(folder.names(), [], "names")


# ---- pipes ----

def read_one_line(*words):
    """What the command says when its reader leaves after the first line."""
    child = subprocess.Popen([FACET, *words], cwd=scratch.name, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                             stderr=subprocess.PIPE)
    check(child.stdout.readline() != b"", f"{words}: no line")
    child.stdout.close()
    said = child.stderr.read()
    child.stderr.close()
    return child.wait(PATIENCE), said


@case()
def a_closed_pipe_ends_every_command_silently():
    write("long.s", "_start:\n .rept 100000\n addi a0, a0, 1\n .endr\n")
    check_eq(facet("as", "long.s", "--isa", "xphmg", "-o", "long.elf").returncode, 0, "exit code")
    printer = assemble("printer", "_start: la a1, text\n li a0, 4\n call semihost\n j _start\n" + EXIT
                       + ".data\ntext: .string \"again\\n\"\n")
    check_eq(facet("scene", "make", "knot", "--size", "300", "-o", "knot.glb").returncode, 0, "exit code")
    check_eq(facet("bvh", "build", "knot.glb", "-o", "knot.gfx12").returncode, 0, "exit code")
    for words in (["dis", "long.elf"], ["dis", "long.elf", "--json"], ["run", printer], ["spec", "--list", "--json"],
                  ["run", "endless.elf", "--trace", "-"], ["bvh", "dump", "knot.gfx12"],
                  ["bvh", "dump", "knot.gfx12", "--json"]):
        check_eq(read_one_line(*words), (-signal.SIGPIPE, b""), f"end and message of {words}")


@case()
def a_caller_that_ignores_closed_pipes_gets_the_message():
    reader, writer = os.pipe()
    os.close(reader)
    done = facet("dis", "long.elf", stdout=writer, restore_signals=False,
                 preexec_fn=lambda: signal.signal(signal.SIGPIPE, signal.SIG_IGN))
    os.close(writer)
    check_eq(done.returncode, 2, "exit code")
    check(b"standard output: Broken pipe" in done.stderr, done.stderr)


@case()
def a_debugger_that_goes_away_does_not_kill_the_server():
    program = assemble("endless", ENDLESS)
    child = subprocess.Popen([FACET, "gdb", program, "--stdio"], cwd=scratch.name, stdin=subprocess.PIPE,
                             stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    child.stdout.close()  # nobody reads the answers
    child.stdin.write(b"$?#3f")
    child.stdin.close()
    said = child.stderr.read()
    child.stderr.close()
    check(child.wait(PATIENCE) >= 0, f"a signal ended it; it said {said!r}")


# ---- the guest's files ----

def writer(name, mode=4):
    return assemble("writer", WRITER % (mode, len(name), name))


@case()
def a_read_only_folder_is_only_read():
    folder = Watched("granted")
    write("granted/old.txt", "old")
    for command in (["run"], ["snapshot", "--steps", "100000", "-o", "x.snap"]):
        for name, mode in (("old.txt", 4), ("new.txt", 4), ("old.txt", 8), ("old.txt", 2)):
            done = facet(*command, writer(name, mode), "--files-ro", folder.path)
            check_eq(done.returncode, 30 if command[0] == "run" else 2, "exit code: EROFS of the guest")
            check(f"refused 1 call of the program, the first: opening {name} to write (--files-ro)".encode()
                  in done.stderr, done.stderr)
    check_eq((folder.names(), read("granted/old.txt")), (["old.txt"], b"old"), "names and contents")
    done = facet("run", writer("old.txt", 0), "--files-ro", folder.path)
    check_eq(done.returncode, 9, "exit code: open to read, EBADF of the write")
    check(b"refused" not in done.stderr, done.stderr)


@case()
def a_quota_bounds_what_files_grow_by():
    folder = Watched("quota")
    out = os.path.join(folder.path, "out.bin")

    def run(quota, name="out.bin", mode=4):
        return facet("run", writer(name, mode), "--files", folder.path, "--files-quota", quota)

    check_eq(run("10000").returncode, 0, "exit code")
    check_eq(os.path.getsize(out), 10000, "size")
    check_eq(run("9999").returncode, 28, "exit code: ENOSPC of the guest")
    check_eq(os.path.getsize(out), 9999, "size")
    done = run("5k")
    check_eq((done.returncode, os.path.getsize(out)), (28, 5120), "exit code and size")
    check(re.search(rb"refused \d+ calls of the program, the first: writing \d+ bytes to out.bin \(--files-quota\)",
                    done.stderr), done.stderr)
    check_eq((run("5k", mode=8).returncode, os.path.getsize(out)), (28, 10240), "exit code and size after appending")
    check_eq((run("0", mode=2).returncode, os.path.getsize(out)), (0, 10240), "exit code and size of writing over")
    check_eq((run("1M,0").returncode, os.path.getsize(out)), (0, 10000), "exit code and size: none is made")
    done = run("1M,0", "new.bin")
    check_eq((done.returncode, folder.names()), (28, ["out.bin"]), "exit code and names")
    check(b"creating new.bin, one file too many (--files-quota)" in done.stderr, done.stderr)
    check_eq((run("1M,1", "new.bin").returncode, folder.names()), (0, ["new.bin", "out.bin"]), "exit code and names")


@case()
def the_same_file_may_be_written_over_and_over():
    Watched("over")
    program = assemble("over", """
_start: li      s1, 5
round:  la      a1, opened
        li      a0, 1
        call    semihost
        bltz    a0, failed
        la      a1, written
        sd      a0, 0(a1)
        li      a0, 5
        call    semihost
        bnez    a0, failed
        la      a1, written
        li      a0, 2
        call    semihost
        addi    s1, s1, -1
        bnez    s1, round
        j       ending
failed: la      a1, 1f
        li      t0, 77
        sd      t0, 8(a1)
        j       ending
""" + EXIT + """
        .data
opened: .dword  name, 4, 7
written: .dword 0, bytes, 1000
name:   .string "out.bin"
bytes:  .zero   1000
""")
    done = facet("run", program, "--files", "over", "--files-quota", "1000,1")
    check_eq((done.returncode, done.stderr), (0, b""), "exit code and message")
    check_eq(facet("run", program, "--files", "over", "--files-quota", "999,1").returncode, 77, "exit code")


@case()
def options_of_files_are_checked():
    program = writer("x")
    for words in (["--files", ".", "--files-ro", "."], ["--files-quota", "1"], ["--files-ro", ".", "--files-quota", "1"],
                  ["--files", ".", "--files-quota", "lots"], ["--files", ".", "--files-quota", "1k,"],
                  ["--files", ".", "--files-quota", "1k,x"], ["--files", ".", "--files-quota", "99999999999G"],
                  ["--files-ro", "no.such"]):
        done = facet("run", program, *words)
        check_eq(done.returncode, 2, f"exit code of {words}")
        check(words[-2].encode() in done.stderr, done.stderr)


# ---- the terminal ----

def check_clean(text, where):
    """Nothing that a terminal obeys; newlines and tabulators may be there."""
    for character in text.decode("utf-8"):
        code = ord(character)
        check(code in (9, 10) or 0x20 <= code < 0x7F or code >= 0xA0, f"{where}: U+{code:04X} in {text!r}")
        check(not 0x202A <= code <= 0x202E and not 0x2066 <= code <= 0x2069, f"{where}: U+{code:04X}")


def says(words, parts, code=2, **more):
    done = facet(*words, **more)
    check_eq(done.returncode, code, f"exit code of {words}: {done.stderr!r}")
    for text in (done.stdout, done.stderr):
        check_clean(text, words)
    for part in parts:
        check(part.encode() in done.stdout + done.stderr, f"{part!r} is not in {done.stdout + done.stderr!r}")
    return done


@case()
def names_of_files_are_spelled_out():
    for words in (["run", EVIL], ["dis", EVIL], ["as", EVIL, "--isa", "tile", "-o", "x"], ["scene", "info", EVIL],
                  ["bvh", "info", EVIL], ["tile", "run", EVIL], ["tile", "draw", EVIL, "-o", "x.png"],
                  ["image", "compare", EVIL, EVIL], ["gfx12", "intersect", "--vectors", EVIL],
                  ["snapshot", "--info", EVIL]):
        says(words, [SHOWN])
    says([f"no{EVIL}"], [SHOWN])
    says(["run", f"--no{EVIL}"], [SHOWN])
    says(["run", "one\ntwo"], ["one\\u000atwo"])


@case()
def symbols_are_spelled_out():
    """The names of an ELF file, in messages of run, lint, dis and as."""
    name = "XYZWXYZW"
    data = bytearray(read(assemble("symbol", f"_start: nop\n{name}: nop\n .word 0\n")))
    evil = "\x1b[2J\u009b\n_"
    at = data.index(name.encode())
    data[at:at + len(name)] = evil.encode()[:len(name)].ljust(len(name), b"_")
    write("evil.elf", bytes(data))
    says(["run", "evil.elf"], ["<\\u001b[2J\\u009b\\u000a_"], code=125)
    says(["run", "evil.elf", "--json"], [], code=125)
    says(["dis", "evil.elf"], ["[2J\\302\\233"], code=0)
    json.loads(says(["dis", "evil.elf", "--json"], [], code=0).stdout)


@case()
def dis_of_odd_names_can_be_assembled():
    write("odd.s", '_start: nop\n"a\u009b\u202eb\\"": nop\n "é": nop\n')
    check_eq(facet("as", "odd.s", "--isa", "xphmg", "-o", "odd.elf").returncode, 0, "exit code")
    text = says(["dis", "odd.elf"], ["\\302\\233\\342\\200\\256b\\\"", "é:"], code=0).stdout
    write("odd2.s", text)
    check_eq(facet("as", "odd2.s", "--isa", "xphmg", "-o", "odd2.elf").returncode, 0, "exit code")
    check("a\u009b\u202eb\"".encode() in read("odd2.elf"), "the name has changed")


@case()
def source_lines_and_keys_are_spelled_out():
    write("bad.s", f" what {EVIL}\n")
    says(["as", "bad.s", "--isa", "xphmg", "-o", "x"], ["\\u001b[2J", "\\u202e", "é"])
    json.loads(says(["as", "bad.s", "--isa", "xphmg", "-o", "x", "--json"], []).stdout)
    write("keys.json", json.dumps({EVIL: 1}, ensure_ascii=False))
    says(["tile", "draw", "keys.json", "-o", "x.png"], ["\\u001b[2J"])
    says(["bvh", "encode", "keys.json", "-o", "x"], [])
    write("text.json", f'{{"{EVIL}')
    says(["bvh", "encode", "text.json", "-o", "x"], [])


@case()
def json_stays_json_and_means_the_same():
    with open(os.path.join(SOURCE, "spec/gfx12-silicon.json"), encoding="utf-8") as file:
        one = json.load(file)["cases"][0]
    one["name"] = EVIL + "\n\t\u2069"
    write("cases.json", json.dumps({"cases": [one]}, ensure_ascii=False))
    done = says(["gfx12", "intersect", "--vectors", "cases.json", "--json"], ["\\u009b", "\\u2069", "é"], code=0)
    check_eq(json.loads(done.stdout)["cases"][0]["name"], one["name"], "name")


@case()
def what_the_guest_prints_is_its_own():
    program = assemble("escape", "_start: la a1, text\n li a0, 4\n call semihost\n j ending\n" + EXIT
                       + '.data\ntext: .byte 0x1b, 0x5b, 0x32, 0x4a, 0x9b, 0xe2, 0x0a, 0\n')
    raw = b"\x1b[2J\x9b\xe2\n"
    check_eq(facet("run", program).stdout, raw, "output of run")
    done = facet("run", program, "--json")
    check(done.stderr.startswith(raw), f"output of run --json: {done.stderr!r}")
    json.loads(done.stdout)
    done = facet("snapshot", program, "--steps", "8", "-o", "x.snap")
    check_eq(done.stdout, raw, "output of snapshot")


@case()
def half_a_character_at_the_end_is_shown():
    done = facet(b"caf\xc3")
    check(b"caf\\xc3" in done.stderr, done.stderr)


main("cli_host")
