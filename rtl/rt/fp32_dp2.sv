// a*b - c*d, exact, rounded once (rt-semantics.md 4 and 14). All sums and products of the unit are this operation:
// a + b = a*1 - b*(-1), a*b = a*b - (a zero of the other sign), fma(a, b, c) = a*b - c*(-1).
module fp32_dp2 (
    input  logic [31:0] a, b, c, d,
    input  logic [2:0]  rm,
    input  logic        ftz,
    output logic [31:0] y,
    output logic [7:0]  flags
);
`include "fp32.svh"

    // {exponent, significand}: the magnitude of v is significand * 2^exponent.
    function automatic logic signed [11:0] exponent_of(input logic [31:0] v);
        exponent_of = $signed({4'd0, v[30:23] == 8'd0 ? 8'd1 : v[30:23]}) - 12'sd150;
    endfunction
    function automatic logic [23:0] significand_of(input logic [31:0] v);
        significand_of = {v[30:23] != 8'd0, v[22:0]};
    endfunction
    function automatic logic invalid_product(input logic [31:0] p, input logic [31:0] q);
        invalid_product = (is_inf(p) && is_zero(q)) || (is_zero(p) && is_inf(q));
    endfunction

    // The two products; the larger exponent becomes the first, a zero the second.
    logic               sign1, sign2, swap, high_sign, low_sign;
    logic [47:0]        m1, m2, high, low;
    logic signed [11:0] e1, e2, high_e, low_e, shift;
    logic [112:0]       x, y_aligned;
    logic               lost; // something of the smaller product lies below the grid

    always_comb begin
        sign1 = a[31] ^ b[31];
        sign2 = ~(c[31] ^ d[31]);
        m1 = 48'(significand_of(a)) * 48'(significand_of(b));
        m2 = 48'(significand_of(c)) * 48'(significand_of(d));
        e1 = exponent_of(a) + exponent_of(b);
        e2 = exponent_of(c) + exponent_of(d);
        swap = m1 == 48'd0 || (m2 != 48'd0 && e1 < e2);
        {high_sign, high, high_e} = swap ? {sign2, m2, e2} : {sign1, m1, e1};
        {low_sign, low, low_e} = swap ? {sign1, m1, e1} : {sign2, m2, e2};

        x = {1'b0, high, 64'd0};
        shift = high_e - low_e; // 0.. when both count
        y_aligned = 113'd0;
        lost = 1'b0;
        if (low != 48'd0) begin
            y_aligned = shift > 12'sd112 ? 113'd0 : {1'b0, low, 64'd0} >> shift;
            lost = shift > 12'sd112 || |(low & ~(48'hffffffffffff << (shift > 12'sd64 ? shift - 12'sd64 : 12'sd0)));
        end
    end

    // Their sum or difference as sign, magnitude and whether something smaller follows.
    logic         same, larger, sum_sign;
    logic [113:0] sum;

    always_comb begin
        same = high_sign == low_sign;
        larger = x >= y_aligned;
        if (same) begin
            sum = {1'b0, x} + {1'b0, y_aligned};
        end else if (larger) begin
            sum = {1'b0, x} - {1'b0, y_aligned} - 114'(lost); // x - (y + rest) = (x - y - 1) + (1 - rest)
        end else begin
            sum = {1'b0, y_aligned} - {1'b0, x};
        end
        sum_sign = larger || same ? high_sign : low_sign;
    end

    logic [31:0] rounded;
    logic [7:0]  rounded_flags;
    fp32_round #(.W(114)) round (
        .sign(sum_sign), .mant(sum), .base(high_e - 12'sd64), .sticky(lost), .rm(rm), .ftz(ftz), .y(rounded), .flags(rounded_flags));

    logic inf1, inf2, invalid;
    always_comb begin
        inf1 = is_inf(a) || is_inf(b);
        inf2 = is_inf(c) || is_inf(d);
        invalid = invalid_product(a, b) || invalid_product(c, d);
        flags = invalid ? FLAG_NV : 8'd0;
        if (is_nan(a) || is_nan(b) || is_nan(c) || is_nan(d) || invalid) begin
            y = CANONICAL_NAN;
        end else if (inf1 && inf2 && sign1 != sign2) begin
            y = CANONICAL_NAN;
            flags = FLAG_NV;
        end else if (inf1 || inf2) begin
            y = {inf1 ? sign1 : sign2, INFINITY[30:0]};
        end else if (sum == 114'd0) begin
            y = {m1 == 48'd0 && m2 == 48'd0 && sign1 == sign2 ? sign1 : rm == RM_RDN, 31'd0};
        end else begin
            y = rounded;
            flags = rounded_flags;
        end
    end
endmodule

module fp32_add (
    input  logic [31:0] a, b,
    input  logic [2:0]  rm,
    input  logic        ftz,
    output logic [31:0] y,
    output logic [7:0]  flags
);
`include "fp32.svh"
    fp32_dp2 unit (.a(a), .b(ONE), .c(b), .d(MINUS_ONE), .rm(rm), .ftz(ftz), .y(y), .flags(flags));
endmodule

module fp32_sub (
    input  logic [31:0] a, b,
    input  logic [2:0]  rm,
    input  logic        ftz,
    output logic [31:0] y,
    output logic [7:0]  flags
);
`include "fp32.svh"
    fp32_dp2 unit (.a(a), .b(ONE), .c(b), .d(ONE), .rm(rm), .ftz(ftz), .y(y), .flags(flags));
endmodule

module fp32_mul (
    input  logic [31:0] a, b,
    input  logic [2:0]  rm,
    input  logic        ftz,
    output logic [31:0] y,
    output logic [7:0]  flags
);
`include "fp32.svh"
    fp32_dp2 unit (.a(a), .b(b), .c({~(a[31] ^ b[31]), 31'd0}), .d(ONE), .rm(rm), .ftz(ftz), .y(y), .flags(flags));
endmodule

module fp32_fma (
    input  logic [31:0] a, b, c,
    input  logic [2:0]  rm,
    input  logic        ftz,
    output logic [31:0] y,
    output logic [7:0]  flags
);
`include "fp32.svh"
    fp32_dp2 unit (.a(a), .b(b), .c(c), .d(MINUS_ONE), .rm(rm), .ftz(ftz), .y(y), .flags(flags));
endmodule
