/* The parameters of one statement in PostgreSQL's binary format. */
#ifndef PARAMETERS_H
#define PARAMETERS_H

#include <stddef.h>
#include <stdint.h>

enum { parameters_max = 16, parameter_bytes_max = 1 << 20 };

enum type { int2 = 21, int4 = 23, int8 = 20, uuid = 2950, bytea = 17 };

struct parameters {
  int count;
  size_t used;
  const char *values[parameters_max];
  int lengths[parameters_max], formats[parameters_max];
  char bytes[parameter_bytes_max];
};

void clear_parameters(struct parameters *parameters);
void add_int16(struct parameters *parameters, int16_t value);
void add_int64(struct parameters *parameters, int64_t value);

/* Begins an array. add_element must follow `count` times. */
void add_array(struct parameters *parameters, enum type type, int count, int has_null);
/* Adds an element to the last array. `value` is in the binary format, or NULL for a null. */
void add_element(struct parameters *parameters, const void *value, int length);
void add_int16_element(struct parameters *parameters, int16_t value);

/* Write a number in network byte order. */
void write_int16(char *bytes, int16_t value);
void write_int64(char *bytes, int64_t value);
int64_t read_int64(const char *bytes);
int16_t read_int16(const char *bytes);

#endif
