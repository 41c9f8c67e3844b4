"""A hart: run a program, watch it, go back. Cells (# %%) for an editor; `python3 hart.py` runs all."""
# %% A program from text. `with` gives the machine back at the end.
import facet

PROGRAM = """
_start: li t0, 0        # the sum of 1 to 10
        li t1, 10
again:  add t0, t0, t1
        addi t1, t1, -1
        bnez t1, again
        li a0, 0x100000 # the finisher of the platform
        li a1, 0x5555
        sw a1, 0(a0)
"""
hart = facet.Xphmg(PROGRAM)
stop = hart.run()
print(f"{stop.reason} after {stop.steps} steps, t0 = {hart['t0']}")

# %% Fields of CSRs have names too: three rounding modes written to one field.
for mode in (0, 1, 4):
    hart["fcsr.FRM"] = mode
    print(f"frm = {hart['frm']}, fcsr = {hart['fcsr']:#x}")

# %% Watch every write of t0.
hart.load(PROGRAM)
sums = []
hart.observe(reg_write=lambda event: event["name"] == "x5" and sums.append(event["new_value"]))
hart.run()
print("sums on the way:", sums)

# %% Back in time: a snapshot, then one step less.
hart.observe()
hart.load(PROGRAM)
hart.run(5)
saved = hart.snapshot()
hart.run(3)
after = hart["t0"]
hart.restore(saved)
print(f"step {hart.steps}: t0 = {hart['t0']}; three steps later it is {after}")
print("next:", hart.disassemble(hart["pc"]))
hart.close()
