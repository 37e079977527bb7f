/* What the parts of baseline-worker share. */
#ifndef FLOOR_H
#define FLOOR_H

#include <stddef.h>
#include <stdint.h>

enum { uuid_bytes = 36, prefetch_max = 65535 };

/* A piece of a message's body. */
struct text {
  const char *start;
  size_t length;
};

/* A request, from its delivery until its result is confirmed. */
struct message {
  char *body;
  size_t length, received;
  uint64_t delivery_tag;
  struct text id, app, device_token, payload;
  size_t payload_sent;
  int status;
};

/* Zeroed memory; ends the program when there is none. */
void *claim(size_t count, size_t size);

__attribute__((noreturn, format(printf, 1, 2))) void die(const char *format, ...);

#endif
