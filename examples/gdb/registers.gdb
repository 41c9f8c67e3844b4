target remote | facet gdb sum.elf --stdio
print/x $cap_prec_mode
print $cap_prec_mode_fields
set $pbank1 = 0xff00ff00
stepi
print/x $pbank1
