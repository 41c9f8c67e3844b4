"""The tables of spec/ as Python sees them: CSR fields and what a write leaves (spec/README.md, "CSR rows").

This reads the same columns as the program does, by code of its own: where the two disagree, a case fails.
"""
import csv
import os

SPEC = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "spec")
MASK64 = (1 << 64) - 1


def rows(name):
    with open(os.path.join(SPEC, name), newline="") as f:
        return list(csv.DictReader(f, delimiter="\t", quoting=csv.QUOTE_NONE))


class Field:
    def __init__(self, row):
        hi, _, lo = row["bits"].partition(":")
        self.hi, self.lo = int(hi), int(lo or hi)
        self.name, self.access, self.legal, self.needs = row["field"], row["access"], row["legal"], row["needs"]
        self.place = row["place"]
        self.reset = int(row["reset"], 0)
        self.mask = (1 << (self.hi - self.lo + 1)) - 1

    def of(self, value):
        return value >> self.lo & self.mask


class Register:
    def __init__(self, name, number):
        self.name, self.number, self.fields = name, number, []

    def reset(self):
        return sum(f.reset << f.lo for f in self.fields)

    def place(self):
        return self.fields[0].place


def registers(*files):
    """Registers with one address of their own, by number; `a;b` gives the last, which fits an instruction."""
    found = {}
    for file in files:
        for row in rows(file):
            try:
                number = int(row["addr"].split(";")[-1], 0)
                int(row["reset"], 0)
            except ValueError:
                continue  # a family, one behind XISEL, or one that shows another
            found.setdefault(number, Register(row["csr"], number)).fields.append(Field(row))
    return found


def numbers(text):
    """The numbers of a list such as `0..6,15` or `A=0 B=1`; None when it speaks of other fields."""
    out = set()
    for part in text.replace(",", " ").split():
        part = part.split("=")[-1]
        first, _, last = part.partition("..")
        try:
            out.update(range(int(first, 0), int(last or first, 0) + 1))
        except ValueError:
            return None
    return out


def legal_value(field, written):
    """What an illegal value becomes; None when the row needs more than its own columns."""
    text, _, other = field.legal.partition(" else ")
    if text == "-":
        return written
    allowed = numbers(text)
    if allowed is None or other == "old":
        return None
    return written if written in allowed else int(other or "0", 0)


def after_write(register, old, written, has):
    """What a read gives after a write, or None when the columns do not say. `has(name)`: a field of the
    configuration is 1."""
    value = 0
    for f in register.fields:
        needs = [] if f.needs == "-" else f.needs.split("+")
        if any(n == "M!" for n in needs):
            needs.remove("M!")
        present = all(has(n.rstrip("!")) for n in needs)
        bits = f.of(written)
        if not present:
            bits = 0
        elif f.access == "RO":
            bits = f.of(old)
        elif f.access == "W1C":
            bits = f.of(old) & ~bits
        elif f.access in ("WC", "W1A"):
            bits = 0
        elif f.legal == "0":
            bits = 0
        elif f.access in ("RW", "WARL"):
            bits = legal_value(f, bits)
            if bits is None:
                return None
        value |= bits << f.lo
    return value
