"""The commands `facet as` and `facet dis` from outside: outputs, exit codes, nothing half-written."""
import json
import os
import subprocess
import tempfile

from harness import case, check, check_eq, main

FACET = os.environ["FACET"]


def run(*words, text=None, cwd=None):
    done = subprocess.run([FACET, *words], input=text.encode() if text is not None else None,
                          capture_output=True, cwd=cwd)
    return done.returncode, done.stdout, done.stderr.decode()


@case("TILE-083")
def hex_words():
    code, out, _ = run("as", "-", "--isa", "tile", "--format", "hex", text="MOVI s2, 0x12345FFF\nEXIT\n")
    check_eq((code, out), (0, b"12346137\nfff10117\n0010700f\n"))
    code, out, _ = run("as", "-", "--isa", "xphmg", "--format", "hex", text="c.nop\nc.nop\nc.ebreak\n")
    check_eq((code, out), (0, b"00010001\n00009002\n"))
    code, out, _ = run("as", "-", "--isa", "xphmg", "--format", "hex", text="")
    check_eq((code, out), (0, b""))
    code, _, err = run("dis", "-", "--isa", "tile", "--format", "hex", text="0010700f\n0010700f /* open\n0010700f\n")
    check_eq((code, "line 2: unterminated comment" in err), (2, True), "a comment that swallows words: " + err)
    for length, shown in ((9, 9), (40, 40), (41, 40), (5000, 40)):
        code, _, err = run("dis", "-", "--isa", "tile", "--format", "hex", text="\n" + "z" * length + "\n")
        check_eq((code, f"line 2: '{'z' * shown}' is not a word" in err), (2, True), err)


@case()
def only_code_is_shown_as_code():
    """Words of data that would be instructions stay data, and what is not loaded is not shown."""
    text = (".text\naddi a0, a0, -1\n.data\nx: .word 0x00150513, 0x12345678\n.bss\n.zero 8\n"
            ".section .note.x,\"\",@progbits\n.word 0x00250513\n")
    with tempfile.TemporaryDirectory() as folder:
        check_eq(run("as", "-", "--isa", "xphmg", "-o", "a.elf", text=text, cwd=folder)[0], 0)
        code, out, err = run("dis", "a.elf", cwd=folder)
        out = out.decode()
        check_eq((code, err), (0, ""))
        check("addi x10, x10, -1" in out and ".word 0x00150513, 0x12345678" in out, out)
        check("addi x10, x10, 1" not in out and ".note.x" not in out and "00250513" not in out, out)


@case()
def outputs_and_names():
    with tempfile.TemporaryDirectory() as folder:
        with open(os.path.join(folder, "k.s"), "w") as f:
            f.write("NOP\n.word N + M, X\n")
        code, out, err = run("as", "k.s", "--isa", "tile", "-D", "N=0x10", "-DM=-1", "-D", "X", cwd=folder)
        check_eq((code, out, err), (0, b"", ""))
        check_eq(sorted(os.listdir(folder)), ["k.elf", "k.s"])
        code, out, _ = run("as", "k.s", "--isa", "tile", "--format", "bin", "-o", "-", "-DN=2", "-DM=3",
                           "-DX=4", cwd=folder)
        check_eq(out, bytes([0x17, 0, 0, 0, 5, 0, 0, 0, 4, 0, 0, 0]))
        code, out, _ = run("as", "k.s", "--isa", "tile", "-DN=2", "-DM=3", "-DX", "--json", cwd=folder)
        result = json.loads(out)
        check_eq((result["ok"], result["entry"], result["output"]), (True, "0x80000000", "k.elf"))
        code, _, err = run("as", "k.s", "--isa", "tile", "-o", "k.s", "-DN", "-DM", "-DX", cwd=folder)
        check_eq(code, 2)
        check("is the input" in err, err)
        code, _, err = run("as", "k.s", "--isa", "tile", "-D", "N=zz", cwd=folder)
        check_eq(code, 2)
        code, _, _ = run("as", "k.s", "--isa", "tile", "-DN", "-DM", "-DX", "--base", "0x30000000", "-o", "b.elf",
                         cwd=folder)
        check_eq(run("dis", "b.elf", cwd=folder)[1].split(b"\n")[1].split(), [b".entry", b"0x30000000"])


