/* A connection to the broker. librabbitmq only logs in and prepares the channel. This code reads and writes all later
 * AMQP 0-9-1 frames itself. */
#ifndef BROKER_H
#define BROKER_H

#include <stdbool.h>

#include "baseline.h"

struct broker;

struct broker *broker_connect(int port, int prefetch, const char *in, const char *exchange);
int broker_socket(const struct broker *broker);

/* Reads the available input. */
void broker_read(struct broker *broker);
/* Returns the next complete delivery with its members located, or NULL if there is none yet. */
struct message *broker_next_delivery(struct broker *broker);

/* The next two functions append to the output that broker_flush writes. */
void broker_publish_result(struct broker *broker, struct message *message);
void broker_acknowledge_confirmed(struct broker *broker);

/* Returns whether all output was written. */
bool broker_flush(struct broker *broker);

uint64_t broker_acknowledged(const struct broker *broker);

#endif
