/* address.h - dotted addresses into a scenario's document: `agents.coder.client.base`, `policies.LABEL.MEMBER.KEY`. An
 * item of a list is known by its index, from 0: `agents.coder.client.0.base`.
 *
 * Putting a value copies only what is on the way, so a design point costs what it changes. Mappings that the file
 * leaves out are created on the way, but never a class or a backend, whose names are the user's, and no item of a list.
 */
#ifndef MODELS_ADDRESS_H
#define MODELS_ADDRESS_H

#include "models/alternative.h"

/* The document with a value at an address; NULL after an error. `policies` in it is canonical. `asked` is the place of
 * the address. */
struct node *address_put(const struct reader *reader, const struct node *root, const char *address, struct place asked,
                         struct node *value);
/* What stands there, or NULL. Not below `policies`. */
const struct node *address_get(const struct node *root, const char *address);

/* Whether an address inside an alternative is MEMBER.KEY, or KEY where there is one member; if not, what is wrong with
 * `whole`, the address from the root, is said. Whether the member has the key is not asked. */
bool address_expects_key(const struct reader *reader, const struct node *item, const char *whole, const char *address,
                         struct place asked);
/* The names of an alternative's members, an item of `policies` in its canonical form; *count of them. */
const char *const *member_names(const struct reader *reader, const struct node *item, size_t *count);

/* The same inside one alternative, by such an address. */
struct node *address_put_policy(const struct reader *reader, const struct node *item, const char *address,
                                struct place asked, struct node *value);
const struct node *address_get_policy(const struct node *item, const char *address);

/* Whether two addresses mean the same value: policies.LABEL.KEY is policies.LABEL.MEMBER.KEY where there is one member.
 */
bool address_same(const struct reader *reader, const struct node *root, const char *one, const char *other);

/* The address that a shorter one most likely meant: `policies.fixed_cap.cap` for fixed_cap.cap; NULL: none. */
const char *address_meant(const struct reader *reader, const struct node *root, const char *address);

/* A copy of a mapping that shares its values; and one that lacks a key. */
struct node *map_copy(const struct node *map, struct arena *arena);
struct node *map_without(const struct node *map, const char *key, struct arena *arena);

#endif
