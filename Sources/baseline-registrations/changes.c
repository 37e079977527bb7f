#include "changes.h"

#include <endian.h>
#include <stdlib.h>
#include <string.h>

#include "clock.h"

enum { columns = 16, registered_at = 5, locks_per_command = 5, marks_per_command = 3 };

/* The types of the columns, in the order of the statements. */
static const enum type types[columns] = {uuid, uuid, uuid, uuid, uuid, int8, int8, int8,
                                         int8, int2, int2, int2, int2, int2, int2, bytea};
static struct parameters parameters;

static void send_empty(PGconn *connection, enum statement statement) {
  clear_parameters(&parameters);
  database_send(connection, statement, &parameters);
}

static int compare_numbers(const void *left, const void *right) {
  int32_t l = *(const int32_t *)left, r = *(const int32_t *)right;
  return (l > r) - (l < r);
}

static int compare_keys(const void *left, const void *right) { return memcmp(left, right, key_bytes); }

/* Sends the advisory locks of a batch: for each command, those of its token, user and device, and of two end marks. */
static void send_locks(PGconn *connection, const struct registration **commands, int batch) {
  static int32_t numbers[commands_max * locks_per_command];
  int count = 0, different = 0;
  for (int i = 0; i < batch; i++) {
    const char *keys[] = {commands[i]->token, commands[i]->user, commands[i]->device};
    /* The program does not compute the keys of end marks, but uses other bytes of the user and device keys. */
    for (int key = 0; key < 3; key++) numbers[count++] = (uint16_t)read_int16(keys[key] + key_bytes - 2);
    for (int key = 1; key < 3; key++) numbers[count++] = (uint16_t)read_int16(keys[key]);
  }
  qsort(numbers, (size_t)count, sizeof *numbers, compare_numbers);
  for (int i = 0; i < count; i++)
    if (i == 0 || numbers[i] != numbers[i - 1]) numbers[different++] = numbers[i];
  clear_parameters(&parameters);
  add_array(&parameters, int4, different, 0);
  for (int i = 0; i < different; i++) {
    uint32_t number = htobe32((uint32_t)numbers[i]);
    add_element(&parameters, &number, sizeof number);
  }
  database_send(connection, lock, &parameters);
}

/* Adds an array of keys in ascending order. */
static void add_keys(char keys[][key_bytes], int count) {
  qsort(keys, (size_t)count, key_bytes, compare_keys);
  add_array(&parameters, uuid, count, 0);
  for (int i = 0; i < count; i++) add_element(&parameters, keys[i], key_bytes);
}

static void send_reads(PGconn *connection, const struct registration **commands, int batch) {
  static char keys[commands_max * marks_per_command][key_bytes];
  send_empty(connection, begin_transaction);
  send_locks(connection, commands, batch);
  clear_parameters(&parameters);
  for (int i = 0; i < batch; i++) memcpy(keys[i], commands[i]->token, key_bytes);
  add_keys(keys, batch);
  for (int i = 0; i < batch; i++) memcpy(keys[i], commands[i]->device, key_bytes);
  add_keys(keys, batch);
  for (int i = 0; i < batch; i++) memcpy(keys[i], commands[i]->user, key_bytes);
  add_keys(keys, batch);
  database_send(connection, lock_rows, &parameters);
  clear_parameters(&parameters);
  for (int i = 0; i < batch; i++) {
    memcpy(keys[3 * i], commands[i]->token, key_bytes);
    memcpy(keys[3 * i + 1], commands[i]->device, key_bytes);
    memcpy(keys[3 * i + 2], commands[i]->user, key_bytes);
  }
  add_keys(keys, batch * marks_per_command);
  database_send(connection, read_marks, &parameters);
  clear_parameters(&parameters);
  add_int16(&parameters, 1);
  database_send(connection, new_apps, &parameters);
}

static int is_wanted(const char *token, const struct registration **commands, int batch) {
  for (int low = 0, high = batch; low < high;) {
    int middle = (low + high) / 2, order = memcmp(token, commands[middle]->token, key_bytes);
    if (order == 0) return 1;
    if (order < 0) high = middle;
    else low = middle + 1;
  }
  return 0;
}

/* Sends the rows of the tokens of the batch with a later time. The rows of other devices of the users stay. */
static int send_rows(PGconn *connection, PGresult *rows, const struct registration **commands, int batch) {
  static int wanted[commands_max];
  int count = 0;
  for (int row = 0; row < PQntuples(rows); row++)
    if (is_wanted(PQgetvalue(rows, row, 0), commands, batch)) wanted[count++] = row;
  clear_parameters(&parameters);
  for (int column = 0; column < columns; column++) {
    add_array(&parameters, types[column], count, 1);
    for (int i = 0; i < count; i++) {
      char *value = PQgetisnull(rows, wanted[i], column) ? NULL : PQgetvalue(rows, wanted[i], column);
      if (column == registered_at) write_int64(value, read_int64(value) + 1);
      add_element(&parameters, value, PQgetlength(rows, wanted[i], column));
    }
  }
  database_send(connection, update_rows, &parameters);
  return count;
}

static int compare_tokens(const void *left, const void *right) {
  const struct registration *const *l = left, *const *r = right;
  return memcmp((*l)->token, (*r)->token, key_bytes);
}

uint64_t register_again(PGconn *connection, struct registrations *registrations, int batch, double seconds_max) {
  if ((size_t)batch > registrations->count) die("the table has fewer registrations than a batch");
  uint64_t done = 0;
  double end = wall_seconds() + seconds_max;
  while (wall_seconds() < end) {
    const struct registration *commands[commands_max];
    for (int i = 0; i < batch; i++) commands[i] = next_registration(registrations);
    qsort(commands, (size_t)batch, sizeof *commands, compare_tokens);
    send_reads(connection, commands, batch);
    PQclear(database_receive(connection));
    PQclear(database_receive(connection));
    PGresult *rows = database_receive(connection);
    PQclear(database_receive(connection));
    PQclear(database_receive(connection));
    int written = send_rows(connection, rows, commands, batch);
    send_empty(connection, commit);
    PGresult *update = database_receive(connection);
    if (written != batch || atoi(PQcmdTuples(update)) != batch) die("a batch updated too few rows");
    PQclear(update);
    PQclear(database_receive(connection));
    PQclear(rows);
    done += (uint64_t)batch;
  }
  return done;
}
