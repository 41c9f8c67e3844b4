/* See target.h. */
#include "gdb/target.h"

#include "base/bits.h"
#include "base/error.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* ---- names and sizes --------------------------------------------------------------------------
 */

static uint8_t bytes_of(unsigned width)
{
    return width <= 8 ? 1 : width <= 16 ? 2 : width <= 32 ? 4 : width <= 64 ? 8 : 16;
}

/* "PREFIXnameSUFFIX" with every character of the name that GDB cannot spell replaced. */
static const char *make_name(
    struct facet_arena *arena, const char *prefix, const char *name, const char *suffix, bool lower)
{
    size_t before = strlen(prefix), length = strlen(name);
    char *copy = facet_arena_alloc(arena, before + length + strlen(suffix) + 1, 1);

    if (copy == NULL) {
        return NULL;
    }
    memcpy(copy, prefix, before);
    for (size_t i = 0; i < length; i++) {
        unsigned char c = (unsigned char)name[i];

        copy[before + i] = (char)(!isalnum(c) ? '_' : lower ? tolower(c) : c);
    }
    memcpy(copy + before + length, suffix, strlen(suffix) + 1);
    return copy;
}

static const char *
own_feature(struct facet_gdb_target *t, const facet_machine *machine, const char *group)
{
    char prefix[64];

    (void)snprintf(prefix, sizeof prefix, "org.facet.%s.", facet_machine_kind_name(machine));
    return make_name(&t->arena, prefix, group, "", true);
}

/* ---- the list ---------------------------------------------------------------------------------
 */

/* A CSR whose one field is all of it is a plain number. */
static bool has_fields(const struct facet_csr_desc *csr)
{
    return csr->width <= 64 && csr->field_count > 0 &&
           (csr->field_count > 1 || csr->fields[0].hi - csr->fields[0].lo + 1 < csr->width);
}

/* One bit for each lane. */
static bool has_bits(const struct facet_reg_desc *reg)
{
    return reg->type == FACET_REG_FLAGS && reg->width > 1 && reg->width <= 64;
}

static struct facet_gdb_reg
csr_entry(struct facet_gdb_target *t, const facet_machine *machine, uint32_t index, bool fields)
{
    const struct facet_csr_desc *csr = &facet_machine_core(machine, t->core)->csrs[index];
    const char *feature = fields ? NULL : t->arch->csr_feature(csr);

    return (struct facet_gdb_reg){
        .name = make_name(&t->arena, "", csr->name, fields ? "_fields" : "", true),
        .feature = feature != NULL ? feature : own_feature(t, machine, fields ? "fields" : "csr"),
        .csr = csr,
        .index = index,
        .fields = fields,
        .bytes = bytes_of(csr->width)};
}

/* The registers of the architecture whose name is borrowed (arch.h). */
static uint32_t list_borrowed(const struct facet_gdb_target *t,
                              const facet_machine *machine,
                              const struct facet_core_desc *core,
                              struct facet_gdb_reg *out)
{
    const struct facet_gdb_borrowed *b = t->arch->borrowed;
    uint32_t n = 0;

    for (; b != NULL && b->name != NULL; b++) {
        uint32_t index =
            b->reg != NULL ? facet_machine_find_reg(machine, t->core, b->reg) : FACET_NONE;

        out[n++] = (struct facet_gdb_reg){.name = b->name,
                                          .feature = t->arch->borrowed_feature,
                                          .reg = index != FACET_NONE ? &core->regs[index] : NULL,
                                          .index = index,
                                          .call = b->call,
                                          .bytes = t->arch->borrowed_bytes};
    }
    return n;
}

static uint32_t borrowed_count(const struct facet_gdb_arch *arch)
{
    uint32_t n = 0;

    while (arch->borrowed != NULL && arch->borrowed[n].name != NULL) {
        n++;
    }
    return n;
}

/* Registers, CSRs, then views, in the order of the tables; how many, 0 without memory. */
static uint32_t list_all(struct facet_gdb_target *t,
                         const facet_machine *machine,
                         const struct facet_core_desc *core,
                         struct facet_gdb_reg *out)
{
    uint32_t n = list_borrowed(t, machine, core, out);
    bool good = true;

