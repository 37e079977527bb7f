/* baseline-relay: a minimal relay that benchmarks compare workers with. It consumes requests, publishes a result for
 * each request with a publisher confirm, and acknowledges the request. It uses neither APNs nor a JSON parser.
 *
 * Usage: baseline-relay MESSAGES [--prefetch COUNT] [--port PORT] [--in QUEUE] [--out QUEUE]
 *
 * It has one thread, one connection and one channel. Each request in the input queue (default: bench.in) results in a
 * persistent message in the output queue (default: bench.out). The body is a JSON object of about 210 bytes with the UUID
 * that follows "id":" in the request. The program acknowledges a request after the broker has confirmed its result. The
 * channel keeps the order, so publish numbers equal delivery tags, and a confirm of several publishes becomes one
 * acknowledgment of several deliveries.
 *
 * The program exits after MESSAGES requests, and prints rate, CPU time and memory.
 */
#define _GNU_SOURCE
#include <amqp.h>
#include <amqp_framing.h>
#include <amqp_tcp_socket.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

static const amqp_channel_t channel = 1;
static const int frame_bytes_max = 131072;
enum { uuid_bytes = 36, result_bytes_max = 512 };

struct options {
  int64_t messages;
  int prefetch, port;
  const char *in, *out;
};

/* The requests whose results are confirmed: all requests with tags below `low`, and the requests marked in `marks`. */
struct progress {
  int64_t confirmed, low;
  char *marks;
};

__attribute__((noreturn, format(printf, 1, 2))) static void die(const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  fputs("baseline-relay: ", stderr);
  vfprintf(stderr, format, arguments);
  fputs("\n", stderr);
  va_end(arguments);
  exit(2);
}

static double seconds(clockid_t clock) {
  struct timespec time;
  clock_gettime(clock, &time);
  return time.tv_sec + time.tv_nsec * 1e-9;
}

static struct options read_options(int count, char **arguments) {
  struct options options = {.prefetch = 1000, .port = 5672, .in = "bench.in", .out = "bench.out"};
  if (count < 2 || count % 2 != 0) die("usage: baseline-relay MESSAGES [--prefetch COUNT] [--port PORT] [--in QUEUE] [--out QUEUE]");
  options.messages = atoll(arguments[1]);
  for (int i = 2; i < count; i += 2) {
    const char *value = arguments[i + 1];
    if (!strcmp(arguments[i], "--prefetch")) options.prefetch = atoi(value);
    else if (!strcmp(arguments[i], "--port")) options.port = atoi(value);
    else if (!strcmp(arguments[i], "--in")) options.in = value;
    else if (!strcmp(arguments[i], "--out")) options.out = value;
    else die("unknown option: %s", arguments[i]);
  }
  return options;
}

static amqp_connection_state_t connect_and_consume(const struct options *options) {
  amqp_connection_state_t connection = amqp_new_connection();
  if (amqp_socket_open(amqp_tcp_socket_new(connection), "127.0.0.1", options->port)) die("cannot connect to the broker");
  amqp_rpc_reply_t login = amqp_login(connection, "/", 0, frame_bytes_max, 0, AMQP_SASL_METHOD_PLAIN, "guest", "guest");
  if (login.reply_type != AMQP_RESPONSE_NORMAL) die("login refused");
  amqp_channel_open(connection, channel);
  amqp_confirm_select(connection, channel);
  amqp_basic_qos(connection, channel, 0, (uint16_t)options->prefetch, 0);
  amqp_basic_consume(connection, channel, amqp_cstring_bytes(options->in), amqp_empty_bytes, 0, 0, 0, amqp_empty_table);
  if (amqp_get_rpc_reply(connection).reply_type != AMQP_RESPONSE_NORMAL) die("cannot consume %s", options->in);
  return connection;
}

