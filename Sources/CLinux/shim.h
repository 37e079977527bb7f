#ifndef MARTLET_CLINUX_H
#define MARTLET_CLINUX_H

// The C headers that Martlet uses. Swift's Glibc module omits some of them.
#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <pthread.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

// Returns the number of processors that the calling thread may use, or 0 after an error. Glibc declares
// sched_getaffinity only with _GNU_SOURCE, which clashes with Swift's Glibc module, and syscall() is variadic. The
// system call returns the number of bytes written.
static inline int martlet_allowed_processors(void) {
    unsigned long mask[128] = {0};
    long bytes = syscall(SYS_sched_getaffinity, 0, sizeof mask, mask);
    int count = 0;
    for (long i = 0; i < bytes / (long)sizeof mask[0]; i++) count += __builtin_popcountl(mask[i]);
    return count;
}

#endif
