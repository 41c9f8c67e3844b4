/* See page.h. */
#include "wasm/page.h"

#include "base/alloc.h"

#include <facet/version.h>
#include <stdlib.h>

static struct facet_blob result;
static struct facet_record record;

/* The page's side: web/src/engine/wasm.ts. */
__attribute__((import_module("page"), import_name("progress"))) void
page_host_progress(double done, double total);

void page_progress(uint64_t done, uint64_t total)
{
    page_host_progress((double)done, (double)total);
}

/* ---- exports ---- */

void *PAGE_EXPORT(page_alloc)(size_t size)
{
    return malloc(size + (size == 0));
}

void PAGE_EXPORT(page_free)(void *memory)
{
    free(memory);
}

const void *PAGE_EXPORT(page_result_data)(void)
{
    return result.data;
}

size_t PAGE_EXPORT(page_result_size)(void)
{
    return result.size;
}

int PAGE_EXPORT(page_version)(void)
{
    facet_record_word(page_begin(), "version", facet_version());
    return page_end();
}

/* ---- answers ---- */

struct facet_record *page_begin(void)
{
    facet_record_free(&record);
    facet_record_init(&record, true);
    facet_record_open(&record, NULL, NULL);
    return &record;
}

int page_end(void)
{
    struct facet_blob text;

    facet_record_close(&record);
    facet_record_end(&record);
    if (record.text.failed) {
        facet_record_free(&record);
        return page_no_memory("an answer");
    }
    text = (struct facet_blob){record.text.text, record.text.length};
    facet_strbuf_init(&record.text);
    return page_give(text);
}

int page_give(struct facet_blob blob)
{
    facet_blob_free(&result);
    result = blob;
    return FACET_OK;
}

int page_give_bytes(void *data, size_t size)
{
    return page_give((struct facet_blob){data, size});
}

int page_done(void)
{
    return page_give((struct facet_blob){0});
}

int page_give_handle(const void *object)
{
    facet_record_number(page_begin(), "handle", (int64_t)(uintptr_t)object);
    return page_end();
}

int page_fail(const struct facet_error *err)
{
    struct facet_record *r = page_begin();

    facet_record_word(r, "status", facet_status_name(err->status));
    facet_record_hex(r, "where", err->where, 0);
    facet_record_word(r, "message", err->message);
    (void)page_end();
    return (int)err->status;
}

/* Without memory for the words: the page knows the status. */
int page_no_memory(const char *for_what)
{
    struct facet_error err = {0};

    (void)facet_fail(&err, FACET_ERR_MEMORY, 0, "no memory for %s", for_what);
    facet_blob_free(&result);
    return (int)err.status;
}
