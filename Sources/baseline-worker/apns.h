/* A connection to APNs with OpenSSL and nghttp2, which writes as few TLS records as possible. */
#ifndef APNS_H
#define APNS_H

#include <stdbool.h>

#include "baseline.h"

struct apns;

/* Connects to APNs. All pushes have `push_type`, alert or voip. apns_read calls `answered` for each answered push. A status
 * other than 200 ends the program. */
struct apns *apns_connect(int port, const char *authority_file, const char *authorization, const char *push_type,
                          void (*answered)(struct message *message, void *context), void *context);
int apns_socket(const struct apns *apns);

/* Returns whether a push may begin now. Until the first answer, only one push may be in flight. */
bool apns_is_open(const struct apns *apns);
void apns_push(struct apns *apns, struct message *message);
void apns_read(struct apns *apns);

/* Returns whether all output was written. */
bool apns_flush(struct apns *apns);

#endif
