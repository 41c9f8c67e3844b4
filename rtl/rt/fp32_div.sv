// a / b, rounded once: 27 bits of quotient by restoring division, the remainder as the sticky part.
module fp32_div (
    input  logic [31:0] a, b,
    input  logic [2:0]  rm,
    input  logic        ftz,
    output logic [31:0] y,
    output logic [7:0]  flags
);
`include "fp32.svh"

    // A significand with its leading one at bit 23, and how far a subnormal one was moved.
    function automatic logic [28:0] normal(input logic [31:0] v);
        logic [23:0] m;
        logic [4:0]  moved;
        m = {v[30:23] != 8'd0, v[22:0]};
        moved = 5'd0;
        for (int i = 0; i < 23; i++) begin
            if (!m[23]) begin
                m = m << 1;
                moved = moved + 5'd1;
            end
        end
        normal = {moved, m};
    endfunction
    function automatic logic signed [11:0] field(input logic [31:0] v);
        field = $signed({4'd0, v[30:23] == 8'd0 ? 8'd1 : v[30:23]});
    endfunction

    logic               sign;
    logic [23:0]        dividend, divisor;
    logic [4:0]         moved_a, moved_b;
    logic [24:0]        rest;
    logic [26:0]        quotient; // of dividend * 2^26 / divisor: 26 or 27 bits
    logic signed [11:0] base;

    always_comb begin
        sign = a[31] ^ b[31];
        {moved_a, dividend} = normal(a);
        {moved_b, divisor} = normal(b);
        rest = {1'b0, dividend};
        quotient = 27'd0;
        for (int i = 26; i >= 0; i--) begin
            if (rest >= {1'b0, divisor}) begin
                rest = rest - {1'b0, divisor};
                quotient[i] = 1'b1;
            end
            rest = rest << 1;
        end
        base = field(a) - $signed({7'd0, moved_a}) - field(b) + $signed({7'd0, moved_b}) - 12'sd26;
    end

    logic [31:0] rounded;
    logic [7:0]  rounded_flags;
    fp32_round #(.W(91)) round (
        .sign(sign), .mant({quotient, 64'd0}), .base(base - 12'sd64), .sticky(rest != 25'd0), .rm(rm), .ftz(ftz),
        .y(rounded), .flags(rounded_flags));

    always_comb begin
        flags = 8'd0;
        if (is_nan(a) || is_nan(b)) begin
            y = CANONICAL_NAN;
        end else if ((is_inf(a) && is_inf(b)) || (is_zero(a) && is_zero(b))) begin
            y = CANONICAL_NAN;
            flags = FLAG_NV;
        end else if (is_inf(a) || is_zero(b)) begin
            y = {sign, INFINITY[30:0]};
            flags = is_inf(a) ? 8'd0 : FLAG_DZ;
        end else if (is_zero(a) || is_inf(b)) begin
            y = {sign, 31'd0};
        end else begin
            y = rounded;
            flags = rounded_flags;
        end
    end
endmodule