@case()
def errors_write_nothing():
    with tempfile.TemporaryDirectory() as folder:
        with open(os.path.join(folder, "k.s"), "w") as f:
            f.write("NOP\n  ADDI s1, s2, 5000\n")
        code, out, err = run("as", "k.s", "--isa", "tile", "--listing", "k.lst", cwd=folder)
        check_eq((code, out), (2, b""))
        check(err.startswith("k.s:2:16: error: 5000 does not fit"), err)
        check("      ADDI s1, s2, 5000\n                   ^~~~\n" in err, err)
        check_eq(os.listdir(folder), ["k.s"])
        code, out, _ = run("as", "k.s", "--isa", "tile", "--json", cwd=folder)
        error = json.loads(out)["errors"][0]
        check_eq((code, error["line"], error["column"], error["length"]), (2, 2, 16, 4))
        check_eq(run("as", "none.s", "--isa", "tile", cwd=folder)[0], 2)
        check_eq(run("as", "k.s", cwd=folder)[0], 2)
        check_eq(run("as", "-", "--isa", "tile", text="NOP")[0], 2)


@case()
def nothing_is_overwritten():
    with tempfile.TemporaryDirectory() as folder:
        source = "NOP\n"
        with open(os.path.join(folder, "k.s"), "w") as f:
            f.write(source)
        os.symlink("k.s", os.path.join(folder, "link.s"))
        os.mkdir(os.path.join(folder, "d"))
        for words in (["-o", "./k.s"], ["-o", "link.s"], ["-o", "d/../k.s"], ["--listing", "./k.s"],
                      ["--listing", "link.s", "-o", "x.elf"]):
            code, _, err = run("as", "k.s", "--isa", "tile", *words, cwd=folder)
            check_eq(code, 2, str(words))
            check("is the input" in err, err)
        for words in (["-o", "x", "--listing", "x"], ["-o", "x", "--listing", "./x"], ["-o", "x", "--listing", "d/../x"]):
            code, _, err = run("as", "k.s", "--isa", "tile", *words, cwd=folder)
            check_eq(code, 2, str(words))
            check("are the same file" in err, err)
        check_eq(sorted(os.listdir(folder)), ["d", "k.s", "link.s"])
        with open(os.path.join(folder, "k.s")) as f:
            check_eq(f.read(), source)
        # A device may be both; two names of one folder are two files.
        check_eq(run("as", "k.s", "--isa", "tile", "-o", "/dev/null", "--listing", "/dev/null", cwd=folder)[0], 0)
        check_eq(run("as", "k.s", "--isa", "tile", "-o", "k.elf", "--listing", "k.lst", cwd=folder)[0], 0)
        for output in ("k.elf", "./k.elf"):
            code, _, err = run("dis", "k.elf", "-o", output, cwd=folder)
            check_eq(code, 2)
            check("is the input" in err, err)
        check_eq(run("dis", "k.elf", cwd=folder)[0], 0)


@case()
def all_files_or_none():
    with tempfile.TemporaryDirectory() as folder:
        with open(os.path.join(folder, "k.s"), "w") as f:
            f.write("NOP\n")
        for words in (["-o", "none/k.elf", "--listing", "k.lst"], ["-o", "k.elf", "--listing", "none/k.lst"]):
            code, _, err = run("as", "k.s", "--isa", "tile", *words, cwd=folder)
            check_eq(code, 2)
            check("cannot create" in err, err)
            check_eq(os.listdir(folder), ["k.s"])


