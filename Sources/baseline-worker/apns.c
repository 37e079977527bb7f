#include "apns.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <nghttp2/nghttp2.h>
#include <openssl/ssl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

enum { output_bytes = 16 << 20, record_bytes_max = 16384, path_bytes_max = 256, topic_bytes_max = 256 };

struct apns {
  int socket;
  SSL *tls;
  nghttp2_session *session;
  const char *authorization;
  size_t authorization_length;
  const char *push_type, *topic_suffix;
  size_t push_type_length, topic_suffix_length;
  char *output;
  size_t output_length;
  bool has_settings, has_answered;
  uint64_t pushed;
  void (*answered)(struct message *message, void *context);
  void *context;
};

static int handle_header(nghttp2_session *session, const nghttp2_frame *frame, const uint8_t *name, size_t name_length,
                       const uint8_t *value, size_t value_length, uint8_t flags, void *context) {
  (void)flags, (void)context;
  if (name_length != 7 || memcmp(name, ":status", 7) || value_length != 3) return 0;
  struct message *message = nghttp2_session_get_stream_user_data(session, frame->hd.stream_id);
  message->status = (value[0] - '0') * 100 + (value[1] - '0') * 10 + value[2] - '0';
  return 0;
}

static int stream_closed(nghttp2_session *session, int32_t stream, uint32_t code, void *context) {
  struct apns *apns = context;
  struct message *message = nghttp2_session_get_stream_user_data(session, stream);
  if (code || message->status != 200) die("answer %d, code %u", message->status, code);
  apns->has_answered = true;
  apns->answered(message, apns->context);
  return 0;
}

static int handle_frame(nghttp2_session *session, const nghttp2_frame *frame, void *context) {
  (void)session;
  struct apns *apns = context;
  if (frame->hd.type == NGHTTP2_SETTINGS && !(frame->hd.flags & NGHTTP2_FLAG_ACK)) apns->has_settings = true;
  return 0;
}

static ssize_t read_payload(nghttp2_session *session, int32_t stream, uint8_t *to, size_t room, uint32_t *flags,
                            nghttp2_data_source *source, void *context) {
  (void)session, (void)stream, (void)context;
  struct message *message = source->ptr;
  size_t left = message->payload.length - message->payload_sent, count = left < room ? left : room;
  memcpy(to, message->payload.start + message->payload_sent, count);
  message->payload_sent += count;
  if (count == left) *flags |= NGHTTP2_DATA_FLAG_EOF;
  return (ssize_t)count;
}

static void begin_session(struct apns *apns) {
  nghttp2_session_callbacks *callbacks;
  nghttp2_session_callbacks_new(&callbacks);
  nghttp2_session_callbacks_set_on_header_callback(callbacks, handle_header);
  nghttp2_session_callbacks_set_on_stream_close_callback(callbacks, stream_closed);
  nghttp2_session_callbacks_set_on_frame_recv_callback(callbacks, handle_frame);
  nghttp2_session_client_new(&apns->session, callbacks, apns);
  nghttp2_session_callbacks_del(callbacks);
  nghttp2_submit_settings(apns->session, 0, NULL, 0);
}

