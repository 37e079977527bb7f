#include "parameters.h"

#include <endian.h>
#include <string.h>

#include "baseline.h"

enum { binary = 1 };

static void append(struct parameters *parameters, const void *bytes, size_t count) {
  if (parameters->used + count > parameter_bytes_max) die("the parameters of a statement are too long");
  memcpy(parameters->bytes + parameters->used, bytes, count);
  parameters->used += count;
  parameters->lengths[parameters->count - 1] += (int)count;
}

static void append_int32(struct parameters *parameters, int32_t value) {
  uint32_t number = htobe32((uint32_t)value);
  append(parameters, &number, sizeof number);
}

static void begin(struct parameters *parameters) {
  if (parameters->count == parameters_max) die("a statement has too many parameters");
  parameters->values[parameters->count] = parameters->bytes + parameters->used;
  parameters->lengths[parameters->count] = 0;
  parameters->formats[parameters->count] = binary;
  parameters->count++;
}

void clear_parameters(struct parameters *parameters) { parameters->count = 0, parameters->used = 0; }

void add_int16(struct parameters *parameters, int16_t value) {
  char bytes[sizeof value];
  write_int16(bytes, value);
  begin(parameters);
  append(parameters, bytes, sizeof bytes);
}

void add_int64(struct parameters *parameters, int64_t value) {
  char bytes[sizeof value];
  write_int64(bytes, value);
  begin(parameters);
  append(parameters, bytes, sizeof bytes);
}

void add_array(struct parameters *parameters, enum type type, int count, int has_null) {
  begin(parameters);
  append_int32(parameters, 1);
  append_int32(parameters, has_null);
  append_int32(parameters, type);
  append_int32(parameters, count);
  append_int32(parameters, 1);
}

void add_element(struct parameters *parameters, const void *value, int length) {
  append_int32(parameters, value ? length : -1);
  if (value) append(parameters, value, (size_t)length);
}

void add_int16_element(struct parameters *parameters, int16_t value) {
  char bytes[sizeof value];
  write_int16(bytes, value);
  add_element(parameters, bytes, sizeof bytes);
}

void write_int16(char *bytes, int16_t value) {
  uint16_t number = htobe16((uint16_t)value);
  memcpy(bytes, &number, sizeof number);
}

void write_int64(char *bytes, int64_t value) {
  uint64_t number = htobe64((uint64_t)value);
  memcpy(bytes, &number, sizeof number);
}

int64_t read_int64(const char *bytes) {
  uint64_t number;
  memcpy(&number, bytes, sizeof number);
  return (int64_t)be64toh(number);
}

int16_t read_int16(const char *bytes) {
  uint16_t number;
  memcpy(&number, bytes, sizeof number);
  return (int16_t)be16toh(number);
}
