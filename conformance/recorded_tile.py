"""Portable cases out of the suites of the tile machine: as recorded.py, from what tests/tile/record.c writes.

Each dispatch becomes a case folder. Where the suite set registers, a kernel in front of the recorded one loads them from memory, and one
behind it stores what the suite looked at; both use pc-relative loads and stores, so that no register is theirs.
"""
import os

import recorded
from tile_case import Case

FILES = "tile_scalar tile_memory tile_vector tile_model tile_system tile_examples tile_machine raster_machine".split()
FRONT = 0x8007F000   # of the frame: kernel in front, kernel behind; the suites have 1 MiB from 0x80000000
EXIT = 0x0010700F
CSRS = {"config": 0x003, "vstatus": 0x002, "vstride": 0x005}
SEEN = {"status": 0x000, "fstatus": 0x001} | CSRS
DONE, FAULTED = 3, 4
MOST = 2  # dispatches of a kind of case


class Dispatch:
    def __init__(self, options):
        regs, strong, poison = (int(v) for v in options.split())
        self.options = ({"regs": regs} if regs != 32 else {}) | ({"mem": "strong"} if strong else {}) | \
            ({"poison": True} if poison else {})
        self.memory, self.packet, self.before, self.after, self.gets, self.exec = [], None, None, None, [], False


def registers(fields):
    return {"s": [int(v, 16) for v in fields[:31]], "f": [int(v, 16) for v in fields[31:63]],
            "v": [int(v, 16) for v in fields[63:94]]}


def parse(path):
    """(case, rows, dispatches) of a suite."""
    name, ids, rows, now, found = "", "", set(), [], []
    with open(path) as f:
        for line in f:
            word, _, rest = line.rstrip("\n").partition(" ")
            if word == "case":
                name, _, ids = rest.partition("\t")
                rows, now = set(), []
            elif word == "tile":
                now.append(Dispatch(rest))
                now[-1].rows = set()
            elif word.startswith("check"):
                head, _, text = line.rstrip("\n").partition("\t")
                if not recorded.HOST.search(text):
                    rows.update(head.split()[1:] or ids.split())
                    if now:
                        now[-1].rows.update(head.split()[1:])
            elif word == "end":
                if rest == "pass":
                    found.append((name, set(ids.split()) & rows, now))
            elif not now:
                continue
            elif word == "memory":
                address, data = rest.split()
                now[-1].memory.append((int(address, 16), bytes.fromhex(data)))
            elif word in ("exec", "run"):
                now[-1].packet, now[-1].exec = [int(v, 16) for v in rest.split()], word == "exec"
            elif word == "in":
                fields = rest.split()
                now[-1].before = registers(fields[3:]) | dict(zip(("config", "vstatus", "vstride"), (int(v, 16) for v in fields)))
            elif word == "out":
                fields = rest.split()
                keys = ("cause", "pc", "address", "status", "fstatus", "config", "vstatus", "vstride")
                now[-1].after = registers(fields[9:]) | dict(zip(keys, (int(v, 16) for v in fields[1:9])))
                now[-1].after["end"] = int(fields[0])
            elif word == "get" and now[-1].after is not None:
                now[-1].gets.append(tuple(int(v, 16) for v in rest.split()))
    return found


def frame(d):
    """Text of both kernels, and the outputs behind: (text, [(offset symbol, value)])."""
    lines = [f"# loads the registers of the case, runs the code at {d.packet[0]:#x}, stores the registers"]
    for i, value in enumerate(d.before["f"]):
        lines += [f"LW.PL s1, f_in + {4 * i} - .", f"FMV.S2F f{i}, s1"] if value else []
    for i, value in enumerate(d.before["v"]):
        lines += [f"VLD.V.PL v{i + 1}, v_in + {16 * i} - ."] if value else []
    for i, name in enumerate(CSRS):
        lines += [f"LW.PL s1, c_in + {4 * i} - .", f"CSRRW s0, {CSRS[name]:#x}, s1"]
    for i, value in enumerate(d.before["s"]):
        lines.append(f"LW.PL s{i + 1}, s_in + {4 * i} - .")
    at = FRONT + 4 * (len(lines) - 1)  # without the comment
    lines += [f".word {jump(at, d.packet[0]):#x} # JAL s0, {d.packet[0]:#x}", ".balign 16", "v_in:"]
    lines += [".word " + ", ".join(f"{v >> 32 * k & 0xFFFFFFFF:#x}" for k in range(4)) for v in d.before["v"]]
    lines += ["f_in:"] + [f".word {v:#x}" for v in d.before["f"]]
    lines += ["c_in:"] + [f".word {d.before[name]:#x}" for name in CSRS]
    lines += ["s_in:"] + [f".word {v:#x}" for v in d.before["s"]]
    lines += [".balign 16", "behind:"]
    lines += [f"SW.PL s{i + 1}, s_out + {4 * i} - ." for i in range(31)]
    for i, name in enumerate(SEEN):
        lines += [f"CSRRS s1, {SEEN[name]:#x}, s0", f"SW.PL s1, c_out + {4 * i} - ."]
    for i in range(32):
        lines += [f"FMV.F2S s1, f{i}", f"SW.PL s1, f_out + {4 * i} - ."]
    lines += [f"VST.V.PL v{i + 1}, v_out + {16 * i} - ." for i in range(31)]
    lines += ["EXIT", ".balign 16", "v_out: .zero 496", "f_out: .zero 128", "c_out: .zero 20", "s_out: .zero 124"]
    return "\n".join(lines) + "\n"


