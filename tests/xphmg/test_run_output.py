"""Memory that `facet run` writes at the end: --signature and --dump-memory, compared with lines made here from the
bytes that the program stores."""
import ctypes
import ctypes.util
import gzip
import os
import shutil
import subprocess
import tempfile

from harness import case, check, check_eq, main

FACET, SOURCE = os.environ["FACET"], os.environ["FACET_SOURCE"]
FOLDER = tempfile.mkdtemp()
# 18 bytes: the last line of every granularity is not full. The four behind them are no part of the signature.
BYTES = bytes.fromhex("efcdab8967452301") + b"\x11" + bytes(8) + b"\x7f"
PROGRAM = """
_start: la   t0, begin_signature
        li   t1, 0x0123456789abcdef
        sd   t1, 0(t0)
        li   t1, 0x11
        sb   t1, 8(t0)
        li   t1, 0x7f
        sb   t1, 17(t0)
stored: %s
        .data
        .align 4
begin_signature: .zero 18
end_signature: .word 0xffffffff
"""
EXIT_7 = "li t0, 0x100000\nli t1, 0x00073333\nsw t1, 0(t0)\nj .\n"


def path(name):
    return os.path.join(FOLDER, name)


def facet(*words):
    return subprocess.run([FACET, *words], stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=600)


def assemble(name, text):
    with open(path(name + ".s"), "w") as file:
        file.write(text)
    check_eq(facet("as", "--isa", "xphmg", path(name + ".s"), "-o", path(name)).returncode, 0, "the assembler")
    return path(name)


def content(name):
    with open(path(name), "rb") as file:
        return file.read()


def lines_of(data, size):
    """As riscof compares them: `size` bytes a line, the most significant first, zeros behind the end."""
    data += bytes(-len(data) % size)
    return b"".join(data[i:i + size][::-1].hex().encode() + b"\n" for i in range(0, len(data), size))


@case()
def a_signature_has_the_lines_of_spike():
    program = assemble("sig", PROGRAM % EXIT_7)
    for options, size in (([], 4), (["--signature-granularity", "4"], 4), (["--signature-granularity", "8"], 8),
                          (["--signature-granularity", "16"], 16)):
        check_eq(facet("run", program, "--signature", path("out.sig"), *options).returncode, 7, "exit code")
        check_eq(content("out.sig"), lines_of(BYTES, size), f"{size} bytes a line")


@case()
def memory_is_written_raw_and_as_words():
    program = assemble("sig", PROGRAM % EXIT_7)
    done = facet("run", program, "--dump-memory", f"begin_signature..end_signature+4={path('a.bin')}",
                 "--dump-memory", f"begin_signature..end_signature={path('a=b.hex')}",
                 "--dump-memory", f"0x80000000..0x80000000={path('none.txt')}")
    check_eq((done.returncode, done.stderr), (7, ""), "exit code and message")
    check_eq(content("a.bin"), BYTES + b"\xff" * 4, "raw bytes")
    check_eq(content("a=b.hex"), lines_of(BYTES, 4), "words")
    check_eq(content("none.txt"), b"", "no bytes")


@case()
def it_is_written_whatever_ends_the_run():
    for ending, options, code, word in ((EXIT_7, ["--break", "stored"], 0, ""),
                                        ("j .", ["--max-instructions", "100"], 124, "limit"),
                                        ("j .", ["--max-seconds", "0.2"], 124, "limit"),
                                        (".word 0", [], 125, "no trap handler"),
                                        ("wfi", [], 125, "every hart waits")):
        program = assemble("end", PROGRAM % ending)
        if os.path.exists(path("end.sig")):
            os.remove(path("end.sig"))
        done = facet("run", program, "--signature", path("end.sig"), *options)
        check_eq(done.returncode, code, f"exit code with {ending!r} and {options}")
        check(word in done.stderr, done.stderr)
        check_eq(content("end.sig"), lines_of(BYTES, 4), f"signature with {ending!r} and {options}")


