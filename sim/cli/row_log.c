/* row_log.c - spools are handed out again and again, so a trial is a stretch of one of them. */
#include "sim/cli/row_log.h"

#include <errno.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "sim/cli/session.h"

enum { COPIED_AT_ONCE = 1 << 16, TIME_MOST = 32 };

struct spool {
    struct row_spool rows;
    struct arena arena;
    size_t trial; /* that it is busy with, and where its rows begin */
    off_t begin;
    struct spool *next_of_all, *next_idle;
};

/* Where the rows of a trial are. */
struct stretch {
    FILE *file; /* NULL: nowhere */
    off_t begin, end;
};

struct row_log {
    const struct plan *plan;
    const char *what, *path;
    unsigned replications; /* written down, of each design point */
    struct stretch *stretches;
    struct spool *spools, *idle;
    pthread_mutex_t lock;
};

struct row_log *row_log_new(const struct plan *plan, const char *what, const char *path, bool all)
{
    struct row_log *log = mem_zeroed(1, sizeof *log);

    log->plan = plan;
    log->what = what;
    log->path = path;
    log->replications = all ? (unsigned)plan->points[0].scenario->study.replications : 1;
    log->stretches = mem_zeroed(plan->point_count * log->replications, sizeof *log->stretches);
    pthread_mutex_init(&log->lock, NULL);
    return log;
}

void row_log_free(struct row_log *log)
{
    if (!log)
        return;
    for (struct spool *spool = log->spools, *next; spool; spool = next) {
        next = spool->next_of_all;
        if (spool->rows.file)
            fclose(spool->rows.file);
        arena_free(&spool->arena);
        free(spool);
    }
    pthread_mutex_destroy(&log->lock);
    free(log->stretches);
    free(log);
}

/* --- a trial ------------------------------------------------------------------------------------------------------ */

/* Beside the target, where there must be room anyway; a device or a pipe has no such place. */
static FILE *spool_file(const char *path)
{
    struct arena arena = {0};
    struct stat existing;
    FILE *file = NULL;
    char *name;
    int descriptor;

    if (stat(path, &existing) == 0 && !S_ISREG(existing.st_mode))
        return tmpfile();
    name = arena_format(&arena, "%s.XXXXXX", path);
    descriptor = mkstemp(name);
    if (descriptor >= 0) {
        unlink(name);
        file = fdopen(descriptor, "w+");
        if (!file)
            close(descriptor);
    }
    arena_free(&arena);
    return file;
}

static struct spool *spool_new(const char *path)
{
    struct spool *spool = mem_zeroed(1, sizeof *spool);

    spool->rows.file = spool_file(path);
    if (!spool->rows.file)
        spool->rows.error = errno;
    return spool;
}

struct row_spool *row_log_begin(struct row_log *log, size_t point, unsigned replication)
{
    struct spool *spool;

    if (!log || replication > log->replications)
        return NULL;
    pthread_mutex_lock(&log->lock);
    spool = log->idle;
    if (spool) {
        log->idle = spool->next_idle;
    } else {
        spool = spool_new(log->path);
        spool->next_of_all = log->spools;
        log->spools = spool;
    }
    pthread_mutex_unlock(&log->lock);
    spool->trial = point * log->replications + replication - 1;
    spool->begin = spool->rows.file ? ftello(spool->rows.file) : 0;
    arena_free(&spool->arena);
    spool->rows.keys = session_keys(log->plan, point, replication, &spool->arena);
    spool->rows.scenario = log->plan->points[point].scenario;
    return &spool->rows;
}

bool row_log_end(struct row_log *log, struct row_spool *rows, bool kept, char *why, size_t size)
{
    struct spool *spool = (struct spool *)(void *)rows; /* its first member */
    bool good;

    if (!rows->error && fflush(rows->file) != 0)
        rows->error = errno;
    good = !rows->error;
    if (!good)
        snprintf(why, size, "the %s `%s` cannot be written: %s", log->what, log->path, strerror(rows->error));
    if (good && kept)
        log->stretches[spool->trial] = (struct stretch){rows->file, spool->begin, ftello(rows->file)};
    pthread_mutex_lock(&log->lock);
    spool->next_idle = log->idle;
    log->idle = spool;
    pthread_mutex_unlock(&log->lock);
    return good;
}

void row_log_time(sim_time time, FILE *out)
{
    char text[TIME_MOST];
    size_t length = (size_t)snprintf(text, sizeof text, "%" PRId64 ".%09" PRId64, time / SIM_SECOND, time % SIM_SECOND);

    while (text[length - 1] == '0')
        length--;
    length -= text[length - 1] == '.';
    fprintf(out, "%.*s", (int)length, text);
}

/* --- the whole ---------------------------------------------------------------------------------------------------- */

static bool copy(const struct stretch *stretch, FILE *out)
{
    char buffer[COPIED_AT_ONCE];
    off_t left = stretch->end - stretch->begin;

    if (fseeko(stretch->file, stretch->begin, SEEK_SET) != 0)
        return false;
    while (left > 0) {
        size_t wanted = left < (off_t)sizeof buffer ? (size_t)left : sizeof buffer;

        if (fread(buffer, 1, wanted, stretch->file) != wanted)
            return false;
        fwrite(buffer, 1, wanted, out);
        left -= (off_t)wanted;
    }
    return true;
}

bool row_log_print(const struct row_log *log, row_log_columns_fn *columns, const struct results *results, FILE *out)
{
    struct table table = {0};
    bool good = true;

    columns(log->plan, &table);
    table_print_csv(&table, out);
    table_fini(&table);
    for (size_t point = 0; point < results->points; point++) {
        const struct stretch *first = log->stretches + point * log->replications;

        for (unsigned i = 0; good && i < log->replications && i < results->finished[point]; i++)
            good = copy(&first[i], out);
    }
    if (!good)
        fprintf(stderr, "weir: the rows for the %s `%s` cannot be read back: %s\n", log->what, log->path,
                strerror(errno));
    return good;
}
