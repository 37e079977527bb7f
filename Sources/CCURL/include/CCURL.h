#ifndef MARTLET_CCURL_H
#define MARTLET_CCURL_H

// For types and constants. Its functions are reached by those below only: nothing is linked to libcurl.
#include <curl/curl.h>

// Loads libcurl and starts it. NULL, or why that failed; then nothing else may be called. To be called once.
const char *martlet_curl_load(void);

CURL *martlet_curl_easy_init(void);
void martlet_curl_easy_reset(CURL *handle);
CURLcode martlet_curl_easy_perform(CURL *handle);
void martlet_curl_easy_cleanup(CURL *handle);
const char *martlet_curl_easy_strerror(CURLcode code);

// Setting an option is variadic: one function for each type that options have here.
CURLcode martlet_curl_set_long(CURL *handle, CURLoption option, long value);
CURLcode martlet_curl_set_text(CURL *handle, CURLoption option, const char *value);
CURLcode martlet_curl_set_list(CURL *handle, CURLoption option, struct curl_slist *value);
// libcurl makes a copy of the bytes.
CURLcode martlet_curl_set_blob(CURL *handle, CURLoption option, const void *bytes, size_t count);
// The bytes must stay where they are until the transfer has ended.
CURLcode martlet_curl_set_body(CURL *handle, const void *bytes, size_t count);
// Each is called with a part of what comes, and returns how many bytes of it were taken: fewer end the transfer.
CURLcode martlet_curl_set_receivers(
    CURL *handle, size_t (*head)(char *, size_t, size_t, void *), size_t (*body)(char *, size_t, size_t, void *),
    void *closure);
// Asking is variadic.
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
