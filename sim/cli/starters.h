/* starters.h - the files that `weir new` prints: each at most 25 lines, and runs as it is. STARTER_NAME stands where
 * the user's name goes. */
#ifndef CLI_STARTERS_H
#define CLI_STARTERS_H

#define STARTER_NAME '@'

extern const char starter_card[];   /* a scenario; the name is the card's */
extern const char starter_pool[];   /* the name is the pool's */
extern const char starter_policy[]; /* a plug-in, in C; the name is the policy's */

#endif
