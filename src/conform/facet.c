/* The cases on Facet itself, in this process. */
#include "conform/internal.h"

#include "base/bits.h"
#include "base/file.h"
#include "documents/gfx12_vectors.h"
#include "documents/tile_case.h"
#include "object/elf.h"

#include <facet/xphmg.h>
#include <stdlib.h>
#include <string.h>

enum { FILE_LIMIT = 64 << 20 };
#define MOST_SIGNATURE (UINT64_C(4) << 20)

bool conform_append(struct conform_words *words, const uint8_t *bytes, size_t size)
{
    size_t count = (size + 3) / 4;
    uint32_t *grown = realloc(words->word, (words->count + count + 1) * sizeof *grown);

    if (grown == NULL) {
        return false;
    }
    words->word = grown;
    for (size_t i = 0; i < count; i++) {
        uint8_t word[4] = {0};

        memcpy(word, bytes + 4 * i, size - 4 * i < 4 ? size - 4 * i : 4);
        words->word[words->count++] = facet_load_le32(word);
    }
    return true;
}

bool conform_append_words(struct conform_words *words, const uint32_t *more, size_t count)
{
    bool good = true;

    for (size_t i = 0; i < count && good; i++) {
        uint8_t bytes[4];

        facet_store_le(bytes, 4, more[i]);
        good = conform_append(words, bytes, 4);
    }
    return good;
}

static enum facet_status no_memory(struct facet_error *err)
{
    return facet_fail(err, FACET_ERR_MEMORY, 0, "out of memory for a case");
}

enum facet_status conform_append_memory(struct conform_words *words,
                                        const facet_machine *machine,
                                        uint64_t address,
                                        size_t size,
                                        struct facet_error *err)
{
    uint8_t *bytes = malloc(size + 1);
    enum facet_status status;

    if (bytes == NULL) {
        return no_memory(err);
    }
    status = facet_machine_read(machine, 0, address, bytes, size, err);
    if (status == FACET_OK && !conform_append(words, bytes, size)) {
        status = no_memory(err);
    }
    free(bytes);
    return status;
}

/* ---- the hart ---- */

static bool symbol(const struct facet_object *object, const char *name, uint64_t *value)
{
    for (size_t i = 0; i < object->symbol_count; i++) {
        if (strcmp(object->symbols[i].name, name) == 0) {
            *value = object->symbols[i].value;
            return true;
        }
    }
    return false;
}

static enum facet_status run_elf(const struct conform_case *c,
                                 const struct facet_bytes *file,
                                 facet_machine *machine,
                                 struct conform_words *got,
                                 struct conform_result *result,
                                 struct facet_error *err)
{
    const struct facet_run run = {.budget = CONFORM_MOST_STEPS};
    struct facet_object *object = NULL;
    enum facet_status status = facet_elf_read(file->data, file->size, &object, err);
    uint64_t begin = 0, end = 0;
    struct facet_stop stop;

    if (status == FACET_OK &&
        (!symbol(object, "begin_signature", &begin) || !symbol(object, "end_signature", &end) ||
         end < begin || end - begin > MOST_SIGNATURE)) {
        status = facet_fail(err,
                            FACET_ERR_INPUT,
                            0,
                            "%s: expected the symbols begin_signature and end_signature",
                            c->path);
    }
    facet_object_free(object);
    if (status == FACET_OK) {
        status = facet_xphmg_load_elf(machine, file->data, file->size, err);
    }
    if (status != FACET_OK) {
        return status;
    }
    facet_machine_run(machine, &run, &stop);
    if (stop.reason == FACET_STOP_BUDGET) {
        conform_say(result,
                    CONFORM_TIMEOUT,
                    "still running after %llu steps",
                    (unsigned long long)CONFORM_MOST_STEPS);
    } else if (stop.reason != FACET_STOP_EXIT) {
        conform_say(result,
                    CONFORM_ERROR,
                    "%s at 0x%llx instead of an end by tohost",
                    facet_stop_name(stop.reason),
                    (unsigned long long)stop.pc);
    } else {
        status = conform_append_memory(got, machine, begin, (size_t)(end - begin), err);
    }
    return status;
}

