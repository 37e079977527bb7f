/* A connection to PostgreSQL in pipeline mode, with a Sync after each statement. */
#ifndef DATABASE_H
#define DATABASE_H

#include <postgresql/libpq-fe.h>

#include "baseline.h"
#include "parameters.h"

enum statement { begin_transaction, commit, look_up, lock, lock_rows, read_marks, new_apps, update_rows, statements };

/* Connects and prepares the statements. `address` is a connection string of libpq. Reads a random sample of the live
 * registrations. */
PGconn *database_connect(const char *address, struct registrations *registrations);

void database_send(PGconn *connection, enum statement statement, const struct parameters *parameters);

/* Waits for the result of the first statement whose result was not received. An error ends the program. */
PGresult *database_receive(PGconn *connection);

#endif
