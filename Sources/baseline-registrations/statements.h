/* The statements of Martlet's store in PostgreSQL (Sources/RegistrationStores/PostgreSQL), with the same texts. A test
 * compares them. */
#ifndef STATEMENTS_H
#define STATEMENTS_H

#define LOOK_UP \
  "SELECT q.n, r.token_key, r.slot, r.registered_at, r.key_id, r.ciphertext\n" \
  "FROM unnest($1, $2, $3, $4, $5)\n" \
  "WITH ORDINALITY AS q(user_key, environment, kind, scope_key, token_key, n)\n" \
  "CROSS JOIN LATERAL (\n" \
  "  SELECT d.token_key, d.slot, d.registered_at, d.key_id, d.ciphertext FROM martlet.registration d\n" \
  "  WHERE d.user_key = q.user_key AND d.environment = q.environment AND d.kind = q.kind\n" \
  "  AND d.scope_key IS NOT DISTINCT FROM q.scope_key\n" \
  "  AND (q.token_key IS NULL OR d.token_key = q.token_key)\n" \
  "  AND d.suspicions < $6 AND (d.expires_at IS NULL OR d.expires_at > $7)\n" \
  "  ORDER BY d.token_key, d.slot LIMIT $8) r"
#define LOOK_UP_TYPES {2951, 1005, 1005, 2951, 2951, 21, 20, 20}

#define COLUMNS \
  "token_key, slot, user_key, device_key, scope_key, registered_at, ended_at, expires_at, suspect_since, suspicions, " \
  "app, environment, kind, platform, key_id, ciphertext"

#define LOCK \
  "SELECT pg_advisory_xact_lock_shared(1297241164, -2), (\n" \
  "  SELECT count(*) FROM (\n" \
  "    SELECT pg_advisory_xact_lock(1297241164, stripe) FROM unnest($1) AS stripe OFFSET 0) l)"
#define LOCK_TYPES {1007}

#define LOCK_ROWS \
  "SELECT " COLUMNS " FROM martlet.registration\n" \
  "WHERE token_key = ANY($1) OR device_key = ANY($2) OR user_key = ANY($3)\n" \
  "ORDER BY token_key, slot FOR UPDATE"
#define LOCK_ROWS_TYPES {2951, 2951, 2951}

#define READ_MARKS "SELECT key, at, permanent FROM martlet.ended WHERE key = ANY($1)"
#define READ_MARKS_TYPES {2951}

#define NEW_APPS "SELECT id, bundle_id FROM martlet.app WHERE id > $1 ORDER BY id"
#define NEW_APPS_TYPES {21}

#define UPDATE_ROWS \
  "UPDATE martlet.registration r SET user_key = u.user_key, device_key = u.device_key, scope_key = u.scope_key, " \
  "registered_at = u.registered_at, ended_at = u.ended_at, expires_at = u.expires_at, " \
  "suspect_since = u.suspect_since, suspicions = u.suspicions, app = u.app, environment = u.environment, " \
  "kind = u.kind, platform = u.platform, key_id = u.key_id, ciphertext = u.ciphertext\n" \
  "FROM unnest($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16) AS u(" COLUMNS ")\n" \
  "WHERE r.token_key = u.token_key AND r.slot = u.slot"
#define UPDATE_ROWS_TYPES \
  {2951, 2951, 2951, 2951, 2951, 1016, 1016, 1016, 1016, 1005, 1005, 1005, 1005, 1005, 1005, 1001}

/* The settings of a session of Martlet that affect plans. */
#define SETTINGS "SET plan_cache_mode = force_generic_plan; SET enable_seqscan = off"

#endif
