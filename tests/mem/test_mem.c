/* Guest memory against a model that looks every byte up in a list, one at a time. */
#include "base/failing_alloc.h"
#include "harness.h"
#include "mem/mem.h"

#include <stdlib.h>

/* ---- the model --------------------------------------------------------------------------------
 */

/* Every kind of neighbourhood: RAM-RAM, RAM-ROM, ROM-device, device-RAM, holes, a region with an
 * odd size, and the seam between the last and the first address. */
enum { REGIONS = 8, MODEL_BYTES = 0x4000 };
static const struct facet_mem_region layout[REGIONS] = {
    {"low", 0x0, 0x800, FACET_MEM_RAM},
    {"a", 0x10000, 0x2000, FACET_MEM_RAM},
    {"b", 0x12000, 0x1801, FACET_MEM_RAM},
    {"rom", 0x13801, 0x1000, FACET_MEM_ROM},
    {"dev", 0x14801, 0x40, FACET_MEM_DEVICE},
    {"c", 0x14841, 0x3000, FACET_MEM_RAM},
    {"tiny", 0x20000, 5, FACET_MEM_RAM},
    {"top", UINT64_C(0xFFFFFFFFFFFFF000), 0x1000, FACET_MEM_RAM},
};

struct model {
    uint8_t bytes[REGIONS][MODEL_BYTES];
    bool dirty[REGIONS][MODEL_BYTES >> 12];
    uint8_t device[0x40];
    unsigned device_calls;
    unsigned bad_calls; /* not aligned, or of another size */
};

static int region_of(uint64_t address)
{
    for (int i = 0; i < REGIONS; i++) {
        if (address - layout[i].base < layout[i].size) {
            return i;
        }
    }
    return -1;
}

static uint8_t *model_byte(struct model *m, uint64_t address)
{
    int r = region_of(address);

    return layout[r].kind == FACET_MEM_DEVICE ? &m->device[address - layout[r].base]
                                              : &m->bytes[r][address - layout[r].base];
}

static enum facet_mem_fault model_fault(uint64_t address, bool write, bool host)
{
    int r = region_of(address);

    if (r < 0) {
        return FACET_MEM_UNMAPPED;
    }
    if (layout[r].kind == FACET_MEM_DEVICE) {
        return host ? FACET_MEM_REFUSED : FACET_MEM_OK;
    }
    return layout[r].kind == FACET_MEM_ROM && write && !host ? FACET_MEM_READ_ONLY : FACET_MEM_OK;
}

static struct facet_mem_result model_check(uint64_t address, size_t size, bool write, bool host)
{
    struct facet_mem_result result = {FACET_MEM_OK, 0};

    for (size_t i = 0; i < size; i++) {
        enum facet_mem_fault fault = model_fault(address + i, write, host);

        if (fault != FACET_MEM_OK) {
            result.fault = fault;
            result.address = address + i;
            break;
        }
    }
    return result;
}

static void model_write(struct model *m, uint64_t address, const uint8_t *data, size_t size)
{
    for (size_t i = 0; i < size; i++) {
        int r = region_of(address + i);

        *model_byte(m, address + i) = data[i];
        if (layout[r].kind != FACET_MEM_DEVICE) {
            m->dirty[r][(address + i - layout[r].base) >> 12] = true;
        }
    }
}

/* The device of the tested memory: plain bytes, and a check of how it is called. */
static uint8_t device_bytes[0x40];
static struct model model;

static bool device_read(void *context, uint64_t offset, unsigned size, uint64_t *value)
{
    struct model *m = context;

    m->device_calls++;
    m->bad_calls += (size != 1 && size != 2 && size != 4 && size != 8) || offset % size != 0 ||
                    offset + size > 0x40;
    *value = facet_load_le(device_bytes + offset, size);
    return true;
}

static bool device_write(void *context, uint64_t offset, unsigned size, uint64_t value)
{
    struct model *m = context;

    m->device_calls++;
    m->bad_calls += (size != 1 && size != 2 && size != 4 && size != 8) || offset % size != 0 ||
                    offset + size > 0x40;
    facet_store_le(device_bytes + offset, size, value);
    return true;
}

