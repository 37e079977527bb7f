/* AMQP 0-9-1's data path, read and written by hand; librabbitmq logs in and no more. */
#ifndef BROKER_H
#define BROKER_H

#include <stdbool.h>

#include "baseline.h"

struct broker;

struct broker *broker_connect(int port, int prefetch, const char *in, const char *exchange);
int broker_socket(const struct broker *broker);

/* Reads what has come. The next whole delivery, its parts found; NULL when there is no further one yet. */
void broker_read(struct broker *broker);
struct message *broker_next_delivery(struct broker *broker);

/* Both append to what broker_flush writes. */
void broker_publish_result(struct broker *broker, struct message *message);
void broker_acknowledge_confirmed(struct broker *broker);

/* Whether all was written. */
bool broker_flush(struct broker *broker);

uint64_t broker_acknowledged(const struct broker *broker);

#endif