@case()
def one_thing_on_standard_output():
    with tempfile.TemporaryDirectory() as folder:
        with open(os.path.join(folder, "k.s"), "w") as f:
            f.write("NOP\n")
        for words in (["--json", "--format", "hex"], ["--json", "-o", "-"], ["--json", "--format", "bin", "-o", "-"],
                      ["--json", "--listing", "-"], ["--listing", "-", "-o", "-"],
                      ["--listing", "-", "--format", "hex"]):
            code, out, err = run("as", "k.s", "--isa", "tile", *words, cwd=folder)
            check_eq((code, b"0x0000" in out), (2, False), str(words))
            check("both write to standard output" in (err + out.decode()), err)
            check_eq(os.listdir(folder), ["k.s"])
        code, out, _ = run("as", "k.s", "--isa", "tile", "--listing", "-", cwd=folder)
        check_eq((code, out.split()[-1]), (0, b"NOP"))


@case()
def symbols_and_bases_of_the_command_line():
    def attempt(isa, *words):
        return run("as", "-", "--isa", isa, "--format", "hex", *words, text="nop\n")[0]

    for bad in ("a+b=5", "1a=5", "=5", "a b", ".=3", "a-"):
        check_eq(attempt("tile", "-D", bad), 2, bad)
    for good in ("a.b=5", "_x", "$y=0x10", ".z=-1"):
        check_eq(attempt("tile", "-D", good), 0, good)
    check_eq([attempt("tile", "--base", b) for b in ("1", "2", "4")], [2, 2, 0])
    check_eq([attempt("xphmg", "--base", b) for b in ("1", "2", "4")], [2, 0, 0])


@case()
def lists_of_the_contract():
    whole = run("spec", "--list")
    check_eq((whole[0], len(whole[1]) > 1000), (0, True))
    check_eq(run("spec", "--list", "all"), whole)
    check_eq(run("spec", "--list", "csrs", "all"), whole)
    check_eq(run("spec", "--list", "al")[0], 2)


@case()
def include_needs_a_folder():
    with tempfile.TemporaryDirectory() as folder:
        with open(os.path.join(folder, "part.s"), "w") as f:
            f.write("nop\nnonsense\n")
        code, _, err = run("as", "-", "--isa", "xphmg", "-o", "/dev/null", text='.include "part.s"\n', cwd=folder)
        check_eq(code, 2)
        check("no folder" in err, err)
        code, _, err = run("as", "-", "--isa", "xphmg", "-I", folder, "--format", "hex",
                           text='.include "part.s"\n')
        check("part.s:2:1: error: unknown instruction" in err, err)
        code, _, err = run("as", "-", "--isa", "xphmg", "-I", folder, "--format", "hex",
                           text='.include "../etc/passwd"\n')
        check_eq(code, 2)
        check("../etc/passwd: only plain files in the same folder or below it" in err, err)


@case()
def include_beside_the_source():
    with tempfile.TemporaryDirectory() as folder:
        os.makedirs(os.path.join(folder, "src/own"))
        os.makedirs(os.path.join(folder, "other"))
        for name, text in (("src/k.s", '.include "a.s"\n.include "own/b.s"\n.include "c.s"\n'), ("src/a.s", ".word 1\n"),
                           ("src/own/b.s", ".word 2\n"), ("other/c.s", ".word 3\n"), ("other/a.s", ".word 9\n")):
            with open(os.path.join(folder, name), "w") as f:
                f.write(text)
        code, out, err = run("as", "src/k.s", "--isa", "tile", "--format", "hex", "-I", "nowhere", "-I", "other", cwd=folder)
        check_eq((code, out.split(), err), (0, [b"00000001", b"00000002", b"00000003"], ""))
        code, _, err = run("as", "src/k.s", "--isa", "tile", "--format", "hex", cwd=folder)
        check("src/k.s:3:10: error: src/c.s: " in err, err)