static facet_mem *make_memory(void)
{
    static const int order[REGIONS] = {5, 0, 7, 3, 1, 6, 4, 2}; /* adding order does not matter */
    struct facet_mem_device device = {device_read, device_write, &model};
    facet_mem *mem;

    memset(&model, 0, sizeof model);
    memset(device_bytes, 0, sizeof device_bytes);
    if (!CHECK(facet_mem_create(&mem, NULL) == FACET_OK)) {
        exit(1);
    }
    for (int i = 0; i < REGIONS; i++) {
        const struct facet_mem_region *r = &layout[order[i]];

        CHECK((r->kind == FACET_MEM_DEVICE
                   ? facet_mem_add_device(mem, r->name, r->base, r->size, &device, NULL)
                   : facet_mem_add_ram(mem, r->name, r->kind, r->base, r->size, NULL)) == FACET_OK);
    }
    return mem;
}

/* Near an edge of a region most of the time, so that crossings are common. */
static uint64_t random_address(void)
{
    const struct facet_mem_region *r = &layout[harness_random() % REGIONS];
    uint64_t jitter = harness_random() % 64;

    switch (harness_random() % 4) {
    case 0:
        return r->base - 32 + jitter;
    case 1:
        return r->base + r->size - 32 + jitter;
    case 2:
        return r->base + (harness_random() % 4) * 4096 - 32 + jitter; /* around page edges */
    default:
        return r->base + harness_random() % r->size;
    }
}

static void check_result(struct facet_mem_result got, struct facet_mem_result expect)
{
    CHECK_EQ(got.fault, expect.fault);
    CHECK_EQ(got.address, expect.address);
}

static void random_access(facet_mem *mem)
{
    static const uint8_t sizes[] = {1, 2, 4, 8, 16, 3, 0, 100};
    uint64_t address = random_address(), value = 0;
    size_t size = sizes[harness_random() % 8];
    unsigned how = (unsigned)(harness_random() % 8);
    bool write = (how & 1) != 0, host = how >= 6;
    struct facet_mem_result expect = model_check(address, size, write, host), got;
    uint8_t data[100], before[100];

    for (size_t i = 0; i < size; i++) {
        data[i] = (uint8_t)harness_random();
    }
    memcpy(before, data, sizeof data);
    if (how < 2 && size != 0 && size <= 8 && size != 3) {
        if (write) {
            value = facet_load_le(data, (unsigned)size);
            got = facet_mem_write(
                mem, address, (unsigned)size, value | (UINT64_MAX << 1 << (size * 8 - 1)));
        } else {
            value = 0x1122334455667788;
            got = facet_mem_read(mem, address, (unsigned)size, &value);
            if (expect.fault != FACET_MEM_OK) {
                CHECK_EQ(value, 0x1122334455667788);
            } else {
                memset(data, 0, 8);
                facet_store_le64(data, value);
                for (size_t i = size; i < 8; i++) {
                    CHECK_EQ(data[i], 0);
                }
            }
        }
    } else if (host) {
        got = write ? facet_mem_poke(mem, address, data, size)
                    : facet_mem_peek(mem, address, data, size);
    } else {
        got = write ? facet_mem_write_bytes(mem, address, data, size)
                    : facet_mem_read_bytes(mem, address, data, size);
    }
    check_result(got, expect);
    if (expect.fault != FACET_MEM_OK) {
        CHECK(memcmp(data, before, size) == 0);
        return;
    }
    if (write) {
        model_write(&model, address, data, size);
    }
    for (size_t i = 0; !write && i < size; i++) {
        CHECK_EQ(data[i], *model_byte(&model, address + i));
    }
}

static void random_window_access(facet_mem *mem)
{
    static const uint8_t sizes[] = {1, 2, 4, 8, 16};
    uint64_t address = random_address(), value[2] = {harness_random(), harness_random()};
    struct facet_mem_window window = facet_mem_window(mem, address);
    size_t size = sizes[harness_random() % 5];
    int r = region_of(address);
    uint64_t left = r < 0 ? 0 : layout[r].base + layout[r].size - address;
    bool inside = r >= 0 && layout[r].kind != FACET_MEM_DEVICE && left >= 16;
    uint8_t data[16];

    facet_store_le64(data, value[0]);
    facet_store_le64(data + 8, value[1]);
    if (harness_random() % 2 == 0) {
        bool ok = size == 16 ? facet_window_store16(&window, address, value)
                             : facet_window_store(&window, address, (unsigned)size, value[0]);

        CHECK_EQ(ok, inside && layout[r].kind == FACET_MEM_RAM);
        if (ok) {
            model_write(&model, address, data, size);
        }
    } else {
        bool ok = size == 16 ? facet_window_load16(&window, address, value)
                             : facet_window_load(&window, address, (unsigned)size, value);

        CHECK_EQ(ok, inside);
        facet_store_le64(data, value[0]);
        facet_store_le64(data + 8, value[1]);
        for (size_t i = 0; ok && i < size; i++) {
            CHECK_EQ(data[i], *model_byte(&model, address + i));
        }
    }
}

