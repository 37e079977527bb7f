/* Declarations shared by the parts of baseline-worker. */
#ifndef BASELINE_H
#define BASELINE_H

#include <stddef.h>
#include <stdint.h>

enum { uuid_bytes = 36, prefetch_max = 65535 };

/* A part of a request's body. */
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

/* Allocates zeroed memory. Ends the program if the memory is exhausted. */
void *allocate(size_t count, size_t size);

__attribute__((noreturn, format(printf, 1, 2))) void die(const char *format, ...);

#endif
