/* Facet for the page: the C library as functions over flat memory, called by web/src/engine.
 *
 * An exported function `page_ROOM_VERB`, in page_ROOM.c, returns an enum facet_status and leaves
 * its answer in the one result, where the page finds it by page_result_data and page_result_size
 * until the next call: JSON or bytes, as the function says. When the status is not FACET_OK, the
 * result is
 * {"status": "bad input", "where": "0x3", "message": "..."} instead.
 *
 * Texts that come in end with a zero byte; bytes come as address and size. The page makes room for
 * both by page_alloc and gives it back by page_free when the call has returned, so that a function
 * copies what it keeps. Objects that live on (an image, a machine) are handed out and taken as
 * their address. There is one thread and one page: nothing is locked, and nobody but the worker,
 * whose code is ours, sees addresses. */
#ifndef FACET_WASM_PAGE_H
#define FACET_WASM_PAGE_H

#include "base/error.h"
#include "record/record.h"

#include <facet/memory.h>

#define PAGE_EXPORT(name) __attribute__((export_name(#name))) name

/* ---- answers; each returns what the exported function returns ---- */

/* JSON: begin, write members into the record, end. The record has its outermost object open. */
struct facet_record *page_begin(void);
int page_end(void);
/* A text or bytes of the library's: the result owns them from now on. */
int page_give(struct facet_blob blob);
/* Bytes made with malloc. */
int page_give_bytes(void *data, size_t size);
/* Nothing to tell: the result is empty. */
int page_done(void);
/* What an object is known by: {"handle": number}. */
int page_give_handle(const void *object);
int page_fail(const struct facet_error *err);
int page_no_memory(const char *for_what);

struct facet_diag_list;
/* The member "diagnostics" of an open object: what the assembler complains about (page_isa.c). */
void page_put_diagnostics(struct facet_record *r, const struct facet_diag_list *list);

/* ---- while a call lasts ---- */

/* Tells the page how far a long call is; it cannot interrupt one. */
void page_progress(uint64_t done, uint64_t total);

#endif
