#ifndef MARTLET_CSWIFTJOBS_H
#define MARTLET_CSWIFTJOBS_H

#pragma clang assume_nonnull begin

/* Receives, on the thread of `loop`, a job that the Swift runtime would enqueue in its global pool. */
typedef void (*martlet_take_job)(void *loop, void *job);

/* Sets the function that receives the jobs of all loops in the process. */
void martlet_set_unbound_job_handler(martlet_take_job take);
/* Assigns the calling thread to a loop. NULL ends the assignment. */
void martlet_set_current_loop(void *_Nullable loop);

/* Prefetches memory that is used soon. Invalid addresses are harmless. */
static inline void martlet_prefetch(const void *address) { __builtin_prefetch(address); }

#pragma clang assume_nonnull end

#endif
