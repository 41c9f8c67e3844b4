set remotetimeout 60
target remote | facet gdb --machine tile examples/gdb/list/list.json --stdio --quiet
monitor break-command 1
continue
break shade.s:6
continue
watch *(int *)0x8000
continue
reverse-stepi
print *(int *)0x8000
next
break done
continue
print $v1.i32
backtrace
