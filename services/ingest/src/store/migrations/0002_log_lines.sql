-- A row per console line. Line numbers need not be unique, so the id, which ascends with time, tells
-- two lines of one number apart and orders them.
CREATE TABLE ingest.log_lines (
  org_id uuid NOT NULL,
  run_id uuid NOT NULL,
  stream text COLLATE "C" NOT NULL CHECK (stream IN ('stdout', 'stderr')),
  line_number bigint NOT NULL,
  id bigint NOT NULL,
  message text COLLATE "C" NOT NULL,
  sent_at timestamptz,
  created_at timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (org_id, run_id, stream, line_number, id)
);

COMMENT ON COLUMN ingest.log_lines.message IS 'in collation C, whose lower() knows ASCII letters only, as searches want it';
COMMENT ON COLUMN ingest.log_lines.sent_at IS 'the client''s time, null when it sent none';

SELECT platform.fence('ingest.log_lines');
GRANT SELECT, INSERT ON ingest.log_lines TO tidemark_ingest;

-- Stores one request of console lines, in one round trip; outcomes as of ingest.append_metrics. The
-- lines get the ids from `first_id` on; one that is taken fails the transaction.
CREATE FUNCTION ingest.append_log_lines(
  org uuid, run uuid, run_known boolean, only_project uuid,
  idempotency_key bytea, idempotency_body bytea,
  line_stream text, first_id bigint, line_numbers double precision[], messages text[], sent text[],
  OUT outcome text, OUT inserted integer, OUT run_project uuid
) LANGUAGE plpgsql AS $$
DECLARE
  before record;
BEGIN
  PERFORM platform.enter_org(org);
  IF NOT run_known THEN
    run_project := ingest.visible_project(org, run, only_project);
    IF run_project IS NULL THEN
      outcome := 'not_found';
      RETURN;
    END IF;
  END IF;

  IF idempotency_key IS NOT NULL THEN
    SELECT c.same_body, c.reply INTO before FROM platform.claim_key(org, idempotency_key, idempotency_body) c;
    IF FOUND THEN
      IF before.same_body THEN
        outcome := 'replayed';
        inserted := ('x' || encode(before.reply, 'hex'))::bit(32)::integer;
      ELSE
        outcome := 'reused';
      END IF;
      RETURN;
    END IF;
  END IF;

  INSERT INTO ingest.log_lines (org_id, run_id, stream, line_number, id, message, sent_at)
  SELECT org, run, line_stream, l.line_number::bigint, first_id + l.n - 1, l.message, l.sent_at::timestamptz
  FROM unnest(line_numbers, messages, sent) WITH ORDINALITY AS l (line_number, message, sent_at, n);

  inserted := cardinality(messages);
  IF idempotency_key IS NOT NULL THEN
    PERFORM platform.keep_key(org, idempotency_key, idempotency_body, int4send(inserted));
  END IF;
  outcome := 'inserted';
END
$$;
REVOKE ALL ON FUNCTION ingest.append_log_lines FROM PUBLIC;
GRANT EXECUTE ON FUNCTION ingest.append_log_lines TO tidemark_ingest;
