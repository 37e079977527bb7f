#define _GNU_SOURCE
#include "broker.h"

#include <amqp.h>
#include <amqp_tcp_socket.h>
#include <endian.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Frames and methods of AMQP 0-9-1, sections 2.3.5 and 1.8. Publisher confirms are an extension of RabbitMQ. */
enum { frame_method = 1, frame_header = 2, frame_body = 3, frame_heartbeat = 8, frame_end = 0xce };
enum { frame_head_bytes = 7, frame_bytes_min = 8 };
enum { class_basic = 60 };
enum { basic_consume = 20, basic_publish = 40, basic_deliver = 60, basic_ack = 80 };
enum { has_content_type = 0x8000, has_delivery_mode = 0x1000, has_correlation_id = 0x0400, has_message_id = 0x0080 };
enum { persistent = 2, mandatory = 1, no_wait = 8 };
static const int frame_bytes_max = 131072;
static const uint16_t channel = 1;
enum { short_string_bytes_max = 255, input_bytes = 1 << 20, output_bytes = 16 << 20, result_bytes_max = 1024 };
struct broker {
  int socket;
  const char *exchange;
  char *input, *output;
  size_t input_length, output_length;

  /* Ring buffers with more slots than the messages that can be in flight. The index is a tag or number modulo the size. */
  uint64_t mask;
  struct message *messages; /* by delivery tag */
  uint64_t *tag_of_publish; /* by publish number */
  char *is_confirmed;       /* by delivery tag */

  uint64_t delivering, delivered, returned;
  uint64_t published, all_confirmed_below, acknowledged;
  /* The first publish number of the next cumulative confirm. All earlier publishes are confirmed. */
  uint64_t unconfirmed_from;
};

static uint16_t read_16(const char *at) {
  uint16_t value;
  memcpy(&value, at, sizeof value);
  return be16toh(value);
}
static uint32_t read_32(const char *at) {
  uint32_t value;
  memcpy(&value, at, sizeof value);
  return be32toh(value);
}
static uint64_t read_64(const char *at) {
  uint64_t value;
  memcpy(&value, at, sizeof value);
  return be64toh(value);
}

static char *write_8(char *at, uint8_t value) {
  *at = (char)value;
  return at + 1;
}
static char *write_16(char *at, uint16_t value) {
  value = htobe16(value);
  return (char *)mempcpy(at, &value, sizeof value);
}
static char *write_32(char *at, uint32_t value) {
  value = htobe32(value);
  return (char *)mempcpy(at, &value, sizeof value);
}
static char *write_64(char *at, uint64_t value) {
  value = htobe64(value);
  return (char *)mempcpy(at, &value, sizeof value);
}
static char *write_short_string(char *at, const char *text, size_t length) {
  return (char *)mempcpy(write_8(at, (uint8_t)length), text, length);
}
static char *begin_frame(char *at, uint8_t type, char **size) {
  *size = write_16(write_8(at, type), channel);
  return *size + 4;
}
static char *begin_method(char *at, uint16_t method, char **size) {
  return write_16(write_16(begin_frame(at, frame_method, size), class_basic), method);
}
static char *end_frame(char *at, char *size) {
  write_32(size, (uint32_t)(at - size - 4));
  return write_8(at, frame_end);
}

static void consume(struct broker *broker, const char *queue) {
  char *size, *at = begin_method(broker->output + broker->output_length, basic_consume, &size);
  at = write_short_string(write_16(at, 0), queue, strlen(queue));
  at = write_32(write_8(write_short_string(at, "floor", 5), no_wait), 0);
  broker->output_length = (size_t)(end_frame(at, size) - broker->output);
}

