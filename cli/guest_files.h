/* The files that a guest program may reach through semihosting: those below one folder. */
#ifndef FACET_CLI_GUEST_FILES_H
#define FACET_CLI_GUEST_FILES_H

#include <facet/xphmg.h>

#define GUEST_FILES_MAX 64

struct guest_files {
    int folder;                /* descriptor; -1: nothing granted */
    int open[GUEST_FILES_MAX]; /* descriptors; -1: free */
};

/* false with errno set when the folder cannot be opened; NULL grants nothing. */
bool guest_files_open(struct guest_files *files, const char *folder);
void guest_files_close(struct guest_files *files);

int64_t guest_files_do_open(struct guest_files *files, const char *path, unsigned mode);
int64_t guest_files_do_close(struct guest_files *files, int64_t handle);
int64_t guest_files_do_read(struct guest_files *files, int64_t handle, void *data, size_t size);
int64_t
guest_files_do_write(struct guest_files *files, int64_t handle, const void *data, size_t size);
int64_t guest_files_do_seek(struct guest_files *files, int64_t handle, uint64_t position);
int64_t guest_files_do_length(struct guest_files *files, int64_t handle);

#endif
