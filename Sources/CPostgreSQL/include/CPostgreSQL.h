#ifndef MARTLET_CPOSTGRESQL_H
#define MARTLET_CPOSTGRESQL_H

// Use only the types and constants of libpq-fe.h. No target links libpq. Call it through the functions below.
#include <postgresql/libpq-fe.h>

// Loads libpq and disables its initialization of OpenSSL, since OpenSSL initializes itself. Returns NULL, or an error
// message. Call this function once. After an error, call no other function.
const char *martlet_pq_load(void);
// Returns the version of the loaded libpq, such as 150018 for 15.18.
int martlet_pq_library_version(void);

// Starts a connection attempt. The connection prints no notices of the server. Its messages of server errors contain
// only severity and SQLSTATE. Returns NULL if memory is exhausted.
PGconn *martlet_pq_connect_start(const char *const *keywords, const char *const *values);
PostgresPollingStatusType martlet_pq_connect_poll(PGconn *connection);
ConnStatusType martlet_pq_status(const PGconn *connection);
const char *martlet_pq_error_message(const PGconn *connection);
// Returns whether the server required a password and none was available.
int martlet_pq_needs_password(const PGconn *connection);
int martlet_pq_socket(const PGconn *connection);
int martlet_pq_server_version(const PGconn *connection);
void martlet_pq_finish(PGconn *connection);

// Makes the connection non-blocking and begins pipeline mode. Returns 1, or 0 after an error.
int martlet_pq_enter_pipeline(PGconn *connection);
// The next six functions return 1, or 0 after an error.
int martlet_pq_send_query(
    PGconn *connection, const char *sql, int count, const char *const *values, const int *lengths, const int *formats);
int martlet_pq_send_prepare(PGconn *connection, const char *name, const char *sql, int count, const Oid *types);
int martlet_pq_send_prepared(
    PGconn *connection, const char *name, int count, const char *const *values, const int *lengths, const int *formats);
int martlet_pq_send_sync(PGconn *connection);
int martlet_pq_consume_input(PGconn *connection);
int martlet_pq_set_single_row_mode(PGconn *connection);
// Returns 0 if all bytes are sent, 1 if bytes remain to be sent, or -1 after an error.
int martlet_pq_flush(PGconn *connection);
// Returns whether OpenSSL holds decrypted bytes that martlet_pq_consume_input has not read. These bytes do not make the
// socket readable.
int martlet_pq_has_pending_bytes(PGconn *connection);
int martlet_pq_is_busy(PGconn *connection);
PGresult *martlet_pq_get_result(PGconn *connection);

void martlet_pq_clear(PGresult *result);
ExecStatusType martlet_pq_result_status(const PGresult *result);
const char *martlet_pq_error_field(const PGresult *result, int field);
const char *martlet_pq_command_status(PGresult *result);
const char *martlet_pq_affected_rows(PGresult *result);
int martlet_pq_row_count(const PGresult *result);
// Returns the OID of a column's type, or 0 if the column does not exist.
Oid martlet_pq_column_type(const PGresult *result, int column);
// Returns a value, or NULL for a null, and writes the length in bytes. The row and the column must exist.
const char *martlet_pq_value(const PGresult *result, int row, int column, int *length);

#endif