    for (uint32_t i = 0; i < core->reg_count; i++) {
        const struct facet_reg_desc *reg = &core->regs[i];
        const char *feature = t->arch->reg_feature(reg);

        if (t->arch->borrowed != NULL && reg->type == FACET_REG_CODE) {
            continue; /* one pc is enough */
        }
        if (t->arch->float_csr != NULL && reg->type == FACET_REG_FLOAT &&
            facet_machine_find_csr(machine, t->core, t->arch->float_csr) == FACET_NONE) {
            continue; /* a hart without floating point */
        }

        out[n++] = (struct facet_gdb_reg){
            .name = make_name(&t->arena, "", reg->name, "", true),
            .feature = feature != NULL ? feature : own_feature(t, machine, reg->group),
            .reg = reg,
            .index = i,
            .bytes = bytes_of(reg->width)};
    }
    for (uint32_t i = 0; i < core->csr_count; i++) {
        out[n++] = csr_entry(t, machine, i, false);
    }
    for (uint32_t i = 0; i < core->csr_count; i++) {
        if (has_fields(&core->csrs[i])) {
            out[n++] = csr_entry(t, machine, i, true);
        }
    }
    for (uint32_t i = 0; i < core->reg_count; i++) {
        if (has_bits(&core->regs[i])) {
            out[n++] = (struct facet_gdb_reg){
                .name = make_name(&t->arena, "", core->regs[i].name, "_bits", true),
                .feature = own_feature(t, machine, "bits"),
                .reg = &core->regs[i],
                .index = i,
                .fields = true,
                .bytes = bytes_of(core->regs[i].width)};
        }
    }
    for (uint32_t i = 0; i < n; i++) {
        good = good && out[i].name != NULL && out[i].feature != NULL;
    }
    return good ? n : 0;
}

/* Numbers go by feature: all registers of the first, then of the next. */
static void group_by_feature(struct facet_gdb_target *t, struct facet_gdb_reg *all, uint32_t count)
{
    unsigned features = 0;

    for (uint32_t i = 0; i < count; i++) {
        const char *feature = all[i].feature;

        if (feature == NULL) {
            continue; /* taken already */
        }
        for (uint32_t k = i; k < count; k++) {
            if (all[k].feature != NULL && strcmp(all[k].feature, feature) == 0) {
                t->regs[t->count++] = all[k];
                all[k].feature = NULL;
            }
        }
        if (++features == t->arch->general) {
            t->general = t->count;
        }
    }
    if (features < t->arch->general) {
        t->general = t->count;
    }
}

/* ---- XML --------------------------------------------------------------------------------------
 */

static const char *integer_type(unsigned bytes)
{
    return bytes == 1 ? "uint8" : bytes == 2 ? "uint16" : bytes == 4 ? "uint32" : "uint64";
}

static const char *type_of(const struct facet_gdb_reg *r)
{
    if (r->reg != NULL && r->reg->type == FACET_REG_VECTOR && r->bytes == 16) {
        return "lanes";
    }
    if (r->bytes == 16) {
        return "uint128";
    }
    if (r->reg != NULL && r->reg->type == FACET_REG_CODE) {
        return "code_ptr";
    }
    if (r->reg != NULL && r->reg->type == FACET_REG_FLOAT) {
        return r->bytes == 8 ? "ieee_double" : r->bytes == 4 ? "ieee_single" : "ieee_half";
    }
    return integer_type(r->bytes);
}

/* GDB requires the fields of a flags type to be inside it, lowest first. */
static void
print_fields(struct facet_strbuf *out, struct facet_arena *arena, const struct facet_gdb_reg *r)
{
    unsigned bits = r->bytes * 8u;

    facet_strbuf_printf(out, "<flags id=\"%s_type\" size=\"%u\">\n", r->name, r->bytes);
    for (unsigned bit = 0; bit < bits; bit++) {
        if (r->csr == NULL && bit < r->reg->width) {
            facet_strbuf_printf(
                out, "<field name=\"l%u\" start=\"%u\" end=\"%u\"/>\n", bit, bit, bit);
        }
        for (unsigned i = 0; r->csr != NULL && i < r->csr->field_count; i++) {
            const struct facet_field_desc *f = &r->csr->fields[i];
            bool shown = strcmp(f->name, "RSV") != 0 && strcmp(f->name, "reserved") != 0;
            const char *name = shown && f->lo == bit && f->hi < bits && f->hi >= f->lo
                                   ? make_name(arena, "", f->name, "", false)
                                   : NULL;

            if (name != NULL) {
                facet_strbuf_printf(
                    out, "<field name=\"%s\" start=\"%u\" end=\"%u\"/>\n", name, f->lo, f->hi);
            }
        }
    }
    facet_strbuf_puts(out, "</flags>\n");
}