/* The dirty pages of the memory are exactly those of the model; then both are cleared. */
static void check_dirty(facet_mem *mem)
{
    struct facet_mem_cursor cursor = {0, 0};
    struct facet_mem_page page;
    unsigned found = 0, expected = 0;

    while (facet_mem_dirty_next(mem, FACET_MEM_DIRTY_SNAPSHOT, &cursor, &page)) {
        int r = region_of(page.address);
        uint64_t offset = page.address - layout[r].base;

        found++;
        CHECK(offset % 4096 == 0 && model.dirty[r][offset >> 12]);
        CHECK_EQ(page.size, layout[r].size - offset < 4096 ? layout[r].size - offset : 4096);
        CHECK(memcmp(page.bytes, model.bytes[r] + offset, page.size) == 0);
    }
    for (int r = 0; r < REGIONS; r++) {
        for (uint64_t p = 0; p << 12 < layout[r].size && layout[r].kind != FACET_MEM_DEVICE; p++) {
            expected += model.dirty[r][p];
            CHECK_EQ(
                facet_mem_dirty_test(mem, FACET_MEM_DIRTY_SNAPSHOT, layout[r].base + (p << 12)),
                model.dirty[r][p]);
        }
    }
    CHECK_EQ(found, expected);
    facet_mem_dirty_clear(mem, FACET_MEM_DIRTY_SNAPSHOT);
    memset(model.dirty, 0, sizeof model.dirty);
}

TEST(a_million_random_accesses_match_the_model, "")
{
    facet_mem *mem = make_memory();

    for (int i = 0; i < 1500000 && !harness_failed(); i++) {
        if (harness_random() % 3 == 0) {
            random_window_access(mem);
        } else {
            random_access(mem);
        }
        if (harness_random() % 50 == 0) {
            check_dirty(mem);
        }
    }
    CHECK(memcmp(device_bytes, model.device, sizeof device_bytes) == 0);
    CHECK_EQ(model.bad_calls, 0);
    CHECK(model.device_calls > 1000);
    facet_mem_destroy(mem);
}

TEST(an_aligned_access_is_one_device_call, "")
{
    facet_mem *mem = make_memory();
    uint64_t dev = layout[4].base, value;
    uint8_t bytes[16];
    static const struct {
        unsigned offset, size, calls;
    } rows[] = {{0, 1, 1}, {2, 2, 1}, {4, 4, 1}, {8, 8, 1}, {0, 16, 2}, {2, 4, 2}, {1, 8, 4}};

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        model.device_calls = 0;
        CHECK_EQ(facet_mem_read_bytes(mem, dev + rows[i].offset, bytes, rows[i].size).fault, 0);
        CHECK_EQ(model.device_calls, rows[i].calls);
    }
    model.device_calls = 0;
    CHECK_EQ(facet_mem_read(mem, dev + 0x38, 8, &value).fault, 0);
    CHECK_EQ(facet_mem_peek(mem, dev, bytes, 1).fault, FACET_MEM_REFUSED);
    CHECK_EQ(facet_mem_poke(mem, dev, bytes, 1).fault, FACET_MEM_REFUSED);
    CHECK_EQ(model.device_calls, 1);
    /* Faults are found before the device is disturbed: the write would end in the ROM's far side.
     */
    CHECK_EQ(facet_mem_write_bytes(mem, dev - 8, bytes, 16).fault, FACET_MEM_READ_ONLY);
    CHECK_EQ(model.device_calls, 1);
    facet_mem_destroy(mem);
}

static bool refuse_high(void *context, uint64_t offset, unsigned size, uint64_t *value)
{
    (void)context;
    (void)size;
    *value = 0x77;
    return offset < 8;
}

TEST(a_device_may_refuse, "")
{
    struct facet_mem_device device = {refuse_high, NULL, NULL};
    struct facet_mem_result result;
    facet_mem *mem;
    uint64_t value = 5;
    uint8_t bytes[16];

    memset(bytes, 0xEE, sizeof bytes);
    CHECK(facet_mem_create(&mem, NULL) == FACET_OK);
    CHECK(facet_mem_add_device(mem, "d", 0x100, 16, &device, NULL) == FACET_OK);
    CHECK_EQ(facet_mem_read(mem, 0x100, 4, &value).fault, 0);
    CHECK_EQ(value, 0x77);
    check_result(facet_mem_read(mem, 0x108, 8, &value),
                 (struct facet_mem_result){FACET_MEM_REFUSED, 0x108});
    CHECK_EQ(value, 0x77);
    result = facet_mem_read_bytes(mem, 0x100, bytes, 16);
    check_result(result, (struct facet_mem_result){FACET_MEM_REFUSED, 0x108});
    CHECK_EQ(bytes[0], 0xEE); /* nothing of it arrived */
    check_result(facet_mem_write(mem, 0x100, 1, 0),
                 (struct facet_mem_result){FACET_MEM_REFUSED, 0x100});
    facet_mem_destroy(mem);
}

