// The two pipelines side by side: what an RT unit is made of, and what the testbench drives.
module rt_unit (
    input  logic         clock,
    input  logic [3:0]   box_bug, triangle_bug,
    input  logic [2:0]   rm,
    input  logic         ftz,

    input  logic         box_valid, box_empty, box_t_clamp, box_w_guard,
    input  logic [287:0] box_ray,
    input  logic [191:0] box_box,
    output logic         box_done,
    output logic [1:0]   box_outcome,
    output logic [31:0]  box_tnear, box_tfar,
    output logic [7:0]   box_flags,

    input  logic         triangle_valid, triangle_present, triangle_cull_back, triangle_pred_only,
    input  logic [7:0]   triangle_eps,
    input  logic [255:0] triangle_ray,
    input  logic [287:0] triangle_corners,
    output logic         triangle_done,
    output logic [1:0]   triangle_outcome,
    output logic [31:0]  triangle_t, triangle_u, triangle_v,
    output logic [7:0]   triangle_flags
);
    rt_bbox box (
        .clock(clock), .bug(box_bug), .in_valid(box_valid), .in_rm(rm), .in_ftz(ftz), .in_empty(box_empty),
        .in_t_clamp(box_t_clamp), .in_w_guard(box_w_guard), .in_ray(box_ray), .in_box(box_box), .out_valid(box_done),
        .out_outcome(box_outcome), .out_tnear(box_tnear), .out_tfar(box_tfar), .out_flags(box_flags));

    rt_tri triangle (
        .clock(clock), .bug(triangle_bug), .in_valid(triangle_valid), .in_rm(rm), .in_ftz(ftz), .in_present(triangle_present),
        .in_cull_back(triangle_cull_back), .in_pred_only(triangle_pred_only), .in_eps(triangle_eps), .in_ray(triangle_ray),
        .in_triangle(triangle_corners), .out_valid(triangle_done), .out_outcome(triangle_outcome), .out_t(triangle_t),
        .out_u(triangle_u), .out_v(triangle_v), .out_flags(triangle_flags));
endmodule
