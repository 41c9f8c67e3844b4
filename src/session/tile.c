/* See tile.h. */
#include "session/tile.h"
#include "command/output.h"
#include "session/asm_options.h"
#include "session/tile/picture.h"
#include "session/trace.h"

#include "assembler/assemble.h"
#include "base/bits.h"
#include "base/file.h"
#include "gfx12/drivers/sniff.h"
#include "object/elf.h"
#include "object/hex.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { FILE_LIMIT = 256 << 20, ARG_BLOCK = 0x10000 };

/* ---- numbers ---- */

static bool read_u32(const char *text, uint32_t *out)
{
    char *end;
    unsigned long long value;

    errno = 0;
    value = strtoull(text, &end, 0);
    if (errno != 0 || text[0] < '0' || text[0] > '9' || *end != '\0' || value > UINT32_MAX) {
        return false;
    }
    *out = (uint32_t)value;
    return true;
}

static bool read_pair(const struct cli_args *args, const char *name, uint32_t *x, uint32_t *y)
{
    const char *text = cli_value(args, name);
    unsigned a, b;
    int used = 0;

    if (text == NULL) {
        return true;
    }
    /* Digits alone: sscanf would also take spaces and signs. */
    if (strspn(text, "0123456789xX") != strlen(text) ||
        sscanf(text, "%5u%*1[xX]%5u%n", &a, &b, &used) != 2 || text[used] != '\0' || a > 65535 ||
        b > 65535) {
        (void)cli_bad(args, "--%s %s: expected WxH, such as 4x3, each 0 to 65535", name, text);
        return false;
    }
    *x = a;
    *y = b;
    return true;
}

static bool read_size(const struct cli_args *args, uint32_t *size)
{
    const char *text = cli_value(args, "vram");
    unsigned long long value;
    unsigned shift;
    char *end;

    if (text == NULL) {
        return true;
    }
    errno = 0;
    value = strtoull(text, &end, 0);
    shift = *end == 'k' || *end == 'K' ? 10 : *end == 'M' ? 20 : 0;
    end += shift != 0;
    if (errno != 0 || text[0] < '0' || text[0] > '9' || *end != '\0' || value == 0 ||
        value > FACET_TILE_VRAM_MAX >> shift || (value << shift) % 4096 != 0) {
        (void)cli_bad(args, "--vram %s: expected a multiple of 4k up to 256M, such as 64M", text);
        return false;
    }
    *size = (uint32_t)(value << shift);
    return true;
}

/* A word as it is written on the command line. */
static bool read_word(const char *text, uint32_t *out)
{
    const char *digits = text + (text[0] == '-');
    char *end;
    long long value;

    if (digits[0] < '0' || digits[0] > '9') {
        return false;
    }
    errno = 0;
    value = strtoll(text, &end, 0);
    if (errno == 0 && *end == '\0') {
        *out = (uint32_t)value;
        return value >= INT32_MIN && value <= (long long)UINT32_MAX;
    }
    if (strchr(text, '.') != NULL) {
        float number = strtof(text, &end);

        memcpy(out, &number, sizeof number);
        return *end == '\0';
    }
    return false;
}

/* ---- options ---- */

static bool
read_config(struct session_tile *s, const struct cli_args *args, struct facet_tile_config *config)
{
    const char *sched = cli_value(args, "sched"), *mem = cli_value(args, "mem");
    uint64_t regs = 32, watchdog = FACET_TILE_WATCHDOG, threads = 1, seed = 0;
    uint64_t heat = FACET_TILE_HOST_CODE;
    struct facet_error err = {0};

    if (!cli_number(args, "regs", 16, 32, &regs) ||
        !cli_number(args, "watchdog", 1, UINT32_MAX, &watchdog) ||
        !cli_number(args, "threads", 0, FACET_POOL_MAX_THREADS, &threads) ||
        !cli_number(args, "host-code", 0, 255, &heat) ||
        !cli_number(args, "schedule", 0, UINT32_MAX, &seed) || !read_size(args, &config->vram)) {
        return false;
    }
    if (sched != NULL && !facet_tile_parse_sched(sched, config)) {
        (void)cli_bad(args, "--sched %s: expected rr:Q or rnd:SEED", sched);
        return false;
    }
    if (cli_given(args, "schedule")) {
        if (sched != NULL) {
            (void)cli_bad(args, "--sched and --schedule: expected one of them");
            return false;
        }
        config->random = true;
        config->seed = (uint32_t)seed;
    }
    if (mem != NULL) {
        (void)facet_tile_parse_mem(mem, config); /* the parser has checked the word */
    }
    config->poison = cli_given(args, "poison");
    config->regs = (uint32_t)regs;
    config->watchdog = (uint32_t)watchdog;
    config->plain = cli_given(args, "plain");
    config->host_code = heat != 0 ? (uint32_t)heat : FACET_TILE_NO_HOST_CODE;
    if (threads != 1 && facet_pool_create((unsigned)threads, &s->pool, &err) != FACET_OK) {
        (void)cli_bad_error(args, &err);
        return false;
    }
    return true;
}

