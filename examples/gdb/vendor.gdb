target remote | facet gdb vendor.elf --stdio
x/2i $pc
python exec(gdb.execute("monitor python", to_string=True))
x/2i $pc
