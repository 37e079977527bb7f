#ifndef LOOKUPS_H
#define LOOKUPS_H

#include "database.h"

/* Looks users up until the time is over, and returns their number. `queries_max` users share a lookup, and
 * `lookups_in_flight` lookups are in flight. Does not decrypt the rows. */
uint64_t look_users_up(PGconn *connection, struct registrations *registrations, double seconds_max);

#endif
