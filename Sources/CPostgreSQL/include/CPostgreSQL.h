#ifndef MARTLET_CPOSTGRESQL_H
#define MARTLET_CPOSTGRESQL_H

// Only for types and constants. Call libpq only through the functions below, since nothing is linked to it.
#include <postgresql/libpq-fe.h>

// Loads libpq and leaves the initialization of OpenSSL to OpenSSL. Returns NULL, or an error message; after an error,
// no other function may be called. Must be called once.
const char *martlet_pq_load(void);
// Returns the version of the loaded library, such as 150018.
int martlet_pq_library_version(void);

// Starts to connect. The connection prints no notices, and its error messages contain no text of the server: only
// severity and SQLSTATE. Returns NULL if memory is exhausted.
PGconn *martlet_pq_connect_start(const char *const *keywords, const char *const *values);
PostgresPollingStatusType martlet_pq_connect_poll(PGconn *connection);
ConnStatusType martlet_pq_status(const PGconn *connection);
const char *martlet_pq_error_message(const PGconn *connection);
// Whether the server asked for a password, and the parameters contained none.
int martlet_pq_needs_password(const PGconn *connection);
int martlet_pq_socket(const PGconn *connection);
int martlet_pq_server_version(const PGconn *connection);
void martlet_pq_finish(PGconn *connection);

// Makes the connection non-blocking and begins pipeline mode. Returns 0 after an error.
int martlet_pq_enter_pipeline(PGconn *connection);
// These functions return 0 after an error.
int martlet_pq_send_query(
    PGconn *connection, const char *sql, int count, const char *const *values, const int *lengths, const int *formats);
int martlet_pq_send_prepare(PGconn *connection, const char *name, const char *sql, int count, const Oid *types);
int martlet_pq_send_prepared(
    PGconn *connection, const char *name, int count, const char *const *values, const int *lengths, const int *formats);
int martlet_pq_send_sync(PGconn *connection);
int martlet_pq_consume_input(PGconn *connection);
int martlet_pq_set_single_row_mode(PGconn *connection);
// Returns 0, 1 if bytes remain to be sent, or -1 after an error.
int martlet_pq_flush(PGconn *connection);
// Whether TLS has decrypted bytes that the next martlet_pq_consume_input returns. The socket does not report them.
int martlet_pq_has_pending_bytes(PGconn *connection);
int martlet_pq_is_busy(PGconn *connection);
PGresult *martlet_pq_get_result(PGconn *connection);

void martlet_pq_clear(PGresult *result);
ExecStatusType martlet_pq_result_status(const PGresult *result);
const char *martlet_pq_error_field(const PGresult *result, int field);
const char *martlet_pq_command_status(PGresult *result);
const char *martlet_pq_affected_rows(PGresult *result);
int martlet_pq_row_count(const PGresult *result);
// Returns the type of a column, or 0 if there is no such column.
Oid martlet_pq_column_type(const PGresult *result, int column);
// Returns a value and its length; NULL if it is null. Row and column must exist.
const char *martlet_pq_value(const PGresult *result, int row, int column, int *length);

#endif
