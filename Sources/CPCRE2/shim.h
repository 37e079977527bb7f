#ifndef MARTLET_CPCRE2_H
#define MARTLET_CPCRE2_H

// Selects the 8-bit library, since JSON strings are UTF-8. Swift calls its functions by their _8 names.
#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>

#endif
