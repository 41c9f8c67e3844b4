target remote | facet gdb sum.elf --stdio
break *done
continue
print (long)sum
watch *(long *)&sum
reverse-continue
print (long)sum
x/i $pc
reverse-stepi
print $t0
