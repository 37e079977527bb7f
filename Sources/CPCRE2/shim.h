#ifndef MARTLET_CPCRE2_H
#define MARTLET_CPCRE2_H

// Strings of a message are UTF-8: the 8-bit library, whose functions are then called by their _8 names.
#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>

#endif