TEST(the_address_space_is_a_ring, "")
{
    facet_mem *mem = make_memory();
    uint64_t value = 0;

    CHECK_EQ(facet_mem_write(mem, UINT64_MAX - 3, 8, 0x8877665544332211).fault, 0);
    CHECK_EQ(facet_mem_read(mem, 0, 4, &value).fault, 0);
    CHECK_EQ(value, 0x88776655);
    CHECK_EQ(facet_mem_read(mem, UINT64_MAX, 1, &value).fault, 0);
    CHECK_EQ(value, 0x44);
    CHECK(facet_mem_span(mem, UINT64_MAX - 3, 4) != NULL);
    CHECK(facet_mem_span(mem, UINT64_MAX - 3, 5) == NULL);
    check_result(facet_mem_read_bytes(mem, 0x7FF, &value, 2),
                 (struct facet_mem_result){FACET_MEM_UNMAPPED, 0x800});
    facet_mem_destroy(mem);
}

TEST(regions_are_checked_when_added, "")
{
    static const struct {
        const char *name;
        uint64_t base, size;
        enum facet_status status;
        const char *message;
    } rows[] = {
        {"", 0x50000, 16, FACET_ERR_USAGE, "expected 1..31 bytes"},
        {"a_name_that_has_thirty_two_bytes", 0x50000, 16, FACET_ERR_USAGE, "expected 1..31"},
        {"a", 0x50000, 16, FACET_ERR_USAGE, "already exists"},
        {"x", 0x50000, 0, FACET_ERR_USAGE, "do not fit"},
        {"x", UINT64_MAX, 2, FACET_ERR_USAGE, "do not fit"},
        {"x", 0x11FFF, 1, FACET_ERR_USAGE, "overlaps \"a\""},
        {"x", 0xFFFF, 2, FACET_ERR_USAGE, "overlaps \"a\""},
        {"x", 0xF000, 0x100000, FACET_ERR_USAGE, "overlaps \"a\""},
        {"x", 0x100000, UINT64_C(1) << 60, FACET_ERR_MEMORY, "cannot provide"},
    };
    facet_mem *mem = make_memory();
    struct facet_mem_device device = {NULL, NULL, NULL};
    struct facet_error err;

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        CHECK_EQ(
            facet_mem_add_ram(mem, rows[i].name, FACET_MEM_RAM, rows[i].base, rows[i].size, &err),
            rows[i].status);
        CHECK_MSG(strstr(err.message, rows[i].message) != NULL, "%s", err.message);
    }
    CHECK(facet_mem_add_device(mem, "a", 0x50000, 16, &device, &err) == FACET_ERR_USAGE);
    CHECK(facet_mem_region(mem, REGIONS) == NULL); /* none of them arrived */
    for (unsigned i = 0; i < REGIONS; i++) {
        const struct facet_mem_region *r = facet_mem_region(mem, i);

        CHECK_STR(r->name, layout[i].name); /* address order */
        CHECK(facet_mem_region_named(mem, r->name) == r);
        CHECK(facet_mem_region_at(mem, r->base + r->size - 1) == r);
    }
    CHECK(facet_mem_region_named(mem, "zz") == NULL && facet_mem_region_at(mem, 0x800) == NULL);
    for (unsigned i = REGIONS; i < FACET_MEM_MAX_REGIONS; i++) {
        char name[8] = {'r', (char)('0' + i / 10), (char)('0' + i % 10), 0};

        CHECK(facet_mem_add_ram(mem, name, FACET_MEM_RAM, 0x100000 + i * 16, 16, NULL) == FACET_OK);
    }
    CHECK(facet_mem_add_ram(mem, "more", FACET_MEM_RAM, 0x50000, 16, &err) == FACET_ERR_LIMIT);
    facet_mem_destroy(mem);
    facet_mem_destroy(NULL);
    failing_alloc_after(0);
    CHECK(facet_mem_create(&mem, &err) == FACET_ERR_MEMORY && mem == NULL);
    failing_alloc_after(-1);
}

