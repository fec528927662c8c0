/* crash.h - the last words of a program that crashes. */
#ifndef CLI_CRASH_H
#define CLI_CRASH_H

/* SIGSEGV, SIGBUS, SIGFPE and SIGABRT: in a callback of a policy they are that policy's mistake, which one message
 * names, and the exit status is EXIT_USAGE; elsewhere the moment is printed, if there is one, and the program dies of
 * the signal. */
void cli_catch_crashes(void);

#endif
