#ifndef MARTLET_CCURL_H
#define MARTLET_CCURL_H

// Include the header only for types and constants. Call libcurl only through the functions below, since no program
// links libcurl.
#include <curl/curl.h>

// Loads and initializes libcurl. Returns NULL, or an error message. Call this function once. After an error, call no
// other function.
const char *martlet_curl_load(void);

CURL *martlet_curl_easy_init(void);
void martlet_curl_easy_reset(CURL *handle);
CURLcode martlet_curl_easy_perform(CURL *handle);
void martlet_curl_easy_cleanup(CURL *handle);
const char *martlet_curl_easy_strerror(CURLcode code);

// Swift cannot call curl_easy_setopt, which is variadic. Each type of option has its own function.
CURLcode martlet_curl_set_long(CURL *handle, CURLoption option, long value);
CURLcode martlet_curl_set_text(CURL *handle, CURLoption option, const char *value);
CURLcode martlet_curl_set_list(CURL *handle, CURLoption option, struct curl_slist *value);
// libcurl copies the bytes.
CURLcode martlet_curl_set_blob(CURL *handle, CURLoption option, const void *bytes, size_t count);
// The bytes must stay valid until the transfer has ended.
CURLcode martlet_curl_set_body(CURL *handle, const void *bytes, size_t count);
// Sets the functions that receive the response's header lines and body. Each function returns the number of bytes
// consumed. Any number other than that of the given bytes aborts the transfer.
CURLcode martlet_curl_set_receivers(
    CURL *handle, size_t (*head)(char *, size_t, size_t, void *), size_t (*body)(char *, size_t, size_t, void *),
    void *closure);
// Returns the value, or 0 after an error. curl_easy_getinfo is variadic.
long martlet_curl_get_long(CURL *handle, CURLINFO info);

struct curl_slist *martlet_curl_slist_append(struct curl_slist *list, const char *text);
void martlet_curl_slist_free_all(struct curl_slist *list);

CURLU *martlet_curl_url(void);
void martlet_curl_url_cleanup(CURLU *parts);
CURLUcode martlet_curl_url_set(CURLU *parts, CURLUPart part, const char *text, unsigned flags);
CURLUcode martlet_curl_url_get(CURLU *parts, CURLUPart part, char **text, unsigned flags);
void martlet_curl_free(void *memory);

const char *martlet_curl_version(void);

#endif