TEST(a_huge_region_is_sparse, "")
{
    uint64_t size = UINT64_C(64) << 30, value = 0;
    struct facet_mem_cursor cursor = {0, 0};
    struct facet_mem_page page;
    facet_mem *mem;

    CHECK(facet_mem_create(&mem, NULL) == FACET_OK);
    if (facet_mem_add_ram(mem, "big", FACET_MEM_RAM, 0x80000000, size, NULL) != FACET_OK) {
        harness_skip("the host does not reserve 64 GiB");
        facet_mem_destroy(mem);
        return;
    }
    CHECK_EQ(facet_mem_write(mem, 0x80000000 + size - 8, 8, 42).fault, 0);
    CHECK_EQ(facet_mem_write(mem, 0x80000000 + size / 2, 8, 43).fault, 0);
    CHECK_EQ(facet_mem_read(mem, 0x80000000 + size / 3, 8, &value).fault, 0);
    CHECK_EQ(value, 0);
    CHECK(facet_mem_dirty_next(mem, FACET_MEM_DIRTY_CODE, &cursor, &page));
    CHECK_EQ(page.address, 0x80000000 + size / 2);
    CHECK(facet_mem_dirty_next(mem, FACET_MEM_DIRTY_CODE, &cursor, &page));
    CHECK_EQ(page.address, 0x80000000 + size - 4096);
    CHECK(!facet_mem_dirty_next(mem, FACET_MEM_DIRTY_CODE, &cursor, &page));
    facet_mem_destroy(mem);
}

TEST(clients_of_the_page_map_are_independent, "")
{
    facet_mem *mem = make_memory();

    CHECK_EQ(facet_mem_write(mem, 0x10FFE, 4, 1).fault, 0); /* two pages */
    facet_mem_dirty_clear(mem, FACET_MEM_DIRTY_CODE);
    CHECK(!facet_mem_dirty_test(mem, FACET_MEM_DIRTY_CODE, 0x10000));
    CHECK(facet_mem_dirty_test(mem, FACET_MEM_DIRTY_DISPLAY, 0x10000));
    CHECK(facet_mem_dirty_test(mem, FACET_MEM_DIRTY_DISPLAY, 0x11000));
    facet_mem_dirty_clear(mem, FACET_MEM_DIRTY_ALL);
    CHECK(!facet_mem_dirty_test(mem, FACET_MEM_DIRTY_DISPLAY | FACET_MEM_DIRTY_USER, 0x10000));
    CHECK(facet_mem_dirty_test(mem, FACET_MEM_WRITTEN, 0x10000));  /* for ever */
    CHECK(!facet_mem_dirty_test(mem, FACET_MEM_DIRTY_ALL, 0x900)); /* a hole */
    facet_mem_destroy(mem);
}

TEST(clear_gives_zeros_and_dirty_pages, "")
{
    facet_mem *mem = make_memory();
    uint64_t value = 1;

    CHECK_EQ(facet_mem_write(mem, 0x10010, 8, 99).fault, 0);
    CHECK_EQ(facet_mem_poke(mem, 0x13801, "rom", 3).fault, 0);
    facet_mem_dirty_clear(mem, FACET_MEM_DIRTY_ALL);
    facet_mem_clear(mem);
    CHECK_EQ(facet_mem_read(mem, 0x10010, 8, &value).fault, 0);
    CHECK_EQ(value, 0);
    CHECK_EQ(facet_mem_read(mem, 0x13801, 2, &value).fault, 0);
    CHECK_EQ(value, 0);
    CHECK(facet_mem_dirty_test(mem, FACET_MEM_DIRTY_CODE, 0x10010));
    CHECK(!facet_mem_dirty_test(mem, FACET_MEM_DIRTY_CODE, 0x11010));
    CHECK(!facet_mem_dirty_test(mem, FACET_MEM_WRITTEN, 0x10010));
    facet_mem_destroy(mem);
}

TEST(faults_become_errors_with_the_address, "")
{
    struct facet_error err;
    struct facet_mem_result bad = {FACET_MEM_UNMAPPED, 0x1234}, fine = {FACET_MEM_OK, 0};

    CHECK(facet_mem_fail(fine, &err) == FACET_OK);
    CHECK(facet_mem_fail(bad, &err) == FACET_ERR_FAULT);
    CHECK_STR(err.message, "no memory at address 0x1234");
    CHECK_EQ(err.where, 0x1234);
    CHECK_STR(facet_mem_fault_name(FACET_MEM_READ_ONLY), "read-only memory");
}
