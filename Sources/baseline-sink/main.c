/* baseline-sink: a minimal APNs server that benchmarks compare the simulator with. On one thread, it accepts TLS and
 * HTTP/2, answers each request, and validates nothing else.
 *
 * Usage: baseline-sink CERTIFICATE.pem KEY.pem
 *
 * It listens on a free port of 127.0.0.1, prints the port, and runs until SIGTERM. It answers a POST to /3/device/ that
 * has a body and an apns-id with 200 and that apns-id, and any other request with 400. At the end, it prints its counters.
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/tcp.h>
#include <nghttp2/nghttp2.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

enum {
  output_bytes = 65536,
  /* The maximum output of one call of nghttp2_session_mem_send: a frame and its header. */
  frame_bytes = 16384 + 9,
  input_bytes = 65536,
  id_bytes_max = 64,
  events_max = 64,
  backlog = 512,
  streams_max = 1000,
};

struct stream {
  struct stream *next; /* in the connection's list, or in free_streams */
  struct stream *previous;
  size_t body_bytes;
  bool is_post, is_device_path;
  uint8_t id_bytes;
  char id[id_bytes_max];
};

struct connection {
  int descriptor;
  SSL *tls;
  nghttp2_session *http2;
  struct stream *streams;
  struct connection *next_changed;
  size_t output_end, output_start;
  uint32_t events;
  bool is_open, is_changed, is_dead;
  uint8_t output[output_bytes];
};

static int epoll;
static SSL_CTX *tls_context;
static nghttp2_session_callbacks *callbacks;
static struct connection *changed;
static struct stream *free_streams;
static volatile sig_atomic_t ends;
static unsigned long long accepted, refused;

static void die(const char *message) {
  fprintf(stderr, "baseline-sink: %s\n", message);
  exit(1);
}

static void mark_changed(struct connection *connection) {
  if (connection->is_changed) return;
  connection->is_changed = true;
  connection->next_changed = changed;
  changed = connection;
}

struct id {
  uint64_t high, low;
};

static struct id *ids;
static size_t ids_capacity, ids_distinct;

static uint64_t mix(uint64_t word) {
  word ^= word >> 30, word *= 0xbf58476d1ce4e5b9u;
  word ^= word >> 27, word *= 0x94d049bb133111ebu;
  return word ^ word >> 31;
}

static struct id parse_id(const char *text, size_t count) {
  struct id id = {0, 1}; /* two zeros mark a free entry of the table */
  for (size_t i = 0; i < count; i++) {
    unsigned char digit = (unsigned char)text[i];
    if (digit == '-') continue;
    id.high = id.high << 4 | id.low >> 60;
    id.low = id.low << 4 | ((digit & 15) + (digit > '9' ? 9u : 0u));
  }
  return id;
}

static bool place_id(struct id *table, size_t capacity, struct id id) {
  for (size_t i = mix(id.high ^ mix(id.low)) & (capacity - 1);; i = (i + 1) & (capacity - 1)) {
    if (table[i].high == id.high && table[i].low == id.low) return false;
    if (table[i].high || table[i].low) continue;
    table[i] = id;
    return true;
  }
}

static void remember_id(struct id id) {
  if (ids_distinct * 2 >= ids_capacity) {
    size_t capacity = ids_capacity ? ids_capacity * 2 : 1 << 17;
    struct id *table = calloc(capacity, sizeof *table);
    if (!table) die("out of memory");
    for (size_t i = 0; i < ids_capacity; i++)
      if (ids[i].high || ids[i].low) place_id(table, capacity, ids[i]);
    free(ids);
    ids = table;
    ids_capacity = capacity;
  }
  ids_distinct += place_id(ids, ids_capacity, id);
}

static struct stream *add_stream(struct connection *connection) {
  struct stream *stream = free_streams;
  if (stream) free_streams = stream->next;
  else if (!(stream = malloc(sizeof *stream))) die("out of memory");
  memset(stream, 0, offsetof(struct stream, id));
  stream->next = connection->streams;
  if (stream->next) stream->next->previous = stream;
  connection->streams = stream;
  return stream;
}

