// A small RV64 core, as an example of a design under test: a part of the base instruction set, machine
// mode, one external interrupt, one instruction in every cycle. What it writes back is on ports, as a
// verification port of a real core would have it.
//
// +bug=1 breaks the carry from bit 31 to bit 32 of an addition.
module tiny #(
    parameter longint unsigned RESET = 64'h8000_0000,
    parameter int unsigned WORDS = 4096  // of 64 bits, from RESET
) (
    input  logic        clk,
    input  logic        external,  // interrupt line
    input  logic [63:0] device,    // what a load from 0x30000000 gives
    input  logic        bug,

    output logic        retired,
    output logic        trapped,   // instead of the instruction at pc
    output logic [63:0] pc_out,
    output logic [31:0] word_out,
    output logic [63:0] cause,
    output logic [63:0] tval,
    output logic [4:0]  rd_out,    // 0: no register
    output logic [63:0] rd_value,
    output logic        loads_device,
    output logic        stores,
    output logic [63:0] store_address,
    output logic [3:0]  store_size,
    output logic [63:0] store_value,
    output logic        ended      // a store to the finisher
);
  logic [63:0] memory[WORDS];
  logic [31:0] words[2*WORDS];  // of the file
  logic [63:0] x[32];
  logic [63:0] pc = RESET;
  logic [63:0] mtvec = 0, mepc = 0, mcause = 0, mscratch = 0;
  logic [11:0] mie = 0;
  logic mie_bit = 0, mpie_bit = 0;  // of mstatus

  initial begin
    string file;
    for (int i = 0; i < 32; i++) x[i] = 0;
    for (int i = 0; i < 2 * WORDS; i++) words[i] = 0;
    if ($value$plusargs("memory=%s", file)) $readmemh(file, words);
    for (int i = 0; i < WORDS; i++) memory[i] = {words[2*i+1], words[2*i]};
  end

  // Where an address lies in memory, which repeats.
  function automatic logic [$clog2(WORDS)-1:0] word_of(logic [63:0] address);
    return $clog2(WORDS)'((address - RESET) >> 3);
  endfunction

  function automatic logic [63:0] add(logic [63:0] a, logic [63:0] b, logic broken);
    logic [63:0] sum = a + b;
    return broken ? {a[63:32] + b[63:32], sum[31:0]} : sum;
  endfunction

  function automatic logic [63:0] csr(logic [11:0] number);
    case (number)
      12'h300: return {51'h0, 2'b11, 3'h0, mpie_bit, 3'h0, mie_bit, 3'h0} | 64'h2_0000_0000;
      12'h304: return {52'h0, mie};
      12'h305: return mtvec;
      12'h340: return mscratch;
      12'h341: return mepc;
      12'h342: return mcause;
      12'h344: return {52'h0, external, 11'h0};
      default: return 0;
    endcase
  endfunction

  always_ff @(posedge clk) begin : execute
    logic [63:0] whole, a, b, result, next, address;
    logic [31:0] word;
    logic [4:0] rd;
    logic writes, bad;

    whole   = memory[word_of(pc)];
    word    = pc[2] ? whole[63:32] : whole[31:0];
    a       = x[word[19:15]];
    b       = x[word[24:20]];
    rd      = word[11:7];
    next    = pc + 4;
    result  = 0;
    address = 0;
    writes  = 0;
    bad     = 0;
    retired <= 0; trapped <= 0; stores <= 0; loads_device <= 0; ended <= 0; rd_out <= 0;
    cause <= 0; tval <= 0;
    pc_out <= pc;
    word_out <= word;

    if (external && mie[11] && mie_bit) begin
      trapped <= 1;
      cause <= 64'h8000_0000_0000_000b;
      mcause <= 64'h8000_0000_0000_000b;
      mepc <= pc;
      mpie_bit <= mie_bit;
      mie_bit <= 0;
      pc <= mtvec;
    end else begin
      case (word[6:0])
        7'h37: begin result = {{32{word[31]}}, word[31:12], 12'h0}; writes = 1; end
        7'h17: begin result = pc + {{32{word[31]}}, word[31:12], 12'h0}; writes = 1; end
        7'h6f: begin
          result = pc + 4;
          writes = 1;
          next = pc + {{44{word[31]}}, word[19:12], word[20], word[30:21], 1'b0};
        end
        7'h63: begin
          logic taken;
          case (word[14:12])
            3'h0: taken = a == b;
            3'h1: taken = a != b;
            3'h6: taken = a < b;
            default: begin taken = 0; bad = 1; end
          endcase
          if (taken) next = pc + {{52{word[31]}}, word[7], word[30:25], word[11:8], 1'b0};
        end
        7'h13: begin
          writes = 1;
          case (word[14:12])
            3'h0: result = add(a, {{52{word[31]}}, word[31:20]}, bug);
            3'h1: result = a << word[25:20];
            3'h7: result = a & {{52{word[31]}}, word[31:20]};
            default: bad = 1;
          endcase
        end
        7'h33: begin
          writes = 1;
          case ({word[31:25], word[14:12]})
            10'h000: result = add(a, b, bug);
            10'h100: result = a - b;
            10'h004: result = a ^ b;
            10'h006: result = a | b;
            10'h007: result = a & b;
            default: bad = 1;
          endcase
        end
        7'h03: begin
          address = a + {{52{word[31]}}, word[31:20]};
          writes = 1;
          bad = word[14:12] != 3'h3;
          loads_device <= !bad && address == 64'h3000_0000;
          result = address == 64'h3000_0000 ? device : memory[word_of(address)];
        end
        7'h23: begin
          address = a + {{52{word[31]}}, word[31:25], word[11:7]};
          bad = word[14:12] != 3'h3 && word[14:12] != 3'h2;
          if (!bad) begin
            stores <= 1;
            store_address <= address;
            store_size <= word[14:12] == 3'h3 ? 8 : 4;
            store_value <= b;
            ended <= address == 64'h10_0000;
            if (word[14:12] == 3'h3 && address != 64'h10_0000)
              memory[word_of(address)] <= b;
          end
        end
        7'h73: begin
          if (word == 32'h3020_0073) begin  // mret
            next = mepc;
            mie_bit <= mpie_bit;
            mpie_bit <= 1;
          end else if (word[14:12] inside {3'h1, 3'h2}) begin
            logic [63:0] value;
            writes = 1;
            result = csr(word[31:20]);
            value = word[14:12] == 3'h1 ? a : result | a;
            if (word[14:12] == 3'h1 || word[19:15] != 0)
              case (word[31:20])
                12'h300: begin mie_bit <= value[3]; mpie_bit <= value[7]; end
                12'h304: mie <= value[11:0] & 12'h888;
                12'h305: mtvec <= {value[63:2], 2'b00};
                12'h340: mscratch <= value;
                12'h341: mepc <= value & ~64'h1;
                12'h342: mcause <= value;
                default: ;
              endcase
          end else bad = 1;
        end
        default: bad = 1;
      endcase
      if (bad) begin
        trapped <= 1;
        cause <= 2;
        tval <= {32'h0, word};
        mcause <= 2;
        mepc <= pc;
        mpie_bit <= mie_bit;
        mie_bit <= 0;
        pc <= mtvec;
      end else begin
        retired <= 1;
        pc <= next;
        if (writes && rd != 0) begin
          x[rd] <= result;
          rd_out <= rd;
          rd_value <= result;
        end
      end
    end
  end
endmodule