static enum facet_status answer_elf(const struct conform_case *c,
                                    bool plain,
                                    struct conform_words *got,
                                    struct conform_result *result,
                                    struct facet_error *err)
{
    /* RAM as `facet run` has it: a random program may run up to its end. */
    const struct facet_xphmg_config config = {.configuration =
                                                  c->config[0] != '\0' ? c->config : NULL,
                                              .plain = plain,
                                              .no_semihosting = true};
    struct facet_bytes file = {0};
    facet_machine *machine = NULL;
    enum facet_status status = facet_file_read(c->path, FILE_LIMIT, &file, err);

    status = status == FACET_OK ? facet_xphmg_create(&config, &machine, err) : status;
    if (status == FACET_ERR_USAGE && err != NULL) { /* there is no such machine */
        conform_say(result, CONFORM_UNSUPPORTED, "%s", err->message);
        status = FACET_OK;
    } else if (status == FACET_OK) {
        status = run_elf(c, &file, machine, got, result, err);
    }
    facet_machine_destroy(machine);
    free(file.data);
    return status;
}

/* ---- the tile machine ---- */

static enum facet_status answer_tile(const struct conform_case *c,
                                     bool plain,
                                     struct conform_words *got,
                                     struct facet_error *err)
{
    const struct facet_doc_tile_case_how how = {.plain = plain};
    struct facet_doc_tile_case *tile_case = NULL;
    enum facet_status status = facet_doc_tile_case_read(c->path, &tile_case, err);
    uint8_t *bytes = NULL;
    size_t size = 0;

    status = status == FACET_OK ? facet_doc_tile_case_answer(tile_case, &how, &bytes, &size, err)
                                : status;
    if (status == FACET_OK && !conform_append(got, bytes, size)) {
        status = no_memory(err);
    }
    free(bytes);
    facet_doc_tile_case_free(tile_case);
    return status;
}

/* ---- GFX12 ---- */

static enum facet_status
vector_words(struct facet_doc_gfx12_vector *v, struct conform_words *got, struct facet_error *err)
{
    struct facet_doc_gfx12_vector_result result;
    bool good;

    facet_doc_gfx12_vector_run(v, FACET_GFX12_SILICON, &result);
    if (facet_doc_gfx12_is_stack(v)) {
        good = conform_append_words(
                   got, result.dword, v->instruction == FACET_DOC_GFX12_POP2 ? 2 : 1) &&
               conform_append_words(got, &result.dword[2], 1) &&
               conform_append_words(
                   got, v->memory, v->expected_lds != NULL ? v->expected_lds_dwords : 0);
    } else {
        good = conform_append_words(got, result.dword, 10) &&
               conform_append_words(got, &result.dword[10], v->has_origin ? 3 : 0) &&
               conform_append_words(got, &result.dword[13], v->has_direction ? 3 : 0);
    }
    return good ? FACET_OK : no_memory(err);
}

static enum facet_status
answer_vector(const struct conform_case *c, struct conform_words *got, struct facet_error *err)
{
    struct facet_doc_gfx12_vectors vectors = {0};
    struct facet_bytes text = {0};
    enum facet_status status = facet_file_read(c->path, FILE_LIMIT, &text, err);

    if (status == FACET_OK) {
        status = facet_doc_gfx12_vectors_parse(c->path, text.data, text.size, &vectors, err);
    }
    for (size_t i = 0; i < vectors.count && status == FACET_OK; i++) {
        status = vector_words(&vectors.cases[i], got, err);
    }
    facet_doc_gfx12_vectors_free(&vectors);
    free(text.data);
    return status;
}

enum facet_status conform_facet(const struct conform_case *c,
                                bool plain,
                                struct conform_words *got,
                                struct conform_result *result,
                                struct facet_error *err)
{
    switch (c->kind) {
    case CONFORM_ELF:
        return answer_elf(c, plain, got, result, err);
    case CONFORM_TILE:
        return answer_tile(c, plain, got, err);
    case CONFORM_LIST:
        return conform_list(c, plain, got, result, err);
    default:
        return answer_vector(c, got, err);
    }
}
