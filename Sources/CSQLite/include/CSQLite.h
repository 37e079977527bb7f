#ifndef MARTLET_CSQLITE_H
#define MARTLET_CSQLITE_H

// Use only the types and constants of sqlite3.h. No target links libsqlite3. Call it through the functions below.
#include <sqlite3.h>

// Loads libsqlite3. Returns NULL, or an error message. Call this function once. After an error, call no other function.
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
// Returns whether the path of the connection names no file, or another file than when the connection was opened.
int martlet_sqlite_has_moved(sqlite3 *connection);
// Any thread may call this function until martlet_sqlite_close is called.
void martlet_sqlite_interrupt(sqlite3 *connection);

// Prepares a statement that is used many times. `bytes` is the length of `sql`, including the terminating NUL.
int martlet_sqlite_prepare(sqlite3 *connection, const char *sql, int bytes, sqlite3_stmt **statement);
// Returns an unfinalized statement of the connection, or NULL if there is none.
sqlite3_stmt *martlet_sqlite_any_statement(sqlite3 *connection);
int martlet_sqlite_finalize(sqlite3_stmt *statement);
int martlet_sqlite_step(sqlite3_stmt *statement);
// Ends the execution and sets all parameters to NULL.
void martlet_sqlite_reset(sqlite3_stmt *statement);

int martlet_sqlite_bind_null(sqlite3_stmt *statement, int parameter);
int martlet_sqlite_bind_int64(sqlite3_stmt *statement, int parameter, long long value);
int martlet_sqlite_bind_double(sqlite3_stmt *statement, int parameter, double value);
// If `copies` is 0, the bytes must stay valid until the statement is reset. Otherwise, SQLite copies them. If `count`
// is 0, `bytes` may be NULL, and the value is empty, not NULL.
int martlet_sqlite_bind_text(sqlite3_stmt *statement, int parameter, const char *bytes, int count, int copies);
int martlet_sqlite_bind_blob(sqlite3_stmt *statement, int parameter, const void *bytes, int count, int copies);

int martlet_sqlite_column_type(sqlite3_stmt *statement, int column);
long long martlet_sqlite_column_int64(sqlite3_stmt *statement, int column);
double martlet_sqlite_column_double(sqlite3_stmt *statement, int column);
// The bytes stay valid until the statement is stepped, reset or finalized. Call martlet_sqlite_column_bytes after the
// function that returns the bytes.
const unsigned char *martlet_sqlite_column_text(sqlite3_stmt *statement, int column);
const void *martlet_sqlite_column_blob(sqlite3_stmt *statement, int column);
int martlet_sqlite_column_bytes(sqlite3_stmt *statement, int column);

#endif
