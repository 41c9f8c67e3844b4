set remotetimeout 60
target remote | facet gdb --machine gfx12 cube.gfx12 --ray "-1 0.25 0.5 1 0.25 0.125" --stdio --quiet
stepi
stepi
monitor dis
print/x $v20
reverse-stepi
continue
