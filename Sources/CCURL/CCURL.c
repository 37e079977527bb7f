#include <dlfcn.h>

#include "CCURL.h"

#define LIBRARY "libcurl.so.4"

// An ELF note that declares the library to packaging tools, because the library is loaded on demand, not linked.
// https://uapi-group.org/specifications/specs/elf_dlopen_metadata/
#define DEPENDENCIES \
  "[{\"soname\":[\"" LIBRARY "\"],\"feature\":\"http\",\"priority\":\"recommended\"," \
  "\"description\":\"HTTP client for the management API, status and traces\"}]"
__attribute__((used, section(".note.dlopen"), aligned(4))) static const struct {
  unsigned name_bytes, text_bytes, type;
  char name[4], text[sizeof DEPENDENCIES];
} note = {4, sizeof DEPENDENCIES, 0x407c0c0a, "FDO", DEPENDENCIES};

#define FUNCTIONS(_) \
  _(global_init) _(version_info) \
  _(easy_init) _(easy_reset) _(easy_perform) _(easy_cleanup) _(easy_strerror) _(easy_setopt) _(easy_getinfo) \
  _(slist_append) _(slist_free_all) \
  _(url) _(url_cleanup) _(url_set) _(url_get) _(free)

static struct {
#define POINTER(name) __typeof__(curl_##name) *name;
  FUNCTIONS(POINTER)
} curl;

const char *martlet_curl_load(void) {
  void *library = dlopen(LIBRARY, RTLD_NOW | RTLD_LOCAL);
  if (!library) return dlerror();
#define LOOK_UP(name) \
  if (!(curl.name = (__typeof__(curl.name))dlsym(library, "curl_" #name))) return dlerror();
  FUNCTIONS(LOOK_UP)
  CURLcode code = curl.global_init(CURL_GLOBAL_ALL);
  return code ? curl.easy_strerror(code) : NULL;
}

CURL *martlet_curl_easy_init(void) { return curl.easy_init(); }
void martlet_curl_easy_reset(CURL *handle) { curl.easy_reset(handle); }
CURLcode martlet_curl_easy_perform(CURL *handle) { return curl.easy_perform(handle); }
void martlet_curl_easy_cleanup(CURL *handle) { curl.easy_cleanup(handle); }
const char *martlet_curl_easy_strerror(CURLcode code) { return curl.easy_strerror(code); }

CURLcode martlet_curl_set_long(CURL *handle, CURLoption option, long value) {
  return curl.easy_setopt(handle, option, value);
}

CURLcode martlet_curl_set_text(CURL *handle, CURLoption option, const char *value) {
  return curl.easy_setopt(handle, option, value);
}

CURLcode martlet_curl_set_list(CURL *handle, CURLoption option, struct curl_slist *value) {
  return curl.easy_setopt(handle, option, value);
}

CURLcode martlet_curl_set_blob(CURL *handle, CURLoption option, const void *bytes, size_t count) {
  struct curl_blob blob = {(void *)bytes, count, CURL_BLOB_COPY};
  return curl.easy_setopt(handle, option, &blob);
}

CURLcode martlet_curl_set_body(CURL *handle, const void *bytes, size_t count) {
  CURLcode code = curl.easy_setopt(handle, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)count);
  return code ? code : curl.easy_setopt(handle, CURLOPT_POSTFIELDS, bytes);
}

CURLcode martlet_curl_set_receivers(
    CURL *handle, size_t (*head)(char *, size_t, size_t, void *), size_t (*body)(char *, size_t, size_t, void *),
    void *closure) {
  CURLcode code = curl.easy_setopt(handle, CURLOPT_HEADERFUNCTION, head);
  if (!code) code = curl.easy_setopt(handle, CURLOPT_HEADERDATA, closure);
  if (!code) code = curl.easy_setopt(handle, CURLOPT_WRITEFUNCTION, body);
  return code ? code : curl.easy_setopt(handle, CURLOPT_WRITEDATA, closure);
}

long martlet_curl_get_long(CURL *handle, CURLINFO info) {
  long value = 0;
  return curl.easy_getinfo(handle, info, &value) ? 0 : value;
}

struct curl_slist *martlet_curl_slist_append(struct curl_slist *list, const char *text) {
  return curl.slist_append(list, text);
}

void martlet_curl_slist_free_all(struct curl_slist *list) { curl.slist_free_all(list); }

CURLU *martlet_curl_url(void) { return curl.url(); }
void martlet_curl_url_cleanup(CURLU *parts) { curl.url_cleanup(parts); }

CURLUcode martlet_curl_url_set(CURLU *parts, CURLUPart part, const char *text, unsigned flags) {
  return curl.url_set(parts, part, text, flags);
}

CURLUcode martlet_curl_url_get(CURLU *parts, CURLUPart part, char **text, unsigned flags) {
  return curl.url_get(parts, part, text, flags);
}

void martlet_curl_free(void *memory) { curl.free(memory); }

const char *martlet_curl_version(void) { return curl.version_info(CURLVERSION_NOW)->version; }
