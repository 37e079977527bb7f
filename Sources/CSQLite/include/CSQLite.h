#ifndef MARTLET_CSQLITE_H
#define MARTLET_CSQLITE_H

// Only for types and constants. Call libsqlite3 only through the functions below, since nothing is linked to it.
#include <sqlite3.h>

// Loads libsqlite3. Returns NULL, or an error message; after an error, no other function may be called. Must be called
// once.
const char *martlet_sqlite_load(void);

const char *martlet_sqlite_version(void);
int martlet_sqlite_version_number(void);
int martlet_sqlite_is_threadsafe(void);

int martlet_sqlite_open(const char *path, sqlite3 **connection, int flags);
int martlet_sqlite_close(sqlite3 *connection);
int martlet_sqlite_exec(sqlite3 *connection, const char *sql);
int martlet_sqlite_busy_timeout(sqlite3 *connection, int milliseconds);
int martlet_sqlite_system_errno(sqlite3 *connection);
int martlet_sqlite_is_autocommit(sqlite3 *connection);
int martlet_sqlite_changes(sqlite3 *connection);
// May be called by any thread until martlet_sqlite_close is called.
void martlet_sqlite_interrupt(sqlite3 *connection);

// Prepares a statement that is used many times. `bytes` includes the terminating NUL.
int martlet_sqlite_prepare(sqlite3 *connection, const char *sql, int bytes, sqlite3_stmt **statement);
// Returns a statement of the connection that is not finalized, or NULL.
sqlite3_stmt *martlet_sqlite_any_statement(sqlite3 *connection);
int martlet_sqlite_finalize(sqlite3_stmt *statement);
int martlet_sqlite_step(sqlite3_stmt *statement);
// Ends the execution and removes the values of all parameters.
void martlet_sqlite_reset(sqlite3_stmt *statement);

int martlet_sqlite_bind_null(sqlite3_stmt *statement, int parameter);
int martlet_sqlite_bind_int64(sqlite3_stmt *statement, int parameter, long long value);
int martlet_sqlite_bind_double(sqlite3_stmt *statement, int parameter, double value);
// The lifetime of the bytes: SQLite copies them, or they must stay valid until the statement is reset. `bytes` may be
// NULL if `count` is 0: the value is then empty, not NULL.
int martlet_sqlite_bind_text(sqlite3_stmt *statement, int parameter, const char *bytes, int count, int copies);
int martlet_sqlite_bind_blob(sqlite3_stmt *statement, int parameter, const void *bytes, int count, int copies);

int martlet_sqlite_column_type(sqlite3_stmt *statement, int column);
long long martlet_sqlite_column_int64(sqlite3_stmt *statement, int column);
double martlet_sqlite_column_double(sqlite3_stmt *statement, int column);
// The bytes stay valid until the next step or reset. Call _bytes after _text or _blob.
const unsigned char *martlet_sqlite_column_text(sqlite3_stmt *statement, int column);
const void *martlet_sqlite_column_blob(sqlite3_stmt *statement, int column);
int martlet_sqlite_column_bytes(sqlite3_stmt *statement, int column);

#endif