def sizes(d):
    """Offsets of `behind` and `v_out` in the frame, as the text lays them out."""
    front = 2 * sum(v != 0 for v in d.before["f"]) + sum(v != 0 for v in d.before["v"]) + 6 + 31 + 1
    at = (4 * front + 15) // 16 * 16 + 496 + 128 + 12 + 124
    behind = (at + 15) // 16 * 16
    code = 31 + 10 + 64 + 31 + 1
    return behind, (behind + 4 * code + 15) // 16 * 16


def jump(source, target):
    offset = target - source
    return (offset >> 20 & 1) << 31 | (offset >> 1 & 0x3FF) << 21 | (offset >> 11 & 1) << 20 | (offset >> 12 & 0xFF) << 12 | 0x6F


def joined(pieces):
    """Neighbours with a page or less of zeros between them as one."""
    out = []
    for address, data in sorted(pieces):
        if out and address - (out[-1][0] + len(out[-1][1])) <= 4096:
            out[-1] = (out[-1][0], out[-1][1] + bytes(address - out[-1][0] - len(out[-1][1])) + data)
        else:
            out.append((address, data))
    return out


def make(name, rows, d):
    pc, columns, lines, width, height, args, arg_bytes, shared, mask, const, const_bytes, watchdog = d.packet
    after = d.after
    framed = d.exec and after["end"] == DONE
    c = Case(name, sorted(rows), "reference-run", FRONT if d.exec else pc, text=frame(d) if d.exec else None)
    c.grid, c.tile, c.options = (columns, lines), (width, height), d.options
    c.packet = ({"core_mask": mask} if mask else {}) | ({"shared_size": shared} if shared else {}) | \
        ({"const_address": f"{const:#x}", "const_size": const_bytes} if const_bytes else {}) | \
        ({"watchdog": watchdog} if watchdog else {})
    memory = {}
    for address, data in d.memory:
        for i, byte in enumerate(data):
            memory[address + i] = byte
    if arg_bytes:
        c.packet["arg_address"] = f"{args:#x}"
        c.packet["args"] = [sum(memory.get(args + 4 * i + k, 0) << 8 * k for k in range(4)) for i in range(arg_bytes // 4)]
    inputs = joined(d.memory)
    if not d.exec:
        code = [(a, b) for a, b in inputs if a <= pc < a + len(b)]
        if not code:
            return None
        c.code = code[0][1][pc - code[0][0]:]
        c.address = pc
    if framed:  # the EXIT that the bench put behind the code goes to the stores
        at = pc
        while at < pc + 4096:
            word = sum(memory.get(at + k, 0) << 8 * k for k in range(4))
            if word == EXIT:
                break
            at += 4
        behind, out = sizes(d)
        inputs.append((at, jump(at, FRONT + behind).to_bytes(4, "little")))
        data = b"".join(v.to_bytes(16, "little") for v in after["v"]) + \
            b"".join(v.to_bytes(4, "little") for v in after["f"]) + \
            b"".join(after[n].to_bytes(4, "little") for n in SEEN) + b"".join(v.to_bytes(4, "little") for v in after["s"])
        c.output(FRONT + out, data, [f"v{i + 1}, lane {k}" for i in range(31) for k in range(4)] + [f"f{i}" for i in range(32)] +
                 list(SEEN) + [f"s{i + 1}" for i in range(31)])
    elif after["end"] == FAULTED and after["cause"]:
        c.fault(0, after["cause"], after["pc"], after["address"])
    elif after["end"] != DONE:
        return None
    for address, value in d.gets:
        if address >= 0x80000000:
            c.output(address, value.to_bytes(4, "little"), [f"word at {address:#x}"])
    for address, data in inputs:
        c.input(address, data)
    return c if c.outputs or c.faults else None


def add(suite, folder):
    for name in FILES:
        path = os.path.join(folder, f"test_{name}.log")
        if not os.path.exists(path):
            continue
        for case, head, dispatches in parse(path):
            used, taken = {}, 0
            for n, d in enumerate(dispatches, 1):
                rows = head | d.rows
                key = tuple(sorted(rows))
                used[key] = used.get(key, 0) + 1
                if not rows or d.after is None or used[key] > MOST:
                    continue
                made = make(f"tile/recorded/{name[5:] if name.startswith('tile_') else name}/{case}-{n}", rows, d)
                if made is not None:
                    suite.add(made)
