"""A kernel of the tile GPU on NumPy arrays."""
# %% The arguments are words at arg_base: addresses of arrays in VRAM, or numbers.
import facet
import numpy as np

KERNEL = """
        CSRR s5, arg_base
        LW s6, 0(s5)            # input
        LW s7, 4(s5)            # output
        LW s8, 8(s5)            # what is added
        CSRR s9, tile_offset
        ANDI s9, s9, 0x3ff      # x of the tile's first pixel: 16 times its number
        LSRI s9, s9, 2          # a word for each tile
        ADD s6, s6, s9
        ADD s7, s7, s9
        LW s10, 0(s6)
        ADD s10, s10, s8
        SW s10, 0(s7)
        EXIT
"""
gpu = facet.Tile()
numbers = np.arange(16, dtype=np.int32) ** 2
result = np.zeros_like(numbers)
info = gpu.kernel(KERNEL, (16, 1), numbers, result, 1000)
print(f"{info['state']} after {info['rounds']} rounds:", result.tolist())

# %% The four cores shared the tiles.
print("tiles:", [gpu.report(core)["tiles"] for core in range(4)])

# %% A kernel that faults says where.
try:
    gpu.kernel("SW s1, 3(s0)\nEXIT\n", (1, 1), result)
except facet.Error as error:
    print(error)
