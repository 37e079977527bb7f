#ifndef MARTLET_COPENSSL_H
#define MARTLET_COPENSSL_H

#include <openssl/bio.h>
#include <openssl/bn.h>
#include <openssl/core_names.h>
#include <openssl/ec.h>
#include <openssl/ecdsa.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <openssl/params.h>
#include <openssl/pem.h>
#include <openssl/pkcs12.h>
#include <openssl/provider.h>
#include <openssl/rand.h>
#include <openssl/sha.h>
#include <openssl/ssl.h>
#include <openssl/x509.h>
#include <openssl/x509v3.h>

// EVP_EC_gen is a macro over a variadic function. Swift imports neither.
static inline EVP_PKEY *martlet_generate_p256_key(void) { return EVP_EC_gen("P-256"); }

// Begins an HMAC-SHA-256 computation with a key. OSSL_PARAM stores pointers to strings, which Swift's conversions do
// not keep valid.
static inline int martlet_hmac_sha256_set_key(EVP_MAC_CTX *context, const unsigned char *key, size_t key_bytes) {
    OSSL_PARAM parameters[2] = {
        OSSL_PARAM_construct_utf8_string(OSSL_MAC_PARAM_DIGEST, (char *)"SHA256", 0), OSSL_PARAM_construct_end()};
    return EVP_MAC_init(context, key, key_bytes, parameters);
}

// Reports that there is no passphrase. With a NULL callback, OpenSSL would prompt on the terminal and block.
static inline int martlet_no_passphrase(char *buffer, int size, int writing, void *context) {
    (void)buffer; (void)size; (void)writing; (void)context;
    return -1;
}

// The SSL_OP constants are macros with casts, which Swift does not import.
static inline void martlet_ctx_disable_extras(SSL_CTX *context) {
    SSL_CTX_set_options(context, SSL_OP_NO_RENEGOTIATION | SSL_OP_NO_COMPRESSION | SSL_OP_NO_TICKET);
}

// The remaining functions wrap macros over SSL_ctrl, SSL_CTX_ctrl, BIO_set_flags and BIO_clear_flags. Swift does not
// import the macros.

static inline int martlet_ctx_set_versions(SSL_CTX *context, int min, int max) {
    return SSL_CTX_set_min_proto_version(context, min) && SSL_CTX_set_max_proto_version(context, max);
}
static inline void martlet_ctx_disable_session_cache(SSL_CTX *context) {
    SSL_CTX_set_session_cache_mode(context, SSL_SESS_CACHE_OFF);
}
// If this function returns 1, the context owns the certificate.
static inline int martlet_ctx_add0_chain_cert(SSL_CTX *context, X509 *certificate) {
    return (int)SSL_CTX_add0_chain_cert(context, certificate);
}
static inline int martlet_ssl_set_server_name(SSL *ssl, const char *name) {
    return (int)SSL_set_tlsext_host_name(ssl, name);
}
static inline void martlet_bio_set_retry_read(BIO *bio) { BIO_set_retry_read(bio); }
static inline void martlet_bio_clear_retry_flags(BIO *bio) { BIO_clear_retry_flags(bio); }

#endif
