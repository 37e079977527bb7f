#ifndef MARTLET_COPENSSL_H
#define MARTLET_COPENSSL_H

#include <openssl/bio.h>
#include <openssl/bn.h>
#include <openssl/ec.h>
#include <openssl/ecdsa.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <openssl/pem.h>
#include <openssl/pkcs12.h>
#include <openssl/rand.h>
#include <openssl/sha.h>
#include <openssl/ssl.h>
#include <openssl/x509.h>
#include <openssl/x509v3.h>

// EVP_EC_gen is a macro over a variadic function; neither reaches Swift.
static inline EVP_PKEY *martlet_generate_p256_key(void) { return EVP_EC_gen("P-256"); }

// A NULL passphrase callback makes OpenSSL ask on the terminal and wait; this one answers that there is no passphrase.
static inline int martlet_no_passphrase(char *buffer, int size, int writing, void *context) {
    (void)buffer; (void)size; (void)writing; (void)context;
    return -1;
}

#endif
