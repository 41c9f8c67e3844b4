// Names and small functions of binary32, included inside the modules that use them. Rounding modes and flags have
// the codes of the contract (numeric.md 4, 11).
localparam logic [2:0] RM_RNE = 3'd0, RM_RTZ = 3'd1, RM_RDN = 3'd2, RM_RUP = 3'd3, RM_RMM = 3'd4;

localparam logic [7:0] FLAG_NX = 8'h01, FLAG_UF = 8'h02, FLAG_OF = 8'h04, FLAG_DZ = 8'h08, FLAG_NV = 8'h10,
                       FLAG_QNAN = 8'h20, FLAG_SNAN = 8'h40, FLAG_FTZ = 8'h80;

localparam logic [31:0] ONE = 32'h3f800000, MINUS_ONE = 32'hbf800000, INFINITY = 32'h7f800000,
                        LARGEST = 32'h7f7fffff, CANONICAL_NAN = 32'h7fc00000;

function automatic logic is_nan(input logic [31:0] v);
    is_nan = v[30:0] > INFINITY[30:0];
endfunction

function automatic logic is_inf(input logic [31:0] v);
    is_inf = v[30:0] == INFINITY[30:0];
endfunction

function automatic logic is_zero(input logic [31:0] v);
    is_zero = v[30:0] == 31'd0;
endfunction

function automatic logic below_zero(input logic [31:0] v);
    below_zero = v[31] && !is_zero(v);
endfunction

function automatic logic above_zero(input logic [31:0] v);
    above_zero = !v[31] && !is_zero(v);
endfunction

// Bits of numbers as integers that order as the numbers do, with -0 below +0.
function automatic logic [31:0] order(input logic [31:0] v);
    order = v[31] ? ~v : {1'b1, v[30:0]};
endfunction

function automatic logic less(input logic [31:0] p, input logic [31:0] q);
    less = order(p) < order(q) && !(is_zero(p) && is_zero(q));
endfunction

// RISC-V FMIN and FMAX of two numbers.
function automatic logic [31:0] least(input logic [31:0] p, input logic [31:0] q);
    least = order(p) < order(q) ? p : q;
endfunction

function automatic logic [31:0] most(input logic [31:0] p, input logic [31:0] q);
    most = order(p) < order(q) ? q : p;
endfunction

// An element enters the unit (numeric.md 9, widen, FP32 elements): {flags, value}.
function automatic logic [39:0] widen(input logic [31:0] v, input logic flush);
    if (is_nan(v)) begin
        widen = {v[22] ? FLAG_QNAN : FLAG_SNAN | FLAG_NV, CANONICAL_NAN};
    end else if (flush && v[30:23] == 8'd0 && v[22:0] != 23'd0) begin
        widen = {FLAG_FTZ, v[31], 31'd0};
    end else begin
        widen = {8'd0, v};
    end
endfunction
