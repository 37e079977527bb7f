#ifndef MARTLET_CCURL_H
#define MARTLET_CCURL_H

#include <curl/curl.h>

// Setting an option is variadic: one function for each type that options have here.
static inline CURLcode martlet_curl_set_long(CURL *handle, CURLoption option, long value) {
    return curl_easy_setopt(handle, option, value);
}
static inline CURLcode martlet_curl_set_text(CURL *handle, CURLoption option, const char *value) {
    return curl_easy_setopt(handle, option, value);
}
static inline CURLcode martlet_curl_set_list(CURL *handle, CURLoption option, struct curl_slist *value) {
    return curl_easy_setopt(handle, option, value);
}
// libcurl makes a copy of the bytes.
static inline CURLcode martlet_curl_set_blob(CURL *handle, CURLoption option, const void *bytes, size_t count) {
    struct curl_blob blob = {(void *)bytes, count, CURL_BLOB_COPY};
    return curl_easy_setopt(handle, option, &blob);
}
// The bytes must stay where they are until the transfer has ended.
static inline CURLcode martlet_curl_set_body(CURL *handle, const void *bytes, size_t count) {
    CURLcode code = curl_easy_setopt(handle, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)count);
    return code ? code : curl_easy_setopt(handle, CURLOPT_POSTFIELDS, bytes);
}
// Each is called with a part of what comes, and returns how many bytes of it were taken: fewer end the transfer.
static inline CURLcode martlet_curl_set_receivers(
    CURL *handle, size_t (*head)(char *, size_t, size_t, void *), size_t (*body)(char *, size_t, size_t, void *),
    void *closure) {
    CURLcode code = curl_easy_setopt(handle, CURLOPT_HEADERFUNCTION, head);
    if (!code) code = curl_easy_setopt(handle, CURLOPT_HEADERDATA, closure);
    if (!code) code = curl_easy_setopt(handle, CURLOPT_WRITEFUNCTION, body);
    return code ? code : curl_easy_setopt(handle, CURLOPT_WRITEDATA, closure);
}

// Asking is variadic.
static inline long martlet_curl_get_long(CURL *handle, CURLINFO info) {
    long value = 0;
    return curl_easy_getinfo(handle, info, &value) ? 0 : value;
}

// CURLVERSION_NOW is a macro for a constant of an enumeration, which Swift does not see.
static inline const char *martlet_curl_version(void) { return curl_version_info(CURLVERSION_NOW)->version; }

#endif
