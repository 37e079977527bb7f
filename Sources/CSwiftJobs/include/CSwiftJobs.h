#ifndef MARTLET_CSWIFTJOBS_H
#define MARTLET_CSWIFTJOBS_H

#pragma clang assume_nonnull begin

/* Takes a job on the thread of a loop that the Swift runtime would have given to its global pool. */
typedef void (*martlet_take_job)(void *loop, void *job);

/* For all loops of the process. */
void martlet_take_unbound_jobs(martlet_take_job take);
/* NULL: to none. */
void martlet_thread_belongs_to(void *_Nullable loop);

/* Asks the processor for the memory there, which is used soon. No address does harm. */
static inline void martlet_prefetch(const void *address) { __builtin_prefetch(address); }

#pragma clang assume_nonnull end

#endif
