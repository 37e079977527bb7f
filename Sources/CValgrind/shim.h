#ifndef MARTLET_CVALGRIND_H
#define MARTLET_CVALGRIND_H

// Only the instruction counter needs valgrind. Without the header, Martlet builds, but the counter reports an error.
#if __has_include(<valgrind/callgrind.h>)
#include <valgrind/callgrind.h>
#define MARTLET_CALLGRIND 1
#endif

// The check is a function, since Swift would import a macro as a constant and warn about the unreachable branch.
static inline int martlet_has_callgrind(void) {
#ifdef MARTLET_CALLGRIND
    return 1;
#else
    return 0;
#endif
}

// Switches callgrind's collection of events on or off. Swift cannot import the macro, which has inline assembler. The
// call has no effect outside valgrind.
static inline void martlet_callgrind_toggle_collect(void) {
#ifdef MARTLET_CALLGRIND
    CALLGRIND_TOGGLE_COLLECT;
#endif
}

#endif