struct broker *broker_connect(int port, int prefetch, const char *in, const char *exchange) {
  struct broker *broker = allocate(1, sizeof *broker);
  size_t slots = 2;
  while (slots <= (size_t)prefetch) slots *= 2;
  *broker = (struct broker){.exchange = exchange, .mask = slots - 1, .all_confirmed_below = 1, .unconfirmed_from = 1};
  broker->input = allocate(1, input_bytes);
  broker->output = allocate(1, output_bytes);
  broker->messages = allocate(slots, sizeof *broker->messages);
  broker->tag_of_publish = allocate(slots, sizeof *broker->tag_of_publish);
  broker->is_confirmed = allocate(slots, 1);
  amqp_connection_state_t connection = amqp_new_connection();
  if (amqp_socket_open(amqp_tcp_socket_new(connection), "127.0.0.1", port)) die("cannot connect to the broker");
  amqp_rpc_reply_t login = amqp_login(connection, "/", 0, frame_bytes_max, 0, AMQP_SASL_METHOD_PLAIN, "guest", "guest");
  if (login.reply_type != AMQP_RESPONSE_NORMAL) die("login refused");
  amqp_channel_open(connection, channel);
  amqp_confirm_select(connection, channel);
  amqp_basic_qos(connection, channel, 0, (uint16_t)prefetch, 0);
  if (amqp_get_rpc_reply(connection).reply_type != AMQP_RESPONSE_NORMAL) die("cannot open a channel");
  broker->socket = amqp_get_sockfd(connection);
  fcntl(broker->socket, F_SETFL, O_NONBLOCK);
  consume(broker, in);
  return broker;
}

int broker_socket(const struct broker *broker) { return broker->socket; }
uint64_t broker_acknowledged(const struct broker *broker) { return broker->acknowledged; }

static struct message *message_at(const struct broker *broker, uint64_t tag) { return &broker->messages[tag & broker->mask]; }

static void confirm(struct broker *broker, uint64_t number, int includes_earlier) {
  uint64_t first = includes_earlier ? broker->unconfirmed_from : number;
  for (uint64_t each = first; each <= number; each++)
    broker->is_confirmed[broker->tag_of_publish[each & broker->mask] & broker->mask] = 1;
  if (includes_earlier || number == broker->unconfirmed_from) broker->unconfirmed_from = number + 1;
}

static void handle_method(struct broker *broker, const char *method) {
  uint16_t class_id = read_16(method), method_id = read_16(method + 2);
  const char *arguments = method + 4;
  if (class_id == class_basic && method_id == basic_deliver) {
    broker->delivering = read_64(arguments + 1 + (uint8_t)arguments[0]);
  } else if (class_id == class_basic && method_id == basic_ack) {
    confirm(broker, read_64(arguments), arguments[8] & 1);
  } else {
    die("the broker sent class %d, method %d", class_id, method_id);
  }
}

static void handle_header(struct broker *broker, const char *header) {
  struct message *message = message_at(broker, broker->delivering);
  *message = (struct message){.delivery_tag = broker->delivering, .length = read_64(header + 4)};
  if (!(message->body = malloc(message->length))) die("out of memory"); /* the body frames overwrite it completely */
}

static void handle_body(struct broker *broker, const char *bytes, size_t count) {
  struct message *message = message_at(broker, broker->delivering);
  memcpy(message->body + message->received, bytes, count);
  message->received += count;
  if (message->received == message->length) broker->delivered = broker->delivering;
}

void broker_read(struct broker *broker) {
  while (1) {
    ssize_t count = read(broker->socket, broker->input + broker->input_length, input_bytes - broker->input_length);
    if (count < 0 && errno == EAGAIN) return;
    if (count <= 0) die("connection to the broker lost");
    broker->input_length += (size_t)count;
    char *at = broker->input, *end = broker->input + broker->input_length;
    while (end - at >= frame_bytes_min) {
      size_t size = read_32(at + 3);
      if ((size_t)(end - at) < size + frame_bytes_min) break;
      char *payload = at + frame_head_bytes;
      if (*at == frame_method) handle_method(broker, payload);
      else if (*at == frame_header) handle_header(broker, payload);
      else if (*at == frame_body) handle_body(broker, payload, size);
      else if (*at != frame_heartbeat) die("the broker sent a frame of type %d", *at);
      at += size + frame_bytes_min;
    }
    memmove(broker->input, at, (size_t)(end - at));
    broker->input_length = (size_t)(end - at);
  }
}

