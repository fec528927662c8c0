/* file.c - opens the files that a user names. */
#include "sim/io/file.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* What else a user may have named instead of a file; NULL: a file it is. */
static const char *not_a_file(mode_t mode)
{
    if (S_ISREG(mode))
        return NULL;
    return S_ISDIR(mode) ? "a directory" : S_ISFIFO(mode) ? "a pipe" : "a device";
}

FILE *file_open(const char *path, struct place asked, struct diag *diag)
{
    /* Opening a pipe that nobody writes to blocks unless told otherwise. */
    int descriptor = open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
    struct stat status;
    if (descriptor < 0 || fstat(descriptor, &status) != 0) {
        diag_error(diag, asked, "cannot read %s: %s", path, strerror(errno));
        if (descriptor >= 0)
            close(descriptor);
        return NULL;
    }
    const char *other = not_a_file(status.st_mode);
    if (other != NULL) {
        diag_error(diag, asked, "cannot read %s: expected a file, this is %s", path, other);
        close(descriptor);
        return NULL;
    }
    FILE *file = fdopen(descriptor, "rb");
    if (file == NULL)
        mem_exhausted();
    return file;
}