static void remove_stream(struct connection *connection, struct stream *stream) {
  if (stream->previous) stream->previous->next = stream->next;
  else connection->streams = stream->next;
  if (stream->next) stream->next->previous = stream->previous;
  stream->next = free_streams;
  free_streams = stream;
}

static bool equals(const uint8_t *bytes, size_t count, const char *text) {
  return count == strlen(text) && !memcmp(bytes, text, count);
}

static int begin_headers(nghttp2_session *http2, const nghttp2_frame *frame, void *connection) {
  if (frame->hd.type == NGHTTP2_HEADERS && frame->headers.cat == NGHTTP2_HCAT_REQUEST)
    nghttp2_session_set_stream_user_data(http2, frame->hd.stream_id, add_stream(connection));
  return 0;
}

static int handle_header(nghttp2_session *http2, const nghttp2_frame *frame, const uint8_t *name, size_t name_bytes,
                       const uint8_t *value, size_t value_bytes, uint8_t flags, void *connection) {
  (void)flags, (void)connection;
  struct stream *stream = nghttp2_session_get_stream_user_data(http2, frame->hd.stream_id);
  if (!stream) return 0;
  if (equals(name, name_bytes, ":method")) {
    stream->is_post = equals(value, value_bytes, "POST");
  } else if (equals(name, name_bytes, ":path")) {
    stream->is_device_path = value_bytes > 10 && !memcmp(value, "/3/device/", 10);
  } else if (equals(name, name_bytes, "apns-id") && value_bytes <= id_bytes_max) {
    stream->id_bytes = (uint8_t)value_bytes;
    memcpy(stream->id, value, value_bytes);
  }
  return 0;
}

static int handle_body(nghttp2_session *http2, uint8_t flags, int32_t id, const uint8_t *bytes, size_t count,
                     void *connection) {
  (void)flags, (void)bytes, (void)connection;
  struct stream *stream = nghttp2_session_get_stream_user_data(http2, id);
  if (stream) stream->body_bytes += count;
  return 0;
}

static void answer(struct connection *connection, int32_t id, struct stream *stream) {
  const uint8_t kept = NGHTTP2_NV_FLAG_NO_COPY_NAME | NGHTTP2_NV_FLAG_NO_COPY_VALUE;
  bool is_good = stream->is_post && stream->is_device_path && stream->body_bytes && stream->id_bytes;
  *(is_good ? &accepted : &refused) += 1;
  remember_id(parse_id(stream->id, stream->id_bytes));
  nghttp2_nv fields[] = {
    {(uint8_t *)":status", (uint8_t *)(is_good ? "200" : "400"), 7, 3, kept},
    {(uint8_t *)"apns-id", (uint8_t *)stream->id, 7, stream->id_bytes, kept | NGHTTP2_NV_FLAG_NO_INDEX},
  };
  if (nghttp2_submit_response(connection->http2, id, fields, 2, NULL)) connection->is_dead = true;
  mark_changed(connection);
}

static int handle_frame(nghttp2_session *http2, const nghttp2_frame *frame, void *connection) {
  bool carries_request = frame->hd.type == NGHTTP2_DATA || frame->hd.type == NGHTTP2_HEADERS;
  if (!carries_request || !(frame->hd.flags & NGHTTP2_FLAG_END_STREAM)) return 0;
  struct stream *stream = nghttp2_session_get_stream_user_data(http2, frame->hd.stream_id);
  if (stream) answer(connection, frame->hd.stream_id, stream);
  return 0;
}

static int end_stream(nghttp2_session *http2, int32_t id, uint32_t code, void *connection) {
  (void)code;
  struct stream *stream = nghttp2_session_get_stream_user_data(http2, id);
  if (stream) remove_stream(connection, stream);
  return 0;
}

static void watch(struct connection *connection, uint32_t events) {
  if (connection->events == events) return;
  struct epoll_event event = {.events = events, .data.ptr = connection};
  epoll_ctl(epoll, EPOLL_CTL_MOD, connection->descriptor, &event);
  connection->events = events;
}