static bool read_packet(struct session_tile *s, const struct cli_args *args)
{
    struct facet_tile_packet *p = &s->packet;
    const char *region = cli_value(args, "const");
    uint64_t shared = 0, cores = 0xF;

    p->columns = p->rows = 1;
    if (!read_pair(args, "grid", &p->columns, &p->rows) ||
        !read_pair(args, "tile", &p->tile_width, &p->tile_height) ||
        !cli_number(args, "shared", 0, FACET_TILE_SCRATCH_BYTES, &shared) ||
        !cli_number(args, "cores", 1, 0xF, &cores)) {
        return false;
    }
    p->shared_size = (uint32_t)shared;
    p->core_mask = (uint32_t)cores;
    if (region != NULL) {
        const char *comma = strrchr(region, ',');
        char first[64] = "";

        if (comma != NULL && (size_t)(comma - region) < sizeof first) {
            memcpy(first, region, (size_t)(comma - region));
        }
        if (comma == NULL || !session_tile_address(s, first, &p->const_base) ||
            !read_u32(comma + 1, &p->const_size)) {
            (void)cli_bad(args, "--const %s: expected ADDR,LEN", region);
            return false;
        }
    }
    return true;
}

/* ---- the program ---- */

static bool assemble(struct session_tile *s,
                     const struct cli_args *args,
                     const char *path,
                     const struct facet_bytes *text,
                     uint32_t base)
{
    struct facet_asm_options options = {
        .isa = FACET_ISA_TILE, .has_base = true, .base = base, .debug = true};
    struct facet_asm_result result;
    struct facet_error err = {0};
    struct session_asm *own = malloc(sizeof *own); /* tables of some size */
    bool good;

    if (own == NULL) {
        (void)cli_bad(args, "out of memory");
        return false;
    }
    if (!session_asm_read(own, args, path, &options)) {
        session_asm_free(own);
        free(own);
        return false;
    }
    good =
        facet_assemble(&options, (const char *)text->data, text->size, &result, &err) == FACET_OK;
    session_asm_free(own);
    free(own);
    if (good) {
        s->program = result.object;
        result.object = NULL;
        good = facet_object_make_segments(s->program, &err) == FACET_OK;
    }
    if (!good) {
        (void)cli_bad_error(args, &err);
    }
    facet_asm_result_free(&result);
    return good;
}

/* Words in hexadecimal, an executable or a flat file. */
static enum facet_status read_program(const char *path,
                                      const struct facet_bytes *file,
                                      uint32_t base,
                                      struct facet_object **out,
                                      struct facet_error *err)
{
    const bool hex = cli_ends_with(path, ".hex"), elf = facet_elf_is(file->data, file->size);
    const char *other =
        hex || elf ? NULL : facet_gfx12_looks_like(path, file->data, file->size).what;

    if (other != NULL) {
        return facet_fail(err,
                          FACET_ERR_INPUT,
                          0,
                          "this is %s; expected assembly text (.s), ELF, words in hexadecimal "
                          "(.hex) or a flat file of instructions",
                          other);
    }
    if (hex) {
        return facet_hex_read(FACET_ISA_TILE, (const char *)file->data, file->size, base, out, err);
    }
    return elf ? facet_elf_read(file->data, file->size, out, err)
               : facet_object_from_bytes(FACET_ISA_TILE, file->data, file->size, base, out, err);
}

