#include <dlfcn.h>

#include "CPostgreSQL.h"

#define LIBRARY "libpq.so.5"

// The JSON text of an ELF note, by which packaging tools find the library. The library is loaded on demand, not linked.
// https://uapi-group.org/specifications/specs/elf_dlopen_metadata/
#define DEPENDENCIES \
  "[{\"soname\":[\"" LIBRARY "\"],\"feature\":\"postgresql\",\"priority\":\"suggested\"," \
  "\"description\":\"PostgreSQL client for device registrations\"}]"
__attribute__((used, section(".note.dlopen"), aligned(4))) static const struct {
  unsigned name_bytes, text_bytes, type;
  char name[4], text[sizeof DEPENDENCIES];
} note = {4, sizeof DEPENDENCIES, 0x407c0c0a, "FDO", DEPENDENCIES};

#define FUNCTIONS(_) \
  _(libVersion) _(initOpenSSL) \
  _(connectStartParams) _(connectPoll) _(status) _(errorMessage) _(socket) _(serverVersion) _(finish) \
  _(connectionNeedsPassword) _(setErrorVerbosity) _(setNoticeReceiver) _(setnonblocking) _(enterPipelineMode) \
  _(sendQueryParams) _(sendPrepare) _(sendQueryPrepared) _(pipelineSync) _(setSingleRowMode) \
  _(flush) _(consumeInput) _(getssl) _(isBusy) _(getResult) \
  _(clear) _(resultStatus) _(resultErrorField) _(cmdStatus) _(cmdTuples) \
  _(ntuples) _(nfields) _(ftype) _(getisnull) _(getlength) _(getvalue)

static struct {
#define POINTER(name) __typeof__(PQ##name) *name;
  FUNCTIONS(POINTER)
} pq;

// Points to SSL_pending of the OpenSSL library that libpq is linked to. NULL if libpq was built without OpenSSL.
static int (*ssl_pending)(const void *ssl);

enum { binary = 1 };

const char *martlet_pq_load(void) {
  void *library = dlopen(LIBRARY, RTLD_NOW | RTLD_LOCAL);
  if (!library) return dlerror();
#define LOOK_UP(name) \
  if (!(pq.name = (__typeof__(pq.name))dlsym(library, "PQ" #name))) return dlerror();
  FUNCTIONS(LOOK_UP)
  // dlsym also searches the libraries that libpq is linked to.
  ssl_pending = (__typeof__(ssl_pending))dlsym(library, "SSL_pending");
  pq.initOpenSSL(0, 0);
  return NULL;
}

int martlet_pq_library_version(void) { return pq.libVersion(); }

static void ignore_notice(void *closure, const PGresult *notice) {
  (void)closure;
  (void)notice;
}

PGconn *martlet_pq_connect_start(const char *const *keywords, const char *const *values) {
  PGconn *connection = pq.connectStartParams(keywords, values, 0);
  if (!connection) return NULL;
  pq.setErrorVerbosity(connection, PQERRORS_SQLSTATE);
  pq.setNoticeReceiver(connection, ignore_notice, NULL);
  return connection;
}

PostgresPollingStatusType martlet_pq_connect_poll(PGconn *connection) { return pq.connectPoll(connection); }
ConnStatusType martlet_pq_status(const PGconn *connection) { return pq.status(connection); }
const char *martlet_pq_error_message(const PGconn *connection) { return pq.errorMessage(connection); }
int martlet_pq_needs_password(const PGconn *connection) { return pq.connectionNeedsPassword(connection); }
int martlet_pq_socket(const PGconn *connection) { return pq.socket(connection); }
int martlet_pq_server_version(const PGconn *connection) { return pq.serverVersion(connection); }
void martlet_pq_finish(PGconn *connection) { pq.finish(connection); }

int martlet_pq_enter_pipeline(PGconn *connection) {
  return pq.setnonblocking(connection, 1) == 0 && pq.enterPipelineMode(connection);
}

int martlet_pq_send_query(
    PGconn *connection, const char *sql, int count, const char *const *values, const int *lengths, const int *formats) {
  return pq.sendQueryParams(connection, sql, count, NULL, values, lengths, formats, binary);
}

int martlet_pq_send_prepare(PGconn *connection, const char *name, const char *sql, int count, const Oid *types) {
  return pq.sendPrepare(connection, name, sql, count, types);
}

int martlet_pq_send_prepared(
    PGconn *connection, const char *name, int count, const char *const *values, const int *lengths,
    const int *formats) {
  return pq.sendQueryPrepared(connection, name, count, values, lengths, formats, binary);
}

int martlet_pq_send_sync(PGconn *connection) { return pq.pipelineSync(connection); }
int martlet_pq_consume_input(PGconn *connection) { return pq.consumeInput(connection); }
int martlet_pq_set_single_row_mode(PGconn *connection) { return pq.setSingleRowMode(connection); }
int martlet_pq_flush(PGconn *connection) { return pq.flush(connection); }

int martlet_pq_has_pending_bytes(PGconn *connection) {
  const void *ssl = ssl_pending ? pq.getssl(connection) : NULL;
  return ssl && ssl_pending(ssl) > 0;
}

int martlet_pq_is_busy(PGconn *connection) { return pq.isBusy(connection); }
PGresult *martlet_pq_get_result(PGconn *connection) { return pq.getResult(connection); }

void martlet_pq_clear(PGresult *result) { pq.clear(result); }
ExecStatusType martlet_pq_result_status(const PGresult *result) { return pq.resultStatus(result); }
const char *martlet_pq_error_field(const PGresult *result, int field) { return pq.resultErrorField(result, field); }
const char *martlet_pq_command_status(PGresult *result) { return pq.cmdStatus(result); }
const char *martlet_pq_affected_rows(PGresult *result) { return pq.cmdTuples(result); }
int martlet_pq_row_count(const PGresult *result) { return pq.ntuples(result); }

Oid martlet_pq_column_type(const PGresult *result, int column) {
  return column >= 0 && column < pq.nfields(result) ? pq.ftype(result, column) : 0;
}

const char *martlet_pq_value(const PGresult *result, int row, int column, int *length) {
  *length = pq.getlength(result, row, column);
  // Only a value of the length 0 can be null.
  return *length == 0 && pq.getisnull(result, row, column) ? NULL : pq.getvalue(result, row, column);
}
