/* version.h - of the program, and of its results: the latter is raised only when the same seed gives other digits. */
#ifndef CLI_VERSION_H
#define CLI_VERSION_H

#define WEIR_VERSION "0.1.0"
#define WEIR_RESULTS 1

#endif
