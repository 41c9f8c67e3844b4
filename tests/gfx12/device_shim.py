"""A libOpenCL.so.1 that stands before the real one and does things to what goes through."""
import os
import shutil
import subprocess

from harness import skip

SHIM = r"""
#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#define REAL(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))
/* With run SHIM_RUNS of the kernels SHIM_LOSES the device is lost: at once, or as SHIM_LATE says, in the events of that run
 * and of all after it ("event") or in all that is read afterwards ("read"). Its compiler reads SHIM_PREFIX first; what Facet
 * hands it goes to the file SHIM_TEXT. With SHIM_FEW only 1024 reciprocals are tested. */
static int losses;
static cl_event lost[64];
static int late(const char *how)
{
    return losses != 0 && strcmp(getenv("SHIM_LATE"), how) == 0;
}
static int is_lost(cl_event event)
{
    int i = 0;
    while (i < losses && lost[i] != event) {
        i++;
    }
    return late("event") && i < losses;
}
cl_int clEnqueueNDRangeKernel(cl_command_queue q, cl_kernel k, cl_uint n, const size_t *o, const size_t *g,
                              const size_t *l, cl_uint w, const cl_event *e, cl_event *out)
{
    static int runs;
    char name[64] = "";
    cl_int code;
    int loses = losses != 0;
    clGetKernelInfo(k, CL_KERNEL_FUNCTION_NAME, sizeof name, name, NULL);
    if (getenv("SHIM_LOSES") != NULL && strstr(getenv("SHIM_LOSES"), name) != NULL && ++runs >= atoi(getenv("SHIM_RUNS"))) {
        loses = 1;
    }
    if (loses && getenv("SHIM_LATE") == NULL) {
        return CL_OUT_OF_RESOURCES;
    }
    if (getenv("SHIM_FEW") != NULL && strcmp(name, "facet_reciprocals") == 0) {
        clSetKernelArg(k, 1, sizeof(cl_uint), &(cl_uint){1});
    }
    code = REAL(clEnqueueNDRangeKernel)(q, k, n, o, g, l, w, e, out);
    if (loses && losses < 64) {
        clRetainEvent(lost[losses++] = *out);
    }
    return code;
}
cl_int clWaitForEvents(cl_uint n, const cl_event *events)
{
    cl_int code = REAL(clWaitForEvents)(n, events);
    return is_lost(events[0]) ? CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST : code;
}
cl_int clGetEventInfo(cl_event event, cl_event_info what, size_t size, void *value, size_t *real)
{
    cl_int code = REAL(clGetEventInfo)(event, what, size, value, real);
    if (is_lost(event)) {
        *(cl_int *)value = CL_OUT_OF_RESOURCES;
    }
    return code;
}
cl_int clEnqueueReadBuffer(cl_command_queue q, cl_mem m, cl_bool b, size_t at, size_t size, void *to, cl_uint w,
                           const cl_event *e, cl_event *out)
{
    return late("read") ? CL_OUT_OF_RESOURCES : REAL(clEnqueueReadBuffer)(q, m, b, at, size, to, w, e, out);
}
cl_program clCreateProgramWithSource(cl_context c, cl_uint n, const char **texts, const size_t *lengths, cl_int *code)
{
    const char *own[64] = {getenv("SHIM_PREFIX")};
    memcpy(own + 1, texts, n * sizeof *texts);
    (void)lengths;
    if (getenv("SHIM_TEXT") != NULL) {
        FILE *file = fopen(getenv("SHIM_TEXT"), "w");
        for (cl_uint i = 0; i < n; i++) {
            fputs(texts[i], file);
        }
        fclose(file);
    }
    return REAL(clCreateProgramWithSource)(
        c, own[0] != NULL ? n + 1 : n, own[0] != NULL ? own : texts, NULL, code);
}
"""


def made(folder):
    """The folder for LD_LIBRARY_PATH; skips the case where there is nothing to stand before."""
    real = next((p for p in ("/usr/lib/x86_64-linux-gnu/libOpenCL.so.1", "/usr/lib/aarch64-linux-gnu/libOpenCL.so.1")
                 if os.path.exists(p)), None)
    if real is None or not os.path.exists("/usr/include/CL/cl.h"):
        skip("no libOpenCL.so.1 and headers to stand before")
    if not os.path.exists(folder):
        os.makedirs(folder)
        for name, text in (("empty.c", ""), ("shim.c", SHIM)):
            with open(os.path.join(folder, name), "w", encoding="ascii") as file:
                file.write(text)
        run = dict(cwd=folder, check=True)
        subprocess.run(["gcc", "-shared", "-fPIC", "-Wl,-soname,libreal.so", "empty.c", "-o", "libreal.so"], **run)
        subprocess.run(["gcc", "-D_GNU_SOURCE", "-shared", "-fPIC", "shim.c", "-Wl,--no-as-needed", "-L.", "-lreal", "-o",
                        "libOpenCL.so.1"], **run)
        shutil.copy(real, os.path.join(folder, "libreal.so"))
    return folder
