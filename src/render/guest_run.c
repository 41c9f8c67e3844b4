/* See guest_run.h. */
#include "render/guest_run.h"
#include "render/pixel.h"

#include "machine/counts.h"

#include <facet/xphmg.h>
#include <pthread.h>
#include <stdlib.h>

enum facet_status facet_render_guest_program_check(size_t elf_bytes, struct facet_error *err)
{
    return elf_bytes >= 64
               ? FACET_OK
               : facet_fail(err,
                            FACET_ERR_USAGE,
                            0,
                            "this facet has no guest program: gcc-riscv64-unknown-elf and "
                            "picolibc-riscv64-unknown-elf were missing when it was built");
}

/* ---- machines ---- */

/* Every machine has a copy of the scene; many threads and a large scene must not fill the host. */
#define MEMORY_BYTES (UINT64_C(4) << 30)

/* Machines that wait for the next thread that needs one. */
struct facet_render_garage {
    struct facet_render_guest_program program;
    unsigned limit; /* of machines, 1 or more */
    pthread_mutex_t lock;
    pthread_cond_t returned;
    facet_machine *idle[FACET_POOL_MAX_THREADS];
    struct facet_counts
        counts[FACET_POOL_MAX_THREADS]; /* of the machines, in the order of making */
    unsigned made;
    unsigned count;
    unsigned out; /* being made or running */
};

static enum facet_status make_machine(const struct facet_render_guest_program *program,
                                      facet_machine **out,
                                      struct facet_error *err)
{
    const struct facet_render_guest_image *image = program->image;
    uint64_t bytes = FACET_GUEST_BLOCK - FACET_XPHMG_RAM_BASE + image->size;
    struct facet_xphmg_config config = {.ram_bytes = (bytes + 4095) / 4096 * 4096,
                                        .plain = program->plain};
    enum facet_status status = facet_xphmg_create(&config, out, err);

    if (status == FACET_OK) {
        status = facet_xphmg_load_elf(*out, program->elf, program->elf_bytes, err);
    }
    if (status == FACET_OK) {
        status = facet_machine_write(*out, 0, FACET_GUEST_BLOCK, image->bytes, image->size, err);
    }
    return status;
}

/* Waits while all machines are busy. Give back whatever comes, also after a failure. */
static enum facet_status
take(struct facet_render_garage *garage, facet_machine **out, struct facet_error *err)
{
    struct facet_counts *own;
    enum facet_status status;

    *out = NULL;
    (void)pthread_mutex_lock(&garage->lock);
    while (garage->count == 0 && garage->out == garage->limit) {
        (void)pthread_cond_wait(&garage->returned, &garage->lock);
    }
    if (garage->count > 0) {
        *out = garage->idle[--garage->count];
    }
    garage->out++;
    own = *out == NULL && garage->program.counts != NULL && garage->made < FACET_POOL_MAX_THREADS
              ? &garage->counts[garage->made++]
              : NULL;
    (void)pthread_mutex_unlock(&garage->lock);
    if (*out != NULL) {
        return FACET_OK;
    }
    status = make_machine(&garage->program, out, err);
    return status == FACET_OK && own != NULL ? facet_machine_count(*out, own, err) : status;
}

static void give_back(struct facet_render_garage *garage, facet_machine *machine, bool ready)
{
    (void)pthread_mutex_lock(&garage->lock);
    garage->out--;
    if (ready) { /* never more than `limit` machines are there */
        garage->idle[garage->count++] = machine;
        machine = NULL;
    }
    (void)pthread_cond_signal(&garage->returned);
    (void)pthread_mutex_unlock(&garage->lock);
    facet_machine_destroy(machine);
}

/* ---- a bucket ---- */

static uint64_t address_of(size_t offset)
{
    return FACET_GUEST_BLOCK + offset;
}

/* Why the program did not end well. */
static enum facet_status
complain(const facet_machine *machine, const struct facet_stop *stop, struct facet_error *err)
{
    struct facet_xphmg_fault fault;
    struct facet_error told;

    if (stop->reason == FACET_STOP_EXIT && stop->code == 1 &&
        facet_machine_read(machine,
                           0,
                           address_of(offsetof(struct facet_guest_block, error)),
                           &told,
                           sizeof told,
                           err) == FACET_OK) {
        told.message[sizeof told.message - 1] = '\0';
        return facet_fail(
            err, FACET_ERR_INTERNAL, 0, "the guest program ended: %.200s", told.message);
    }
    if (facet_xphmg_get_fault(machine, &fault, NULL) == FACET_OK) {
        return facet_fail(err,
                          FACET_ERR_INTERNAL,
                          fault.pc,
                          "the guest program trapped at 0x%llx: %s",
                          (unsigned long long)fault.pc,
                          facet_xphmg_cause_name(fault.cause));
    }
    return facet_fail(err,
                      FACET_ERR_INTERNAL,
                      stop->pc,
                      "the guest program stopped at 0x%llx: %s %llu",
                      (unsigned long long)stop->pc,
                      facet_stop_name(stop->reason),
                      (unsigned long long)stop->code);
}

