// A small core of the tile GPU, in order, two stages: fetch, then everything else. It has the scalar integer
// instructions, jumps, word loads and stores of scratch, 32-bit integer vectors and their transfers, SETMISC, the
// CSRs status, vstatus and config, MEMBAR, BARR.SYNC and EXIT of tile-semantics.md 3 to 12; every other word stops it as ILLEGAL.
//
// Each cycle at most one instruction retires, and the retire port says what it wrote: what a lockstep compares.
module tile_core #(
    parameter SCRATCH_BYTES = 256 // sm_size of the dispatch
) (
    input  logic         clock, reset,
    input  logic [3:0]   bug,       // 0; 1 to 10 plant a fault that the testbench has to find
    input  logic [31:0]  start_pc,

    output logic [31:0]  fetch_pc,  // answered in the same cycle
    input  logic [31:0]  fetch_word,
    output logic [31:0]  data_address, // of scratch, any alignment, answered in the same cycle; a store is taken at its end
    input  logic [31:0]  loaded_word,

    output logic         retired, faulted, exited, // of the instruction at pc
    output logic [31:0]  pc, word,
    output logic         s_write, v_write, store,
    output logic [4:0]   rd,
    output logic [31:0]  s_value,
    output logic [127:0] v_value,
    output logic [31:0]  store_value,
    output logic [3:0]   fault_cause,
    output logic [31:0]  fault_address,
    output logic [31:0]  status, vstatus, config_bits // after the instruction
);
    localparam logic [31:0] SCRATCH_BASE = 32'h8000;
    // Bits of status, vstatus and config (tile.csr.tsv).
    localparam VO = 3, MISAL = 4, ISAT = 5, ILL = 9, MEMF = 10, FLAG_V = 28, FLAG_C = 29, FLAG_Z = 30, FLAG_N = 31;
    localparam V_OVF = 1, V_SAT = 2, V_VSAT = 8, CONFIG_SAT = 4, ALIGN_TRAP = 9;
    localparam logic [31:0] STATUS_BITS = 32'hf0000fff, VSTATUS_BITS = 32'h107, CONFIG_BITS = 32'h3ff; // what can be written
    // Causes of faults (12).
    localparam logic [3:0] ILLEGAL = 4'd1, FETCH_MISALIGNED = 4'd2, LOAD_FAULT = 4'd4, STORE_FAULT = 4'd5,
                           MISALIGNED = 4'd7;

    // ---- state ----
    logic [31:0]  s [0:31];
    logic [127:0] v [0:31];
    logic [31:0]  status_now, vstatus_now, config_now;
    logic         fetched, running; // a word waits in the second stage; the core has not ended

    // ---- decode: fields and immediates of the word ----
    logic [6:0]  opcode, funct7;
    logic [2:0]  funct3;
    logic [4:0]  rs1, rs2;
    logic [31:0] simm, store_simm, branch_to, jump_to;
    always_comb begin
        opcode = word[6:0];
        funct7 = word[31:25];
        funct3 = word[14:12];
        rd = word[11:7];
        rs1 = word[19:15];
        rs2 = word[24:20];
        simm = {{20{word[31]}}, word[31:20]};
        store_simm = {{20{word[31]}}, word[31:25], word[11:7]};
        branch_to = pc + {{20{word[31]}}, word[7], word[30:25], word[11:8], 1'b0};
        jump_to = pc + {{12{word[31]}}, word[19:12], word[20], word[30:21], 1'b0};
    end

    // ---- operands ----
    logic [31:0]  a, b, old; // s[rs1], s[rs2] or the immediate, s[rd]
    logic [127:0] va, vb, vold;
    logic         immediate;
    always_comb begin
        immediate = opcode == 7'b0010111;
        a = rs1 == 5'd0 ? 32'd0 : s[rs1];
        b = immediate ? simm : rs2 == 5'd0 ? 32'd0 : s[rs2];
        old = rd == 5'd0 ? 32'd0 : s[rd];
        va = rs1 == 5'd0 ? 128'd0 : v[rs1];
        vb = rs2 == 5'd0 ? 128'd0 : v[rs2];
        vold = rd == 5'd0 ? 128'd0 : v[rd];
    end

    // ---- scalar arithmetic (4): {known, what is written} ----
    localparam logic [63:0] INT_MAX = 64'h000000007fffffff, INT_MIN = 64'hffffffff80000000;
    logic         alu_known, sums; // sums: the result passes satS
    logic         compares;
    logic signed [63:0] exact, product;
    logic [63:0]  product_unsigned;
    logic [31:0]  alu, difference;
    logic         clamped, less_signed, less_unsigned;

    function automatic logic [31:0] leading_zeros(input logic [31:0] x);
        leading_zeros = 32'd32;
        for (int i = 0; i < 32; i++) begin
            if (x[i]) begin
                leading_zeros = 32'd31 - 32'(i);
            end
        end
    endfunction
    function automatic logic [31:0] trailing_zeros(input logic [31:0] x);
        trailing_zeros = 32'd32;
        for (int i = 31; i >= 0; i--) begin
            if (x[i]) begin
                trailing_zeros = 32'(i);
            end
        end
    endfunction

    always_comb begin
        product = $signed({{32{a[31]}}, a}) * $signed({{32{b[31]}}, b});
        product_unsigned = {32'd0, a} * {32'd0, b};
        difference = a - b;
        less_signed = $signed(a) < $signed(b);
        less_unsigned = a < b;
        exact = 64'd0;
        sums = 1'b0;
        compares = 1'b0;
        alu_known = 1'b1;
        alu = 32'd0;
        case ({immediate ? 7'd0 : funct7, funct3})
            {7'h00, 3'd0}: begin
                exact = $signed({{32{a[31]}}, a}) + $signed({{32{b[31]}}, b});
                sums = 1'b1;
            end
            {7'h20, 3'd0}: begin
                exact = $signed({{32{a[31]}}, a}) - $signed({{32{b[31]}}, b});
                sums = 1'b1;
            end
            {7'h00, 3'd1}: begin
                if (immediate) begin
                    alu = a << rs2;
                    alu_known = funct7 == 7'd0;
                end else if (rs2 != 5'd0) begin
                    alu = a << b[4:0];
                end else begin // ABS
                    exact = a[31] ? -$signed({{32{a[31]}}, a}) : $signed({32'd0, a});
                    sums = 1'b1;
                end
            end
            {7'h00, 3'd2}: alu = (bug == 4'd1 ? less_unsigned : less_signed) ? a : b;
            {7'h00, 3'd3}: alu = less_signed ? b : a;
            {7'h00, 3'd4}: alu = a ^ b;
            {7'h00, 3'd5}: begin
                if (immediate) begin
                    alu = funct7 == 7'h20 ? 32'($signed(a) >>> rs2) : a >> rs2;
                    alu_known = funct7 == 7'd0 || funct7 == 7'h20;
                end else begin
                    alu = a >> b[4:0];
                end
            end
            {7'h20, 3'd5}: alu = bug == 4'd2 ? a >> b[4:0] : 32'($signed(a) >>> b[4:0]);
            {7'h00, 3'd6}: alu = a | b;
            {7'h00, 3'd7}: alu = a & b;
            {7'h01, 3'd0}: begin
                exact = product;
                sums = 1'b1;
            end
            {7'h01, 3'd1}: alu = product[63:32];
            {7'h01, 3'd2}: alu = product_unsigned[63:32];
            {7'h01, 3'd3}: begin
                exact = $signed({{32{old[31]}}, old}) + product;
                sums = 1'b1;
            end
            {7'h02, 3'd0}, {7'h02, 3'd1}, {7'h02, 3'd2}: begin
                alu = {31'd0, funct3 == 3'd0 ? less_signed : funct3 == 3'd1 ? less_unsigned : difference == 32'd0};
                compares = 1'b1;
            end
            {7'h03, 3'd0}: begin
                alu = leading_zeros(a);
                alu_known = rs2 == 5'd0;
            end
            {7'h03, 3'd1}: begin
                alu = trailing_zeros(a);
                alu_known = rs2 == 5'd0;
            end
            default: alu_known = 1'b0;
        endcase
        clamped = sums && config_now[CONFIG_SAT] && (exact > $signed(INT_MAX) || exact < $signed(INT_MIN));
        if (sums) begin
            alu = !clamped ? exact[31:0] : exact[63] ? INT_MIN[31:0] : INT_MAX[31:0];
        end
    end

    // ---- vectors of four 32-bit lanes (10) ----
    logic         vector_known, wraps, saturates;
    logic [127:0] vector;
    logic signed [32:0] lane_exact;
    always_comb begin
        vector_known = 1'b1;
        wraps = 1'b0;
        vector = 128'd0;
        saturates = config_now[CONFIG_SAT] || (vstatus_now[V_VSAT] && bug != 4'd3);
        lane_exact = 33'd0;
        for (int i = 0; i < 4; i++) begin
            logic signed [31:0] x, y;
            x = va[32*i +: 32];
            y = vb[32*i +: 32];
            case ({funct7, funct3})
                {7'h01, 3'd0}, {7'h03, 3'd0}: begin
                    lane_exact = funct7 == 7'h01 ? {x[31], x} + {y[31], y} : {x[31], x} - {y[31], y};
                    vector[32*i +: 32] = lane_exact[31:0];
                    if (lane_exact[32] != lane_exact[31]) begin
                        wraps = 1'b1;
                        if (saturates) begin
                            vector[32*i +: 32] = lane_exact[32] ? 32'h80000000 : 32'h7fffffff;
                        end
                    end
                end
                {7'h01, 3'd1}: vector[32*i +: 32] = x << y[4:0];
                {7'h01, 3'd2}: vector[32*i +: 32] = x >>> (bug == 4'd4 && i == 3 ? vb[4:0] : y[4:0]);
                {7'h01, 3'd4}: vector[32*i +: 32] = x ^ y;
                {7'h01, 3'd5}: vector[32*i +: 32] = $unsigned(x) >> y[4:0];
                {7'h01, 3'd6}: vector[32*i +: 32] = x | y;
                {7'h01, 3'd7}: vector[32*i +: 32] = x & y;
                {7'h05, 3'd2}: vector[32*i +: 32] = x < y ? x : y;
                {7'h05, 3'd3}: vector[32*i +: 32] = x < y ? y : x;
                default: vector_known = 1'b0;
            endcase
        end
    end

    // ---- memory: one word of scratch, at any address (7) ----
    logic [31:0] address, last;
    logic        reaches; // all four bytes are there
    logic        is_load, is_store;
    always_comb begin
        is_load = 1'b0;
        is_store = 1'b0;
        address = a;
        case ({opcode, funct3})
            {7'b0001100, 3'd2}, {7'b0001101, 3'd2}: begin // modes: immediate, register, -, base
                is_load = opcode == 7'b0001100 && (funct7 == 7'd0 || funct7 == 7'd1 || (funct7 == 7'd3 && rs2 == 5'd0));
                is_store = opcode == 7'b0001101 && (funct7 == 7'd0 || funct7 == 7'd1 || (funct7 == 7'd3 && rd == 5'd0));
                address = funct7 == 7'd1 ? a + b : funct7 == 7'd0 ? a + {27'd0, is_load ? rs2 : rd} : a;
            end
            {7'b0011100, 3'd2}: begin
                is_load = 1'b1;
                address = a + simm;
            end
            {7'b0011101, 3'd2}: begin
                is_store = 1'b1;
                address = a + store_simm;
            end
            default: ;
        endcase
        last = address + 32'd3;
        reaches = address >= SCRATCH_BASE && last < SCRATCH_BASE + SCRATCH_BYTES && last >= address;
        data_address = address;
        store_value = opcode == 7'b0001101 && funct7 == 7'd1 ? old : b;
    end

    // ---- jumps ----
    logic        jumps, taken, is_link;
    logic [31:0] target;
    always_comb begin
        jumps = 1'b1;
        taken = 1'b1;
        is_link = 1'b0;
        target = branch_to;
        case ({opcode, funct3})
            {7'b0001110, 3'd0}: taken = a == b;
            {7'b0001110, 3'd1}: taken = a != b;
            {7'b0001110, 3'd4}: taken = bug == 4'd5 ? !less_unsigned : less_signed;
            {7'b0001110, 3'd5}: taken = !less_signed;
            {7'b0001110, 3'd6}: taken = less_unsigned;
            {7'b0001110, 3'd7}: taken = !less_unsigned;
            {7'b0001110, 3'd2}: begin
                is_link = 1'b1;
                target = (a + simm) & ~32'd1;
            end
            {7'b0001110, 3'd3}: begin
                is_link = 1'b1;
                jumps = rs1 == 5'd0;
                target = pc + simm;
            end
            default: begin
                is_link = opcode == 7'b1101111;
                jumps = is_link;
                target = jump_to;
            end
        endcase
        taken = taken && jumps;
    end

    // ---- everything together ----
    logic        known, is_exit, writes_s, writes_v;
    logic [31:0] next_pc, csr_value;
    always_comb begin
        csr_value = 32'd0;
        known = 1'b0;
        is_exit = 1'b0;
        writes_s = 1'b0;
        writes_v = 1'b0;
        s_value = 32'd0;
        v_value = 128'd0;
        status = status_now;
        vstatus = vstatus_now;
        config_bits = config_now;
        next_pc = pc + 32'd4;
        fault_cause = 4'd0;
        fault_address = 32'd0;

        if (opcode == 7'b0001011 || immediate) begin
            known = alu_known;
            writes_s = alu_known;
            s_value = alu;
            status[ISAT] = status_now[ISAT] | (clamped && bug != 4'd6);
            if (compares) begin
                status[FLAG_N] = difference[31];
                status[FLAG_Z] = difference == 32'd0;
                status[FLAG_C] = bug == 4'd7 ? a > b : a >= b;
                status[FLAG_V] = (a[31] != b[31]) && (difference[31] != a[31]);
            end
        end else if (opcode == 7'b0110111) begin // LUI
            known = 1'b1;
            writes_s = 1'b1;
            s_value = {word[31:12], 12'd0};
        end else if (jumps) begin
            known = 1'b1;
            writes_s = is_link;
            s_value = pc + 32'd4;
            if (taken) begin
                next_pc = target;
                if (target[1:0] != 2'd0) begin
                    fault_cause = FETCH_MISALIGNED;
                    fault_address = target;
                end
            end
        end else if (is_load || is_store) begin
            known = 1'b1;
            writes_s = is_load;
            s_value = loaded_word;
            if (address[1:0] != 2'd0 && config_now[ALIGN_TRAP]) begin
                fault_cause = MISALIGNED;
                fault_address = address;
            end else if (!reaches) begin
                fault_cause = is_load ? LOAD_FAULT : STORE_FAULT;
                // The first byte that is not there: behind the end, or the first of all.
                fault_address = address >= SCRATCH_BASE && address < SCRATCH_BASE + SCRATCH_BYTES ? SCRATCH_BASE + SCRATCH_BYTES : address;
            end else if (address[1:0] != 2'd0 && bug != 4'd8) begin
                status[MISAL] = 1'b1;
            end
        end else if (opcode == 7'b0101111) begin
            known = vector_known;
            writes_v = vector_known;
            v_value = vector;
            if (wraps && vector_known) begin
                status[VO] = 1'b1;
                vstatus[saturates ? V_SAT : V_OVF] = 1'b1;
            end
        end else if (opcode == 7'b0010000 && funct7 == 7'h08) begin // transfers of 32-bit lanes
            case (funct3)
                3'd0: begin // VBCAST
                    known = rs2 == 5'd0;
                    v_value = {4{a}};
                end
                3'd1: begin // VINS
                    known = rs2 < 5'd4;
                    v_value = vold;
                    v_value[{bug == 4'd9 ? 2'd0 : rs2[1:0], 5'd0} +: 32] = a;
                end
                3'd2: begin // VEXTR
                    known = rs2 < 5'd4;
                    s_value = va[{rs2[1:0], 5'd0} +: 32];
                end
                default: ;
            endcase
            writes_s = funct3 == 3'd2;
            writes_v = funct3 != 3'd2;
        end else if (opcode == 7'b0001111) begin
            if (funct3 == 3'd3 && rs1 == 5'd0) begin // SETMISC
                known = 1'b1;
                writes_s = 1'b1;
                s_value = config_now;
                config_bits[5:0] = (config_now[5:0] & ~word[31:26]) | (word[25:20] & word[31:26]);
            end else if ((funct3 == 3'd1 || funct3 == 3'd2) && (word[31:20] == 12'd0 || word[31:20] == 12'd2 || word[31:20] == 12'd3)) begin
                known = 1'b1; // CSRRW, CSRRS
                writes_s = 1'b1;
                s_value = word[21:20] == 2'd0 ? status_now : word[21:20] == 2'd2 ? vstatus_now : config_now;
                csr_value = funct3 == 3'd1 ? a : s_value | a;
                case (word[21:20])
                    2'd0:    status = csr_value & STATUS_BITS;
                    2'd2:    vstatus = csr_value & VSTATUS_BITS;
                    default: config_bits = csr_value & CONFIG_BITS;
                endcase
            end else begin
                is_exit = word == 32'h0010700f;
                known = is_exit || word == 32'h0000000f || word == 32'h0000400f; // MEMBAR, BARR.SYNC
            end
        end

        if (config_bits[2:0] > 3'd4) begin // no such rounding mode
            config_bits[2:0] = 3'd0;
        end
        if (!known) begin
            fault_cause = ILLEGAL;
            fault_address = word;
        end
        faulted = fetched && running && fault_cause != 4'd0;
        retired = fetched && running && fault_cause == 4'd0;
        exited = retired && is_exit;
        if (faulted) begin
            status = status_now;
            status[fault_cause == ILLEGAL ? ILL : MEMF] = 1'b1;
            vstatus = vstatus_now;
            config_bits = config_now;
        end
        s_write = retired && writes_s && rd != 5'd0;
        v_write = retired && writes_v && (rd != 5'd0 || bug == 4'd10);
        store = retired && is_store;
    end

    always_ff @(posedge clock) begin
        if (reset) begin
            running <= 1'b1;
            fetched <= 1'b0;
            fetch_pc <= start_pc;
            status_now <= 32'd0;
            vstatus_now <= 32'd0;
            config_now <= 32'd0;
            for (int i = 0; i < 32; i++) begin // the model's choice for registers that are undefined (2)
                s[i] <= 32'd0;
                v[i] <= 128'd0;
            end
        end else if (running) begin
            pc <= fetch_pc;
            word <= fetch_word;
            fetched <= 1'b1;
            fetch_pc <= fetch_pc + 32'd4;
            if (fetched) begin
                status_now <= status;
                vstatus_now <= vstatus;
                config_now <= config_bits;
                running <= !faulted && !exited;
                if (retired && next_pc != pc + 32'd4) begin // the word behind a jump is not executed
                    fetched <= 1'b0;
                    fetch_pc <= next_pc;
                end
                if (s_write) begin
                    s[rd] <= s_value;
                end
                if (v_write) begin
                    v[rd] <= v_value;
                end
            end
        end
    end
endmodule
