"""Instructions without a machine: assemble, disassemble, decode."""
from __future__ import annotations

import ctypes
from typing import Any, Optional

from . import _library as c
from ._library import lib

ISAS = ("xphmg", "tile")


def assemble(source: str, isa: str = "xphmg", *, base: Optional[int] = None, flat: bool = False,
             name: str = "-") -> bytes:
    """An ELF file, or with `flat` the bytes from the lowest to the highest address.

    `base` is the address of the first section. A bad text is an Error with all complaints; `where` is the line
    of the first one. `name` stands for the file in messages."""
    encoded = c.text(source, "source")
    config = c.AssembleConfig(isa=c.one_of(isa, ISAS, "isa"), flat=bool(flat), name=c.text(name, "name"),
                              has_base=base is not None, base=c.number(base or 0, 64, "base"))
    program, messages = c.Blob(), c.Blob()
    try:
        c.call("isa_assemble_sized", config, ctypes.sizeof(config), encoded, len(encoded), program, messages)
    except c.Error as error:
        complaints = c.take(messages).decode(errors="replace").rstrip()
        raise c.Error(complaints or str(error), error.status, error.where) from None
    return c.take(program)


def disassemble(elf: bytes) -> str:
    """A text that assembles to the same bytes."""
    data, listing = c.octets(elf, "elf"), c.Blob()
    c.call("isa_disassemble", data, len(data), listing)
    return c.take(listing).decode()


def decode(word: int, isa: str = "xphmg") -> dict[str, Any]:
    """The row of the contract that owns the word, and its operands by name."""
    insn, operands, count = c.Insn(), (c.Operand * 16)(), ctypes.c_size_t()
    c.call("isa_decode_word_sized", c.one_of(isa, ISAS, "isa"), c.number(word, 32, "word"), insn, ctypes.sizeof(insn),
           operands, ctypes.sizeof(c.Operand), 16, count)
    row: dict[str, Any] = {name: _plain(getattr(insn, name)) for name, *_ in c.Insn._fields_}
    row["operands"] = {_plain(one.name): one.value for one in operands[:count.value]}
    return row


def show(word: int, isa: str = "xphmg", *, pc: int = 0) -> str:
    """One line of assembly for the word at `pc`; `.word 0x...` when it is illegal."""
    line = ctypes.create_string_buffer(256)
    lib.facet_isa_print_word(c.one_of(isa, ISAS, "isa"), c.number(word, 32, "word"), c.number(pc, 64, "pc"), line, 256)
    return line.value.decode()


def _plain(value: Any) -> Any:
    return value.decode() if isinstance(value, bytes) else value
