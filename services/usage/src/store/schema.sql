-- Schema usage: what a new database starts with.

CREATE SCHEMA usage;
GRANT USAGE ON SCHEMA usage TO tidemark_definer, tidemark_usage, tidemark_usage_worker;

CREATE TABLE usage.gateways (
  gateway_id uuid NOT NULL,
  sequence bigint NOT NULL,
  seen_at timestamptz NOT NULL,
  has_left boolean NOT NULL,
  CONSTRAINT gateways_pkey PRIMARY KEY (gateway_id)
) WITH (fillfactor=50);
COMMENT ON TABLE usage.gateways IS 'the gateways of the last days: what each has reported, and whether it lives';
GRANT SELECT, INSERT, UPDATE, DELETE ON TABLE usage.gateways TO tidemark_usage_worker;

CREATE TABLE usage.month_requests (
  org_id uuid NOT NULL,
  month date NOT NULL,
  requests bigint NOT NULL,
  CONSTRAINT month_requests_pkey PRIMARY KEY (org_id, month),
  CONSTRAINT month_requests_month_check CHECK (EXTRACT(day FROM month) = 1::numeric),
  CONSTRAINT month_requests_requests_check CHECK (requests >= 0)
) WITH (fillfactor=70);
COMMENT ON TABLE usage.month_requests IS
  'how many requests an organization has sent in a month, those with 5xx answers not counted';
SELECT platform.fence('usage.month_requests');
SELECT platform.unfence_for('usage.month_requests', 'tidemark_usage_worker');
GRANT SELECT ON TABLE usage.month_requests TO tidemark_usage;
GRANT SELECT, INSERT, UPDATE, DELETE ON TABLE usage.month_requests TO tidemark_usage_worker;

CREATE UNLOGGED TABLE usage.token_buckets (
  org_id uuid NOT NULL,
  bucket text COLLATE "C" NOT NULL,
  tokens double precision NOT NULL,
  filled_at timestamptz NOT NULL,
  leased integer NOT NULL,
  per_second double precision NOT NULL,
  burst double precision NOT NULL,
  wanted integer NOT NULL,
  CONSTRAINT token_buckets_pkey PRIMARY KEY (org_id, bucket)
) WITH (fillfactor=40, autovacuum_vacuum_scale_factor=0.05, autovacuum_vacuum_threshold=500);
COMMENT ON TABLE usage.token_buckets IS 'the tokens that organizations have left; a bucket without a row is full';
SELECT platform.fence('usage.token_buckets');
SELECT platform.unfence_for('usage.token_buckets', 'tidemark_usage_worker');
GRANT SELECT, INSERT, UPDATE, DELETE ON TABLE usage.token_buckets TO tidemark_usage_worker;

CREATE FUNCTION usage.filled(bucket usage.token_buckets, asked usage.token_buckets) RETURNS double precision
  LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN least((asked).burst,
             (bucket).tokens + greatest(0, extract(epoch FROM (asked).filled_at - (bucket).filled_at)) * (asked).per_second);
COMMENT ON FUNCTION usage.filled IS
  'The tokens of a bucket at the moment at which a lease asks for them, with the rate of the lease.';
REVOKE ALL ON FUNCTION usage.filled FROM PUBLIC;
GRANT EXECUTE ON FUNCTION usage.filled TO tidemark_usage_worker;
