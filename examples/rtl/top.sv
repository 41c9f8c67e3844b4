// The tiny core against Facet. Prints "no difference in N steps", or the report about the first one
// and leaves a snapshot from before it.
//
//     +elf=FILE +memory=FILE    the program, as an ELF file and as `facet as --format hex` writes it
//     +bug=1                    breaks the core
//     +irq=N                    raises the external interrupt every N cycles (default 37)
//     +save=FILE                where the snapshot goes
module top;
  import facet_dpi::*;

  logic clk = 0;
  logic external = 0, bug = 0;
  logic [63:0] device = 1;
  logic retired, trapped, loads_device, stores, ended;
  logic [63:0] pc, cause, tval, rd_value, store_address, store_value;
  logic [31:0] word;
  logic [4:0] rd;
  logic [3:0] store_size;

  tiny core (
      .clk, .external, .device, .bug, .retired, .trapped, .pc_out(pc), .word_out(word), .cause, .tval,
      .rd_out(rd), .rd_value, .loads_device, .stores, .store_address, .store_size, .store_value, .ended
  );

  chandle session;
  int irq = 37;
  bit finished = 0;

  // Everything that the reference cannot see from outside: CSRs are not on the core's ports.
  function automatic void start();
    string elf;
    int wrong = 0;
    if (!$value$plusargs("elf=%s", elf)) $fatal(1, "top: +elf=FILE is missing");
    if ($value$plusargs("bug=%d", wrong)) bug = wrong != 0;
    void'($value$plusargs("irq=%d", irq));
    session = facet_dpi_open(elf, "", 1, 0);
    if (session == null) $fatal(1, "top: %s", facet_dpi_error());
    if (facet_dpi_ignore(session, "csr") < 0 || facet_dpi_ignore(session, "priv") < 0)
      $fatal(1, "top: %s", facet_dpi_error());
  endfunction

  function automatic void differs();
    string file;
    $write("%s", facet_dpi_report(session));
    if ($value$plusargs("save=%s", file)) begin
      if (facet_dpi_save(session, file) < 0) $display("top: %s", facet_dpi_error());
    end
    finished = 1;
  endfunction

  // What the core has done in the last cycle.
  function automatic void check();
    int result = 0;
    if (rd != 0) void'(facet_dpi_x(session, 0, 32'(rd), rd_value));
    if (stores) void'(facet_dpi_store(session, 0, store_address, 32'(store_size), store_value));
    if (loads_device) void'(facet_dpi_next_load(session, 0, 64'h3000_0000, 64'h3000_0007, rd_value));
    if (retired) result = facet_dpi_retire(session, 0, pc, word);
    if (trapped) result = facet_dpi_trap(session, 0, pc, cause, tval);
    if (result < 0) $fatal(1, "top: %s", facet_dpi_error());
    if (result == FACET_DIFFERENT) differs();
    else if (result == FACET_ENDED || ended) begin
      $display("no difference in %0d steps", facet_dpi_steps(session));
      finished = 1;
    end
  endfunction

  int cycle = 0;
  initial begin
    start();
    while (!finished && cycle < 100000) begin
      #5 clk = 1;
      #1 check();
      // The line changes between two instructions, for both.
      cycle++;
      device = device * 64'd6364136223846793005 + 64'd1442695040888963407;
      if (trapped) external = 0;
      else if (irq != 0 && cycle % irq == 0) external = 1;
      void'(facet_dpi_line(session, 0, FACET_EXTERNAL, external ? FACET_LEVEL_HIGH : FACET_LEVEL_LOW));
      #4 clk = 0;
    end
    if (!finished) $display("top: the program did not end in %0d cycles", cycle);
    facet_dpi_close(session);
    $finish;
  end
endmodule