/* A vector as the numbers that its lanes may be. */
static void print_lanes(struct facet_strbuf *out)
{
    static const struct {
        const char *name, *type;
        unsigned count;
    } kinds[] = {{"f32", "ieee_single", 4},
                 {"f16", "ieee_half", 8},
                 {"i32", "int32", 4},
                 {"u32", "uint32", 4},
                 {"i16", "int16", 8},
                 {"i8", "int8", 16}};

    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
        facet_strbuf_printf(out,
                            "<vector id=\"lanes_%s\" type=\"%s\" count=\"%u\"/>\n",
                            kinds[i].name,
                            kinds[i].type,
                            kinds[i].count);
    }
    facet_strbuf_puts(out, "<union id=\"lanes\">\n");
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
        facet_strbuf_printf(
            out, "<field name=\"%s\" type=\"lanes_%s\"/>\n", kinds[i].name, kinds[i].name);
    }
    facet_strbuf_puts(out, "<field name=\"u128\" type=\"uint128\"/>\n</union>\n");
}

static void print_feature(struct facet_gdb_target *t, uint32_t first, uint32_t end)
{
    struct facet_strbuf *out = &t->features;

    facet_strbuf_printf(out, "<feature name=\"%s\">\n", t->regs[first].feature);
    if (strcmp(type_of(&t->regs[first]), "lanes") == 0) {
        print_lanes(out);
    }
    for (uint32_t i = first; i < end; i++) {
        if (t->regs[i].fields) {
            print_fields(out, &t->arena, &t->regs[i]);
        }
    }
    for (uint32_t i = first; i < end; i++) {
        const struct facet_gdb_reg *r = &t->regs[i];

        facet_strbuf_printf(out,
                            "<reg name=\"%s\" bitsize=\"%u\" regnum=\"%" PRIu32
                            "\" type=\"%s%s\"%s/>\n",
                            r->name,
                            r->bytes * 8u,
                            i,
                            r->fields ? r->name : type_of(r),
                            r->fields ? "_type" : "",
                            i < t->general ? "" : " group=\"system\"");
    }
    facet_strbuf_puts(out, "</feature>\n");
}

static void print_features(struct facet_gdb_target *t)
{
    facet_strbuf_puts(&t->features,
                      "<?xml version=\"1.0\"?>\n<!DOCTYPE target SYSTEM \"gdb-target.dtd\">\n"
                      "<target version=\"1.0\">\n");
    if (t->arch->architecture != NULL) {
        /* Without an ABI of its own GDB takes Linux's, decodes RISC-V branches and steps by
         * breakpoints, which do not hold on other instructions. */
        facet_strbuf_printf(&t->features,
                            "<architecture>%s</architecture>\n<osabi>none</osabi>\n",
                            t->arch->architecture);
    }
    for (uint32_t first = 0, end; first < t->count; first = end) {
        for (end = first + 1;
             end < t->count && strcmp(t->regs[end].feature, t->regs[first].feature) == 0;
             end++) {
        }
        print_feature(t, first, end);
    }
    facet_strbuf_puts(&t->features, "</target>\n");
}

/* Devices are left out: a debugger's reads do not reach them. */
static void print_memory_map(struct facet_gdb_target *t, const facet_machine *machine)
{
    struct facet_region_desc region;

    facet_strbuf_puts(&t->memory_map,
                      "<?xml version=\"1.0\"?>\n<!DOCTYPE memory-map PUBLIC \"+//IDN "
                      "gnu.org//DTD GDB Memory Map V1.0//EN\" "
                      "\"http://sourceware.org/gdb/gdb-memory-map.dtd\">\n<memory-map>\n");
    for (uint32_t i = 0; facet_machine_region(machine, 0, i, &region); i++) {
        if (!region.device) {
            facet_strbuf_printf(&t->memory_map,
                                "<memory type=\"%s\" start=\"0x%" PRIx64 "\" length=\"0x%" PRIx64
                                "\"/>\n",
                                region.writable ? "ram" : "rom",
                                region.base,
                                region.size);
        }
    }
    for (uint32_t i = 0; t->arch->private_spaces && facet_machine_region(machine, 1, i, &region);
         i++) { /* of the first core: the others have the same */
        facet_strbuf_printf(&t->memory_map,
                            "<memory type=\"ram\" start=\"0x%" PRIx64 "\" length=\"0x%" PRIx64
                            "\"/>\n",
                            region.base,
                            region.size);
    }
    facet_strbuf_puts(&t->memory_map, "</memory-map>\n");
}

/* ---- life -------------------------------------------------------------------------------------
 */

