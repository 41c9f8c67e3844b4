"""A lockstep scoreboard: every instruction that the design retires is compared with Facet's.

`design` stands for a simulator of RTL that tells (pc, register, value) for each retired instruction; this one has a bug."""
# %% The program, and what the design has retired.
import facet

PROGRAM = "_start: li t0, 6\n li t1, 7\n mul t2, t0, t1\n sub t3, t0, t2\n"
design = [(0x80000000, "x5", 6), (0x80000004, "x6", 7), (0x80000008, "x7", 42), (0x8000000C, "x28", 36)]


# %% One step of the reference for each instruction of the design.
def scoreboard(program, retired):
    with facet.Xphmg(program) as reference:
        for step, (pc, register, value) in enumerate(retired):
            line = reference.disassemble(reference["pc"])
            changes = reference.step_changes()
            expected = [(changes[0].address, change.name, change.new) for change in changes if change.kind == "reg"]
            if expected != [(pc, register, value)]:
                return f"step {step}, {line}: {register} = {value:#x}, expected {changes[-1].text}"
    return f"{len(retired)} instructions agree"


print(scoreboard(PROGRAM, design[:3]))
print(scoreboard(PROGRAM, design))
