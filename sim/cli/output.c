/* Writing beside the target and renaming, so that an interrupted or failed run leaves what was there before. */
#define _XOPEN_SOURCE 700 /* realpath */

#include "sim/cli/output.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "sim/io/mem.h"

static bool complain(const char *what, const char *path)
{
    fprintf(stderr, "weir: cannot %s `%s`: %s\n", what, path, errno ? strerror(errno) : "a part of it was lost");
    return false;
}

/* The folder and the name that a path leads to, to be freed; NULL: there is no such folder. */
static char *target_of(const char *path)
{
    const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
    size_t length = slash ? (size_t)(name - path) : 1;
    char *folder = mem_zeroed(length + 1, 1), *real, *target = NULL;

    memcpy(folder, slash ? path : ".", length);
    real = realpath(folder, NULL);
    if (real) {
        target = mem_zeroed(strlen(real) + strlen(name) + 2, 1);
        sprintf(target, "%s/%s", real, name);
    }
    free(folder);
    free(real);
    return target;
}

bool output_same(const char *one, const char *other)
{
    struct stat a, b;
    bool same = false;

    if (stat(one, &a) == 0 && stat(other, &b) == 0)
        return a.st_dev == b.st_dev && a.st_ino == b.st_ino;
    char *first = target_of(one), *second = target_of(other);

    same = first && second && strcmp(first, second) == 0;
    free(first);
    free(second);
    return same;
}

static bool open_target(struct output *output, const char *path)
{
    size_t length = strlen(path);
    struct stat existing;

    errno = length ? 0 : ENOENT;
    *output = (struct output){.path = mem_zeroed(length + 1, 1)};
    memcpy(output->path, path, length);
    if (stat(path, &existing) == 0 && !S_ISREG(existing.st_mode)) {
        output->file = fopen(path, "w");
    } else if (length) {
        output->temporary = mem_zeroed(length + 32, 1);
        snprintf(output->temporary, length + 32, "%s.%ld.part", path, (long)getpid());
        output->file = fopen(output->temporary, "w");
    }
    if (output->file)
        return true;
    complain("write", path);
    free(output->path);
    free(output->temporary);
    return false;
}

bool output_open(struct output *output, const char *path)
{
    char *real = realpath(path, NULL); /* what a link leads to is replaced, not the link */
    bool good = open_target(output, real ? real : path);

    free(real);
    return good;
}

void output_discard(struct output *output)
{
    if (output->file)
        fclose(output->file);
    if (output->temporary)
        unlink(output->temporary);
    free(output->path);
    free(output->temporary);
    *output = (struct output){0};
}

bool output_possible(const char *path)
{
    struct stat existing;
    struct output output;

    /* A pipe is not opened to see: that would wait for its reader, and closing it again would be the end of it. */
    if (stat(path, &existing) == 0 && !S_ISREG(existing.st_mode) && !S_ISDIR(existing.st_mode))
        return access(path, W_OK) == 0 || complain("write", path);
    if (!output_open(&output, path))
        return false;
    output_discard(&output);
    return true;
}

bool output_close(struct output *output)
{
    bool good;

    errno = 0;
    good = !ferror(output->file) && fflush(output->file) == 0;

    good = fclose(output->file) == 0 && good;
    output->file = NULL;
    if (good && output->temporary)
        good = rename(output->temporary, output->path) == 0;
    if (!good) {
        complain("write", output->path);
    } else {
        free(output->temporary);
        output->temporary = NULL;
    }
    output_discard(output);
    return good;
}

bool output_flush(FILE *file, const char *name)
{
    errno = 0;
    if (fflush(file) == 0 && !ferror(file))
        return true;
    if (errno == EPIPE) /* the reader has seen enough */
        return true;
    return complain("write", name);
}
