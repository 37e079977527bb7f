#include "CSwiftJobs.h"

/* A hook of the Swift runtime (swift/Runtime/Concurrency.h). The hook receives each job for the global pool, and the
 * original function, which enqueues the job in that pool. */
typedef void (*enqueue_globally)(void *job) __attribute__((swiftcall));
extern void (*swift_task_enqueueGlobal_hook)(void *job, enqueue_globally original) __attribute__((swiftcall));

static martlet_take_job take_job;
static _Thread_local void *current_loop;

__attribute__((swiftcall)) static void enqueue(void *job, enqueue_globally original) {
  if (current_loop) take_job(current_loop, job);
  else original(job);
}

void martlet_set_unbound_job_handler(martlet_take_job take) {
  take_job = take;
  swift_task_enqueueGlobal_hook = enqueue;
}

void martlet_set_current_loop(void *loop) { current_loop = loop; }
