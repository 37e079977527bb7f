/* baseline-registrations: a minimal client of the PostgreSQL store of registrations that benchmarks compare Martlet with.
 *
 * Usage: baseline-registrations lookups|registrations|single --database ADDRESS [--seconds COUNT]
 *
 * It has one thread and one connection in pipeline mode, and executes the statements of Martlet's store, in batches of
 * the same size. `lookups` looks users up. `registrations` registers stored tokens again, in transactions of 256.
 * `single` does the same in transactions of one. The program reads the keys from the table, so it hashes no user and
 * no token. It decrypts no row and applies no rule. Any error ends the program.
 *
 * After a warm-up of a tenth of the time, the program measures, and prints count, rate and processor time.
 */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "changes.h"
#include "clock.h"
#include "lookups.h"

static const double warm_up_share = 0.1;

struct options {
  const char *work, *database;
  double seconds;
};

void die(const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  fputs("baseline-registrations: ", stderr);
  vfprintf(stderr, format, arguments);
  fputs("\n", stderr);
  va_end(arguments);
  exit(2);
}

void *allocate(size_t count, size_t size) {
  void *memory = calloc(count, size);
  if (!memory) die("out of memory");
  return memory;
}

static double seconds(clockid_t clock) {
  struct timespec time;
  clock_gettime(clock, &time);
  return (double)time.tv_sec + (double)time.tv_nsec * 1e-9;
}

double wall_seconds(void) { return seconds(CLOCK_MONOTONIC); }
double processor_seconds(void) { return seconds(CLOCK_PROCESS_CPUTIME_ID); }

const struct registration *next_registration(struct registrations *registrations) {
  if (registrations->next == registrations->count) registrations->next = 0;
  return &registrations->all[registrations->next++];
}

static struct options read_options(int count, char **arguments) {
  struct options options = {.seconds = 5};
  if (count < 2 || count % 2 != 0) die("expected the work and options with values; see Sources/baseline-registrations/main.c");
  options.work = arguments[1];
  for (int i = 2; i < count; i += 2) {
    if (!strcmp(arguments[i], "--database")) options.database = arguments[i + 1];
    else if (!strcmp(arguments[i], "--seconds")) options.seconds = atof(arguments[i + 1]);
    else die("unknown option: %s", arguments[i]);
  }
  if (!options.database) die("missing option: --database");
  return options;
}

static uint64_t run(PGconn *connection, struct registrations *registrations, const char *work, double seconds_max) {
  if (!strcmp(work, "lookups")) return look_users_up(connection, registrations, seconds_max);
  if (!strcmp(work, "registrations")) return register_again(connection, registrations, commands_max, seconds_max);
  if (!strcmp(work, "single")) return register_again(connection, registrations, 1, seconds_max);
  die("unknown work: %s", work);
}

int main(int count, char **arguments) {
  struct options options = read_options(count, arguments);
  struct registrations registrations = {0};
  PGconn *connection = database_connect(options.database, &registrations);
  run(connection, &registrations, options.work, options.seconds * warm_up_share);
  double began = wall_seconds(), used = processor_seconds();
  uint64_t done = run(connection, &registrations, options.work, options.seconds);
  double taken = wall_seconds() - began, cpu = processor_seconds() - used;
  printf("baseline-registrations: %llu done %.0f /s cpu %.3f us\n", (unsigned long long)done, (double)done / taken,
         cpu / (double)done * 1e6);
  PQfinish(connection);
  free(registrations.all);
  return 0;
}
