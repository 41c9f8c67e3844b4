// RT.BBOX of one lane, FP32 elements: a new test enters in every cycle and leaves five cycles later.
// The stages are the steps B1 to B7 of rt-semantics.md 7; a step after the one that decides raises no flag.
// Each stage holds one operation of the contract: a chip would cut the divider and the multipliers into further stages.
module rt_bbox (
    input  logic         clock,
    input  logic [3:0]   bug,        // 0; 1 to 6 plant a fault that the testbench has to find
    input  logic         in_valid,
    input  logic [2:0]   in_rm,
    input  logic         in_ftz,
    input  logic         in_empty,   // type of the child
    input  logic         in_t_clamp,
    input  logic         in_w_guard,
    input  logic [287:0] in_ray,     // o, d, tmin, tmax, w; element 0 in the lowest bits
    input  logic [191:0] in_box,     // min, max
    output logic         out_valid,
    output logic [1:0]   out_outcome, // MISS, HIT, NANLANE
    output logic [31:0]  out_tnear,
    output logic [31:0]  out_tfar,
    output logic [7:0]   out_flags
);
`include "fp32.svh"
    localparam logic [1:0] MISS = 2'd0, HIT = 2'd1, NANLANE = 2'd2;

    // ---- B1 to B4: elements become numbers; empty children, NaNs and inverted boxes are decided ----
    logic [479:0] number; // the fifteen elements: ray, box
    logic [7:0]   widen_flags, w_flags;
    logic         any_nan, inverted, guarded;

    always_comb begin
        widen_flags = 8'd0;
        any_nan = 1'b0;
        for (int i = 0; i < 15; i++) begin
            logic [31:0] element;
            logic [39:0] wide;
            element = i < 9 ? in_ray[32*i +: 32] : in_box[32*(i-9) +: 32];
            wide = widen(element, in_ftz);
            number[32*i +: 32] = wide[31:0];
            if (i != 8 || in_w_guard) begin
                widen_flags = widen_flags | wide[39:32];
                any_nan = any_nan | is_nan(wide[31:0]);
            end
            if (i == 8) begin
                w_flags = wide[39:32];
            end
        end
        inverted = 1'b0;
        for (int a = 0; a < 3; a++) begin
            inverted = inverted | less(number[32*(12+a) +: 32], number[32*(9+a) +: 32]);
        end
        guarded = in_w_guard && is_zero(number[32*8 +: 32]);
    end

    logic         v1, going1, ftz1, t_clamp1;
    logic [1:0]   outcome1;
    logic [2:0]   rm1;
    logic [7:0]   flags1;
    logic [95:0]  o1, d1, min1, max1;
    logic [31:0]  tmin1, tmax1;
    always_ff @(posedge clock) begin
        v1 <= in_valid;
        rm1 <= in_rm;
        ftz1 <= in_ftz;
        t_clamp1 <= in_t_clamp;
        {tmax1, tmin1, d1, o1} <= number[255:0];
        {max1, min1} <= number[479:288];
        going1 <= !in_empty && !guarded && !any_nan && !inverted;
        outcome1 <= !in_empty && !guarded && any_nan ? NANLANE : MISS;
        flags1 <= in_empty ? 8'd0 : guarded ? w_flags : widen_flags;
    end

    // ---- B5: 1 / d ----
    logic [95:0] inv;
    logic [23:0] inv_flags;
    genvar g;
    generate
        for (g = 0; g < 3; g = g + 1) begin : reciprocal
            fp32_div div (.a(ONE), .b(d1[32*g +: 32]), .rm(rm1), .ftz(ftz1), .y(inv[32*g +: 32]), .flags(inv_flags[8*g +: 8]));
        end
    endgenerate

    logic        v2, going2, ftz2, t_clamp2;
    logic [1:0]  outcome2;
    logic [2:0]  rm2, parallel2, inside2;
    logic [7:0]  flags2;
    logic [95:0] o2, near2, far2, inv2;
    logic [31:0] tmin2, tmax2;
    always_ff @(posedge clock) begin
        v2 <= v1;
        rm2 <= rm1;
        ftz2 <= ftz1;
        t_clamp2 <= t_clamp1;
        going2 <= going1;
        outcome2 <= outcome1;
        flags2 <= flags1 | (going1 ? inv_flags[7:0] | inv_flags[15:8] | inv_flags[23:16] : 8'd0);
        o2 <= o1;
        inv2 <= inv;
        tmin2 <= tmin1;
        tmax2 <= bug == 4'd1 ? LARGEST : tmax1;
        for (int a = 0; a < 3; a++) begin
            // The sign bit chooses: a direction of -0 has infinite inv and needs no plane.
            near2[32*a +: 32] <= d1[32*a+31] ? max1[32*a +: 32] : min1[32*a +: 32];
            far2[32*a +: 32] <= d1[32*a+31] ? min1[32*a +: 32] : max1[32*a +: 32];
            parallel2[a] <= is_inf(inv[32*a +: 32]) && !(bug == 4'd2 && a == 2);
            inside2[a] <= !less(o1[32*a +: 32], min1[32*a +: 32]) &&
                          (bug == 4'd3 ? less(o1[32*a +: 32], max1[32*a +: 32]) : !less(max1[32*a +: 32], o1[32*a +: 32]));
        end
    end

    // ---- B5: plane - o ----
    logic [191:0] distance; // near, far
    logic [47:0]  distance_flags;
    logic [7:0]   distance_flags_used; // an axis without a finite 1/d subtracts nothing
    generate
        for (g = 0; g < 3; g = g + 1) begin : planes
            fp32_sub near (.a(near2[32*g +: 32]), .b(o2[32*g +: 32]), .rm(bug == 4'd4 ? RM_RNE : rm2), .ftz(ftz2),
                           .y(distance[32*g +: 32]), .flags(distance_flags[8*g +: 8]));
            fp32_sub far (.a(far2[32*g +: 32]), .b(o2[32*g +: 32]), .rm(rm2), .ftz(ftz2),
                          .y(distance[32*(g+3) +: 32]), .flags(distance_flags[8*(g+3) +: 8]));
        end
    endgenerate

    logic         v3, going3, ftz3, t_clamp3;
    logic [1:0]   outcome3;
    logic [2:0]   rm3, parallel3, inside3;
    logic [7:0]   flags3;
    logic [95:0]  inv3;
    logic [191:0] distance3;
    logic [31:0]  tmin3, tmax3;
    always_ff @(posedge clock) begin
        v3 <= v2;
        rm3 <= rm2;
        ftz3 <= ftz2;
        t_clamp3 <= t_clamp2;
        going3 <= going2;
        outcome3 <= outcome2;
        parallel3 <= parallel2;
        inside3 <= inside2;
        inv3 <= inv2;
        distance3 <= distance;
        tmin3 <= tmin2;
        tmax3 <= tmax2;
        flags3 <= flags2 | (going2 ? distance_flags_used : 8'd0);
    end
    always_comb begin
        distance_flags_used = 8'd0;
        for (int a = 0; a < 3; a++) begin
            if (!parallel2[a]) begin
                distance_flags_used = distance_flags_used | distance_flags[8*a +: 8] | distance_flags[8*(a+3) +: 8];
            end
        end
    end

    // ---- B5: times 1 / d ----
    logic [191:0] product, t; // tn, tf
    logic [47:0]  product_flags;
    logic [7:0]   product_flags_used;
    logic         nan_t;
    generate
        for (g = 0; g < 6; g = g + 1) begin : times
            fp32_mul mul (.a(distance3[32*g +: 32]), .b(inv3[32*(g%3) +: 32]), .rm(rm3), .ftz(ftz3), .y(product[32*g +: 32]),
                          .flags(product_flags[8*g +: 8]));
        end
    endgenerate
    always_comb begin
        product_flags_used = 8'd0;
        nan_t = 1'b0;
        for (int i = 0; i < 6; i++) begin
            if (parallel3[i%3]) begin // outside: tn = +Inf, tf = -Inf
                t[32*i +: 32] = {(i < 3) == inside3[i%3], INFINITY[30:0]};
            end else begin
                t[32*i +: 32] = product[32*i +: 32];
                product_flags_used = product_flags_used | product_flags[8*i +: 8];
                nan_t = nan_t | is_nan(product[32*i +: 32]);
            end
        end
    end

    logic         v4, going4, t_clamp4;
    logic [1:0]   outcome4;
    logic [7:0]   flags4;
    logic [191:0] t4;
    logic [31:0]  tmin4, tmax4;
    always_ff @(posedge clock) begin
        v4 <= v3;
        t_clamp4 <= t_clamp3;
        going4 <= going3 && !nan_t;
        outcome4 <= going3 && nan_t ? NANLANE : outcome3;
        flags4 <= flags3 | (going3 && bug != 4'd5 ? product_flags_used : 8'd0);
        t4 <= t;
        tmin4 <= tmin3;
        tmax4 <= tmax3;
    end

    // ---- B6, B7: the interval ----
    logic [31:0] tn, tf, cn, cf;
    logic        hit;
    always_comb begin
        tn = most(most(t4[31:0], t4[63:32]), t4[95:64]);
        tf = least(least(t4[127:96], t4[159:128]), t4[191:160]);
        cn = most(tn, tmin4);
        cf = least(tf, tmax4);
        hit = going4 && (bug == 4'd6 ? less(cn, cf) : !less(cf, cn));
    end
    always_ff @(posedge clock) begin
        out_valid <= v4;
        out_outcome <= hit ? HIT : outcome4;
        out_flags <= flags4;
        if (hit) begin
            out_tnear <= t_clamp4 ? cn : tn;
            out_tfar <= t_clamp4 ? cf : tf;
        end else if (outcome4 == NANLANE) begin
            out_tnear <= CANONICAL_NAN;
            out_tfar <= CANONICAL_NAN;
        end else begin
            out_tnear <= INFINITY;
            out_tfar <= {1'b1, INFINITY[30:0]};
        end
    end
endmodule
