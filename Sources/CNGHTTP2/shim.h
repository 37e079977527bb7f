#ifndef MARTLET_CNGHTTP2_H
#define MARTLET_CNGHTTP2_H

#include <nghttp2/nghttp2.h>

#endif
