/* Declarations shared by the parts of baseline-registrations. */
#ifndef BASELINE_H
#define BASELINE_H

#include <stddef.h>
#include <stdint.h>

enum { key_bytes = 16, lookups_in_flight = 4, queries_max = 64 };

/* The keys of a registration. */
struct registration {
  char token[key_bytes], user[key_bytes], device[key_bytes];
  int16_t environment, kind;
};

/* Registrations in random order. next_registration returns them in this order, and begins again after the last one. */
struct registrations {
  struct registration *all;
  size_t count, next;
};

const struct registration *next_registration(struct registrations *registrations);

/* Allocates zeroed memory. Ends the program if the memory is exhausted. */
void *allocate(size_t count, size_t size);

__attribute__((noreturn, format(printf, 1, 2))) void die(const char *format, ...);

#endif
