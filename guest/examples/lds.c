/* XMEM: local memory. A histogram whose counters live in the LDS: allocate, copy in, count with
 * atomics, copy out, free.
 *
 * The allocator gives regions of whole 64-byte granules, 0 when there is no room. LDS is ordinary
 * memory, so plain C reads it too; what only XMEM has are the bulk copy and the atomics on it. */
#include "check.h"

#include <stdint.h>
#include <string.h>
#include <xphmg.h>

enum { SAMPLES = 1000, BINS = 16, ZEROED = 1 << 4 };

static uint8_t sample[SAMPLES];
static uint32_t histogram[BINS], expected[BINS];

int main(void)
{
    uint64_t used = xphmg_xi_read(XPHMG_XI_XLDSUSED0);
    uint64_t base, data;
    uint32_t seed = 1;

    for (int i = 0; i < SAMPLES; i++) {
        seed = seed * 1664525 + 1013904223;
        sample[i] = (uint8_t)(seed >> 28);
        expected[sample[i]]++;
    }
    base = xphmg_xlds_alloc(sizeof histogram, ZEROED);
    data = xphmg_xlds_alloc(SAMPLES);
    printf("LDS at 0x%lx, %lu bytes: counters at 0x%lx, samples at 0x%lx\n",
           (unsigned long)xphmg_xi_read(XPHMG_XI_XLDSBASE),
           (unsigned long)xphmg_xi_read(XPHMG_XI_XLDSSIZE),
           (unsigned long)base,
           (unsigned long)data);
    CHECK(base != 0 && data != 0 && base % 64 == 0 && data % 64 == 0);
    CHECK(xphmg_xi_read(XPHMG_XI_XLDSUSED0) == used + 64 + 1024);

    xphmg_xlds_cpy(data, sample, SAMPLES);
    xphmg_xlds_bar(XPHMG_XLDS_BAR_SCOPE_WG);
    for (int i = 0; i < SAMPLES; i++) {
        uint64_t bin = *(const uint8_t *)(data + (uint64_t)i);

        (void)xphmg_xlds_atoms_add_w((void *)(base + 4 * bin), 1);
    }
    xphmg_xlds_bar(XPHMG_XLDS_BAR_SCOPE_WG);
    xphmg_xlds_cpy(histogram, base, sizeof histogram);
    for (int i = 0; i < BINS; i++) {
        printf("%u%c", (unsigned)histogram[i], i == BINS - 1 ? '\n' : ' ');
        CHECK(histogram[i] == expected[i]);
    }

    /* Compare and swap: the old value comes back, the new one is stored only if it was expected. */
    CHECK(xphmg_xlds_atoms_cas_w(expected[0], (void *)base, 7) == expected[0]);
    CHECK(xphmg_xlds_atoms_cas_w(expected[0], (void *)base, 9) == 7);
    CHECK(*(volatile uint32_t *)base == 7);

    xphmg_xlds_free(data);
    xphmg_xlds_free(base);
    CHECK(xphmg_xi_read(XPHMG_XI_XLDSUSED0) == used);
    CHECK(xphmg_xlds_alloc(UINT64_C(1) << 40) == 0); /* no room: 0, and an event */
    CHECK(xphmg_csr_read(XPHMG_CSR_CAP_XMEM_EVENTS) & XPHMG_CAP_XMEM_EVENTS_LDS_OOM);
    return verdict("lds");
}
