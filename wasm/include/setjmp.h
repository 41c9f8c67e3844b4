/* Jumps out of deep calls, where WebAssembly has none: the page throws an exception and catches it
 * (web/src/engine/wasm.ts). There is no setjmp; who would call it gives the page a function to
 * call. */
#ifndef FACET_WASM_SETJMP_H
#define FACET_WASM_SETJMP_H

typedef struct {
    char unused;
} jmp_buf[1];

/* Calls run(context); 0 when it returned, 1 when it ended by longjmp. */
__attribute__((import_module("page"), import_name("attempt"))) int
facet_wasm_attempt(void (*run)(void *context), void *context);
_Noreturn __attribute__((import_module("page"), import_name("jump"))) void facet_wasm_jump(void);

#define longjmp(buf, value) ((void)(buf), (void)(value), facet_wasm_jump())

#endif
