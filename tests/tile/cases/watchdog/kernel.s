# Odd cores end, even ones spin.
        CSRR    s1, core_id
        ANDI    s2, s1, 1
        BNE     s2, s0, end
loop:   J       loop
end:    EXIT
