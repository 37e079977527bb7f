#ifndef CHANGES_H
#define CHANGES_H

#include "database.h"

enum { commands_max = 256 };

/* Registers stored tokens again until the time is over, and returns their number. One transaction locks, reads and
 * writes `batch` registrations. Hashes no tokens or users, decrypts no rows, and applies no rules. */
uint64_t register_again(PGconn *connection, struct registrations *registrations, int batch, double seconds_max);

#endif
