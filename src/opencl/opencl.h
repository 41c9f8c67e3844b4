/* Devices of OpenCL 1.2 and what is asked of one: memory, a program, runs of its kernels. The
 * library libOpenCL.so.1 is loaded when the first function is called; without it, and in a build
 * without Khronos' headers, there are no devices and everything says why. */
#ifndef FACET_OPENCL_OPENCL_H
#define FACET_OPENCL_OPENCL_H

#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct facet_opencl_device {
    char name[128], platform[128], version[128], driver[64];
    bool gpu;
    uint32_t units;         /* that compute */
    uint64_t memory;        /* bytes */
    uint64_t largest;       /* that one piece of memory may have */
    const char *unsuitable; /* by what it says of itself; NULL: nothing is wrong */
};

/* All devices in the order of the platforms; free with free(). None is FACET_OK with *count 0 and,
 * in `why`, the reason. */
enum facet_status facet_opencl_devices(struct facet_opencl_device **devices,
                                       size_t *count,
                                       char why[128],
                                       struct facet_error *err);

/* The number of the first GPU that is suitable; FACET_ERR_USAGE: there is none. */
enum facet_status facet_opencl_first_gpu(size_t *number, struct facet_error *err);

typedef struct facet_opencl facet_opencl; /* an open device with a program */
typedef struct facet_opencl_memory facet_opencl_memory;

/* Compiles the texts, one after another; divisions and square roots of floats are correctly rounded
 * where the device says that it can. FACET_ERR_USAGE when there is no such device or it is not
 * suitable, FACET_ERR_IO for anything that the device or its compiler refuses. One thread at a time
 * may use an open device. */
enum facet_status facet_opencl_open(size_t number,
                                    const char *const *texts,
                                    unsigned text_count,
                                    facet_opencl **out,
                                    struct facet_error *err);
void facet_opencl_close(facet_opencl *cl); /* NULL is allowed */
const struct facet_opencl_device *facet_opencl_about(const facet_opencl *cl);

enum facet_status facet_opencl_memory_new(facet_opencl *cl,
                                          uint64_t bytes,
                                          facet_opencl_memory **out,
                                          struct facet_error *err);
void facet_opencl_memory_free(facet_opencl *cl, facet_opencl_memory *memory); /* NULL is allowed */
/* What is asked of a device happens in the order of the calls. These two have finished when they
 * return, and fail where a kernel before them has failed. */
enum facet_status facet_opencl_write(facet_opencl *cl,
                                     facet_opencl_memory *memory,
                                     uint64_t at,
                                     const void *data,
                                     size_t bytes,
                                     struct facet_error *err);
enum facet_status facet_opencl_read(facet_opencl *cl,
                                    facet_opencl_memory *memory,
                                    uint64_t at,
                                    void *data,
                                    size_t bytes,
                                    struct facet_error *err);

/* Zeros, in whole dwords; does not wait. */
enum facet_status facet_opencl_clear(facet_opencl *cl,
                                     facet_opencl_memory *memory,
                                     uint64_t at,
                                     size_t bytes,
                                     struct facet_error *err);

enum { FACET_OPENCL_GROUP = 64 }; /* work items of a group */

struct facet_opencl_argument {
    facet_opencl_memory *memory; /* NULL: the number */
    uint32_t number;
};

/* Runs a kernel for `items` work items or a few more and does not wait, unless many runs are under
 * way; where it fails, the reason may be an earlier run. When the next write or read
 * ends, *nanoseconds (may be NULL) has grown by the time that the device took; it must live until
 * then. `kernel` lives as long as the device is open. */
enum facet_status facet_opencl_run(facet_opencl *cl,
                                   const char *kernel,
                                   const struct facet_opencl_argument *arguments,
                                   unsigned argument_count,
                                   size_t items,
                                   uint64_t *nanoseconds,
                                   struct facet_error *err);

#endif
