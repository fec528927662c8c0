/* trace.h - recorded workloads: a CSV of model calls, read row by row whatever tool wrote it.
 *
 * A format (models/trace_formats.c) names its columns and their units, and a file is of the format whose columns it
 * has; what no format knows is told by a list such as `time=startTime, input=prompt_len`. Nothing is guessed: a number
 * without a unit has none but its format's, an empty field is unknown and not 0, and what is left out is counted with
 * its reason. No text of a row is kept, names of sessions neither. Memory does not grow with the rows, but for a few
 * words a session; sorting keeps all rows. */
#ifndef MODELS_TRACE_H
#define MODELS_TRACE_H

#include <stdint.h>

#include "sim/engine/clock.h"
#include "sim/io/diag.h"

/* What a column may hold. */
enum trace_field {
    TRACE_TIME,        /* when the call was made; of a window, its begin */
    TRACE_BEGIN,       /* when its session began: the same in all rows of that */
    TRACE_SINCE,       /* when the call was made, since its session began */
    TRACE_SESSION,     /* which: several columns together name it */
    TRACE_TURN,        /* number of the call in its session */
    TRACE_INPUT,       /* the whole prompt */
    TRACE_CACHED,      /* of that, what the session had sent before */
    TRACE_NEW,         /* of that, the rest */
    TRACE_OUTPUT,      /* generated */
    TRACE_DURATION,    /* from the call to the end of its answer */
    TRACE_END,         /* of its answer; in the same clock as TRACE_TIME, else as TRACE_SINCE */
    TRACE_WAIT_BEFORE, /* from the end of the session's call before to this one */
    TRACE_WAIT_AFTER,  /* from the end of this one to the session's next */
    TRACE_BATCH,       /* calls that are measured together */
    TRACE_READ_TIME,   /* of the prompts of a batch */
    TRACE_STEP_TIME,   /* of one token of each call of a batch */
    TRACE_RATE,        /* calls a second in a window */
    TRACE_GAP_CV,      /* of the gaps between its calls */
    TRACE_LENGTH,      /* tokens of a kind of calls in a window */
    TRACE_CHANCE,      /* of that length */
    TRACE_FIELDS,
    TRACE_NONE = TRACE_FIELDS /* of a column that only says which rows count */
};

/* What its numbers measure. */
enum trace_unit {
    TRACE_TEXT,
    TRACE_TOKENS,
    TRACE_COUNT,
    TRACE_REAL,
    TRACE_DATE,
    TRACE_NS,
    TRACE_US,
    TRACE_MS,
    TRACE_S,
    TRACE_MIN
};

/* What a column is to its format. */
enum trace_need {
    TRACE_MAY,    /* read where it is there */
    TRACE_NEEDED, /* this one, or another needed one of the same field */
    TRACE_MARK,   /* one of these tells the format from others; not asked for where the format is named */
    TRACE_KEEPS,  /* only rows with this word count; without the column all do */
    TRACE_FIRST,  /* only rows count that agree with the first one here and in all columns before */
};

struct trace_column {
    const char *name; /* NULL ends the list */
    enum trace_field field;
    enum trace_unit unit;
    enum trace_need need;
    const char *word;   /* TRACE_KEEPS */
    const char *reason; /* of TRACE_KEEPS and TRACE_FIRST: why other rows are dropped */
};

struct trace_format {
    const char *name; /* NULL ends the list */
    const char *rows; /* what a row is: "calls", "windows", ... */
    const char *help, *source;
    const struct trace_column *columns; /* of several of one field the first that is there; of TRACE_SESSION all */
    size_t headless;   /* the file has no line of names, and so many columns, in this order; 0: it has one */
    const char *empty; /* why a row of no tokens at all, or of rate 0, is dropped; or NULL: it counts */
    bool by_end;       /* rows stand in the order of their ends, so they are sorted by their times */
};

extern const struct trace_format trace_formats[];
/* The word of a field in a list of columns, and its meaning: "wait_before". */
const char *trace_field_name(enum trace_field field);
const char *trace_field_help(enum trace_field field);
/* "s", "tokens", "date"; "" of texts, counts and bare numbers. And what 1 is in a call's values. */
const char *trace_unit_name(enum trace_unit unit);
int64_t trace_unit_scale(enum trace_unit unit);

#define TRACE_UNKNOWN INT64_MIN
#define TRACE_ALONE UINT32_MAX      /* the session of a call whose trace has none, or whose field is empty */
#define TRACE_REAL_SCALE 1000000000 /* a real of 1 */

/* One row. Times are ns, of dates since 1970; reals are whole multiples of 1 / TRACE_REAL_SCALE. */
struct trace_call {
    int64_t values[TRACE_FIELDS]; /* TRACE_UNKNOWN where the file does not say; TRACE_SESSION is unused */
    int64_t wait;     /* before it, by whatever says so: a wait before, one after the call before it, or the times */
    uint32_t session; /* numbered from 0 in the order of the first rows */
    int line;
};

struct trace_spec {
    const char *path;    /* "-": standard input */
    const char *format;  /* by name; NULL or "": by its columns */
    const char *columns; /* "time=startTime, wait_before=gap:ms"; NULL or "": those of the format */
    bool sort;           /* by time; else times that run backwards are an error */
    struct place asked, format_asked, columns_asked;
};

#define TRACE_DROPS 8 /* more than any format has reasons */
struct trace_dropped {
    const char *reason;
    uint64_t rows;
};

/* What a file turned out to be. Texts live in the diag's arena, or longer. */
struct trace_facts {
    const char *format, *rows, *help;
    struct {
        const char *name; /* NULL: there is no such column */
        enum trace_unit unit;
    } columns[TRACE_FIELDS]; /* of a session several names joined by + */
    bool sorted;             /* by_end or asked for */
    bool waits_derived;      /* from times and durations: no column says them */
    bool zones;              /* a date had one; those that have none are taken as UTC */
    uint64_t read, kept;
    struct trace_dropped dropped[TRACE_DROPS]; /* ended by one without a reason */
    uint32_t sessions;
};

typedef void trace_call_fn(void *context, const struct trace_call *call);

/* Hands over each row that counts, in order. False after an error. */
bool trace_read(const struct trace_spec *spec, trace_call_fn *each, void *context, struct trace_facts *facts,
                struct diag *diag);

/* --- private to models/trace*.c --- */

/* The number or date in a field; NULL, or what is wrong. */
const char *trace_value_read(const char *text, enum trace_unit unit, int64_t *value, bool *zoned);

struct csv_row;

/* Which column of the file is which. */
struct trace_header {
    const struct trace_format *format;
    struct trace_part {
        const struct trace_column *column;
        size_t at; /* in the file */
    } * parts;
    size_t count;
    bool first_is_data;
};

/* From the first row; false after an error. */
bool trace_header_read(const struct trace_spec *spec, const struct csv_row *row, struct trace_header *header,
                       struct diag *diag);

#endif