/* Returns the string after `key`. The string must not contain escapes. */
static struct text find_string(const struct message *message, const char *key) {
  char *found = memmem(message->body, message->length, key, strlen(key));
  if (!found) die("the request has no %s", key);
  char *start = found + strlen(key), *end = memchr(start, '"', (size_t)(message->body + message->length - start));
  if (!end) die("the request is truncated");
  return (struct text){start, (size_t)(end - start)};
}

struct message *broker_next_delivery(struct broker *broker) {
  static const char before_payload[] = "\"payload\":";
  if (broker->returned == broker->delivered) return NULL;
  struct message *message = message_at(broker, ++broker->returned);
  message->id = find_string(message, "\"id\":\"");
  message->app = find_string(message, "\"app\":\"");
  message->device_token = find_string(message, "\"device_token\":\"");
  if (message->id.length != uuid_bytes) die("the id of a request is not a UUID");
  /* The payload is the last member. */
  char *payload = memmem(message->body, message->length, before_payload, strlen(before_payload));
  if (!payload) die("the request has no payload");
  payload += strlen(before_payload);
  message->payload = (struct text){payload, (size_t)(message->body + message->length - 1 - payload)};
  return message;
}

void broker_publish_result(struct broker *broker, struct message *message) {
  char *size, routing_key[short_string_bytes_max + 1], body[result_bytes_max];
  int key_length = snprintf(routing_key, sizeof routing_key, "result.accepted.%.*s", (int)message->app.length,
                            message->app.start);
  if (key_length > short_string_bytes_max) die("app name is too long");
  int length = snprintf(body, sizeof body,
                        "{\"id\":\"%.*s\",\"outcome\":\"accepted\",\"status\":%d,\"app\":\"%.*s\",\"device_token\":\"%.*s\","
                        "\"attempts\":1,\"finished_at\":1763683200000}",
                        uuid_bytes, message->id.start, message->status, (int)message->app.length, message->app.start,
                        (int)message->device_token.length, message->device_token.start);
  if (length >= (int)sizeof body || broker->output_length + sizeof body * 2 > output_bytes) die("output buffer is full: cannot add a result");
  char *at = begin_method(broker->output + broker->output_length, basic_publish, &size);
  at = write_short_string(write_16(at, 0), broker->exchange, strlen(broker->exchange));
  at = write_short_string(at, routing_key, (size_t)key_length);
  at = end_frame(write_8(at, mandatory), size);
  at = write_64(write_16(write_16(begin_frame(at, frame_header, &size), class_basic), 0), (uint64_t)length);
  at = write_16(at, has_content_type | has_delivery_mode | has_correlation_id | has_message_id);
  at = write_8(write_short_string(at, "application/json", 16), persistent);
  at = write_short_string(at, message->id.start, uuid_bytes);
  at = end_frame(write_short_string(at, message->id.start, uuid_bytes), size);
  at = mempcpy(begin_frame(at, frame_body, &size), body, (size_t)length);
  at = end_frame(at, size);
  broker->output_length = (size_t)(at - broker->output);
  broker->tag_of_publish[++broker->published & broker->mask] = message->delivery_tag;
  free(message->body);
}

void broker_acknowledge_confirmed(struct broker *broker) {
  while (broker->is_confirmed[broker->all_confirmed_below & broker->mask])
    broker->is_confirmed[broker->all_confirmed_below++ & broker->mask] = 0;
  uint64_t last = broker->all_confirmed_below - 1;
  if (last == broker->acknowledged) return;
  char *size, *at = begin_method(broker->output + broker->output_length, basic_ack, &size);
  at = end_frame(write_8(write_64(at, last), 1), size);
  broker->output_length = (size_t)(at - broker->output);
  broker->acknowledged = last;
}

bool broker_flush(struct broker *broker) {
  if (broker->output_length == 0) return true;
  ssize_t count = write(broker->socket, broker->output, broker->output_length);
  if (count < 0 && errno != EAGAIN) die("connection to the broker lost");
  if (count <= 0) return false;
  broker->output_length -= (size_t)count;
  memmove(broker->output, broker->output + count, broker->output_length);
  return broker->output_length == 0;
}
