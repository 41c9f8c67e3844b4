/* See opencl.h. */
#include "opencl/opencl.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#if __has_include(<CL/cl.h>)

#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>

#include <dlfcn.h>
#include <pthread.h>

enum {
    KERNELS = 32,
    PENDING = 16,
    MAX_PLATFORMS = 16,
    MAX_DEVICES = 64,
    LEAST_LOCAL = 8 << 10, /* bytes for a group: the stacks of the fast loop and some counts */
};

/* The functions used, by their own names. */
#define FUNCTIONS(F)                                                                               \
    F(clGetPlatformIDs)                                                                            \
    F(clGetPlatformInfo)                                                                           \
    F(clGetDeviceIDs)                                                                              \
    F(clGetDeviceInfo)                                                                             \
    F(clCreateContext)                                                                             \
    F(clReleaseContext)                                                                            \
    F(clCreateCommandQueue)                                                                        \
    F(clReleaseCommandQueue)                                                                       \
    F(clCreateProgramWithSource)                                                                   \
    F(clBuildProgram)                                                                              \
    F(clGetProgramBuildInfo)                                                                       \
    F(clReleaseProgram)                                                                            \
    F(clCreateKernel)                                                                              \
    F(clReleaseKernel)                                                                             \
    F(clSetKernelArg)                                                                              \
    F(clCreateBuffer)                                                                              \
    F(clReleaseMemObject)                                                                          \
    F(clEnqueueWriteBuffer)                                                                        \
    F(clEnqueueReadBuffer)                                                                         \
    F(clEnqueueFillBuffer)                                                                         \
    F(clEnqueueNDRangeKernel)                                                                      \
    F(clWaitForEvents)                                                                             \
    F(clGetEventInfo)                                                                              \
    F(clGetEventProfilingInfo)                                                                     \
    F(clReleaseEvent)

#define DECLARE(name) __typeof__(&(name)) name;
static struct {
    bool loaded;
    char why[128]; /* it is not */
    FUNCTIONS(DECLARE)
} lib;
#undef DECLARE

static pthread_once_t once = PTHREAD_ONCE_INIT;

