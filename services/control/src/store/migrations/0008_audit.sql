-- Who did what to the people, keys and reports of an organization. The service may add and read, and nothing else: what
-- stands here stays.
CREATE TABLE control.audit_events (
  org_id uuid NOT NULL REFERENCES control.organizations (org_id),
  at timestamptz NOT NULL DEFAULT clock_timestamp(),
  id uuid NOT NULL DEFAULT gen_random_uuid(),
  actor_type text NOT NULL CHECK (actor_type IN ('user', 'api_key', 'operator')),
  actor_id text NOT NULL,
  action text NOT NULL,
  target_type text NOT NULL,
  target_id text NOT NULL,
  request_id text NOT NULL,
  PRIMARY KEY (org_id, at, id)
);
COMMENT ON TABLE control.audit_events IS 'Written in the transaction of what they tell of. No secrets and no names.';
COMMENT ON COLUMN control.audit_events.at IS 'when the statement ran, so that events of one transaction have an order';
COMMENT ON COLUMN control.audit_events.actor_id IS 'of a user or of an API key; empty for operators';
COMMENT ON COLUMN control.audit_events.action IS 'noun.verb, such as api_key.created';
COMMENT ON COLUMN control.audit_events.target_id IS 'empty where the target has none that may be shown';
COMMENT ON COLUMN control.audit_events.request_id IS 'that of the answer';
SELECT platform.fence('control.audit_events');
GRANT SELECT, INSERT ON control.audit_events TO tidemark_control;