static void publish_result(amqp_connection_state_t connection, const char *queue, amqp_bytes_t request) {
  static const char before_id[] = "\"id\":\"";
  char *found = memmem(request.bytes, request.len, before_id, strlen(before_id));
  if (!found) die("cannot publish a result: the request has no id");
  char *id = found + strlen(before_id), body[result_bytes_max];
  int length = snprintf(body, sizeof body,
                        "{\"id\":\"%.*s\",\"status\":200,\"reason\":\"\",\"topic\":\"com.example.MyApp\",\"device_token\":"
                        "\"00fc13adff785122b4ad28809a3420982341241421348097878e577c991de8f0\",\"at\":1763683200}",
                        uuid_bytes, id);
  amqp_basic_properties_t properties = {
      ._flags = AMQP_BASIC_DELIVERY_MODE_FLAG | AMQP_BASIC_CONTENT_TYPE_FLAG | AMQP_BASIC_MESSAGE_ID_FLAG,
      .delivery_mode = AMQP_DELIVERY_PERSISTENT,
      .content_type = amqp_cstring_bytes("application/json"),
      .message_id = {uuid_bytes, id}};
  amqp_bytes_t result = {(size_t)length, body};
  if (amqp_basic_publish(connection, channel, amqp_empty_bytes, amqp_cstring_bytes(queue), 0, 0, &properties, result))
    die("cannot publish a result");
}

/* Reads a confirm that arrived instead of a delivery, and acknowledges the requests of the confirmed results. */
static void acknowledge_confirmed(amqp_connection_state_t connection, struct progress *progress) {
  amqp_frame_t frame;
  if (amqp_simple_wait_frame(connection, &frame)) die("connection lost");
  if (frame.frame_type != AMQP_FRAME_METHOD || frame.payload.method.id != AMQP_BASIC_ACK_METHOD)
    die("publish not confirmed");
  amqp_basic_ack_t *confirm = frame.payload.method.decoded;
  int64_t last = (int64_t)confirm->delivery_tag;
  amqp_basic_ack(connection, channel, confirm->delivery_tag, confirm->multiple);
  for (int64_t tag = confirm->multiple ? progress->low : last; tag <= last; tag++) {
    if (progress->marks[tag]) continue;
    progress->marks[tag] = 1;
    progress->confirmed++;
  }
  while (progress->marks[progress->low]) progress->low++;
}

static void relay(amqp_connection_state_t connection, const struct options *options) {
  struct progress progress = {.low = 1, .marks = calloc(options->messages + options->prefetch + 2, 1)};
  if (!progress.marks) die("out of memory");
  while (progress.confirmed < options->messages) {
    amqp_envelope_t envelope;
    amqp_maybe_release_buffers(connection);
    amqp_rpc_reply_t reply = amqp_consume_message(connection, &envelope, NULL, 0);
    if (reply.reply_type == AMQP_RESPONSE_NORMAL) {
      publish_result(connection, options->out, envelope.message.body);
      amqp_destroy_envelope(&envelope);
    } else if (reply.library_error == AMQP_STATUS_UNEXPECTED_STATE) {
      acknowledge_confirmed(connection, &progress);
    } else {
      die("%s", amqp_error_string2(reply.library_error));
    }
  }
  free(progress.marks);
}

int main(int count, char **arguments) {
  struct options options = read_options(count, arguments);
  amqp_connection_state_t connection = connect_and_consume(&options);
  double began = seconds(CLOCK_MONOTONIC), used = seconds(CLOCK_PROCESS_CPUTIME_ID);
  relay(connection, &options);
  double taken = seconds(CLOCK_MONOTONIC) - began, cpu = seconds(CLOCK_PROCESS_CPUTIME_ID) - used;
  struct rusage usage;
  getrusage(RUSAGE_SELF, &usage);
  printf("baseline-relay: %lld msgs %.0f msg/s cpu %.1f us/msg rss %ld MB\n", (long long)options.messages,
         options.messages / taken, cpu / options.messages * 1e6, usage.ru_maxrss / 1024);
  return 0;
}
