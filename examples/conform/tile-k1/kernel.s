# Worked example K1 (tile-semantics.md 20.9): every tile stores the number of its core.
CSRRS s5, 0xC02, s0     # arg_base
LW s6, 0(s5)            # output
LW s7, 4(s5)            # tiles per row
CSRRS s8, 0xC01, s0     # tile_offset
LSRI s9, s8, 20         # row
SHLI s10, s8, 16
LSRI s10, s10, 20       # column
MUL s9, s9, s7
ADD s9, s9, s10
SHLI s9, s9, 2
CSRRS s11, 0xC00, s0    # core_id
SW.R s11, s9(s6)
EXIT
