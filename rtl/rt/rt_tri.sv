// RT.TRI of one lane, FP32 elements: a new test enters in every cycle and leaves twelve cycles later.
// The stages are the steps T1 to T11 of rt-semantics.md 8; a step after the one that decides raises no flag.
module rt_tri (
    input  logic         clock,
    input  logic [3:0]   bug,        // 0; 1 to 8 plant a fault that the testbench has to find
    input  logic         in_valid,
    input  logic [2:0]   in_rm,
    input  logic         in_ftz,
    input  logic         in_present,   // k < count (T1)
    input  logic         in_cull_back,
    input  logic         in_pred_only,
    input  logic [7:0]   in_eps,       // code of the epsilon
    input  logic [255:0] in_ray,       // o, d, tmin, tmax; element 0 in the lowest bits
    input  logic [287:0] in_triangle,  // v0, v1, v2
    output logic         out_valid,
    output logic [1:0]   out_outcome,  // MISS, HIT, NANLANE
    output logic [31:0]  out_t,
    output logic [31:0]  out_u,
    output logic [31:0]  out_v,
    output logic [7:0]   out_flags
);
`include "fp32.svh"
    localparam logic [1:0] MISS = 2'd0, HIT = 2'd1, NANLANE = 2'd2;
    localparam STAGES = 11; // registers between the twelve stages

    // What every stage hands on. `going`: no step has decided yet.
    logic [STAGES:1]        valid, going, ftz, cull, pred_only;
    logic [2*STAGES+1:2]    outcome;
    logic [3*STAGES+2:3]    rm;
    logic [8*STAGES+7:8]    flags, eps;
    logic [32*STAGES+31:32] tmin, tmax;

    // ---- T1 to T4: elements become numbers; the longest axis of the direction ----
    logic [543:0] number; // the seventeen elements: ray, triangle
    logic [7:0]   widen_flags;
    logic         any_nan, still; // still: the direction is zero
    logic [1:0]   kz, kx, ky;
    logic [31:0]  dx, dy, dz;

    function automatic logic [1:0] after(input logic [1:0] axis);
        after = axis == 2'd2 ? 2'd0 : axis + 2'd1;
    endfunction

    always_comb begin
        widen_flags = 8'd0;
        any_nan = 1'b0;
        for (int i = 0; i < 17; i++) begin
            logic [31:0] element;
            logic [39:0] wide;
            element = i < 8 ? in_ray[32*i +: 32] : in_triangle[32*(i-8) +: 32];
            wide = widen(element, in_ftz);
            number[32*i +: 32] = wide[31:0];
            widen_flags = widen_flags | wide[39:32];
            any_nan = any_nan | is_nan(wide[31:0]);
        end
        dx = number[32*3 +: 32];
        dy = number[32*4 +: 32];
        dz = number[32*5 +: 32];
        still = is_zero(dx) && is_zero(dy) && is_zero(dz);
        kz = 2'd0;
        if (bug == 4'd1 ? dy[30:0] >= dx[30:0] : dy[30:0] > dx[30:0]) begin
            kz = 2'd1;
        end
        if (dz[30:0] > (kz == 2'd1 ? dy[30:0] : dx[30:0])) begin
            kz = 2'd2;
        end
        kx = after(kz);
        ky = after(kx);
        if (number[32*(3+kz)+31] && bug != 4'd2) begin // keeps the winding
            {kx, ky} = {ky, kx};
        end
    end

    logic [95:0]  o1;
    logic [31:0]  dkx1, dky1, dkz1;
    logic [287:0] vertex1;
    logic [1:0]   kx1, ky1, kz1;
    always_ff @(posedge clock) begin
        valid[1] <= in_valid;
        rm[3 +: 3] <= in_rm;
        ftz[1] <= in_ftz;
        cull[1] <= in_cull_back;
        pred_only[1] <= in_pred_only;
        eps[8 +: 8] <= in_eps;
        o1 <= number[95:0];
        dkx1 <= number[32*(3+kx) +: 32];
        dky1 <= number[32*(3+ky) +: 32];
        dkz1 <= number[32*(3+kz) +: 32];
        {kx1, ky1, kz1} <= {kx, ky, kz};
        tmin[32 +: 32] <= number[32*6 +: 32];
        tmax[32 +: 32] <= number[32*7 +: 32];
        vertex1 <= number[543:256];
        going[1] <= in_present && !any_nan && !still;
        outcome[2 +: 2] <= in_present && any_nan ? NANLANE : MISS;
        flags[8 +: 8] <= !in_present ? 8'd0 : widen_flags | (!any_nan && still ? FLAG_DZ : 8'd0);
    end

    // ---- T4, T5: the shear, and the vertices from the origin ----
    logic [31:0]  sx, sy, sz;
    logic [23:0]  shear_flags;
    logic [287:0] p;
    logic [71:0]  p_flags;
    fp32_div div_x (.a(dkx1), .b(dkz1), .rm(rm[3 +: 3]), .ftz(ftz[1]), .y(sx), .flags(shear_flags[7:0]));
    fp32_div div_y (.a(dky1), .b(dkz1), .rm(rm[3 +: 3]), .ftz(ftz[1]), .y(sy), .flags(shear_flags[15:8]));
    fp32_div div_z (.a(ONE), .b(dkz1), .rm(rm[3 +: 3]), .ftz(ftz[1]), .y(sz), .flags(shear_flags[23:16]));
    genvar g;
    generate
        for (g = 0; g < 9; g = g + 1) begin : from_origin
            fp32_sub sub (.a(vertex1[32*g +: 32]), .b(o1[32*(g%3) +: 32]), .rm(rm[3 +: 3]), .ftz(ftz[1]), .y(p[32*g +: 32]),
                          .flags(p_flags[8*g +: 8]));
        end
    endgenerate

    logic [31:0] sx2, sy2, sz2;
    logic [95:0] px2, py2, q2; // P[kx], P[ky], P[kz] of the three vertices
    always_ff @(posedge clock) begin
        {sx2, sy2, sz2} <= {sx, sy, sz};
        for (int j = 0; j < 3; j++) begin
            px2[32*j +: 32] <= p[32*(3*j+kx1) +: 32];
            py2[32*j +: 32] <= p[32*(3*j+ky1) +: 32];
            q2[32*j +: 32] <= p[32*(3*j+kz1) +: 32];
        end
    end

    // ---- T5: the vertices as the ray sees them ----
    logic [95:0] x, y;
    logic [47:0] seen_flags;
    generate
        for (g = 0; g < 3; g = g + 1) begin : seen
            fp32_fma fma_x (.a({~sx2[31], sx2[30:0]}), .b(q2[32*g +: 32]), .c(px2[32*g +: 32]), .rm(rm[6 +: 3]), .ftz(ftz[2]),
                            .y(x[32*g +: 32]), .flags(seen_flags[8*g +: 8]));
            fp32_fma fma_y (.a({~sy2[31], sy2[30:0]}), .b(q2[32*g +: 32]), .c(py2[32*g +: 32]), .rm(rm[6 +: 3]), .ftz(ftz[2]),
                            .y(y[32*g +: 32]), .flags(seen_flags[8*(g+3) +: 8]));
        end
    endgenerate

    logic [31:0] sz3;
    logic [95:0] x3, y3, q3;
    always_ff @(posedge clock) begin
        {sz3, x3, y3, q3} <= {sz2, x, y, q2};
    end

    // ---- T6, T7: the edges ----
    logic [95:0] edges; // U, V, W
    logic [23:0] edge_flags;
    logic        edge_nan, below, above, outside;
    generate
        for (g = 0; g < 3; g = g + 1) begin : edge_of
            localparam A = (g + 2) % 3, B = (g + 1) % 3; // U from vertices 2 and 1, V from 0 and 2, W from 1 and 0
            fp32_dp2 dp2 (.a(x3[32*A +: 32]), .b(y3[32*B +: 32]), .c(y3[32*A +: 32]), .d(x3[32*B +: 32]), .rm(rm[9 +: 3]),
                          .ftz(ftz[3]), .y(edges[32*g +: 32]), .flags(edge_flags[8*g +: 8]));
        end
    endgenerate
    always_comb begin
        {edge_nan, below, above} = 3'b000;
        for (int e = 0; e < 3; e++) begin
            edge_nan = edge_nan | is_nan(edges[32*e +: 32]);
            below = below | (bug == 4'd3 ? edges[32*e+31] : below_zero(edges[32*e +: 32]));
            above = above | above_zero(edges[32*e +: 32]);
        end
        outside = below && (cull[3] || above);
    end

    logic [31:0] sz4, sz5, sz6;
    logic [95:0] q4, q5, q6, edges4, edges5, edges6;
    always_ff @(posedge clock) begin
        {sz4, q4, edges4} <= {sz3, q3, edges};
        {sz5, q5, edges5} <= {sz4, q4, edges4};
        {sz6, q6, edges6} <= {sz5, q5, edges5};
    end

    // ---- T8: the determinant ----
    logic [31:0] uv, uv5, det, det6;
    logic [7:0]  uv_flags, det_flags;
    logic        flat;
    fp32_add add_uv (.a(edges4[31:0]), .b(edges4[63:32]), .rm(rm[12 +: 3]), .ftz(ftz[4]), .y(uv), .flags(uv_flags));
    fp32_add add_det (.a(uv5), .b(edges5[95:64]), .rm(rm[15 +: 3]), .ftz(ftz[5]), .y(det), .flags(det_flags));
    always_comb begin
        flat = bug == 4'd4 ? is_zero(det) : det[30:0] <= {eps[40 +: 8], 23'd0};
    end
    always_ff @(posedge clock) begin
        uv5 <= uv;
        det6 <= det;
    end

    // ---- T9: the distance ----
    logic [95:0] z, z7;
    logic [23:0] z_flags;
    logic [31:0] wz, wz8, vz, vz9, total, total10, t, t11;
    logic [7:0]  wz_flags, vz_flags, total_flags, t_flags;
    logic [95:0] edges7, edges8, edges9, edges10, edges11, z8, z9;
    logic [31:0] det7, det8, det9, det10, det11;
    generate
        for (g = 0; g < 3; g = g + 1) begin : depth
            fp32_mul mul (.a(sz6), .b(q6[32*g +: 32]), .rm(rm[18 +: 3]), .ftz(ftz[6]), .y(z[32*g +: 32]), .flags(z_flags[8*g +: 8]));
        end
    endgenerate
    fp32_mul mul_w (.a(edges7[95:64]), .b(z7[95:64]), .rm(rm[21 +: 3]), .ftz(ftz[7]), .y(wz), .flags(wz_flags));
    fp32_fma fma_v (.a(edges8[63:32]), .b(z8[63:32]), .c(wz8), .rm(rm[24 +: 3]), .ftz(ftz[8]), .y(vz), .flags(vz_flags));
    fp32_fma fma_u (.a(edges9[31:0]), .b(z9[31:0]), .c(bug == 4'd5 ? {vz9[31:1], 1'b0} : vz9), .rm(rm[27 +: 3]), .ftz(ftz[9]), .y(total),
                    .flags(total_flags));
    fp32_div div_t (.a(total10), .b(det10), .rm(rm[30 +: 3]), .ftz(ftz[10]), .y(t), .flags(t_flags));

    always_ff @(posedge clock) begin
        z7 <= z;
        {edges7, det7} <= {edges6, det6};
        {edges8, det8, z8, wz8} <= {edges7, det7, z7, wz};
        {edges9, det9, z9, vz9} <= {edges8, det8, z8, vz};
        {edges10, det10, total10} <= {edges9, det9, total};
        {edges11, det11} <= {edges10, det10};
        t11 <= is_zero(t) && bug != 4'd6 ? 32'd0 : t; // a zero is +0
    end

    // ---- decisions and flags, stage by stage ----
    logic [95:0] step_flags; // of stages 2 to 11
    logic [11:2] nan_here, miss_here;
    always_comb begin
        nan_here = 10'd0;
        miss_here = 10'd0;
        step_flags = 96'd0;
        step_flags[8*2 +: 8] = shear_flags[7:0] | shear_flags[15:8] | shear_flags[23:16];
        for (int i = 0; i < 9; i++) begin
            step_flags[8*2 +: 8] = step_flags[8*2 +: 8] | p_flags[8*i +: 8];
        end
        for (int i = 0; i < 6; i++) begin
            step_flags[8*3 +: 8] = step_flags[8*3 +: 8] | seen_flags[8*i +: 8];
        end
        step_flags[8*4 +: 8] = edge_flags[7:0] | edge_flags[15:8] | edge_flags[23:16];
        step_flags[8*5 +: 8] = uv_flags;
        step_flags[8*6 +: 8] = det_flags;
        step_flags[8*7 +: 8] = z_flags[7:0] | z_flags[15:8] | z_flags[23:16];
        step_flags[8*8 +: 8] = wz_flags;
        step_flags[8*9 +: 8] = vz_flags;
        step_flags[8*10 +: 8] = total_flags;
        step_flags[8*11 +: 8] = t_flags;
        nan_here[4] = edge_nan;
        miss_here[4] = outside;
        nan_here[6] = is_nan(det);
        miss_here[6] = flat;
        nan_here[11] = is_nan(t);
        miss_here[11] = less(t, tmin[320 +: 32]) || (bug == 4'd7 ? !less(t, tmax[320 +: 32]) : less(tmax[320 +: 32], t));
    end
    generate
        for (g = 2; g <= STAGES; g = g + 1) begin : hand_on
            always_ff @(posedge clock) begin
                valid[g] <= valid[g-1];
                rm[3*g +: 3] <= rm[3*(g-1) +: 3];
                ftz[g] <= ftz[g-1];
                cull[g] <= cull[g-1];
                pred_only[g] <= pred_only[g-1];
                eps[8*g +: 8] <= eps[8*(g-1) +: 8];
                tmin[32*g +: 32] <= tmin[32*(g-1) +: 32];
                tmax[32*g +: 32] <= tmax[32*(g-1) +: 32];
                going[g] <= going[g-1] && !nan_here[g] && !miss_here[g];
                outcome[2*g +: 2] <= going[g-1] && nan_here[g] ? NANLANE : outcome[2*(g-1) +: 2];
                flags[8*g +: 8] <= flags[8*(g-1) +: 8] | (going[g-1] ? step_flags[8*g +: 8] : 8'd0);
            end
        end
    endgenerate

    // ---- T11: barycentric coordinates, and what a miss or a NaN writes ----
    logic [31:0] u, v;
    logic [15:0] uv_div_flags;
    logic        wants_uv;
    fp32_div div_u (.a({1'b0, edges11[62:32]}), .b({1'b0, det11[30:0]}), .rm(rm[33 +: 3]), .ftz(ftz[11]), .y(u), .flags(uv_div_flags[7:0]));
    fp32_div div_v (.a({1'b0, edges11[94:64]}), .b({1'b0, det11[30:0]}), .rm(rm[33 +: 3]), .ftz(ftz[11]), .y(v), .flags(uv_div_flags[15:8]));
    always_comb begin
        wants_uv = going[11] && !pred_only[11];
    end
    always_ff @(posedge clock) begin
        out_valid <= valid[11];
        out_outcome <= going[11] ? HIT : outcome[22 +: 2];
        out_flags <= flags[88 +: 8] | (wants_uv && bug != 4'd8 ? uv_div_flags[7:0] | uv_div_flags[15:8] : 8'd0);
        out_t <= going[11] ? t11 : outcome[22 +: 2] == NANLANE ? CANONICAL_NAN : INFINITY;
        out_u <= wants_uv ? u : outcome[22 +: 2] == NANLANE && !going[11] ? CANONICAL_NAN : 32'd0;
        out_v <= wants_uv ? v : outcome[22 +: 2] == NANLANE && !going[11] ? CANONICAL_NAN : 32'd0;
    end
endmodule