static bool load_program(struct session_tile *s, const struct cli_args *args)
{
    const char *path = args->positional[0], *base_text = cli_value(args, "base");
    uint32_t base = FACET_VRAM_BASE;
    struct facet_bytes file;
    struct facet_error err = {0};
    bool good;

    if (base_text != NULL && (!read_u32(base_text, &base) || base % 4 != 0)) {
        (void)cli_bad(args, "--base %s: expected a multiple of 4", base_text);
        return false;
    }
    if (facet_file_read(path, FILE_LIMIT, &file, &err) != FACET_OK) {
        (void)cli_bad_error(args, &err);
        return false;
    }
    if (cli_ends_with(path, ".s")) {
        good = assemble(s, args, path, &file, base);
    } else {
        good = read_program(path, &file, base, &s->program, &err) == FACET_OK &&
               (s->program->segment_count != 0 ||
                facet_object_make_segments(s->program, &err) == FACET_OK);
        if (!good) {
            (void)facet_fail_in(&err, path);
            (void)cli_bad_error(args, &err);
        }
    }
    free(file.data);
    if (good && facet_tile_load(s->machine, s->program, &s->packet.pc, &err) != FACET_OK) {
        (void)facet_fail_in(&err, path);
        (void)cli_bad_error(args, &err);
        good = false;
    }
    return good;
}

/* ---- memory ---- */

bool session_tile_address(const struct session_tile *s, const char *text, uint32_t *address)
{
    uint64_t value;

    if (read_u32(text, address)) {
        return true;
    }
    for (size_t i = 0; i < s->arg_count; i++) {
        const char *name = s->args[i].name;
        size_t length = strlen(name);

        if (length == 0 || strncmp(name, text, length) != 0) {
            continue;
        }
        if (text[length] == '\0') {
            *address = s->args[i].value;
            return true;
        }
        if (s->args[i].width != 0 &&
            (strcmp(text + length, ".width") == 0 || strcmp(text + length, ".height") == 0)) {
            *address = text[length + 1] == 'w' ? s->args[i].width : s->args[i].height;
            return true;
        }
    }
    if (s->program != NULL && session_find_address(s->program, text, &value) &&
        value <= UINT32_MAX) {
        *address = (uint32_t)value;
        return true;
    }
    return false;
}

static bool put_file(struct session_tile *s,
                     const struct cli_args *args,
                     const char *path,
                     uint32_t address,
                     const struct facet_bytes *file)
{
    struct facet_error err = {0};

    if (facet_machine_write(s->machine, 0, address, file->data, file->size, &err) != FACET_OK) {
        (void)cli_bad(args, "%s: %zu bytes at 0x%08x: %s", path, file->size, address, err.message);
        return false;
    }
    return true;
}

static bool load_inputs(struct session_tile *s, const struct cli_args *args)
{
    const char *text;

    for (int i = 0; (text = cli_nth_value(args, "in", i)) != NULL; i++) {
        const char *equals = strchr(text, '=');
        char name[64] = "";
        uint32_t address;
        struct facet_bytes file;
        struct facet_error err = {0};
        bool good;

        if (equals != NULL && (size_t)(equals - text) < sizeof name) {
            memcpy(name, text, (size_t)(equals - text));
        }
        if (equals == NULL || equals[1] == '\0') {
            (void)cli_bad(args, "--in %s: expected ADDR=FILE", text);
            return false;
        }
        if (!session_tile_address(s, name, &address)) {
            (void)cli_bad(args, "--in %s: the address is %s", text, SESSION_TILE_NO_ADDRESS);
            return false;
        }
        if (facet_file_read(equals + 1, FILE_LIMIT, &file, &err) != FACET_OK) {
            (void)cli_bad_error(args, &err);
            return false;
        }
        good = put_file(s, args, equals + 1, address, &file);
        free(file.data);
        if (!good) {
            return false;
        }
    }
    return true;
}

static bool
add_arg(struct session_tile *s, const struct cli_args *args, const char *name, uint32_t v)
{
    for (size_t i = 0; name[0] != '\0' && i < s->arg_count; i++) {
        if (strcmp(s->args[i].name, name) == 0) {
            (void)cli_bad(args, "--arg: two arguments have the name %s", name);
            return false;
        }
    }
    if (s->arg_count == SESSION_TILE_ARGS) {
        (void)cli_bad(args, "more than %d words of arguments", SESSION_TILE_ARGS);
        return false;
    }
    (void)snprintf(s->args[s->arg_count].name, sizeof s->args[0].name, "%.63s", name);
    s->args[s->arg_count++].value = v;
    return true;
}