@case()
def include_follows_no_link():
    """A source is data too: beside it and in the folders of -I, `.include` reads plain files and follows no links."""
    with tempfile.TemporaryDirectory() as folder:
        os.makedirs(os.path.join(folder, "src"))
        for name, text in (("src/k.s", '.include "part.s"\n'), ("part.s", ".word 1\n")):
            with open(os.path.join(folder, name), "w") as f:
                f.write(text)
        os.symlink("../part.s", os.path.join(folder, "src/part.s"))
        # Nor is another file of that name taken instead.
        code, _, err = run("as", "src/k.s", "--isa", "tile", "--format", "hex", "-I", ".", cwd=folder)
        check_eq(code, 2)
        check("src/k.s:1:10: error: src/part.s: only plain files" in err, err)
        os.remove(os.path.join(folder, "src/part.s"))
        os.mkfifo(os.path.join(folder, "src/part.s"))
        code, _, err = run("as", "src/k.s", "--isa", "tile", "--format", "hex", cwd=folder)
        check_eq(code, 2)
        check("src/part.s: not a regular file" in err, err)
        os.remove(os.path.join(folder, "src/part.s"))
        code, out, err = run("as", "src/k.s", "--isa", "tile", "--format", "hex", "-I", ".", cwd=folder)
        check_eq((code, out.split()), (0, [b"00000001"]))


SPARSE = """.text
CSRR s1, arg_base
EXIT
.section .imem, "ax"
.address 0x80000100
.byte 1, 2, 3
.data
.address 0x80000103
.byte 4, 5
"""


@case()
def readmemh():
    """Word numbers from the lowest address, @ behind gaps only, bytes of two sections in one word."""
    with tempfile.TemporaryDirectory() as folder:
        code, out, err = run("as", "-", "--isa", "tile", "--format", "hex", "-o", "k.hex", text=SPARSE, cwd=folder)
        check_eq((code, out, err), (0, b"", ""))
        with open(os.path.join(folder, "k.hex")) as f:
            text = f.read()
        check_eq(text.splitlines(), ["c020208f", "0010700f", "@00000040", "04030201", "00000005"])
        # Back: the same words at the same addresses, also as text with comments and another base.
        code, out, err = run("dis", "k.hex", "--isa", "tile", cwd=folder)
        check_eq((code, err), (0, ""))
        check_eq(run("as", "-", "--isa", "tile", "--format", "hex", text=out.decode())[1].decode(), text)
        with open(os.path.join(folder, "c.txt"), "w") as f:
            f.write("// a kernel\nc020_208f /* two\nlines */ 0010700F\n@4_0 04030201 5\n")
        code, out, _ = run("dis", "c.txt", "--format", "hex", "--isa", "tile", "--base", "0x30000000", cwd=folder)
        check("# 30000104: 00000005" in out.decode() and "# 30000000: c020208f" in out.decode(), out)
        code, out, _ = run("dis", "--hex", "-", "--isa", "tile", text=text)
        check_eq(out.decode().splitlines()[:3], ["CSRRS s1, arg_base, s0", "EXIT", ".word 0x04030201"])


@case()
def bad_readmemh():
    rows = (("0\n0x1\n", "line 2: '0x1'"), ("@\n", "line 1: '@'"), ("123456789\n", "line 1: '123456789'"), ("0\n\nxx\n", "line 3: 'xx'"),
            ("@1 0\n@0 0 0\n", "word 0x1 is given twice"), ("@20000000\n0", "line 2: word 0x20000000 lies beyond"))
    with tempfile.TemporaryDirectory() as folder:
        for text, message in rows:
            with open(os.path.join(folder, "k.hex"), "w") as f:
                f.write(text)
            code, out, err = run("dis", "k.hex", "--isa", "tile", cwd=folder)
            check_eq((code, out), (2, b""), text)
            check(message in err, err)


