#include <dlfcn.h>
#include <stddef.h>

#include "CSQLite.h"

#define LIBRARY "libsqlite3.so.0"

// The JSON text of an ELF note, by which packaging tools find the library. The library is loaded on demand, not linked.
// https://uapi-group.org/specifications/specs/elf_dlopen_metadata/
#define DEPENDENCIES \
  "[{\"soname\":[\"" LIBRARY "\"],\"feature\":\"sqlite\",\"priority\":\"recommended\"," \
  "\"description\":\"SQLite store of device registrations\"}]"
__attribute__((used, section(".note.dlopen"), aligned(4))) static const struct {
  unsigned name_bytes, text_bytes, type;
  char name[4], text[sizeof DEPENDENCIES];
} note = {4, sizeof DEPENDENCIES, 0x407c0c0a, "FDO", DEPENDENCIES};

#define FUNCTIONS(_) \
  _(libversion) _(libversion_number) _(threadsafe) \
  _(open_v2) _(close) _(exec) _(busy_timeout) _(system_errno) _(get_autocommit) _(changes) _(interrupt) \
  _(file_control) \
  _(prepare_v3) _(next_stmt) _(finalize) _(step) _(reset) _(clear_bindings) \
  _(bind_null) _(bind_int64) _(bind_double) _(bind_text) _(bind_blob) \
  _(column_type) _(column_int64) _(column_double) _(column_text) _(column_blob) _(column_bytes)

static struct {
#define POINTER(name) __typeof__(sqlite3_##name) *name;
  FUNCTIONS(POINTER)
} sqlite;

const char *martlet_sqlite_load(void) {
  void *library = dlopen(LIBRARY, RTLD_NOW | RTLD_LOCAL);
  if (!library) return dlerror();
#define LOOK_UP(name) \
  if (!(sqlite.name = (__typeof__(sqlite.name))dlsym(library, "sqlite3_" #name))) return dlerror();
  FUNCTIONS(LOOK_UP)
  return NULL;
}

const char *martlet_sqlite_version(void) { return sqlite.libversion(); }
int martlet_sqlite_version_number(void) { return sqlite.libversion_number(); }
int martlet_sqlite_is_threadsafe(void) { return sqlite.threadsafe(); }

int martlet_sqlite_open(const char *path, sqlite3 **connection, int flags) {
  return sqlite.open_v2(path, connection, flags, NULL);
}

int martlet_sqlite_close(sqlite3 *connection) { return sqlite.close(connection); }
int martlet_sqlite_exec(sqlite3 *connection, const char *sql) { return sqlite.exec(connection, sql, NULL, NULL, NULL); }

int martlet_sqlite_busy_timeout(sqlite3 *connection, int milliseconds) {
  return sqlite.busy_timeout(connection, milliseconds);
}

int martlet_sqlite_system_errno(sqlite3 *connection) { return sqlite.system_errno(connection); }
int martlet_sqlite_is_autocommit(sqlite3 *connection) { return sqlite.get_autocommit(connection); }
int martlet_sqlite_changes(sqlite3 *connection) { return sqlite.changes(connection); }
void martlet_sqlite_interrupt(sqlite3 *connection) { sqlite.interrupt(connection); }

int martlet_sqlite_has_moved(sqlite3 *connection) {
  int has_moved = 0;
  sqlite.file_control(connection, "main", SQLITE_FCNTL_HAS_MOVED, &has_moved);
  return has_moved;
}

int martlet_sqlite_prepare(sqlite3 *connection, const char *sql, int bytes, sqlite3_stmt **statement) {
  return sqlite.prepare_v3(connection, sql, bytes, SQLITE_PREPARE_PERSISTENT, statement, NULL);
}

sqlite3_stmt *martlet_sqlite_any_statement(sqlite3 *connection) { return sqlite.next_stmt(connection, NULL); }
int martlet_sqlite_finalize(sqlite3_stmt *statement) { return sqlite.finalize(statement); }
int martlet_sqlite_step(sqlite3_stmt *statement) { return sqlite.step(statement); }

void martlet_sqlite_reset(sqlite3_stmt *statement) {
  // sqlite3_reset returns the error of the last step, which the caller already has.
  sqlite.reset(statement);
  sqlite.clear_bindings(statement);
}

int martlet_sqlite_bind_null(sqlite3_stmt *statement, int parameter) { return sqlite.bind_null(statement, parameter); }

int martlet_sqlite_bind_int64(sqlite3_stmt *statement, int parameter, long long value) {
  return sqlite.bind_int64(statement, parameter, value);
}

int martlet_sqlite_bind_double(sqlite3_stmt *statement, int parameter, double value) {
  return sqlite.bind_double(statement, parameter, value);
}

int martlet_sqlite_bind_text(sqlite3_stmt *statement, int parameter, const char *bytes, int count, int copies) {
  return sqlite.bind_text(statement, parameter, count ? bytes : "", count, copies ? SQLITE_TRANSIENT : SQLITE_STATIC);
}

int martlet_sqlite_bind_blob(sqlite3_stmt *statement, int parameter, const void *bytes, int count, int copies) {
  return sqlite.bind_blob(statement, parameter, count ? bytes : "", count, copies ? SQLITE_TRANSIENT : SQLITE_STATIC);
}

int martlet_sqlite_column_type(sqlite3_stmt *statement, int column) { return sqlite.column_type(statement, column); }

long long martlet_sqlite_column_int64(sqlite3_stmt *statement, int column) {
  return sqlite.column_int64(statement, column);
}

double martlet_sqlite_column_double(sqlite3_stmt *statement, int column) {
  return sqlite.column_double(statement, column);
}

const unsigned char *martlet_sqlite_column_text(sqlite3_stmt *statement, int column) {
  return sqlite.column_text(statement, column);
}

const void *martlet_sqlite_column_blob(sqlite3_stmt *statement, int column) {
  return sqlite.column_blob(statement, column);
}

int martlet_sqlite_column_bytes(sqlite3_stmt *statement, int column) { return sqlite.column_bytes(statement, column); }
