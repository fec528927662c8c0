/* yaml_explain.h - what libyaml did not understand, in a sentence for the person who wrote the file. Private to io. */
#ifndef SIM_YAML_EXPLAIN_H
#define SIM_YAML_EXPLAIN_H

#include <yaml.h>

#include "sim/io/diag.h"

struct yaml_source {
    const char *name;
    const char *text;
    size_t length;
};

/* Line and column, in characters, of a byte of the text. */
struct place yaml_place_of(const struct yaml_source *source, size_t offset);
struct place yaml_place_at(const struct yaml_source *source, yaml_mark_t mark);

/* Reports the error that ended the parser. */
void yaml_explain(const yaml_parser_t *parser, const struct yaml_source *source, struct diag *diag);

#endif
