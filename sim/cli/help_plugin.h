/* help_plugin.h - `weir help plugin`. */
#ifndef CLI_HELP_PLUGIN_H
#define CLI_HELP_PLUGIN_H

/* What a plug-in is, and the line that compiles one with the headers of this very program. */
void help_plugin(void);

#endif
