/* token_bucket_same - the token bucket as it is, in a plug-in: a version to compare others with. */
#include "policies/token_bucket.c"
