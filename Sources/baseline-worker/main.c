/* baseline-worker: a minimal worker that benchmarks compare Martlet with. It uses the same libraries. It consumes
 * requests, pushes each over TLS and HTTP/2, publishes the result with a publisher confirm, and then acknowledges the
 * request.
 *
 * Usage: baseline-worker MESSAGES --apns PORT --authority FILE --authorization-file FILE
 *                     [--prefetch COUNT] [--port PORT] [--in QUEUE] [--exchange NAME] [--push-type alert|voip]
 *
 * It has one thread and one connection to each peer, and writes once per iteration to each. It does not parse JSON. It
 * searches for the keys of members, and expects the payload as the last member. It validates nothing and retries
 * nothing. Any error ends the program. Results go to the exchange of a worker, with the app in the routing key. The
 * broker therefore does the same work as for a worker.
 *
 * The program exits after MESSAGES requests, and prints rate, CPU time and memory.
 */
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

#include "apns.h"
#include "broker.h"

struct options {
  uint64_t messages;
  int prefetch, port, apns;
  const char *authority, *authorization_file, *in, *exchange, *push_type;
};

void die(const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  fputs("baseline-worker: ", stderr);
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

static struct options read_options(int count, char **arguments) {
  struct options options = {.prefetch = 1000, .port = 5672, .in = "push.requests", .exchange = "push.results", .push_type = "alert"};
  if (count < 2 || count % 2 != 0) die("expected MESSAGES and options with values; see Sources/baseline-worker/main.c");
  options.messages = strtoull(arguments[1], NULL, 10);
  for (int i = 2; i < count; i += 2) {
    const char *value = arguments[i + 1];
    if (!strcmp(arguments[i], "--prefetch")) options.prefetch = atoi(value);
    else if (!strcmp(arguments[i], "--port")) options.port = atoi(value);
    else if (!strcmp(arguments[i], "--apns")) options.apns = atoi(value);
    else if (!strcmp(arguments[i], "--authority")) options.authority = value;
    else if (!strcmp(arguments[i], "--authorization-file")) options.authorization_file = value;
    else if (!strcmp(arguments[i], "--in")) options.in = value;
    else if (!strcmp(arguments[i], "--exchange")) options.exchange = value;
    else if (!strcmp(arguments[i], "--push-type")) options.push_type = value;
    else die("unknown option: %s", arguments[i]);
  }
  if (!options.apns || !options.authority || !options.authorization_file)
    die("missing option: --apns, --authority or --authorization-file");
  if (options.prefetch < 1 || options.prefetch > prefetch_max) die("--prefetch must be from 1 to %d", prefetch_max);
  return options;
}

/* Returns the value of the header field `authorization`, without a newline. */
static const char *read_authorization(const char *path) {
  static char value[4096];
  FILE *file = fopen(path, "r");
  if (!file || !fgets(value, sizeof value, file)) die("cannot read %s", path);
  fclose(file);
  value[strcspn(value, "\n")] = 0;
  return value;
}

static void answered(struct message *message, void *broker) { broker_publish_result(broker, message); }

static void work(struct broker *broker, struct apns *apns, uint64_t messages) {
  while (1) {
    struct message *message;
    while (apns_is_open(apns) && (message = broker_next_delivery(broker))) apns_push(apns, message);
    bool apns_has_output = !apns_flush(apns);
    broker_acknowledge_confirmed(broker);
    bool broker_has_output = !broker_flush(broker);
    if (broker_acknowledged(broker) >= messages && !broker_has_output) return;
    struct pollfd sockets[] = {
        {broker_socket(broker), (short)(POLLIN | (broker_has_output ? POLLOUT : 0)), 0},
        {apns_socket(apns), (short)(POLLIN | (apns_has_output ? POLLOUT : 0)), 0},
    };
    poll(sockets, 2, -1);
    if (sockets[0].revents) broker_read(broker);
    if (sockets[1].revents) apns_read(apns);
  }
}

int main(int count, char **arguments) {
  struct options options = read_options(count, arguments);
  struct broker *broker = broker_connect(options.port, options.prefetch, options.in, options.exchange);
  const char *authorization = read_authorization(options.authorization_file);
  struct apns *apns = apns_connect(options.apns, options.authority, authorization, options.push_type, answered, broker);
  double began = seconds(CLOCK_MONOTONIC), used = seconds(CLOCK_PROCESS_CPUTIME_ID);
  work(broker, apns, options.messages);
  double taken = seconds(CLOCK_MONOTONIC) - began, cpu = seconds(CLOCK_PROCESS_CPUTIME_ID) - used;
  struct rusage usage;
  getrusage(RUSAGE_SELF, &usage);
  printf("baseline-worker: %llu msgs %.0f msg/s cpu %.1f us/msg rss %ld MB\n", (unsigned long long)options.messages,
         (double)options.messages / taken, cpu / (double)options.messages * 1e6, usage.ru_maxrss / 1024);
  return 0;
}
