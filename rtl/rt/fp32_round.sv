// One rounding to binary32: (-1)^sign * mant * 2^base, where `sticky` stands for a further, smaller part.
// numeric.md 9 (Round): tiny is judged after rounding with unbounded exponent; with `ftz` tiny results become zero.
module fp32_round #(
    parameter W = 114
) (
    input  logic               sign,
    input  logic [W-1:0]       mant,    // not zero
    input  logic signed [11:0] base,
    input  logic               sticky,
    input  logic [2:0]         rm,
    input  logic               ftz,
    output logic [31:0]        y,
    output logic [7:0]         flags
);
`include "fp32.svh"

    // Whether the kept bits grow by one: `low` is their lowest, `half` the first one dropped, `rest` any below it.
    function automatic logic up(input logic low, input logic half, input logic rest);
        case (rm)
            RM_RNE:  up = half & (rest | low);
            RM_RDN:  up = sign & (half | rest);
            RM_RUP:  up = ~sign & (half | rest);
            RM_RMM:  up = half;
            default: up = 1'b0;
        endcase
    endfunction

    logic [W-1:0]       left;      // mant with its highest one at the top
    logic signed [11:0] exponent;  // of that one
    logic [25:0]        wide;      // 24 bits, the half bit, the rest
    logic [25:0]        kept;      // the same on the grid of the result
    logic [8:0]         field;     // exponent field of a normal result, less the leading one
    logic signed [11:0] below;     // steps below the smallest normal exponent
    logic               carry, tiny, inexact, over;
    logic [31:0]        magnitude; // may run over into bit 31

    always_comb begin
        left = mant;
        exponent = base + 12'(W) - 12'sd1;
        for (int step = 64; step > 0; step = step >> 1) begin
            if (step < W && left[W-1 -: 64] >> (64 - step) == '0) begin
                left = left << step;
                exponent = exponent - 12'(step);
            end
        end
        wide = {left[W-1 -: 25], (|left[W-26:0]) | sticky};

        carry = (&wide[25:2]) & up(wide[2], wide[1], wide[0]);
        tiny = exponent < -12'sd126 && !(exponent == -12'sd127 && carry);

        below = exponent < -12'sd126 ? -12'sd126 - exponent : 12'sd0;
        kept = below > 12'sd25 ? 26'd1 : (wide >> below) | {25'd0, |(wide & ~(26'h3ffffff << below))};
        inexact = |kept[1:0];

        field = 9'(exponent + 12'sd126);
        magnitude = {8'd0, kept[25:2]} + {31'd0, up(kept[2], kept[1], kept[0])};
        if (below == 12'sd0) begin // the leading one adds 1 to the exponent field
            magnitude = magnitude + {field, 23'd0};
        end
        over = exponent > 12'sd127 || (below == 12'sd0 && magnitude >= INFINITY);

        flags = 8'd0;
        if (tiny && ftz) begin
            magnitude = 32'd0;
            flags = FLAG_FTZ | FLAG_UF | FLAG_NX;
        end else if (over) begin
            case (rm)
                RM_RTZ:  magnitude = LARGEST;
                RM_RDN:  magnitude = sign ? INFINITY : LARGEST;
                RM_RUP:  magnitude = sign ? LARGEST : INFINITY;
                default: magnitude = INFINITY;
            endcase
            flags = FLAG_OF | FLAG_NX;
        end else if (inexact) begin
            flags = tiny ? FLAG_UF | FLAG_NX : FLAG_NX;
        end
        y = {sign, magnitude[30:0]};
    end
endmodule
