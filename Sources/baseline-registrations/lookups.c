#include "lookups.h"

#include <time.h>

#include "clock.h"

enum { suspicions_max = 3, devices_max = 1000, columns = 6 };

static void send_lookup(PGconn *connection, struct registrations *registrations) {
  static struct parameters parameters;
  const struct registration *found[queries_max];
  for (int i = 0; i < queries_max; i++) found[i] = next_registration(registrations);
  clear_parameters(&parameters);
  add_array(&parameters, uuid, queries_max, 0);
  for (int i = 0; i < queries_max; i++) add_element(&parameters, found[i]->user, key_bytes);
  add_array(&parameters, int2, queries_max, 0);
  for (int i = 0; i < queries_max; i++) add_int16_element(&parameters, found[i]->environment);
  add_array(&parameters, int2, queries_max, 0);
  for (int i = 0; i < queries_max; i++) add_int16_element(&parameters, found[i]->kind);
  for (int array = 0; array < 2; array++) {
    add_array(&parameters, uuid, queries_max, 1);
    for (int i = 0; i < queries_max; i++) add_element(&parameters, NULL, 0);
  }
  add_int16(&parameters, suspicions_max);
  add_int64(&parameters, (int64_t)time(NULL) * 1000);
  add_int64(&parameters, devices_max);
  database_send(connection, look_up, &parameters);
}

/* Copies each value out of a result, and returns the number of rows. */
static int read_rows(PGresult *rows) {
  static char copy[4096];
  int count = PQntuples(rows);
  for (int row = 0; row < count; row++)
    for (int column = 0; column < columns; column++) {
      int length = PQgetlength(rows, row, column);
      if ((size_t)length > sizeof copy) die("a value of a row is too long");
      __builtin_memcpy(copy, PQgetvalue(rows, row, column), (size_t)length);
    }
  return count;
}

uint64_t look_users_up(PGconn *connection, struct registrations *registrations, double seconds_max) {
  uint64_t users = 0;
  double end = wall_seconds() + seconds_max;
  for (int i = 0; i < lookups_in_flight; i++) send_lookup(connection, registrations);
  for (int in_flight = lookups_in_flight; in_flight > 0;) {
    PGresult *rows = database_receive(connection);
    if (read_rows(rows) < queries_max) die("a lookup found fewer devices than users");
    PQclear(rows);
    users += queries_max;
    if (wall_seconds() < end) send_lookup(connection, registrations);
    else in_flight--;
  }
  return users;
}