@case()
def what_cannot_be_written_is_refused_before_the_run():
    program = assemble("sig", PROGRAM % EXIT_7)
    bare = assemble("bare", "_start: nop\nend_signature: " + EXIT_7)
    back = assemble("back", "_start: nop\nend_signature: nop\nbegin_signature: " + EXIT_7)
    check_eq(facet("snapshot", program, "--steps", "1", "-o", path("snap"), "-q").returncode, 0, "snapshot")
    before = sorted(os.listdir(FOLDER))
    for words, part in (
            ([bare, "--signature", path("no")], "no symbol begin_signature"),
            ([back, "--signature", path("no")], "expected an end behind the beginning"),
            (["--resume", path("snap"), "--signature", path("no")], "no symbol begin_signature"),
            ([program, "--signature-granularity", "8"], "--signature FILE"),
            ([program, "--signature", path("no"), "--signature-granularity", "2"], "4|8|16"),
            ([program, "--signature", program], "is the program"),
            ([program, "--signature", "-"], "not '-'"),
            ([program, "--signature", path("no"), "--trace", path("no")], "is the trace"),
            ([program, "--signature", path("no"), "--dump-memory", "_start..stored=" + path("no")], "another output"),
            ([program, "--dump-memory", "=" + path("no")], "A..B=FILE"),
            ([program, "--dump-memory", "..=" + path("no")], "A..B=FILE"),
            ([program, "--dump-memory", "_start..nosuch=" + path("no")], "nosuch"),
            ([program, "--dump-memory", "_start..stored="], "A..B=FILE"),
            ([program, "--dump-memory", "stored.._start=" + path("no")], "expected an end behind"),
            ([program, "--dump-memory", "0x0..0x10=" + path("no")], "no memory at address 0x0"),
            ([program, "--dump-memory", "0x80000000..0x88000001=" + path("no")], "no memory at address 0x88000000"),
            ([program, "--dump-memory", "0..0xffffffffffffffff=" + path("no")], "at most 1 GiB")):
        done = facet("run", *words)
        check_eq((done.returncode, done.stdout), (2, ""), f"{words}: {done.stderr}")
        check(part in done.stderr and done.stderr.count("\n") == 1, f"{words}: {done.stderr!r} lacks {part!r}")
    check_eq(sorted(os.listdir(FOLDER)), before, "files")


def unpacked_zstd(data, size):
    """By libzstd itself; None where it is not installed."""
    name = ctypes.util.find_library("zstd")
    if name is None:
        return None
    out = ctypes.create_string_buffer(size + 1)
    decompress = ctypes.CDLL(name).ZSTD_decompress
    decompress.restype = ctypes.c_size_t
    decompress.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_char_p, ctypes.c_size_t]
    size = decompress(out, size + 1, data, len(data))
    return out.raw[:size]


@case()
def a_trace_is_compressed_by_its_name():
    loop = assemble("loop", "_start: li t2, 3000\n1: addi t2, t2, -1\nbnez t2, 1b\n" + EXIT_7)
    for program, options in ((loop, []), (loop, ["--trace-count", "1"]), (loop, ["--trace-format", "spike"])):
        for name in ("t.jsonl", "t.jsonl.gz", "t.JSONL.GZ", "t.jsonl.zst"):
            done = facet("run", program, "--trace", path(name), *options)
            if name.endswith("zst") and "without libzstd" in done.stderr:
                continue
            check_eq((done.returncode, done.stderr), (7, ""), f"exit code with {name}")
        plain, packed = content("t.jsonl"), content("t.jsonl.gz")
        check_eq(gzip.decompress(packed), plain, "text of the .gz")
        check_eq(content("t.JSONL.GZ"), packed, "the same bytes in every run")
        check(len(plain) < 1000 or 5 * len(packed) < len(plain), f"{len(plain)} bytes became {len(packed)}")
        if os.path.exists(path("t.jsonl.zst")):
            text = unpacked_zstd(content("t.jsonl.zst"), len(plain))
            check(text is None or text == plain, "text of the .zst")


@case()
def a_trace_that_cannot_be_compressed_is_refused():
    for name in ("t.xz", "t.jsonl.bz2", "t.lz4", "t.zip", "t.ZIP"):
        done = facet("run", assemble("sig", PROGRAM % EXIT_7), "--trace", path(name))
        check_eq((done.returncode, os.path.exists(path(name))), (2, False), f"exit code and file of {name}")
        check("expected .gz, .zst" in done.stderr, done.stderr)


try:
    main("run_output")
finally:
    shutil.rmtree(FOLDER)
