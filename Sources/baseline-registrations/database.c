#include "database.h"

#include <stdlib.h>
#include <string.h>

#include "statements.h"

enum { binary = 1, parameters_of_none = 0 };

struct definition {
  const char *name, *text;
  int count;
  Oid types[parameters_max];
};

#define DEFINITION(name, text, ...) {name, text, sizeof((Oid[])__VA_ARGS__) / sizeof(Oid), __VA_ARGS__}
static const struct definition definitions[statements] = {
    [begin_transaction] = {"begin", "BEGIN", parameters_of_none, {0}},
    [commit] = {"commit", "COMMIT", parameters_of_none, {0}},
    [look_up] = DEFINITION("look_up", LOOK_UP, LOOK_UP_TYPES),
    [lock] = DEFINITION("lock", LOCK, LOCK_TYPES),
    [lock_rows] = DEFINITION("lock_rows", LOCK_ROWS, LOCK_ROWS_TYPES),
    [read_marks] = DEFINITION("read_marks", READ_MARKS, READ_MARKS_TYPES),
    [new_apps] = DEFINITION("new_apps", NEW_APPS, NEW_APPS_TYPES),
    [update_rows] = DEFINITION("update_rows", UPDATE_ROWS, UPDATE_ROWS_TYPES),
};

/* token_key is a keyed hash, so the rows with the least keys are a random sample. */
static const char sample[] =
    "SELECT token_key, user_key, device_key, environment, kind FROM martlet.registration "
    "WHERE user_key IS NOT NULL AND device_key IS NOT NULL ORDER BY token_key LIMIT 500000";

static PGresult *succeeded(PGconn *connection, PGresult *result) {
  ExecStatusType status = PQresultStatus(result);
  if (status != PGRES_TUPLES_OK && status != PGRES_COMMAND_OK) die("%s", PQerrorMessage(connection));
  return result;
}

static void shuffle(struct registrations *registrations) {
  for (size_t i = registrations->count - 1; i > 0; i--) {
    size_t j = (size_t)random() % (i + 1);
    struct registration other = registrations->all[i];
    registrations->all[i] = registrations->all[j];
    registrations->all[j] = other;
  }
}

static void read_registrations(PGconn *connection, struct registrations *registrations) {
  PGresult *rows = succeeded(connection, PQexecParams(connection, sample, 0, NULL, NULL, NULL, NULL, binary));
  registrations->count = (size_t)PQntuples(rows);
  if (registrations->count == 0) die("the table martlet.registration has no live rows");
  registrations->all = allocate(registrations->count, sizeof *registrations->all);
  for (int row = 0; row < PQntuples(rows); row++) {
    struct registration *registration = &registrations->all[row];
    memcpy(registration->token, PQgetvalue(rows, row, 0), key_bytes);
    memcpy(registration->user, PQgetvalue(rows, row, 1), key_bytes);
    memcpy(registration->device, PQgetvalue(rows, row, 2), key_bytes);
    registration->environment = read_int16(PQgetvalue(rows, row, 3));
    registration->kind = read_int16(PQgetvalue(rows, row, 4));
  }
  PQclear(rows);
  shuffle(registrations);
}

PGconn *database_connect(const char *address, struct registrations *registrations) {
  PGconn *connection = PQconnectdb(address);
  if (PQstatus(connection) != CONNECTION_OK) die("%s", PQerrorMessage(connection));
  read_registrations(connection, registrations);
  PQclear(succeeded(connection, PQexec(connection, SETTINGS)));
  for (int i = 0; i < statements; i++) {
    const struct definition *statement = &definitions[i];
    PQclear(succeeded(
        connection, PQprepare(connection, statement->name, statement->text, statement->count, statement->types)));
  }
  if (!PQenterPipelineMode(connection)) die("%s", PQerrorMessage(connection));
  return connection;
}

void database_send(PGconn *connection, enum statement statement, const struct parameters *parameters) {
  if (!PQsendQueryPrepared(connection, definitions[statement].name, parameters->count, parameters->values,
                           parameters->lengths, parameters->formats, binary) ||
      !PQpipelineSync(connection))
    die("%s", PQerrorMessage(connection));
}

PGresult *database_receive(PGconn *connection) {
  PGresult *result = succeeded(connection, PQgetResult(connection));
  PGresult *end = PQgetResult(connection), *sync = PQgetResult(connection);
  if (end || PQresultStatus(sync) != PGRES_PIPELINE_SYNC) die("%s", PQerrorMessage(connection));
  PQclear(sync);
  return result;
}