/* Never unloaded: an implementation may have threads of its own. */
static void load(void)
{
    void *library = dlopen("libOpenCL.so.1", RTLD_NOW | RTLD_LOCAL);

    if (library == NULL) {
        snprintf(lib.why, sizeof lib.why, "%s", dlerror()); /* it names libOpenCL.so.1 */
        return;
    }
#define LOAD(name)                                                                                 \
    *(void **)&lib.name = dlsym(library, #name);                                                   \
    if (lib.name == NULL) {                                                                        \
        snprintf(lib.why, sizeof lib.why, "libOpenCL.so.1 has no " #name);                         \
        return;                                                                                    \
    }
    FUNCTIONS(LOAD)
#undef LOAD
    lib.loaded = true;
}

static const char *code_name(cl_int code)
{
    switch (code) {
    case CL_DEVICE_NOT_AVAILABLE:
        return "the device is not available";
    case CL_MEM_OBJECT_ALLOCATION_FAILURE:
        return "out of memory on the device";
    case CL_OUT_OF_RESOURCES:
        return "out of resources on the device, or the device is lost";
    case CL_OUT_OF_HOST_MEMORY:
        return "out of memory on the host";
    case CL_BUILD_PROGRAM_FAILURE:
        return "the device's compiler refused the program";
    default:
        return "refused";
    }
}

static enum facet_status fail(struct facet_error *err, const char *what, cl_int code)
{
    return facet_fail(
        err, FACET_ERR_IO, 0, "OpenCL: %s: %s (code %d)", what, code_name(code), code);
}

/* ---- devices ---- */

struct found {
    cl_platform_id platform;
    cl_device_id device;
};

/* How many there are; the first MAX_DEVICES of them in `found`. */
static size_t find(struct found found[MAX_DEVICES])
{
    cl_platform_id platforms[MAX_PLATFORMS];
    cl_uint platform_count = 0;
    size_t count = 0;

    pthread_once(&once, load);
    if (!lib.loaded ||
        lib.clGetPlatformIDs(MAX_PLATFORMS, platforms, &platform_count) != CL_SUCCESS) {
        return 0;
    }
    for (cl_uint p = 0; p < platform_count && p < MAX_PLATFORMS; p++) {
        cl_device_id devices[MAX_DEVICES];
        cl_uint device_count = 0;

        if (lib.clGetDeviceIDs(
                platforms[p], CL_DEVICE_TYPE_ALL, MAX_DEVICES, devices, &device_count) !=
            CL_SUCCESS) {
            continue;
        }
        for (cl_uint d = 0; d < device_count && d < MAX_DEVICES && count < MAX_DEVICES; d++) {
            found[count++] = (struct found){platforms[p], devices[d]};
        }
    }
    return count;
}

static void text_of(cl_device_id device, cl_device_info what, char *text, size_t size)
{
    char whole[1024] = "";

    (void)lib.clGetDeviceInfo(device, what, sizeof whole - 1, whole, NULL);
    (void)snprintf(text, size, "%.*s", (int)size - 1, whole);
}

static uint64_t number_of(cl_device_id device, cl_device_info what, size_t size)
{
    uint64_t value = 0; /* of a host that stores its low bytes first */

    return lib.clGetDeviceInfo(device, what, size, &value, NULL) == CL_SUCCESS ? value : 0;
}

static const char *unsuitable(cl_device_id device)
{
    const uint64_t floats =
        number_of(device, CL_DEVICE_SINGLE_FP_CONFIG, sizeof(cl_device_fp_config));

    if (number_of(device, CL_DEVICE_AVAILABLE, sizeof(cl_bool)) == 0) {
        return "not available";
    }
    if (number_of(device, CL_DEVICE_COMPILER_AVAILABLE, sizeof(cl_bool)) == 0) {
        return "has no compiler";
    }
    if (number_of(device, CL_DEVICE_ENDIAN_LITTLE, sizeof(cl_bool)) == 0) {
        return "stores high bytes first";
    }
    if ((floats & CL_FP_ROUND_TO_NEAREST) == 0) {
        return "does not round to nearest";
    }
    if ((floats & CL_FP_DENORM) == 0) {
        return "has no subnormal floats";
    }
    if ((floats & CL_FP_INF_NAN) == 0) {
        return "has no infinities and NaN";
    }
    if (number_of(device, CL_DEVICE_MAX_WORK_GROUP_SIZE, sizeof(size_t)) < FACET_OPENCL_GROUP) {
        return "has no work groups of 64";
    }
    if (number_of(device, CL_DEVICE_LOCAL_MEM_SIZE, sizeof(cl_ulong)) < LEAST_LOCAL) {
        return "has too little local memory";
    }
    return NULL;
}

static struct facet_opencl_device about(const struct found *f)
{
    struct facet_opencl_device d = {
        .gpu = (number_of(f->device, CL_DEVICE_TYPE, sizeof(cl_device_type)) &
                CL_DEVICE_TYPE_GPU) != 0,
        .units = (uint32_t)number_of(f->device, CL_DEVICE_MAX_COMPUTE_UNITS, sizeof(cl_uint)),
        .memory = number_of(f->device, CL_DEVICE_GLOBAL_MEM_SIZE, sizeof(cl_ulong)),
        .largest = number_of(f->device, CL_DEVICE_MAX_MEM_ALLOC_SIZE, sizeof(cl_ulong)),
        .unsuitable = unsuitable(f->device)};

    text_of(f->device, CL_DEVICE_NAME, d.name, sizeof d.name);
    text_of(f->device, CL_DEVICE_VERSION, d.version, sizeof d.version);
    text_of(f->device, CL_DRIVER_VERSION, d.driver, sizeof d.driver);
    if (lib.clGetPlatformInfo(f->platform, CL_PLATFORM_NAME, sizeof d.platform, d.platform, NULL) !=
        CL_SUCCESS) {
        d.platform[0] = '\0';
    }
    d.platform[sizeof d.platform - 1] = '\0';
    return d;
}

enum facet_status facet_opencl_devices(struct facet_opencl_device **devices,
                                       size_t *count,
                                       char why[128],
                                       struct facet_error *err)
{
    struct found found[MAX_DEVICES];

    *count = find(found);
    *devices = calloc(*count + 1, sizeof **devices);
    if (*devices == NULL) {
        return facet_fail(err, FACET_ERR_MEMORY, 0, "out of memory");
    }
    for (size_t i = 0; i < *count; i++) {
        (*devices)[i] = about(&found[i]);
    }
    snprintf(why, 128, "%s", lib.loaded ? "OpenCL is installed but has no device" : lib.why);
    return FACET_OK;
}

/* ---- an open device ---- */

struct facet_opencl {
    struct facet_opencl_device about;
    cl_context context;
    cl_command_queue queue;
    cl_program program;
    struct {
        const char *name;
        cl_kernel kernel;
    } kernels[KERNELS];
    unsigned pending; /* runs whose end nobody has looked at */
    struct run {
        const char *kernel;
        cl_event event;
        uint64_t *nanoseconds; /* may be NULL */
    } runs[PENDING];
};

/* The first line of what the compiler says that is an error, or its first line. */
static enum facet_status
fail_build(const facet_opencl *cl, cl_device_id device, cl_int code, struct facet_error *err)
{
    char log[4096] = "";
    const char *line;

    if (lib.clGetProgramBuildInfo(
            cl->program, device, CL_PROGRAM_BUILD_LOG, sizeof log - 1, log, NULL) != CL_SUCCESS) {
        log[0] = '\0';
    }
    line = strstr(log, "error:");
    line = line != NULL ? line : log;
    return facet_fail(err,
                      FACET_ERR_IO,
                      0,
                      "OpenCL: %s: %s (code %d): %.*s",
                      cl->about.name,
                      code_name(code),
                      code,
                      (int)strcspn(line, "\r\n"),
                      line);
}

static const char *build_options(cl_device_id device)
{
    const uint64_t floats =
        number_of(device, CL_DEVICE_SINGLE_FP_CONFIG, sizeof(cl_device_fp_config));

    return (floats & CL_FP_CORRECTLY_ROUNDED_DIVIDE_SQRT) != 0
               ? "-cl-std=CL1.2 -cl-fp32-correctly-rounded-divide-sqrt"
               : "-cl-std=CL1.2";
}

static enum facet_status open_it(facet_opencl *cl,
                                 cl_device_id device,
                                 const char *const *texts,
                                 unsigned text_count,
                                 struct facet_error *err)
{
    cl_int code;

    cl->context = lib.clCreateContext(NULL, 1, &device, NULL, NULL, &code);
    if (code != CL_SUCCESS) {
        return fail(err, cl->about.name, code);
    }
    cl->queue = lib.clCreateCommandQueue(cl->context, device, CL_QUEUE_PROFILING_ENABLE, &code);
    if (code != CL_SUCCESS) {
        return fail(err, cl->about.name, code);
    }
    cl->program =
        lib.clCreateProgramWithSource(cl->context, text_count, (const char **)texts, NULL, &code);
    if (code != CL_SUCCESS) {
        return fail(err, cl->about.name, code);
    }
    code = lib.clBuildProgram(cl->program, 1, &device, build_options(device), NULL, NULL);
    return code != CL_SUCCESS ? fail_build(cl, device, code, err) : FACET_OK;
}

enum facet_status facet_opencl_open(size_t number,
                                    const char *const *texts,
                                    unsigned text_count,
                                    facet_opencl **out,
                                    struct facet_error *err)
{
    struct found found[MAX_DEVICES];
    const size_t count = find(found);
    facet_opencl *cl;
    enum facet_status status;

    *out = NULL;
    if (number >= count) {
        return facet_fail(err,
                          FACET_ERR_USAGE,
                          0,
                          "there is no device opencl:%zu: %s",
                          number,
                          count > 0    ? "`facet devices` lists those that are there"
                          : lib.loaded ? "OpenCL is installed but has no device"
                                       : lib.why);
    }
    cl = calloc(1, sizeof *cl);
    if (cl == NULL) {
        return facet_fail(err, FACET_ERR_MEMORY, 0, "out of memory");
    }
    cl->about = about(&found[number]);
    if (cl->about.unsuitable != NULL) {
        status = facet_fail(err,
                            FACET_ERR_USAGE,
                            0,
                            "opencl:%zu (%s) cannot give the bits of GFX12: it %s",
                            number,
                            cl->about.name,
                            cl->about.unsuitable);
    } else {
        status = open_it(cl, found[number].device, texts, text_count, err);
    }
    if (status != FACET_OK) {
        facet_opencl_close(cl);
        return status;
    }
    *out = cl;
    return FACET_OK;
}

void facet_opencl_close(facet_opencl *cl)
{
    if (cl == NULL) {
        return;
    }
    for (unsigned i = 0; i < cl->pending; i++) {
        lib.clReleaseEvent(cl->runs[i].event);
    }
    for (unsigned i = 0; i < KERNELS && cl->kernels[i].name != NULL; i++) {
        lib.clReleaseKernel(cl->kernels[i].kernel);
    }
    if (cl->program != NULL) {
        lib.clReleaseProgram(cl->program);
    }
    if (cl->queue != NULL) {
        lib.clReleaseCommandQueue(cl->queue);
    }
    if (cl->context != NULL) {
        lib.clReleaseContext(cl->context);
    }
    free(cl);
}

const struct facet_opencl_device *facet_opencl_about(const facet_opencl *cl)
{
    return &cl->about;
}

enum facet_status facet_opencl_memory_new(facet_opencl *cl,
                                          uint64_t bytes,
                                          facet_opencl_memory **out,
                                          struct facet_error *err)
{
    cl_int code;

    *out = (facet_opencl_memory *)lib.clCreateBuffer(
        cl->context, CL_MEM_READ_WRITE, (size_t)bytes, NULL, &code);
    return code != CL_SUCCESS ? fail(err, "clCreateBuffer", code) : FACET_OK;
}

void facet_opencl_memory_free(facet_opencl *cl, facet_opencl_memory *memory)
{
    (void)cl;
    if (memory != NULL) {
        lib.clReleaseMemObject((cl_mem)memory);
    }
}

static uint64_t time_of(cl_event event)
{
    cl_ulong begin = 0, end = 0;

    if (lib.clGetEventProfilingInfo(
            event, CL_PROFILING_COMMAND_START, sizeof begin, &begin, NULL) != CL_SUCCESS ||
        lib.clGetEventProfilingInfo(event, CL_PROFILING_COMMAND_END, sizeof end, &end, NULL) !=
            CL_SUCCESS) {
        return 0;
    }
    return end - begin;
}

static cl_int end_of(cl_event event)
{
    const cl_int waited = lib.clWaitForEvents(1, &event);
    cl_int state = CL_COMPLETE;

    /* The state says why a run failed; waiting only says that it did. */
    return lib.clGetEventInfo(
               event, CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof state, &state, NULL) ==
                       CL_SUCCESS &&
                   state < 0
               ? state
               : waited;
}

/* Waits for all runs. `code` is that of `what`, the last thing that was asked of the device; where
 * runs before it failed, the first of them is what fails. */
static enum facet_status
settle(facet_opencl *cl, const char *what, cl_int code, struct facet_error *err)
{
    for (; cl->pending > 0; cl->pending--) {
        const struct run *last = &cl->runs[cl->pending - 1];
        const cl_int end = end_of(last->event);

        if (end != CL_SUCCESS) {
            what = last->kernel;
            code = end;
        } else if (last->nanoseconds != NULL) {
            *last->nanoseconds += time_of(last->event);
        }
        lib.clReleaseEvent(last->event);
    }
    return code != CL_SUCCESS ? fail(err, what, code) : FACET_OK;
}

enum facet_status facet_opencl_write(facet_opencl *cl,
                                     facet_opencl_memory *memory,
                                     uint64_t at,
                                     const void *data,
                                     size_t bytes,
                                     struct facet_error *err)
{
    const cl_int code = lib.clEnqueueWriteBuffer(
        cl->queue, (cl_mem)memory, CL_TRUE, (size_t)at, bytes, data, 0, NULL, NULL);

    return settle(cl, "clEnqueueWriteBuffer", code, err);
}

enum facet_status facet_opencl_read(facet_opencl *cl,
                                    facet_opencl_memory *memory,
                                    uint64_t at,
                                    void *data,
                                    size_t bytes,
                                    struct facet_error *err)
{
    const cl_int code = lib.clEnqueueReadBuffer(
        cl->queue, (cl_mem)memory, CL_TRUE, (size_t)at, bytes, data, 0, NULL, NULL);

    return settle(cl, "clEnqueueReadBuffer", code, err);
}

enum facet_status facet_opencl_clear(facet_opencl *cl,
                                     facet_opencl_memory *memory,
                                     uint64_t at,
                                     size_t bytes,
                                     struct facet_error *err)
{
    const cl_uint zero = 0;
    const cl_int code = lib.clEnqueueFillBuffer(
        cl->queue, (cl_mem)memory, &zero, sizeof zero, (size_t)at, bytes, 0, NULL, NULL);

    return code != CL_SUCCESS ? settle(cl, "clEnqueueFillBuffer", code, err) : FACET_OK;
}

/* ---- runs ---- */

static enum facet_status
kernel_of(facet_opencl *cl, const char *name, cl_kernel *out, struct facet_error *err)
{
    unsigned i = 0;
    cl_int code;

    while (i < KERNELS - 1 && cl->kernels[i].name != NULL &&
           strcmp(cl->kernels[i].name, name) != 0) {
        i++;
    }
    if (cl->kernels[i].name == NULL) {
        cl->kernels[i].kernel = lib.clCreateKernel(cl->program, name, &code);
        if (code != CL_SUCCESS) {
            return fail(err, name, code);
        }
        cl->kernels[i].name = name;
    }
    *out = cl->kernels[i].kernel;
    return FACET_OK;
}

static cl_int
set_argument(cl_kernel kernel, unsigned number, const struct facet_opencl_argument *argument)
{
    const cl_mem memory = (cl_mem)argument->memory;

    return memory != NULL
               ? lib.clSetKernelArg(kernel, number, sizeof memory, &memory)
               : lib.clSetKernelArg(kernel, number, sizeof argument->number, &argument->number);
}

enum facet_status facet_opencl_run(facet_opencl *cl,
                                   const char *kernel,
                                   const struct facet_opencl_argument *arguments,
                                   unsigned argument_count,
                                   size_t items,
                                   uint64_t *nanoseconds,
                                   struct facet_error *err)
{
    const size_t global =
                     (items + FACET_OPENCL_GROUP - 1) / FACET_OPENCL_GROUP * FACET_OPENCL_GROUP,
                 local = FACET_OPENCL_GROUP;
    cl_kernel k = NULL;
    cl_event event;
    cl_int code = CL_SUCCESS;
    enum facet_status status = kernel_of(cl, kernel, &k, err);

    if (status == FACET_OK && cl->pending == PENDING) {
        status = settle(cl, kernel, CL_SUCCESS, err);
    }
    if (status != FACET_OK) {
        return status;
    }
    for (unsigned i = 0; i < argument_count && code == CL_SUCCESS; i++) {
        code = set_argument(k, i, &arguments[i]);
    }
    if (code == CL_SUCCESS) {
        code = lib.clEnqueueNDRangeKernel(cl->queue, k, 1, NULL, &global, &local, 0, NULL, &event);
    }
    if (code != CL_SUCCESS) {
        return settle(cl, kernel, code, err);
    }
    cl->runs[cl->pending++] = (struct run){kernel, event, nanoseconds};
    return FACET_OK;
}

#else

static const char no_headers[] = "this facet was built without the headers of OpenCL";

enum facet_status facet_opencl_devices(struct facet_opencl_device **devices,
                                       size_t *count,
                                       char why[128],
                                       struct facet_error *err)
{
    *count = 0;
    *devices = NULL;
    snprintf(why, 128, "%s", no_headers);
    (void)err;
    return FACET_OK;
}

static enum facet_status none(struct facet_error *err)
{
    return facet_fail(err, FACET_ERR_USAGE, 0, "%s", no_headers);
}

enum facet_status facet_opencl_open(size_t number,
                                    const char *const *texts,
                                    unsigned text_count,
                                    facet_opencl **out,
                                    struct facet_error *err)
{
    (void)texts, (void)text_count;
    *out = NULL;
    return facet_fail(
        err, FACET_ERR_USAGE, 0, "there is no device opencl:%zu: %s", number, no_headers);
}

void facet_opencl_close(facet_opencl *cl)
{
    (void)cl;
}

const struct facet_opencl_device *facet_opencl_about(const facet_opencl *cl)
{
    (void)cl;
    return NULL;
}

enum facet_status facet_opencl_memory_new(facet_opencl *cl,
                                          uint64_t bytes,
                                          facet_opencl_memory **out,
                                          struct facet_error *err)
{
    (void)cl, (void)bytes;
    *out = NULL;
    return none(err);
}

void facet_opencl_memory_free(facet_opencl *cl, facet_opencl_memory *memory)
{
    (void)cl, (void)memory;
}

enum facet_status facet_opencl_write(facet_opencl *cl,
                                     facet_opencl_memory *memory,
                                     uint64_t at,
                                     const void *data,
                                     size_t bytes,
                                     struct facet_error *err)
{
    (void)cl, (void)memory, (void)at, (void)data, (void)bytes;
    return none(err);
}

enum facet_status facet_opencl_read(facet_opencl *cl,
                                    facet_opencl_memory *memory,
                                    uint64_t at,
                                    void *data,
                                    size_t bytes,
                                    struct facet_error *err)
{
    (void)cl, (void)memory, (void)at, (void)data, (void)bytes;
    return none(err);
}

enum facet_status facet_opencl_clear(facet_opencl *cl,
                                     facet_opencl_memory *memory,
                                     uint64_t at,
                                     size_t bytes,
                                     struct facet_error *err)
{
    (void)cl, (void)memory, (void)at, (void)bytes;
    return none(err);
}

enum facet_status facet_opencl_run(facet_opencl *cl,
                                   const char *kernel,
                                   const struct facet_opencl_argument *arguments,
                                   unsigned argument_count,
                                   size_t items,
                                   uint64_t *nanoseconds,
                                   struct facet_error *err)
{
    (void)cl, (void)kernel, (void)arguments, (void)argument_count, (void)items, (void)nanoseconds;
    return none(err);
}

#endif

/* ---- either way ---- */

enum facet_status facet_opencl_first_gpu(size_t *number, struct facet_error *err)
{
    struct facet_opencl_device *devices;
    size_t count;
    char why[128];
    enum facet_status status = facet_opencl_devices(&devices, &count, why, err);

    if (status != FACET_OK) {
        return status;
    }
    *number = 0;
    while (*number < count && (!devices[*number].gpu || devices[*number].unsuitable != NULL)) {
        ++*number;
    }
    free(devices);
    if (*number < count) {
        return FACET_OK;
    }
    return facet_fail(err,
                      FACET_ERR_USAGE,
                      0,
                      "there is no GPU: %s",
                      count > 0 ? "`facet devices` lists what is there" : why);
}
