#include <openssl/crypto.h>

#include "COpenSSLAtExit.h"

// At the end of a process OpenSSL would free what it holds, though threads may still use it, such as that of a lane which
// is just ending, and would forget what it keeps for each of them, which the leak sanitizer then reports.
__attribute__((constructor)) static void keep_openssl(void) { OPENSSL_init_crypto(OPENSSL_INIT_NO_ATEXIT, NULL); }