/* Returns whether all output was written. */
static bool write_output(struct connection *connection) {
  while (connection->output_start < connection->output_end) {
    int count = SSL_write(connection->tls, connection->output + connection->output_start,
                          (int)(connection->output_end - connection->output_start));
    if (count > 0) {
      connection->output_start += (size_t)count;
      continue;
    }
    int error = SSL_get_error(connection->tls, count);
    if (error == SSL_ERROR_WANT_WRITE || error == SSL_ERROR_WANT_READ) watch(connection, EPOLLIN | EPOLLOUT);
    else connection->is_dead = true;
    return false;
  }
  connection->output_start = connection->output_end = 0;
  return true;
}

/* Sends the pending output of nghttp2 in as few TLS records as possible. */
static void send_pending(struct connection *connection) {
  while (!connection->is_dead) {
    const uint8_t *bytes;
    if (output_bytes - connection->output_end < frame_bytes && !write_output(connection)) return;
    ssize_t count = nghttp2_session_mem_send(connection->http2, &bytes);
    if (count < 0) connection->is_dead = true;
    if (count <= 0) break;
    memcpy(connection->output + connection->output_end, bytes, (size_t)count);
    connection->output_end += (size_t)count;
  }
  if (connection->is_dead || !write_output(connection)) return;
  watch(connection, EPOLLIN);
  if (!nghttp2_session_want_read(connection->http2) && !nghttp2_session_want_write(connection->http2))
    connection->is_dead = true;
}

static void open_connection(struct connection *connection) {
  if (nghttp2_session_server_new(&connection->http2, callbacks, connection)) die("out of memory");
  nghttp2_settings_entry settings[] = {
    {NGHTTP2_SETTINGS_MAX_CONCURRENT_STREAMS, streams_max},
    {NGHTTP2_SETTINGS_INITIAL_WINDOW_SIZE, 65535},
    {NGHTTP2_SETTINGS_MAX_HEADER_LIST_SIZE, 8000},
  };
  nghttp2_submit_settings(connection->http2, NGHTTP2_FLAG_NONE, settings, 3);
  connection->is_open = true;
  mark_changed(connection);
}

/* Returns whether the handshake is complete. */
static bool continue_handshake(struct connection *connection) {
  int result = SSL_accept(connection->tls);
  if (result == 1) {
    open_connection(connection);
    return true;
  }
  switch (SSL_get_error(connection->tls, result)) {
    case SSL_ERROR_WANT_READ: watch(connection, EPOLLIN); break;
    case SSL_ERROR_WANT_WRITE: watch(connection, EPOLLIN | EPOLLOUT); break;
    default: connection->is_dead = true;
  }
  return false;
}

static void read_input(struct connection *connection) {
  static uint8_t input[input_bytes];
  if (!connection->is_open && !continue_handshake(connection)) return;
  while (true) {
    int count = SSL_read(connection->tls, input, sizeof input);
    if (count <= 0) {
      int error = SSL_get_error(connection->tls, count);
      connection->is_dead = error != SSL_ERROR_WANT_READ && error != SSL_ERROR_WANT_WRITE;
      return;
    }
    mark_changed(connection);
    connection->is_dead = nghttp2_session_mem_recv(connection->http2, input, (size_t)count) < 0;
    if (connection->is_dead) return;
  }
}

static void close_connection(struct connection *connection) {
  while (connection->streams) remove_stream(connection, connection->streams);
  nghttp2_session_del(connection->http2);
  SSL_free(connection->tls);
  close(connection->descriptor);
  free(connection);
  ERR_clear_error();
}

