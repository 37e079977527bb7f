#include <openssl/crypto.h>

#include "COpenSSLAtExit.h"

// Disables OpenSSL's cleanup at exit. The cleanup would free objects that threads may still use, such as the thread of
// a lane that stops. It would also lose the pointers to per-thread objects, which the leak sanitizer then reports.
__attribute__((constructor)) static void keep_openssl(void) { OPENSSL_init_crypto(OPENSSL_INIT_NO_ATEXIT, NULL); }
