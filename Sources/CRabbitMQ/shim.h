#ifndef MARTLET_CRABBITMQ_H
#define MARTLET_CRABBITMQ_H

#include <stdint.h>
#include <sys/time.h>
#include <amqp.h>
#include <amqp_framing.h>

#endif