enum facet_status facet_gdb_target_make(struct facet_gdb_target *t,
                                        const facet_machine *machine,
                                        struct facet_error *err)
{
    const struct facet_core_desc *core = NULL;
    struct facet_gdb_reg *all;
    uint32_t count;

    memset(t, 0, sizeof *t);
    facet_arena_init(&t->arena);
    facet_strbuf_init(&t->features);
    facet_strbuf_init(&t->memory_map);
    t->arch = facet_gdb_arch_of(facet_machine_kind_name(machine));
    while ((core = facet_machine_core(machine, t->core)) != NULL && core->pc == FACET_NONE) {
        t->core++;
    }
    if (core == NULL) {
        return facet_fail(err, FACET_ERR_USAGE, 0, "no core of the machine executes instructions");
    }
    count = borrowed_count(t->arch) + 2 * (core->reg_count + core->csr_count);
    all = facet_arena_calloc(&t->arena, count, sizeof *all);
    t->regs = facet_arena_calloc(&t->arena, count, sizeof *t->regs);
    if (all != NULL && t->regs != NULL && (count = list_all(t, machine, core, all)) != 0) {
        group_by_feature(t, all, count);
        print_features(t);
        print_memory_map(t, machine);
        if (!t->features.failed && !t->memory_map.failed) {
            return FACET_OK;
        }
    }
    facet_gdb_target_free(t);
    return facet_fail(err, FACET_ERR_MEMORY, 0, "out of memory for the target description");
}

void facet_gdb_target_free(struct facet_gdb_target *t)
{
    facet_strbuf_free(&t->features);
    facet_strbuf_free(&t->memory_map);
    facet_arena_free(&t->arena);
}

/* ---- values -----------------------------------------------------------------------------------
 */

/* Whether the instruction before the address is a call that leaves the address in the register:
 * "JAL s1, ..." or "JALR s1, ...". */
static bool follows_call(const facet_machine *machine,
                         uint32_t core,
                         const struct facet_gdb_reg *r,
                         uint64_t address)
{
    char text[64] = "", name[16];
    size_t length = strlen(r->call);
    const char *at = text + length;

    (void)facet_machine_disassemble(machine, core, address - 4, text, sizeof text, NULL);
    (void)snprintf(name, sizeof name, " %.10s,", r->reg->name);
    if (strncmp(text, r->call, length) != 0) {
        return false;
    }
    at += *at == 'R';
    return strncmp(at, name, strlen(name)) == 0;
}

bool facet_gdb_reg_get(const struct facet_gdb_target *t,
                       const facet_machine *machine,
                       uint32_t core,
                       uint32_t number,
                       uint8_t out[16])
{
    const struct facet_gdb_reg *r = number < t->count ? &t->regs[number] : NULL;
    struct facet_value value = {0, 0};

    if (r != NULL && r->reg == NULL && r->csr == NULL) { /* borrowed, with no register of ours */
        memset(out, 0, 16);
        return true;
    }
    if (r == NULL || (r->csr != NULL ? facet_machine_csr_read(machine, core, r->index, &value, NULL)
                                     : facet_machine_reg_read(
                                           machine, core, r->index, &value, NULL)) != FACET_OK) {
        return false;
    }
    if (r->call != NULL && !follows_call(machine, core, r, value.lo)) {
        /* A caller that is the frame itself: there GDB stops without showing it. One at 0 or at an
         * address that is not known would be shown. */
        (void)facet_machine_reg_read(
            machine, core, facet_machine_core(machine, core)->pc, &value, NULL);
        value.lo += 4;
    }
    facet_store_le64(out, value.lo);
    facet_store_le64(out + 8, value.hi);
    return true;
}

bool facet_gdb_reg_set(const struct facet_gdb_target *t,
                       facet_machine *machine,
                       uint32_t core,
                       uint32_t number,
                       const uint8_t in[16])
{
    const struct facet_gdb_reg *r = number < t->count ? &t->regs[number] : NULL;
    struct facet_value value = {facet_load_le64(in), facet_load_le64(in + 8)};

    if (r == NULL) {
        return false;
    }
    if (r->reg == NULL && r->csr == NULL) {
        return value.lo == 0;
    }
    if (r->call != NULL) { /* what was not the register's is not written back */
        uint8_t shown[16];

        if (facet_gdb_reg_get(t, machine, core, number, shown) &&
            facet_load_le64(shown) == value.lo) {
            return true;
        }
    }
    return (r->csr != NULL
                ? facet_machine_csr_write(machine, core, r->index, value, NULL, NULL)
                : facet_machine_reg_write(machine, core, r->index, value, NULL)) == FACET_OK;
}
