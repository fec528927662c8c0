/* comma.c - finds or makes a locale with a decimal comma. setlocale and not newlocale, which leaks LOCPATH in glibc. */
#include "tests/comma.h"

#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char *installed(void)
{
    static const char *const names[] = {"de_DE.UTF-8", "fr_FR.UTF-8", "it_IT.UTF-8", "es_ES.UTF-8", "ru_RU.UTF-8"};
    const char *found = NULL;
    for (size_t i = 0; !found && i < sizeof names / sizeof names[0]; i++)
        if (setlocale(LC_NUMERIC, names[i]))
            found = names[i];
    setlocale(LC_NUMERIC, "C");
    return found;
}

static bool make(struct comma_locale *locale)
{
    char command[200];
    *locale = (struct comma_locale){.name = "de_DE.UTF-8", .folder = "/tmp/comma-XXXXXX"};
    if (!mkdtemp(locale->folder))
        return false;
    snprintf(command, sizeof command, "localedef -i de_DE -f UTF-8 %s/%s >%s/log 2>&1", locale->folder, locale->name,
             locale->folder);
    if (system(command) == 0)
        return true;
    comma_forget(locale);
    return false;
}

bool comma_find(struct comma_locale *locale)
{
    *locale = (struct comma_locale){.name = installed()};
    if (locale->name || make(locale))
        return true;
    fprintf(stderr, "skipped: no locale with a decimal comma (Debian package locales)\n");
    return false;
}

void comma_forget(struct comma_locale *locale)
{
    char command[64];
    snprintf(command, sizeof command, "command -p rm -r %s", locale->folder);
    if (locale->folder[0] && system(command) != 0)
        fprintf(stderr, "%s is left behind\n", locale->folder);
    *locale = (struct comma_locale){0};
}

bool comma_run(void (*test)(void))
{
    struct comma_locale locale;
    if (!comma_find(&locale))
        return false;
    if (locale.folder[0])
        setenv("LOCPATH", locale.folder, 1);
    bool used = setlocale(LC_NUMERIC, locale.name);
    unsetenv("LOCPATH");
    comma_forget(&locale);
    if (used)
        test();
    setlocale(LC_NUMERIC, "C");
    return used;
}
