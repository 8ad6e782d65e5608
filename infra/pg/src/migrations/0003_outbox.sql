-- Messages that leave for the bus after the transaction of their cause has committed.
CREATE TABLE platform.outbox (
  org_id uuid NOT NULL,
  id uuid NOT NULL,
  service text NOT NULL,
  subject text NOT NULL,
  headers json NOT NULL DEFAULT '{}',
  payload bytea NOT NULL,
  created_at timestamptz NOT NULL DEFAULT now(),
  claimed_until timestamptz NOT NULL DEFAULT '-infinity',
  PRIMARY KEY (org_id, id)
);

CREATE INDEX outbox_due ON platform.outbox (service, claimed_until, created_at);
SELECT platform.fence('platform.outbox');

DO $$
DECLARE
  service text;
BEGIN
  FOREACH service IN ARRAY ARRAY['control', 'runs', 'ingest', 'artifacts', 'traces', 'reports', 'imports', 'usage'] LOOP
    EXECUTE format('GRANT INSERT ON platform.outbox TO %I', 'tidemark_' || service);
    EXECUTE format('GRANT SELECT, UPDATE, DELETE ON platform.outbox TO %I', 'tidemark_' || service || '_worker');
    PERFORM platform.unfence_for('platform.outbox', ('tidemark_' || service || '_worker')::name);
  END LOOP;
END
$$;
