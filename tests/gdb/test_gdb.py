main("gdb")
