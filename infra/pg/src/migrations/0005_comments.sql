-- What every function and view promises, so that schema.sql can be read alone.

COMMENT ON FUNCTION platform.claim_key IS
  'Takes an idempotency key for this transaction and returns what it was used for before, if it was. The first of '
  'concurrent senders goes on; the others wait here until it has committed or lock_timeout ends their wait. The '
  'lock is on the key, not on a row, so a rollback leaves nothing behind.';

COMMENT ON FUNCTION platform.claim_keys IS
  'Takes all the keys for this transaction and returns only those that cannot be used: without a reply those that '
  'another transaction holds now, with one those that were used before. Waits for nothing. A caller that gets a row '
  'back must end its transaction, because the other keys stay taken until then. The keys are distinct; place counts '
  'them from 1. The lock is that of claim_key.';

COMMENT ON FUNCTION platform.enter_org IS
  'Sets the organization of the transaction, for functions that are one round trip and therefore set it themselves.';

COMMENT ON FUNCTION platform.fence IS
  'Turns row level security on for a tenant table: the service role sees the rows of one organization.';

COMMENT ON FUNCTION platform.idempotency_turn IS
  'Returns the table that takes the records of an instant: 0, 1 or 2.';

COMMENT ON FUNCTION platform.keep_key IS
  'Writes the record of a key that claim_key gave to this transaction, over one that has expired. Not LANGUAGE sql: '
  'up to version 17 PostgreSQL would plan such a function again at every call.';

COMMENT ON FUNCTION platform.keep_keys IS
  'Writes the records of keys that claim_keys gave to this transaction, over those that have expired.';

COMMENT ON FUNCTION platform.org_id IS
  'Returns the organization of this transaction. Without one the cast of an empty text fails on purpose: a '
  'statement outside a tenant transaction is a fault, not an empty answer.';

COMMENT ON FUNCTION platform.turn_generations IS
  'Empties the table of the coming week, which holds what is at least seven days old and what nobody reads this '
  'week. Runs as the owner; the control service calls it hourly. Returns whether there was anything.';

COMMENT ON FUNCTION platform.unfence_for IS
  'Opens a fenced table wholly to a role that no request runs as: a worker, or the definer.';
