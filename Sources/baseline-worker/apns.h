/* One connection to APNs: OpenSSL, nghttp2, and as few TLS records as there can be. */
#ifndef APNS_H
#define APNS_H

#include <stdbool.h>

#include "baseline.h"

struct apns;

/* `push_type`, alert or voip, is that of every push. `answered` is called from apns_read for each; any status but 200 ends
 * the program. */
struct apns *apns_connect(int port, const char *authority_file, const char *authorization, const char *push_type,
                          void (*answered)(struct message *message, void *context), void *context);
int apns_socket(const struct apns *apns);

/* Whether a push may begin now: one alone until the first was answered. */
bool apns_is_open(const struct apns *apns);
void apns_push(struct apns *apns, struct message *message);
void apns_read(struct apns *apns);

/* Whether all was written. */
bool apns_flush(struct apns *apns);

#endif