struct apns *apns_connect(int port, const char *authority_file, const char *authorization, const char *push_type,
                          void (*answered)(struct message *message, void *context), void *context) {
  struct apns *apns = allocate(1, sizeof *apns);
  apns->output = allocate(1, output_bytes);
  apns->authorization = authorization;
  apns->authorization_length = strlen(authorization);
  apns->push_type = push_type;
  apns->push_type_length = strlen(push_type);
  apns->topic_suffix = strcmp(push_type, "voip") ? "" : ".voip";
  apns->topic_suffix_length = strlen(apns->topic_suffix);
  apns->answered = answered;
  apns->context = context;
  SSL_CTX *settings = SSL_CTX_new(TLS_client_method());
  SSL_CTX_set_alpn_protos(settings, (const unsigned char *)"\2h2", 3);
  SSL_CTX_set_mode(settings, SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER);
  SSL_CTX_set_verify(settings, SSL_VERIFY_PEER, NULL);
  if (!SSL_CTX_load_verify_locations(settings, authority_file, NULL)) die("cannot read certificates from %s", authority_file);
  struct sockaddr_in address = {
      .sin_family = AF_INET, .sin_port = htons((uint16_t)port), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
  apns->socket = socket(AF_INET, SOCK_STREAM, 0);
  if (connect(apns->socket, (struct sockaddr *)&address, sizeof address)) die("cannot connect to APNs");
  apns->tls = SSL_new(settings);
  SSL_set_fd(apns->tls, apns->socket);
  SSL_set_tlsext_host_name(apns->tls, "localhost");
  if (SSL_connect(apns->tls) != 1) die("TLS handshake with APNs failed");
  fcntl(apns->socket, F_SETFL, O_NONBLOCK);
  begin_session(apns);
  return apns;
}

int apns_socket(const struct apns *apns) { return apns->socket; }

bool apns_is_open(const struct apns *apns) { return apns->has_settings && (apns->has_answered || apns->pushed == 0); }

static nghttp2_nv field(const char *name, const char *value, size_t length, uint8_t flags) {
  return (nghttp2_nv){(uint8_t *)name, (uint8_t *)value, strlen(name), length, NGHTTP2_NV_FLAG_NO_COPY_NAME | flags};
}

void apns_push(struct apns *apns, struct message *message) {
  static const char before_token[] = "/3/device/";
  const size_t before = sizeof before_token - 1;
  char path[path_bytes_max], topic[topic_bytes_max];
  if (before + message->device_token.length > sizeof path) die("device token is too long");
  memcpy(path, before_token, before);
  memcpy(path + before, message->device_token.start, message->device_token.length);
  if (message->app.length + apns->topic_suffix_length > sizeof topic) die("app name is too long");
  memcpy(topic, message->app.start, message->app.length);
  memcpy(topic + message->app.length, apns->topic_suffix, apns->topic_suffix_length);
  const uint8_t varies = NGHTTP2_NV_FLAG_NO_INDEX;
  nghttp2_nv fields[] = {
      field(":method", "POST", 4, 0),
      field(":scheme", "https", 5, 0),
      field(":authority", "localhost", 9, 0),
      field(":path", path, before + message->device_token.length, varies),
      field("authorization", apns->authorization, apns->authorization_length, varies), /* a secret (RFC 7541, 7.1.3) */
      field("apns-topic", topic, message->app.length + apns->topic_suffix_length, 0),
      field("apns-push-type", apns->push_type, apns->push_type_length, 0),
      field("apns-priority", "10", 2, 0),
      field("apns-expiration", "1900000000", 10, 0),
      field("apns-id", message->id.start, message->id.length, varies),
      field("apns-collapse-id", "score-42", 8, varies),
  };
  nghttp2_data_provider body = {.source.ptr = message, .read_callback = read_payload};
  if (nghttp2_submit_request(apns->session, NULL, fields, sizeof fields / sizeof *fields, &body, message) < 0)
    die("cannot open a stream");
  apns->pushed++;
}

void apns_read(struct apns *apns) {
  static uint8_t bytes[4 * record_bytes_max];
  int count;
  while ((count = SSL_read(apns->tls, bytes, sizeof bytes)) > 0)
    if (nghttp2_session_mem_recv(apns->session, bytes, (size_t)count) < 0) die("APNs violated HTTP/2");
  if (SSL_get_error(apns->tls, count) != SSL_ERROR_WANT_READ) die("connection to APNs lost");
}

bool apns_flush(struct apns *apns) {
  const uint8_t *frames;
  ssize_t made;
  while ((made = nghttp2_session_mem_send(apns->session, &frames)) > 0) {
    if (apns->output_length + (size_t)made > output_bytes) die("output buffer is full: cannot add a push");
    memcpy(apns->output + apns->output_length, frames, (size_t)made);
    apns->output_length += (size_t)made;
  }
  if (made < 0) die("nghttp2 cannot serialize a frame");
  size_t written = 0;
  while (written < apns->output_length) {
    size_t left = apns->output_length - written;
    int count = SSL_write(apns->tls, apns->output + written, (int)(left < record_bytes_max ? left : record_bytes_max));
    if (count <= 0) break;
    written += (size_t)count;
  }
  apns->output_length -= written;
  memmove(apns->output, apns->output + written, apns->output_length);
  return apns->output_length == 0;
}
