#ifndef MARTLET_CVALGRIND_H
#define MARTLET_CVALGRIND_H

// Only who counts instructions needs valgrind: without its header all builds, and what counts says that it cannot.
#if __has_include(<valgrind/callgrind.h>)
#include <valgrind/callgrind.h>
#define MARTLET_CALLGRIND 1
#endif

// Not a macro, which would be a constant in Swift: one of two ways would be dead code, and a warning.
static inline int martlet_has_callgrind(void) {
#ifdef MARTLET_CALLGRIND
    return 1;
#else
    return 0;
#endif
}

// The request is a macro of inline assembler, which does nothing outside of valgrind.
static inline void martlet_callgrind_toggle_collect(void) {
#ifdef MARTLET_CALLGRIND
    CALLGRIND_TOGGLE_COLLECT;
#endif
}

#endif
