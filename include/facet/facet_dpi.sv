// The imports of facet/dpi.h, which says what each does. Compile this file before those that import
// the package, and give the simulator libfacet:
//
//     $ verilator --binary ... facet_dpi.sv top.sv $(pkg-config --libs --static facet)
//     $ xrun facet_dpi.sv top.sv -sv_lib libfacet.so.1
package facet_dpi;

  localparam int unsigned FACET_SOFTWARE = 3;
  localparam int unsigned FACET_TIMER    = 7;
  localparam int unsigned FACET_EXTERNAL = 11;
  localparam longint unsigned FACET_INTERRUPT = 64'h8000_0000_0000_0000;

  localparam int unsigned FACET_LEVEL_OWN  = 0;
  localparam int unsigned FACET_LEVEL_LOW  = 1;
  localparam int unsigned FACET_LEVEL_HIGH = 2;

  localparam int FACET_SAME      = 0;
  localparam int FACET_DIFFERENT = 1;
  localparam int FACET_ENDED     = 2;

  import "DPI-C" function string facet_dpi_error();

  import "DPI-C" function chandle facet_dpi_open(input string elf, input string configuration,
                                                 input int unsigned harts, input int unsigned late);
  import "DPI-C" function void facet_dpi_close(input chandle session);

  import "DPI-C" function int facet_dpi_ignore(input chandle session, input string what);
  import "DPI-C" function int facet_dpi_compare(input chandle session, input string what);

  // What the next instruction of the hart wrote.
  import "DPI-C" function int facet_dpi_x(input chandle session, input int unsigned hart, input int unsigned index,
                                          input longint unsigned value);
  import "DPI-C" function int facet_dpi_f(input chandle session, input int unsigned hart, input int unsigned index,
                                          input longint unsigned value);
  import "DPI-C" function int facet_dpi_csr(input chandle session, input int unsigned hart, input int unsigned number,
                                            input longint unsigned value);
  import "DPI-C" function int facet_dpi_store(input chandle session, input int unsigned hart,
                                              input longint unsigned address, input int unsigned size,
                                              input longint unsigned value);
  import "DPI-C" function int facet_dpi_reg(input chandle session, input int unsigned hart, input string name,
                                            input longint unsigned value);
  import "DPI-C" function int facet_dpi_unit_csr(input chandle session, input int unsigned hart,
                                                 input int unsigned number, input longint unsigned value);
  import "DPI-C" function int facet_dpi_unit_store(input chandle session, input int unsigned hart,
                                                   input longint unsigned address, input int unsigned size,
                                                   input longint unsigned value);

  // FACET_SAME, FACET_DIFFERENT or FACET_ENDED; negative: facet_dpi_error.
  import "DPI-C" function int facet_dpi_retire(input chandle session, input int unsigned hart,
                                               input longint unsigned pc, input int unsigned word);
  import "DPI-C" function int facet_dpi_trap(input chandle session, input int unsigned hart,
                                             input longint unsigned pc, input longint unsigned cause,
                                             input longint unsigned value);
  import "DPI-C" function int facet_dpi_finish(input chandle session);

  // What the reference cannot know.
  import "DPI-C" function int facet_dpi_line(input chandle session, input int unsigned hart,
                                             input int unsigned number, input int unsigned level);
  import "DPI-C" function int facet_dpi_next_load(input chandle session, input int unsigned hart,
                                                  input longint unsigned first, input longint unsigned last,
                                                  input longint unsigned value);
  import "DPI-C" function int facet_dpi_next_csr(input chandle session, input int unsigned hart,
                                                 input int unsigned number, input longint unsigned value);
  import "DPI-C" function int facet_dpi_take(input chandle session, input int unsigned hart,
                                             input longint unsigned cause, input longint unsigned value);
  import "DPI-C" function int facet_dpi_break_reservation(input chandle session, input int unsigned hart);

  import "DPI-C" function longint unsigned facet_dpi_get(input chandle session, input int unsigned hart,
                                                         input string name);
  import "DPI-C" function longint unsigned facet_dpi_read(input chandle session, input longint unsigned address,
                                                          input int unsigned size);
  import "DPI-C" function longint unsigned facet_dpi_steps(input chandle session);

  import "DPI-C" function string facet_dpi_report(input chandle session);
  import "DPI-C" function int facet_dpi_snapshot_at(input chandle session, input longint unsigned step);
  import "DPI-C" function int facet_dpi_save(input chandle session, input string path);

endpackage
