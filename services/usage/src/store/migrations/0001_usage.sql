CREATE SCHEMA usage;
GRANT USAGE ON SCHEMA usage TO tidemark_usage, tidemark_usage_worker, tidemark_definer;

-- Rate limits. Unlogged: a crash of the database costs one more burst and spares every lease a flush of the log. Without an index but the key and with
-- room in each page, so that an update needs no new index entry.
CREATE UNLOGGED TABLE usage.token_buckets (
  org_id uuid NOT NULL,
  -- a class of routes; for account routes with the credential
  bucket text COLLATE "C" NOT NULL,
  tokens double precision NOT NULL,
  filled_at timestamptz NOT NULL,
  -- of the latest lease, so that it can be returned and the bucket be forgotten once it is full
  leased integer NOT NULL,
  per_second double precision NOT NULL,
  burst double precision NOT NULL,
  wanted integer NOT NULL,
  PRIMARY KEY (org_id, bucket)
) WITH (fillfactor = 40, autovacuum_vacuum_scale_factor = 0.05, autovacuum_vacuum_threshold = 500);
COMMENT ON TABLE usage.token_buckets IS 'the tokens that organizations have left; a bucket without a row is full';

-- Requests of a month that gateways have reported.
CREATE TABLE usage.month_requests (
  org_id uuid NOT NULL,
  -- the first day
  month date NOT NULL CHECK (extract(day FROM month) = 1),
  requests bigint NOT NULL CHECK (requests >= 0),
  PRIMARY KEY (org_id, month)
) WITH (fillfactor = 70);
COMMENT ON TABLE usage.month_requests IS 'how many requests an organization has made in a month, those with 5xx answers not counted';

-- Each report of a gateway is added once. Not a table of tenants.
CREATE TABLE usage.gateways (
  gateway_id uuid PRIMARY KEY,
  -- of the latest report that was added
  sequence bigint NOT NULL,
  seen_at timestamptz NOT NULL,
  -- it has ended, or will soon
  has_left boolean NOT NULL
) WITH (fillfactor = 50);
COMMENT ON TABLE usage.gateways IS 'the gateways of the last days: what each has reported, and whether it lives';

SELECT platform.fence('usage.token_buckets'), platform.fence('usage.month_requests');
-- Gateways lease and report for many organizations at once; no request of a client runs as the worker.
SELECT platform.unfence_for('usage.token_buckets', 'tidemark_usage_worker'),
       platform.unfence_for('usage.month_requests', 'tidemark_usage_worker');
GRANT SELECT, INSERT, UPDATE, DELETE ON usage.token_buckets TO tidemark_usage_worker;
GRANT SELECT, INSERT, UPDATE ON usage.month_requests TO tidemark_usage_worker;
GRANT SELECT, INSERT, UPDATE, DELETE ON usage.gateways TO tidemark_usage_worker;
GRANT SELECT ON usage.month_requests TO tidemark_usage;

CREATE FUNCTION usage.filled(bucket usage.token_buckets, asked usage.token_buckets) RETURNS double precision
  LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN least((asked).burst,
             (bucket).tokens + greatest(0, extract(epoch FROM (asked).filled_at - (bucket).filled_at)) * (asked).per_second);
REVOKE ALL ON FUNCTION usage.filled FROM PUBLIC;
GRANT EXECUTE ON FUNCTION usage.filled TO tidemark_usage_worker;
COMMENT ON FUNCTION usage.filled IS 'The tokens of a bucket at the moment at which a lease asks for them, with the rate of the lease.';
