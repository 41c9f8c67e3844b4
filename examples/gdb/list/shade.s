# Doubles a number in scratch memory and stores it into the frame.
start:
    CSRR s1, sm_base
    ADDI s3, s0, 5
    SW s3, 0(s1)
    ADD s3, s3, s3
    SW s3, 0(s1)
    CSRR s4, arg_base
    LW s4, 0(s4)
    VBCAST.I32 v1, s3
done:
    SW s3, 0(s4)
    EXIT