static void accept_connections(int listener) {
  int descriptor, yes = 1;
  while ((descriptor = accept4(listener, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC)) >= 0) {
    setsockopt(descriptor, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
    struct connection *connection = malloc(sizeof *connection);
    if (!connection) die("out of memory");
    memset(connection, 0, offsetof(struct connection, output));
    connection->descriptor = descriptor;
    connection->events = EPOLLIN;
    connection->tls = SSL_new(tls_context);
    SSL_set_fd(connection->tls, descriptor);
    SSL_set_accept_state(connection->tls);
    struct epoll_event event = {.events = EPOLLIN, .data.ptr = connection};
    if (epoll_ctl(epoll, EPOLL_CTL_ADD, descriptor, &event)) die("cannot watch a connection");
  }
}

static int choose_http2(SSL *tls, const unsigned char **chosen, unsigned char *chosen_bytes,
                        const unsigned char *offered, unsigned offered_bytes, void *unused) {
  (void)tls, (void)unused;
  unsigned char *choice;
  int result = SSL_select_next_proto(&choice, chosen_bytes, (const unsigned char *)"\x02h2", 3, offered, offered_bytes);
  *chosen = choice;
  return result == OPENSSL_NPN_NEGOTIATED ? SSL_TLSEXT_ERR_OK : SSL_TLSEXT_ERR_ALERT_FATAL;
}

static void make_tls_context(const char *certificate, const char *key) {
  tls_context = SSL_CTX_new(TLS_server_method());
  SSL_CTX_set_min_proto_version(tls_context, TLS1_2_VERSION);
  SSL_CTX_set_mode(tls_context, SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER);
  SSL_CTX_set_read_ahead(tls_context, 1);
  SSL_CTX_set_default_read_buffer_len(tls_context, input_bytes);
  SSL_CTX_set_alpn_select_cb(tls_context, choose_http2, NULL);
  if (SSL_CTX_use_certificate_chain_file(tls_context, certificate) != 1) die("cannot use the certificate");
  if (SSL_CTX_use_PrivateKey_file(tls_context, key, SSL_FILETYPE_PEM) != 1) die("cannot use the key");
}

static void make_callbacks(void) {
  if (nghttp2_session_callbacks_new(&callbacks)) die("out of memory");
  nghttp2_session_callbacks_set_on_begin_headers_callback(callbacks, begin_headers);
  nghttp2_session_callbacks_set_on_header_callback(callbacks, handle_header);
  nghttp2_session_callbacks_set_on_data_chunk_recv_callback(callbacks, handle_body);
  nghttp2_session_callbacks_set_on_frame_recv_callback(callbacks, handle_frame);
  nghttp2_session_callbacks_set_on_stream_close_callback(callbacks, end_stream);
}

static int start_listening(void) {
  int listener = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
  struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
  socklen_t count = sizeof address;
  if (bind(listener, (struct sockaddr *)&address, count) || listen(listener, backlog)) die("cannot listen");
  if (getsockname(listener, (struct sockaddr *)&address, &count)) die("cannot read the port");
  struct epoll_event event = {.events = EPOLLIN, .data.ptr = NULL};
  if (epoll_ctl(epoll, EPOLL_CTL_ADD, listener, &event)) die("cannot watch the port");
  printf("%d\n", ntohs(address.sin_port));
  fflush(stdout);
  return listener;
}

static void handle(struct connection *connection) {
  if (connection->is_open && connection->events & EPOLLOUT) mark_changed(connection);
  read_input(connection);
  if (connection->is_dead) mark_changed(connection); /* closed after the events of this iteration */
}

static void end(int signal) {
  (void)signal;
  ends = 1;
}

int main(int count, char **arguments) {
  if (count != 3) die("usage: baseline-sink CERTIFICATE.pem KEY.pem");
  signal(SIGPIPE, SIG_IGN);
  sigset_t blocked, waiting;
  sigemptyset(&blocked);
  sigaddset(&blocked, SIGTERM);
  sigprocmask(SIG_BLOCK, &blocked, &waiting);
  sigaction(SIGTERM, &(struct sigaction){.sa_handler = end}, NULL);
  make_tls_context(arguments[1], arguments[2]);
  make_callbacks();
  epoll = epoll_create1(EPOLL_CLOEXEC);
  int listener = start_listening();

  while (!ends) {
    struct epoll_event events[events_max];
    int ready = epoll_pwait(epoll, events, events_max, -1, &waiting);
    if (ready < 0 && errno != EINTR) die("cannot wait for events");
    for (int i = 0; i < ready; i++) {
      if (events[i].data.ptr) handle(events[i].data.ptr);
      else accept_connections(listener);
    }
    while (changed) {
      struct connection *connection = changed;
      changed = connection->next_changed;
      connection->is_changed = false;
      if (!connection->is_dead) send_pending(connection);
      if (connection->is_dead) close_connection(connection);
    }
  }
  printf("accepted %llu, refused %llu, distinct ids %zu\n", accepted, refused, ids_distinct);
  return 0;
}