static enum facet_status
run_program(facet_machine *machine, uint32_t bucket, struct facet_error *err)
{
    const struct facet_run how = {.budget = UINT64_MAX};
    struct facet_stop stop;
    enum facet_status status =
        facet_machine_write(machine,
                            0,
                            address_of(offsetof(struct facet_guest_block, bucket)),
                            &bucket,
                            sizeof bucket,
                            err);

    if (status != FACET_OK) {
        return status;
    }
    facet_machine_reset(machine);
    facet_machine_run(machine, &how, &stop);
    return stop.reason == FACET_STOP_EXIT && stop.code == 0 ? FACET_OK
                                                            : complain(machine, &stop, err);
}

static enum facet_status read_pixels(const facet_machine *machine,
                                     uint32_t bucket,
                                     struct facet_image_f *picture,
                                     struct facet_error *err)
{
    uint32_t columns = (picture->width + FACET_BUCKET - 1) / FACET_BUCKET;
    uint32_t x = bucket % columns * FACET_BUCKET, y = bucket / columns * FACET_BUCKET;
    struct facet_xphmg_framebuffer fb = {0};
    enum facet_status status = FACET_OK;

    if (facet_xphmg_get_framebuffer(machine, &fb, NULL) != FACET_OK ||
        fb.format != FACET_XPHMG_FRAME_RGBF32 || fb.width > picture->width - x ||
        fb.height > picture->height - y) {
        return facet_fail(err, FACET_ERR_INTERNAL, 0, "the guest program shows no bucket");
    }
    for (uint32_t row = 0; row < fb.height && status == FACET_OK; row++) {
        status = facet_machine_read(machine,
                                    0,
                                    fb.base + (uint64_t)row * fb.stride,
                                    picture->rgb + 3 * ((size_t)(y + row) * picture->width + x),
                                    3 * sizeof(float) * fb.width,
                                    err);
    }
    return status;
}

static enum facet_status draw_on(facet_machine *machine,
                                 uint32_t bucket,
                                 struct facet_image_f *out,
                                 struct facet_render_report *took,
                                 struct facet_render_pixel *pixel,
                                 struct facet_error *err)
{
    enum facet_status status = run_program(machine, bucket, err);

    if (status == FACET_OK && pixel != NULL) { /* again: now it is known where the pixel lies */
        status = facet_render_pixel_watch(pixel, machine, err);
        if (status == FACET_OK) {
            status = run_program(machine, bucket, err);
            facet_render_pixel_unwatch(pixel, machine);
        }
    }

    took->instructions = facet_machine_retired(machine, 0);
    if (status == FACET_OK) {
        status = facet_machine_read(machine,
                                    0,
                                    address_of(offsetof(struct facet_guest_block, cost)),
                                    took->cost,
                                    sizeof took->cost,
                                    err);
    }
    return status == FACET_OK ? read_pixels(machine, bucket, out, err) : status;
}

static enum facet_status draw_bucket(void *context,
                                     uint32_t bucket,
                                     struct facet_image_f *out,
                                     struct facet_render_report *took,
                                     struct facet_error *err)
{
    struct facet_render_garage *garage = context;
    facet_machine *machine;
    enum facet_status status = take(garage, &machine, err);

    if (status == FACET_OK) {
        status = draw_on(machine, bucket, out, took, garage->program.pixel, err);
    }
    give_back(garage, machine, status == FACET_OK);
    return status;
}

struct facet_render_garage *
facet_render_garage_create(const struct facet_render_guest_program *program)
{
    struct facet_render_garage *garage = calloc(1, sizeof *garage);

    if (garage != NULL) {
        garage->program = *program;
        (void)pthread_mutex_init(&garage->lock, NULL);
        (void)pthread_cond_init(&garage->returned, NULL);
    }
    return garage;
}

void facet_render_garage_destroy(struct facet_render_garage *garage)
{
    if (garage == NULL) {
        return;
    }
    for (unsigned i = 0; i < garage->count; i++) {
        (void)facet_machine_count(garage->idle[i], NULL, NULL);
        facet_machine_destroy(garage->idle[i]);
    }
    for (unsigned i = 0; i < garage->made; i++) {
        facet_counts_merge(garage->program.counts, &garage->counts[i]);
        facet_counts_free(&garage->counts[i]);
    }
    (void)pthread_cond_destroy(&garage->returned);
    (void)pthread_mutex_destroy(&garage->lock);
    free(garage);
}

enum facet_status facet_render_garage_draw(const struct facet_render *render,
                                           struct facet_render_garage *garage,
                                           facet_pool *pool,
                                           struct facet_progress *progress,
                                           struct facet_image_f *out,
                                           struct facet_render_report *report,
                                           struct facet_error *err)
{
    const uint64_t most = MEMORY_BYTES / garage->program.image->size;

    garage->limit = facet_pool_threads(pool);
    if (garage->limit > most) {
        garage->limit = most > 0 ? (unsigned)most : 1;
    }
    return facet_render_each_bucket(render, draw_bucket, garage, pool, progress, out, report, err);
}
