target remote | facet gdb --machine gfx12 cube.gfx12 --ray "-1 0.25 0.5 1 0.25 0.125" --stdio --quiet
stepi
print/x $v0
print $t_cur
watch *(int *)0x1000000000000
continue
delete
rwatch *(int *)0x180
continue
print/x $v20
reverse-stepi
reverse-stepi
print/x $v20
delete
continue
