"""Every mnemonic and operand order that the tile draft writes assembles to the bits of its own tables.

document_names.tsv holds them as the draft draws them; nothing here knows spec/tile.insn.tsv. What the
disassembler prints for such a word is the row's name, and assembles to the word again.
"""
import os
import subprocess

from harness import add_case, check, check_eq, main

FACET = os.environ["FACET"]
LIST = os.path.join(os.environ["FACET_SOURCE"], "tests/tile/document_names.tsv")
RESOLUTIONS = os.path.join(os.environ["FACET_SOURCE"], "spec/resolutions-tile.md")


def rows():
    with open(LIST) as file:
        return [line.rstrip("\n").split("\t") for line in file if not line.startswith("#")]


def words(text):
    done = subprocess.run([FACET, "as", "-", "--isa", "tile", "--format", "hex"], input=text,
                          capture_output=True, text=True)
    return done.returncode, [int(w, 16) for w in done.stdout.split()], done.stderr


def names():
    listed = [row for row in rows() if row[2] != "?"]
    code, got, err = words("".join(row[1] + "\n" for row in listed))
    check_eq((code, err), (0, ""))
    check_eq(len(got), len(listed))
    for (section, line, bits, _), word in zip(listed, got):
        check_eq((section, line, format(word, "032b")), (section, line, bits.replace(" ", "")))


def round_trip():
    _, got, _ = words("".join(row[1] + "\n" for row in rows() if row[2] != "?"))
    text = subprocess.run([FACET, "dis", "--isa", "tile", "--hex"] + ["%08x" % w for w in got],
                          capture_output=True, text=True).stdout
    check(".word" not in text, text)
    check_eq(words(text)[1], got)


def nameless():
    for _, line, bits, _ in rows():
        if bits == "?":
            name = line.split()[0]
            code, _, err = words(line + "\n")
            check_eq(code, 2)
            check("hint: %s needs " % name in err and "%s." % name in err.split("needs", 1)[1], err)


def cited():
    with open(RESOLUTIONS) as file:
        text = file.read()
    for row in rows():
        check(row[3] == "-" or "### %s " % row[3] in text, row[3])


add_case("the draft's names have the draft's bits", names, "TILE-582")
add_case("printed by row name, and back", round_trip, "TILE-582")
add_case("a name without one encoding is answered with its endings", nameless, "TILE-582")
add_case("resolutions exist", cited)
main("tile_names")
