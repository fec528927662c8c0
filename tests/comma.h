/* comma.h - a locale that writes 1,5 for 1.5: one that is installed, else one made for the occasion by localedef
 * (Debian package locales, which tests/packages.sh asks for). Where a machine has neither, false and a line on stderr.
 */
#ifndef TESTS_COMMA_H
#define TESTS_COMMA_H

#include <stdbool.h>

/* Runs `test` under such a locale. */
bool comma_run(void (*test)(void));

/* For another program: its name, and the folder for LOCPATH, which is empty where the locale is installed. */
struct comma_locale {
    const char *name;
    char folder[32];
};

bool comma_find(struct comma_locale *locale);
void comma_forget(struct comma_locale *locale);

#endif