@case()
def words_in_hexadecimal():
    code, out, _ = run("dis", "--isa", "tile", "--hex", "0x12346137", "FFF10117", "0")
    check_eq((code, out.decode().splitlines()),
             (0, ["LUI s2, 0x12346", "ADDI s2, s2, -1", ".word 0x00000000"]))
    code, out, _ = run("dis", "--isa", "xphmg", "--hex", "4501", "0x00a50533", "0x00010001", "0")
    check_eq(out.decode().splitlines(), ["c.li x10, 0", "add x10, x10, x10", ".word 0x00010001", ".half 0x0000"])
    code, out, _ = run("dis", "--isa", "tile", "--hex", "-", text="0x0010700f 17\n\n0x17\n")
    check_eq(out.decode().splitlines(), ["EXIT", "ADDI s0, s0, 0", "ADDI s0, s0, 0"])
    code, out, err = run("dis", "--isa", "tile", "--hex", "17", "0xg")
    check_eq((code, out), (2, b""))
    check("word 2 is '0xg'" in err, err)
    code, out, err = run("dis", "--isa", "tile", "--hex", "-", text="17\n 18 123456789\n")
    check_eq((code, out), (2, b""))
    check("line 2: '123456789'" in err, err)
    code, out, _ = run("dis", "--isa", "xphmg", "--hex", "4501", "0", "--json")
    check_eq([(e["text"], e["row"], e["size"]) for e in json.loads(out)],
             [("c.li x10, 0", "c.li", 2), (".half 0x0000", None, 2)])


@case()
def programs():
    with tempfile.TemporaryDirectory() as folder:
        source = "_start: li a0, 42\nx: bnez a0, x\n.data\nd: .word 1, 2\n.bss\nroom: .zero 64\n"
        run("as", "-", "--isa", "xphmg", "-o", "a.elf", text=source, cwd=folder)
        code, out, err = run("dis", "a.elf", cwd=folder)
        check_eq((code, err), (0, ""))
        check(b"bne x10, x0, x " in out and b"_start:\n" in out and b".zero 64" in out, out.decode())
        code, lines, _ = run("dis", "a.elf", "--json", cwd=folder)
        first = json.loads(lines)[0]
        check_eq((first["address"], first["word"], first["row"], first["label"], first["section"]),
                 ("0x80000000", "0x2a00513", "addi", "_start", ".text"))
        run("as", "-", "--isa", "xphmg", "-o", "b.elf", text=out.decode(), cwd=folder)
        with open(os.path.join(folder, "a.elf"), "rb") as a, open(os.path.join(folder, "b.elf"), "rb") as b:
            check_eq(a.read(), b.read(), "the second file")
        check_eq(run("dis", "a.elf", "--isa", "tile", cwd=folder)[0], 2)
        with open(os.path.join(folder, "raw.bin"), "wb") as f:
            f.write(bytes([0x17, 0, 0, 0, 0x0f, 0x70]))
        check_eq(run("dis", "raw.bin", cwd=folder)[0], 2)
        code, out, _ = run("dis", "raw.bin", "--isa", "tile", "--base", "0x100", cwd=folder)
        check(b"ADDI s0, s0, 0" in out and b".half 0x700f" in out and b".address 0x100" in out, out.decode())
        with open(os.path.join(folder, "bad.elf"), "wb") as f:
            f.write(b"\x7fELF\x02\x01\x01" + bytes(20))
        code, _, err = run("dis", "bad.elf", cwd=folder)
        check_eq(code, 2)
        check("bad.elf: offset 18: machine 0x0" in err, err)


@case()
def names_that_are_no_utf8():
    with tempfile.TemporaryDirectory() as folder:
        with open(os.path.join(folder, "n.s"), "wb") as f:
            f.write(b'nop\n"caf\xe9": nop\n')
        check_eq(run("as", "n.s", "--isa", "xphmg", "-o", "n.elf", cwd=folder)[0], 0)
        _, lines, _ = run("dis", "n.elf", "--json", cwd=folder)
        check_eq(json.loads(lines)[1].get("label"), '"caf\\351"', "the label, as the text of dis spells it")
        with open(os.path.join(folder, "bad.s"), "wb") as f:
            f.write(b'nop # \xe9\nnonsense \xe9\n')
        code, errors, _ = run("as", "bad.s", "--isa", "xphmg", "--json", cwd=folder)
        entry = json.loads(errors)["errors"][0]
        check_eq((code, entry["file"], entry["line"], entry["source"]), (2, "bad.s", 2, "nonsense \\xe9"))


main("as_dis")