/* NAME=@FILE puts the bytes below *top and gives their address; @FILE gives the file's words. */
static bool arg_file(struct session_tile *s,
                     const struct cli_args *args,
                     const char *name,
                     const char *path,
                     uint32_t *top)
{
    struct facet_bytes file;
    struct facet_error err = {0};
    uint32_t width = 0, height = 0;
    bool good = true;

    if (facet_file_read(path, FILE_LIMIT, &file, &err) != FACET_OK) {
        (void)cli_bad_error(args, &err);
        return false;
    }
    if (name[0] != '\0' && session_is_picture(path) &&
        session_tile_texels(&file, &width, &height, &err) != FACET_OK) {
        (void)facet_fail_in(&err, path);
        (void)cli_bad_error(args, &err);
        free(file.data);
        return false;
    }
    if (name[0] != '\0') {
        uint32_t room = *top - FACET_VRAM_BASE;

        good = file.size <= room;
        if (!good) {
            (void)cli_bad(args, "%s: %zu bytes, more than fits in VRAM", path, file.size);
        } else {
            *top = (uint32_t)facet_align_down(*top - (uint32_t)file.size, 64);
            good = put_file(s, args, path, *top, &file) && add_arg(s, args, name, *top);
            if (good) {
                s->args[s->arg_count - 1].width = width;
                s->args[s->arg_count - 1].height = height;
            }
        }
    } else if (file.size % 4 != 0) {
        good = false;
        (void)cli_bad(args, "%s: %zu bytes, expected whole 32-bit words", path, file.size);
    } else {
        for (size_t i = 0; good && i < file.size; i += 4) {
            good = add_arg(s, args, "", facet_load_le32(file.data + i));
        }
    }
    free(file.data);
    return good;
}

static bool load_args(struct session_tile *s, const struct cli_args *args)
{
    uint32_t top = FACET_VRAM_BASE + facet_tile_info_of(s->machine).vram_bytes;
    const char *text;

    top -= facet_tile_info_of(s->machine).vram_bytes > 2 * ARG_BLOCK ? ARG_BLOCK : 1024;
    s->packet.arg_base = top;
    for (int i = 0; (text = cli_nth_value(args, "arg", i)) != NULL; i++) {
        const char *equals = strchr(text, '=');
        char name[64] = "";
        uint32_t value;

        if (text[0] == '@') {
            if (!arg_file(s, args, "", text + 1, &top)) {
                return false;
            }
            continue;
        }
        if (equals == NULL || equals == text || (size_t)(equals - text) >= sizeof name) {
            (void)cli_bad(args, "--arg %s: expected NAME=VALUE, NAME=@FILE or @FILE", text);
            return false;
        }
        memcpy(name, text, (size_t)(equals - text));
        if (equals[1] == '@') {
            if (!arg_file(s, args, name, equals + 2, &top)) {
                return false;
            }
        } else if (read_word(equals + 1, &value) || session_tile_address(s, equals + 1, &value)) {
            if (!add_arg(s, args, name, value)) {
                return false;
            }
        } else {
            (void)cli_bad(
                args, "--arg %s: expected a 32-bit number, a float with a point or a symbol", text);
            return false;
        }
    }
    s->packet.arg_size = (uint32_t)(4 * s->arg_count);
    for (size_t i = 0; i < s->arg_count; i++) {
        uint8_t bytes[4];

        facet_store_le32(bytes, s->args[i].value);
        (void)facet_machine_write(
            s->machine, 0, s->packet.arg_base + 4 * i, bytes, sizeof bytes, NULL);
    }
    return true;
}

/* ---- all of it ---- */

bool session_tile_start(struct session_tile *s, const struct cli_args *args)
{
    struct facet_tile_config config = {0};
    struct facet_error err = {0};

    *s = (struct session_tile){0};
    if (args->positional_count == 0) {
        (void)cli_bad(args, "KERNEL is missing: assembly text, ELF, .hex or a flat file");
        return false;
    }
    if (args->positional_count > 1) {
        (void)cli_bad(args, "unexpected argument '%s'", args->positional[1]);
        return false;
    }
    if (!read_config(s, args, &config)) {
        return false;
    }
    if (facet_tile_create(&config, &s->machine, &err) != FACET_OK) {
        (void)cli_bad_error(args, &err);
        return false;
    }
    facet_tile_use_pool(s->machine, s->pool);
    if (!load_program(s, args) || !load_args(s, args) || !load_inputs(s, args) ||
        !read_packet(s, args)) {
        return false;
    }
    if (facet_tile_dispatch(s->machine, &s->packet, &err) != FACET_OK) {
        (void)cli_bad_error(args, &err);
        return false;
    }
    return true;
}

void session_tile_end(struct session_tile *s)
{
    facet_machine_destroy(s->machine);
    facet_object_free(s->program);
    facet_pool_destroy(s->pool);
    *s = (struct session_tile){0};
}
