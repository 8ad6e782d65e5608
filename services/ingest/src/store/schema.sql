-- Schema ingest: what a new database starts with.

CREATE SCHEMA ingest;
GRANT USAGE ON SCHEMA ingest TO tidemark_definer, tidemark_ingest, tidemark_ingest_worker, tidemark_runs,
  tidemark_usage;
-- To own what follows; taken back at the end.
GRANT CREATE ON SCHEMA ingest TO tidemark_definer, tidemark_ingest;

CREATE TYPE ingest.aggregate_page_change AS (run_id uuid, page integer, slot integer, stats double precision[],
  non_finite double precision[]);
COMMENT ON TYPE ingest.aggregate_page_change IS
  'Numbers of a page of key aggregates from the key at slot on, and all of its non_finite unless these are empty, '
  'which replace those that are there.';

CREATE TYPE ingest.metric_chunk AS (seq bigint, steps bytea, times bytea, section bytea);

CREATE TYPE ingest.metric_marker AS (run_id uuid, seq bigint, due_seconds double precision);
COMMENT ON TYPE ingest.metric_marker IS 'A dirty marker of the segment seq, due in this many seconds.';

CREATE TYPE ingest.metric_run_change AS (run_id uuid, version bigint, next_version bigint, key_count integer,
  point_count bigint, noted_minute integer);
COMMENT ON TYPE ingest.metric_run_change IS
  'A run before and after the writes of a group. version is the one that the caller knows, 0 for a run without '
  'metrics; next_version, key_count and point_count are those after the writes. noted_minute is that of the last '
  'group that the caller knows of the run, 0 without one: the run has a row of this minute in unindexed_runs since.';

CREATE TYPE ingest.metric_write AS (run_id uuid, seq bigint, first_step double precision, last_step double precision,
  segment bytea);
COMMENT ON TYPE ingest.metric_write IS 'A row of metric_segments. seq is its id: the next versions of the run, one by one.';

CREATE TYPE ingest.new_metric_key AS (run_id uuid, key text, key_id integer, minimise boolean);
COMMENT ON TYPE ingest.new_metric_key IS 'A row of metric_keys, without values to sort by.';

CREATE TYPE ingest.project_growth AS (project_id uuid, points bigint, series integer);
COMMENT ON TYPE ingest.project_growth IS
  'How many values a project gets, and how many keys its runs get that they did not have.';

CREATE TYPE ingest.sort_value_change AS (run_id uuid, key text, key_id integer, minimise boolean, is_new boolean,
  best double precision, latest double precision);
COMMENT ON TYPE ingest.sort_value_change IS
  'A sort key whose values to sort by change in a run, or that the run did not have (is_new). best and latest are NaN '
  'where the value does not change or no list is sorted by it.';

CREATE FUNCTION ingest.count_objects()
RETURNS trigger
LANGUAGE plpgsql
AS $function$
BEGIN
  IF TG_OP = 'INSERT' THEN
    PERFORM platform.add_stored(d.org_id, 'objects', d.bytes)
    FROM (SELECT n.org_id, sum(n.bytes)::bigint AS bytes FROM now_stored n WHERE NOT n.from_attribute GROUP BY n.org_id) d;
  ELSE
    PERFORM platform.add_stored(d.org_id, 'objects', -d.bytes)
    FROM (SELECT o.org_id, sum(o.bytes)::bigint AS bytes FROM was_stored o WHERE NOT o.from_attribute GROUP BY o.org_id) d;
  END IF;
  RETURN NULL;
END
$function$;
COMMENT ON FUNCTION ingest.count_objects IS
  'As platform.count_stored_bytes, without the objects that attributes make: their bytes are those of the attributes.';

CREATE TABLE ingest.attributes (
  org_id uuid NOT NULL,
  id bigint NOT NULL,
  run_id uuid NOT NULL,
  path text COLLATE "C" NOT NULL,
  type text COLLATE "C" NOT NULL,
  step double precision,
  logged_at timestamptz NOT NULL,
  value json NOT NULL,
  summary json NOT NULL,
  created_at timestamptz NOT NULL,
  artifact_id uuid,
  bytes integer GENERATED ALWAYS AS (octet_length(path) + octet_length(value::text) + octet_length(summary::text)) STORED NOT NULL,
  CONSTRAINT attributes_pkey PRIMARY KEY (org_id, id),
  CONSTRAINT attributes_path_check CHECK (octet_length(path) >= 1 AND octet_length(path) <= 512),
  CONSTRAINT attributes_type_check CHECK (type IN ('config', 'float_series', 'string_series', 'file', 'file_series',
    'histogram_series', 'tag'))
);
COMMENT ON COLUMN ingest.attributes.logged_at IS 'the client''s time, created_at when it sent none';
COMMENT ON COLUMN ingest.attributes.value IS 'json, not jsonb, which would change the digits of numbers';
COMMENT ON COLUMN ingest.attributes.bytes IS 'of path, value and summary';
CREATE INDEX attributes_by_path ON ingest.attributes (org_id, run_id, path, id DESC);
CREATE INDEX attributes_of_run ON ingest.attributes (org_id, run_id, step NULLS FIRST, id);
SELECT platform.fence('ingest.attributes');
SELECT platform.count_stored('ingest.attributes', 'attributes');
GRANT SELECT, INSERT ON TABLE ingest.attributes TO tidemark_ingest;
GRANT SELECT, DELETE ON TABLE ingest.attributes TO tidemark_ingest_worker;
GRANT SELECT (org_id, id, run_id, path, value) ON TABLE ingest.attributes TO tidemark_runs;
GRANT SELECT (org_id, bytes) ON TABLE ingest.attributes TO tidemark_usage;

CREATE TABLE ingest.compaction_work (
  org_id uuid NOT NULL,
  kind text COLLATE "C" NOT NULL,
  run_id uuid NOT NULL,
  part text COLLATE "C" NOT NULL,
  due_at timestamptz NOT NULL,
  marked_at timestamptz NOT NULL,
  claimed_until timestamptz DEFAULT '-infinity'::timestamptz NOT NULL,
  fence uuid,
  failures integer DEFAULT 0 NOT NULL,
  CONSTRAINT compaction_work_pkey PRIMARY KEY (org_id, kind, run_id, part)
) WITH (fillfactor=50, autovacuum_vacuum_scale_factor=0.05, autovacuum_vacuum_threshold=1000);
COMMENT ON COLUMN ingest.compaction_work.due_at IS
  'when to look; of claimed work, when the claim expires unless a marker says earlier';
COMMENT ON COLUMN ingest.compaction_work.marked_at IS 'when its latest dirty marker was taken';
COMMENT ON COLUMN ingest.compaction_work.fence IS
  'token of the last claim: a new one at each claim, which every effect of the work must show';
COMMENT ON COLUMN ingest.compaction_work.failures IS 'how often in a row the work failed';
CREATE INDEX compaction_work_due ON ingest.compaction_work (kind, due_at);
SELECT platform.fence('ingest.compaction_work');
SELECT platform.unfence_for('ingest.compaction_work', 'tidemark_ingest_worker');
GRANT SELECT, INSERT, UPDATE, DELETE ON TABLE ingest.compaction_work TO tidemark_ingest_worker;

CREATE TABLE ingest.dirty_markers (
  org_id uuid NOT NULL,
  kind text COLLATE "C" NOT NULL,
  run_id uuid NOT NULL,
  part text COLLATE "C" NOT NULL,
  id bigint NOT NULL,
  due_at timestamptz NOT NULL,
  CONSTRAINT dirty_markers_pkey PRIMARY KEY (org_id, kind, run_id, part, id)
) WITH (autovacuum_vacuum_scale_factor=0.05, autovacuum_vacuum_threshold=1000);
COMMENT ON COLUMN ingest.dirty_markers.kind IS 'what is compacted: logs, metrics, ranks';
COMMENT ON COLUMN ingest.dirty_markers.part IS
  'the part of the run that is compacted as one: of logs the stream, of metrics none, of rank metrics the set of '
  'keys';
COMMENT ON COLUMN ingest.dirty_markers.id IS
  'distinguishes markers of one part: for rank metrics the time of creation, else the segment that was stored with '
  'it';
COMMENT ON COLUMN ingest.dirty_markers.due_at IS 'when to look';
SELECT platform.fence('ingest.dirty_markers');
SELECT platform.unfence_for('ingest.dirty_markers', 'tidemark_ingest_worker');
GRANT INSERT ON TABLE ingest.dirty_markers TO tidemark_ingest;
GRANT SELECT, DELETE ON TABLE ingest.dirty_markers TO tidemark_ingest_worker;

CREATE TABLE ingest.log_blocks (
  org_id uuid NOT NULL,
  run_id uuid NOT NULL,
  first_line bigint NOT NULL,
  first_id bigint NOT NULL,
  last_line bigint NOT NULL,
  last_id bigint NOT NULL,
  lines integer NOT NULL,
  message_bytes integer NOT NULL,
  level smallint NOT NULL,
  stream text COLLATE "C" NOT NULL,
  block bytea NOT NULL,
  bytes integer GENERATED ALWAYS AS (message_bytes + 16 * lines) STORED NOT NULL,
  CONSTRAINT log_blocks_pkey PRIMARY KEY (org_id, run_id, stream, level, first_line, first_id),
  CONSTRAINT log_blocks_stream_check CHECK (stream IN ('stdout', 'stderr'))
);
ALTER TABLE ingest.log_blocks ALTER COLUMN block SET STORAGE EXTERNAL;
COMMENT ON COLUMN ingest.log_blocks.block IS 'a block of the log codec';
COMMENT ON COLUMN ingest.log_blocks.bytes IS 'logical ones: those of the messages, and 16 a line';
SELECT platform.fence('ingest.log_blocks');
SELECT platform.count_stored('ingest.log_blocks', 'logs');
GRANT SELECT, INSERT ON TABLE ingest.log_blocks TO tidemark_ingest;
GRANT SELECT, INSERT, DELETE ON TABLE ingest.log_blocks TO tidemark_ingest_worker;
GRANT SELECT (org_id, bytes) ON TABLE ingest.log_blocks TO tidemark_usage;

CREATE TABLE ingest.log_segments (
  org_id uuid NOT NULL,
  run_id uuid NOT NULL,
  id bigint NOT NULL,
  received_us bigint NOT NULL,
  first_line bigint NOT NULL,
  last_line bigint NOT NULL,
  message_bytes integer NOT NULL,
  lines smallint NOT NULL,
  stream text COLLATE "C" NOT NULL,
  block bytea NOT NULL,
  bytes integer GENERATED ALWAYS AS (message_bytes + 16 * lines) STORED NOT NULL,
  CONSTRAINT log_segments_pkey PRIMARY KEY (org_id, run_id, stream, id),
  CONSTRAINT log_segments_stream_check CHECK (stream IN ('stdout', 'stderr'))
) WITH (toast_tuple_target=8160, autovacuum_vacuum_scale_factor=0.05, autovacuum_vacuum_threshold=1000);
ALTER TABLE ingest.log_segments ALTER COLUMN block SET STORAGE EXTERNAL;
COMMENT ON COLUMN ingest.log_segments.id IS
  'ascends with time, a multiple of 64: the lines have the ids from it on, in the order of the request';
COMMENT ON COLUMN ingest.log_segments.received_us IS 'microseconds since the Unix epoch: when the lines were received';
COMMENT ON COLUMN ingest.log_segments.block IS 'a block of the log codec, ids from 0, without times of arrival';
COMMENT ON COLUMN ingest.log_segments.bytes IS 'as those of log_blocks';
SELECT platform.fence('ingest.log_segments');
SELECT platform.count_stored('ingest.log_segments', 'logs');
GRANT SELECT, INSERT ON TABLE ingest.log_segments TO tidemark_ingest;
GRANT SELECT, DELETE ON TABLE ingest.log_segments TO tidemark_ingest_worker;
GRANT SELECT (org_id, bytes) ON TABLE ingest.log_segments TO tidemark_usage;

CREATE TABLE ingest.metric_aggregate_pages (
  org_id uuid NOT NULL,
  run_id uuid NOT NULL,
  page integer NOT NULL,
  stats double precision[] NOT NULL,
  non_finite double precision[],
  CONSTRAINT metric_aggregate_pages_pkey PRIMARY KEY (org_id, run_id, page)
) WITH (fillfactor=50);
ALTER TABLE ingest.metric_aggregate_pages ALTER COLUMN stats SET STORAGE PLAIN,
  ALTER COLUMN non_finite SET STORAGE PLAIN;
COMMENT ON COLUMN ingest.metric_aggregate_pages.page IS 'key_id / 32';
COMMENT ON COLUMN ingest.metric_aggregate_pages.stats IS
  'ten numbers for each key, in the order of their ids: count, mean, m2, min, min_step, max, max_step, latest, '
  'latest_step, first_step. m2: sum of the squared deviations from the mean, Infinity where a double cannot hold '
  'it; min_step and max_step: the lowest step with this value; latest: the value at the highest step, of several '
  'the one that arrived last. All are over finite values; where a key has none, count is 0 and the others are NaN';
COMMENT ON COLUMN ingest.metric_aggregate_pages.non_finite IS
  'null where all values are finite; otherwise three numbers for each key, as far as there are keys with others: the '
  'number of values that are not finite, and their lowest and highest step, or zeros';
SELECT platform.fence('ingest.metric_aggregate_pages');
GRANT SELECT, INSERT, UPDATE ON TABLE ingest.metric_aggregate_pages TO tidemark_ingest;
GRANT SELECT, DELETE ON TABLE ingest.metric_aggregate_pages TO tidemark_ingest_worker;
GRANT SELECT ON TABLE ingest.metric_aggregate_pages TO tidemark_runs;

CREATE TABLE ingest.metric_blocks (
  org_id uuid NOT NULL,
  run_id uuid NOT NULL,
  first_key integer NOT NULL,
  width integer NOT NULL,
  first_seq bigint NOT NULL,
  last_seq bigint NOT NULL,
  first_step double precision NOT NULL,
  last_step double precision NOT NULL,
  points integer NOT NULL,
  value_count integer NOT NULL,
  steps_end integer NOT NULL,
  axis_end integer NOT NULL,
  statistics bytea,
  data bytea NOT NULL,
  sums bytea,
  CONSTRAINT metric_blocks_pkey PRIMARY KEY (org_id, run_id, first_key, first_seq),
  CONSTRAINT metric_blocks_check CHECK ((width IN (16, 256, 4096)) AND (first_key % width) = 0),
  CONSTRAINT metric_blocks_check1 CHECK (last_seq >= first_seq)
) WITH (autovacuum_vacuum_scale_factor=0.05, autovacuum_vacuum_threshold=1000);
ALTER TABLE ingest.metric_blocks ALTER COLUMN statistics SET STORAGE PLAIN, ALTER COLUMN data SET STORAGE EXTERNAL,
  ALTER COLUMN sums SET STORAGE PLAIN;
COMMENT ON COLUMN ingest.metric_blocks.first_key IS
  'the block has values of keys from this id on, below first_key + width';
COMMENT ON COLUMN ingest.metric_blocks.first_seq IS
  'id of the first segment whose points are in the block; for any one key no two blocks overlap';
COMMENT ON COLUMN ingest.metric_blocks.last_seq IS
  'id of the last such segment; all segments with values of these keys have greater ones';
COMMENT ON COLUMN ingest.metric_blocks.first_step IS 'the lowest step in the block';
COMMENT ON COLUMN ingest.metric_blocks.last_step IS 'the highest step in the block';
COMMENT ON COLUMN ingest.metric_blocks.points IS 'points of all keys together: steps with what was logged at them';
COMMENT ON COLUMN ingest.metric_blocks.steps_end IS 'byte of data where the steps end and the times begin';
COMMENT ON COLUMN ingest.metric_blocks.axis_end IS
  'byte of data where the times end and the directory of the keys begins';
COMMENT ON COLUMN ingest.metric_blocks.statistics IS
  'of ranges of 16 keys, 72 bytes for each key: count, first and last point, lowest and highest value, both NaN where '
  'a value is not finite';
COMMENT ON COLUMN ingest.metric_blocks.data IS 'a block of the metric codec';
COMMENT ON COLUMN ingest.metric_blocks.sums IS
  'of ranges of 16 keys, 16 bytes for each key: the sum of its values in two doubles';
SELECT platform.fence('ingest.metric_blocks');
GRANT SELECT, INSERT ON TABLE ingest.metric_blocks TO tidemark_ingest;
GRANT SELECT, INSERT, DELETE ON TABLE ingest.metric_blocks TO tidemark_ingest_worker;

CREATE TABLE ingest.metric_keys (
  org_id uuid NOT NULL,
  run_id uuid NOT NULL,
  key text COLLATE "C" NOT NULL,
  key_id integer NOT NULL,
  minimise boolean NOT NULL,
  sort_best double precision,
  sort_latest double precision,
  sort_created_at timestamptz,
  CONSTRAINT metric_keys_pkey PRIMARY KEY (org_id, run_id, key)
) WITH (autovacuum_vacuum_scale_factor=0.01, autovacuum_vacuum_threshold=5000);
COMMENT ON COLUMN ingest.metric_keys.key_id IS 'from 0, in the order in which the keys of the run appeared';
COMMENT ON COLUMN ingest.metric_keys.minimise IS 'less is better';
COMMENT ON COLUMN ingest.metric_keys.sort_best IS
  'the best value when the run was last indexed, negative where less is better: more is better here';
COMMENT ON COLUMN ingest.metric_keys.sort_latest IS 'the latest value when the run was last indexed';
COMMENT ON COLUMN ingest.metric_keys.sort_created_at IS 'when the run was created, which orders equal values';
CREATE INDEX metric_keys_by_best ON ingest.metric_keys (org_id, key, sort_best, sort_created_at,
  run_id) WHERE sort_best IS NOT NULL;
CREATE INDEX metric_keys_by_latest ON ingest.metric_keys (org_id, key, sort_latest, sort_created_at,
  run_id) WHERE sort_latest IS NOT NULL;
SELECT platform.fence('ingest.metric_keys');
GRANT SELECT, INSERT, UPDATE ON TABLE ingest.metric_keys TO tidemark_ingest;
GRANT SELECT, DELETE ON TABLE ingest.metric_keys TO tidemark_ingest_worker;
GRANT SELECT ON TABLE ingest.metric_keys TO tidemark_runs;

CREATE TABLE ingest.metric_runs (
  org_id uuid NOT NULL,
  run_id uuid NOT NULL,
  version bigint NOT NULL,
  key_count integer NOT NULL,
  point_count bigint NOT NULL,
  CONSTRAINT metric_runs_pkey PRIMARY KEY (org_id, run_id)
) WITH (fillfactor=50);
COMMENT ON COLUMN ingest.metric_runs.version IS
  'id of the newest segment that was ever written; grows by one also when the run moves to another project';
COMMENT ON COLUMN ingest.metric_runs.key_count IS 'how many keys the run has, and so the id of the next one';
COMMENT ON COLUMN ingest.metric_runs.point_count IS 'values that were ever stored';
SELECT platform.fence('ingest.metric_runs');
GRANT SELECT (org_id, key_count, point_count) ON TABLE ingest.metric_runs TO tidemark_usage;
GRANT SELECT, INSERT, UPDATE ON TABLE ingest.metric_runs TO tidemark_ingest;
GRANT SELECT, UPDATE (version), DELETE ON TABLE ingest.metric_runs TO tidemark_ingest_worker;
GRANT SELECT ON TABLE ingest.metric_runs TO tidemark_runs;

CREATE TABLE ingest.metric_segments (
  org_id uuid NOT NULL,
  run_id uuid NOT NULL,
  id bigint NOT NULL,
  received_us bigint NOT NULL,
  first_step double precision NOT NULL,
  last_step double precision NOT NULL,
  points bytea NOT NULL,
  CONSTRAINT metric_segments_pkey PRIMARY KEY (org_id, run_id, id)
) WITH (toast_tuple_target=8160, autovacuum_vacuum_scale_factor=0.05, autovacuum_vacuum_threshold=1000);
ALTER TABLE ingest.metric_segments ALTER COLUMN points SET STORAGE EXTERNAL;
COMMENT ON COLUMN ingest.metric_segments.id IS 'the version of the run that this write made: the order of arrival';
COMMENT ON COLUMN ingest.metric_segments.received_us IS 'microseconds since the Unix epoch';
COMMENT ON COLUMN ingest.metric_segments.first_step IS 'the lowest step in the block';
COMMENT ON COLUMN ingest.metric_segments.last_step IS 'the highest step in the block';
COMMENT ON COLUMN ingest.metric_segments.points IS 'a segment of the metric codec';
SELECT platform.fence('ingest.metric_segments');
GRANT SELECT, INSERT ON TABLE ingest.metric_segments TO tidemark_ingest;
GRANT SELECT, DELETE ON TABLE ingest.metric_segments TO tidemark_ingest_worker;

CREATE TABLE ingest.objects (
  org_id uuid NOT NULL,
  id bigint NOT NULL,
  run_id uuid NOT NULL,
  project_id uuid NOT NULL,
  key text COLLATE "C" NOT NULL,
  kind text COLLATE "C" NOT NULL,
  from_attribute boolean NOT NULL,
  step double precision,
  order_step double precision GENERATED ALWAYS AS (COALESCE(step, '-Infinity'::double precision)) STORED NOT NULL,
  artifact_id uuid,
  value json,
  metadata json,
  summary json,
  bytes integer NOT NULL,
  created_at timestamptz NOT NULL,
  CONSTRAINT objects_pkey PRIMARY KEY (org_id, id),
  CONSTRAINT objects_check CHECK (from_attribute OR kind <> 'text'),
  CONSTRAINT objects_check1 CHECK (from_attribute = (value IS NULL) AND from_attribute = (metadata IS NULL) AND from_attribute = (summary IS NULL)),
  CONSTRAINT objects_key_check CHECK (octet_length(key) >= 1 AND octet_length(key) <= 512),
  CONSTRAINT objects_kind_check CHECK (kind IN ('table', 'image', 'video', 'audio', 'histogram', 'classification_eval',
    'text')),
  CONSTRAINT objects_step_check CHECK (step >= 0::double precision)
);
COMMENT ON COLUMN ingest.objects.id IS 'from the same source as the ids of attributes';
COMMENT ON COLUMN ingest.objects.order_step IS 'the step as lists order by it: none is below all';
COMMENT ON COLUMN ingest.objects.bytes IS 'of key, value, metadata and summary, without the rows of a table';
CREATE INDEX objects_by_key ON ingest.objects (org_id, run_id, key, order_step DESC, created_at DESC,
  id DESC) WHERE kind <> 'text';
CREATE INDEX objects_of_org ON ingest.objects (org_id, kind, order_step DESC, created_at DESC, id DESC);
CREATE INDEX objects_of_project ON ingest.objects (org_id, project_id, kind, order_step DESC, created_at DESC, id DESC);
CREATE INDEX objects_of_run ON ingest.objects (org_id, run_id, kind, order_step DESC, created_at DESC, id DESC);
CREATE TRIGGER objects_bytes_added AFTER INSERT ON ingest.objects
  REFERENCING NEW TABLE AS now_stored FOR EACH STATEMENT EXECUTE FUNCTION ingest.count_objects();
CREATE TRIGGER objects_bytes_removed AFTER DELETE ON ingest.objects
  REFERENCING OLD TABLE AS was_stored FOR EACH STATEMENT EXECUTE FUNCTION ingest.count_objects();
CREATE TRIGGER objects_bytes_changed AFTER UPDATE ON ingest.objects
  FOR EACH ROW WHEN (NOT new.from_attribute AND old.bytes <> new.bytes) EXECUTE FUNCTION platform.count_changed_bytes('objects');
SELECT platform.fence('ingest.objects');
GRANT SELECT, INSERT, UPDATE (project_id, summary, bytes) ON TABLE ingest.objects TO tidemark_ingest;
GRANT SELECT, DELETE ON TABLE ingest.objects TO tidemark_ingest_worker;
GRANT SELECT (org_id, from_attribute, bytes) ON TABLE ingest.objects TO tidemark_usage;

CREATE TABLE ingest.project_points (
  org_id uuid NOT NULL,
  project_id uuid NOT NULL,
  slot smallint NOT NULL,
  points bigint NOT NULL,
  series bigint NOT NULL,
  month date NOT NULL,
  month_points bigint NOT NULL,
  CONSTRAINT project_points_pkey PRIMARY KEY (org_id, project_id, slot),
  CONSTRAINT project_points_slot_check CHECK (slot >= 0 AND slot <= 15)
) WITH (fillfactor=20, autovacuum_vacuum_scale_factor=0.05, autovacuum_vacuum_threshold=500);
COMMENT ON TABLE ingest.project_points IS
  'how many values were ever stored for the runs of a project: the sum over the slots';
COMMENT ON COLUMN ingest.project_points.slot IS 'each group of writes takes the next one of its process';
COMMENT ON COLUMN ingest.project_points.series IS 'how many keys its runs have, together';
COMMENT ON COLUMN ingest.project_points.month IS 'the first day of the month in UTC that month_points are of';
SELECT platform.fence('ingest.project_points');
GRANT SELECT, INSERT, UPDATE ON TABLE ingest.project_points TO tidemark_ingest;
GRANT SELECT, UPDATE (points, series), DELETE ON TABLE ingest.project_points TO tidemark_ingest_worker;
GRANT SELECT, SELECT (series) ON TABLE ingest.project_points TO tidemark_runs;
GRANT SELECT ON TABLE ingest.project_points TO tidemark_usage;

CREATE TABLE ingest.rank_metric_blocks (
  org_id uuid NOT NULL,
  run_id uuid NOT NULL,
  set_id integer NOT NULL,
  last_step double precision NOT NULL,
  block_id uuid NOT NULL,
  first_step double precision NOT NULL,
  entries integer NOT NULL,
  step_count integer NOT NULL,
  step_list double precision[] NOT NULL,
  steps bytea NOT NULL,
  ranks bytea NOT NULL,
  local_ranks bytea NOT NULL,
  weights bytea NOT NULL,
  received_us bytea NOT NULL,
  sent_us bytea NOT NULL,
  set_values bytea NOT NULL,
  CONSTRAINT rank_metric_blocks_pkey PRIMARY KEY (org_id, run_id, set_id, last_step, block_id)
);
ALTER TABLE ingest.rank_metric_blocks ALTER COLUMN set_values SET STORAGE EXTERNAL;
COMMENT ON TABLE ingest.rank_metric_blocks IS
  'rows of a set, compacted: each column but the values has an entry per row in the order of step and rank, as the '
  'send functions write them. Blocks overlap only where rows arrived late';
COMMENT ON COLUMN ingest.rank_metric_blocks.step_list IS 'the different steps, ascending';
COMMENT ON COLUMN ingest.rank_metric_blocks.weights IS 'a byte 0 for weight 1, or a byte 1 and the weight';
COMMENT ON COLUMN ingest.rank_metric_blocks.sent_us IS 'the lowest bigint where the client sent no time';
COMMENT ON COLUMN ingest.rank_metric_blocks.set_values IS 'all values of slot 0, then all of slot 1 and so on';
SELECT platform.fence('ingest.rank_metric_blocks');
GRANT SELECT (org_id, set_values) ON TABLE ingest.rank_metric_blocks TO tidemark_usage;
GRANT SELECT, INSERT ON TABLE ingest.rank_metric_blocks TO tidemark_ingest;
GRANT SELECT, INSERT, DELETE ON TABLE ingest.rank_metric_blocks TO tidemark_ingest_worker;

CREATE TABLE ingest.rank_metric_keys (
  org_id uuid NOT NULL,
  run_id uuid NOT NULL,
  key text COLLATE "C" NOT NULL,
  set_id integer NOT NULL,
  slot smallint NOT NULL,
  world_size smallint NOT NULL,
  is_page boolean NOT NULL,
  CONSTRAINT rank_metric_keys_pkey PRIMARY KEY (org_id, run_id, key, set_id)
);
COMMENT ON COLUMN ingest.rank_metric_keys.slot IS 'place of the key in the set, from 0';
SELECT platform.fence('ingest.rank_metric_keys');
GRANT SELECT, INSERT ON TABLE ingest.rank_metric_keys TO tidemark_ingest;
GRANT SELECT, DELETE ON TABLE ingest.rank_metric_keys TO tidemark_ingest_worker;

CREATE TABLE ingest.rank_metric_rows (
  org_id uuid NOT NULL,
  run_id uuid NOT NULL,
  step double precision NOT NULL,
  received_us bigint NOT NULL,
  sent_us bigint,
  weight double precision,
  set_id integer NOT NULL,
  arrival integer NOT NULL,
  rank smallint NOT NULL,
  local_rank smallint,
  first_slot smallint NOT NULL,
  packed bytea NOT NULL,
  CONSTRAINT rank_metric_rows_pkey PRIMARY KEY (org_id, run_id, set_id, step, rank, arrival)
) WITH (autovacuum_vacuum_scale_factor=0.05, autovacuum_vacuum_threshold=1000);
ALTER TABLE ingest.rank_metric_rows ALTER COLUMN packed SET STORAGE PLAIN;
COMMENT ON COLUMN ingest.rank_metric_rows.received_us IS
  'microseconds since the Unix epoch: of two values of one key, step and rank the later one counts';
COMMENT ON COLUMN ingest.rank_metric_rows.sent_us IS 'the client''s time in the same unit, null when it sent none';
COMMENT ON COLUMN ingest.rank_metric_rows.weight IS 'null: 1';
COMMENT ON COLUMN ingest.rank_metric_rows.arrival IS
  'of a set 0; of a page from 1, the low bits of received_us, because two rows of it may have different keys';
COMMENT ON COLUMN ingest.rank_metric_rows.local_rank IS 'null: the rank';
COMMENT ON COLUMN ingest.rank_metric_rows.packed IS
  'values as float8send writes them, from first_slot on; in a page, the NaN of one bit where there is none: a NaN that '
  'was reported has other bits';
SELECT platform.fence('ingest.rank_metric_rows');
GRANT SELECT (org_id, arrival, first_slot, packed) ON TABLE ingest.rank_metric_rows TO tidemark_usage;
GRANT SELECT, INSERT, UPDATE ON TABLE ingest.rank_metric_rows TO tidemark_ingest;
GRANT SELECT, DELETE ON TABLE ingest.rank_metric_rows TO tidemark_ingest_worker;

CREATE TABLE ingest.rank_metric_runs (
  org_id uuid NOT NULL,
  run_id uuid NOT NULL,
  sets integer NOT NULL,
  CONSTRAINT rank_metric_runs_pkey PRIMARY KEY (org_id, run_id)
) WITH (fillfactor=50);
COMMENT ON COLUMN ingest.rank_metric_runs.sets IS
  'how many sets the run has, and so the number of the next one; locked by the writer that makes one';
SELECT platform.fence('ingest.rank_metric_runs');
GRANT SELECT, INSERT, UPDATE ON TABLE ingest.rank_metric_runs TO tidemark_ingest;
GRANT SELECT, DELETE ON TABLE ingest.rank_metric_runs TO tidemark_ingest_worker;

CREATE TABLE ingest.rank_metric_sets (
  org_id uuid NOT NULL,
  run_id uuid NOT NULL,
  set_id integer NOT NULL,
  digest bytea,
  world_size smallint NOT NULL,
  keys smallint NOT NULL,
  CONSTRAINT rank_metric_sets_pkey PRIMARY KEY (org_id, run_id, set_id)
);
COMMENT ON TABLE ingest.rank_metric_sets IS
  'keys that were reported together in a world of one size, at most 64. A run whose requests hardly ever repeat '
  'their keys gets pages instead of more sets: every key lies in one page, and rows have values for any of its keys';
COMMENT ON COLUMN ingest.rank_metric_sets.digest IS
  'the first 16 bytes of SHA-256 of world size and keys; null: a page';
COMMENT ON COLUMN ingest.rank_metric_sets.keys IS 'how many keys it has; a page takes more, up to 64';
CREATE UNIQUE INDEX rank_metric_sets_digest ON ingest.rank_metric_sets (org_id, run_id,
  digest) WHERE digest IS NOT NULL;
SELECT platform.fence('ingest.rank_metric_sets');
GRANT SELECT, INSERT, UPDATE ON TABLE ingest.rank_metric_sets TO tidemark_ingest;
GRANT SELECT, DELETE ON TABLE ingest.rank_metric_sets TO tidemark_ingest_worker;

CREATE TABLE ingest.rank_points (
  org_id uuid NOT NULL,
  slot smallint NOT NULL,
  points bigint NOT NULL,
  month date NOT NULL,
  month_points bigint NOT NULL,
  CONSTRAINT rank_points_pkey PRIMARY KEY (org_id, slot),
  CONSTRAINT rank_points_slot_check CHECK (slot >= 0 AND slot <= 15)
) WITH (fillfactor=20, autovacuum_vacuum_scale_factor=0.05, autovacuum_vacuum_threshold=500);
COMMENT ON TABLE ingest.rank_points IS 'how many values of ranks an organization has: the sum over the slots';
COMMENT ON COLUMN ingest.rank_points.month_points IS 'written in the month, those included that replaced others';
COMMENT ON COLUMN ingest.rank_points.month IS 'the first day of the month in UTC that month_points are of';
SELECT platform.fence('ingest.rank_points');
GRANT SELECT, INSERT, UPDATE ON TABLE ingest.rank_points TO tidemark_ingest;
GRANT SELECT, UPDATE (points), DELETE ON TABLE ingest.rank_points TO tidemark_ingest_worker;
GRANT SELECT ON TABLE ingest.rank_points TO tidemark_usage;

CREATE TABLE ingest.restored_objects (
  org_id uuid NOT NULL,
  archive_id uuid NOT NULL,
  old_id bigint NOT NULL,
  new_id bigint NOT NULL,
  CONSTRAINT restored_objects_pkey PRIMARY KEY (org_id, archive_id, old_id)
);
SELECT platform.fence('ingest.restored_objects');
GRANT SELECT, INSERT, DELETE ON TABLE ingest.restored_objects TO tidemark_ingest;
GRANT SELECT, DELETE ON TABLE ingest.restored_objects TO tidemark_ingest_worker;

CREATE TABLE ingest.sort_key_versions (
  org_id uuid NOT NULL,
  version bigint NOT NULL,
  CONSTRAINT sort_key_versions_pkey PRIMARY KEY (org_id)
) WITH (fillfactor=50);
COMMENT ON TABLE ingest.sort_key_versions IS
  'rises with each change of what sort keys an organization has; locked by each change. No row: 0, none '
  'ever';
SELECT platform.fence('ingest.sort_key_versions');
SELECT platform.unfence_for('ingest.sort_key_versions', 'tidemark_ingest_worker');
GRANT SELECT, INSERT, UPDATE ON TABLE ingest.sort_key_versions TO tidemark_definer;
GRANT SELECT ON TABLE ingest.sort_key_versions TO tidemark_ingest;
GRANT SELECT, UPDATE, DELETE ON TABLE ingest.sort_key_versions TO tidemark_ingest_worker;

CREATE TABLE ingest.sort_keys (
  org_id uuid NOT NULL,
  key text COLLATE "C" NOT NULL,
  by text COLLATE "C" NOT NULL,
  asked_at timestamptz NOT NULL,
  ready boolean DEFAULT false NOT NULL,
  boundary xid8,
  filled_to uuid DEFAULT '00000000-0000-0000-0000-000000000000'::uuid NOT NULL,
  claimed_until timestamptz DEFAULT '-infinity'::timestamptz NOT NULL,
  CONSTRAINT sort_keys_pkey PRIMARY KEY (org_id, key, by),
  CONSTRAINT sort_keys_by_check CHECK (by IN ('best', 'latest'))
) WITH (fillfactor=50);
COMMENT ON COLUMN ingest.sort_keys.by IS 'which value of the key: best, or latest';
COMMENT ON COLUMN ingest.sort_keys.asked_at IS 'when a list was last sorted by it; at most an hour older than that';
COMMENT ON COLUMN ingest.sort_keys.ready IS
  'all runs with the key have the value; until then, those written since it was requested';
COMMENT ON COLUMN ingest.sort_keys.boundary IS
  'transactions with lower numbers may have written runs without knowing of it; those from it on know it';
COMMENT ON COLUMN ingest.sort_keys.filled_to IS 'the runs that are not indexed have the value up to this one';
COMMENT ON COLUMN ingest.sort_keys.claimed_until IS 'until when the process that makes it ready may take';
CREATE INDEX sort_keys_not_ready ON ingest.sort_keys (asked_at) WHERE NOT ready;
SELECT platform.fence('ingest.sort_keys');
SELECT platform.unfence_for('ingest.sort_keys', 'tidemark_ingest_worker');
GRANT SELECT, INSERT, UPDATE, DELETE ON TABLE ingest.sort_keys TO tidemark_definer;
GRANT SELECT, UPDATE ON TABLE ingest.sort_keys TO tidemark_ingest;
GRANT SELECT, UPDATE, DELETE ON TABLE ingest.sort_keys TO tidemark_ingest_worker;
GRANT SELECT (org_id, key, by, ready) ON TABLE ingest.sort_keys TO tidemark_runs;

CREATE TABLE ingest.table_chunks (
  org_id uuid NOT NULL,
  object_id bigint NOT NULL,
  chunk smallint NOT NULL,
  rows bytea NOT NULL,
  bytes integer NOT NULL,
  CONSTRAINT table_chunks_pkey PRIMARY KEY (org_id, object_id, chunk)
);
ALTER TABLE ingest.table_chunks ALTER COLUMN rows SET STORAGE EXTERNAL;
COMMENT ON COLUMN ingest.table_chunks.chunk IS 'counted from 0';
COMMENT ON COLUMN ingest.table_chunks.rows IS
  'a byte, 0 for plain and 1 for Zstandard, and then the message tidemark.ingest.v1.TableChunk';
COMMENT ON COLUMN ingest.table_chunks.bytes IS 'logical ones: of the JSON of the cells, and one for each cell';
SELECT platform.fence('ingest.table_chunks');
SELECT platform.count_stored('ingest.table_chunks', 'objects');
GRANT SELECT, INSERT, UPDATE (rows, bytes) ON TABLE ingest.table_chunks TO tidemark_ingest;
GRANT SELECT, DELETE ON TABLE ingest.table_chunks TO tidemark_ingest_worker;
GRANT SELECT (org_id, bytes) ON TABLE ingest.table_chunks TO tidemark_usage;

CREATE TABLE ingest.unindexed_runs (
  org_id uuid NOT NULL,
  run_id uuid NOT NULL,
  touched_minute integer NOT NULL,
  CONSTRAINT unindexed_runs_pkey PRIMARY KEY (org_id, run_id)
) WITH (fillfactor=50, autovacuum_vacuum_scale_factor=0.05, autovacuum_vacuum_threshold=500);
COMMENT ON COLUMN ingest.unindexed_runs.touched_minute IS 'minutes since the Unix epoch at the last write';
SELECT platform.fence('ingest.unindexed_runs');
SELECT platform.unfence_for('ingest.unindexed_runs', 'tidemark_ingest_worker');
GRANT SELECT, INSERT, UPDATE, DELETE ON TABLE ingest.unindexed_runs TO tidemark_ingest;
GRANT SELECT, DELETE ON TABLE ingest.unindexed_runs TO tidemark_ingest_worker;
GRANT SELECT ON TABLE ingest.unindexed_runs TO tidemark_runs;

CREATE FUNCTION ingest.has_rank_value(packed bytea, first_slot smallint, slot smallint) RETURNS boolean
  LANGUAGE sql IMMUTABLE PARALLEL SAFE
  RETURN slot >= first_slot AND octet_length(packed) > 8 * (slot - first_slot)
    AND substring(packed FROM 8 * (slot - first_slot) + 1 FOR 8) <> '\x7ff8000000000000'::bytea;
COMMENT ON FUNCTION ingest.has_rank_value IS
  'Returns whether a row of a page has a value for the slot. A plain expression, so that PostgreSQL inlines it.';
REVOKE ALL ON FUNCTION ingest.has_rank_value FROM PUBLIC;
GRANT EXECUTE ON FUNCTION ingest.has_rank_value TO tidemark_ingest, tidemark_ingest_worker, tidemark_usage;

CREATE FUNCTION ingest.rank_row_values(arrival integer, first_slot smallint, packed bytea) RETURNS bigint
  LANGUAGE sql IMMUTABLE PARALLEL SAFE
  RETURN CASE WHEN arrival = 0 THEN octet_length(packed) / 8
    ELSE (SELECT count(*) FROM generate_series(first_slot, first_slot + octet_length(packed) / 8 - 1) AS s
          WHERE ingest.has_rank_value(packed, first_slot, s::smallint)) END;
COMMENT ON FUNCTION ingest.rank_row_values IS
  'Returns how many values a row of rank metrics has. Only pages have slots without a value, and their rows are never '
  'in blocks.';
REVOKE ALL ON FUNCTION ingest.rank_row_values FROM PUBLIC;
GRANT EXECUTE ON FUNCTION ingest.rank_row_values TO tidemark_ingest, tidemark_ingest_worker, tidemark_usage;

CREATE VIEW ingest.attribute_values_v1 WITH (security_invoker = true) AS
SELECT a.org_id, a.run_id, a.path, a.id, a.value FROM ingest.attributes a;
COMMENT ON VIEW ingest.attribute_values_v1 IS
  'What was logged at the paths of runs; of several rows of a path the one with the highest id is its value.';
GRANT SELECT ON TABLE ingest.attribute_values_v1 TO tidemark_runs;

CREATE FUNCTION ingest.key_points(stats double precision[], non_finite double precision[], key_id integer)
  RETURNS double precision LANGUAGE sql IMMUTABLE PARALLEL SAFE
  RETURN stats[(key_id & 31) * 10 + 1] + coalesce(non_finite[(key_id & 31) * 3 + 1], 0);
COMMENT ON FUNCTION ingest.key_points IS
  'Returns how many values a key has, finite or not, from its aggregate page. As the next two a plain expression, which '
  'PostgreSQL inlines.';
REVOKE ALL ON FUNCTION ingest.key_points FROM PUBLIC;
GRANT EXECUTE ON FUNCTION ingest.key_points TO tidemark_ingest;

CREATE FUNCTION ingest.key_first_step(stats double precision[], non_finite double precision[], key_id integer)
  RETURNS double precision LANGUAGE sql IMMUTABLE PARALLEL SAFE
  RETURN CASE WHEN non_finite[(key_id & 31) * 3 + 1] > 0
    THEN least(stats[(key_id & 31) * 10 + 10], non_finite[(key_id & 31) * 3 + 2]) ELSE stats[(key_id & 31) * 10 + 10] END;
COMMENT ON FUNCTION ingest.key_first_step IS
  'Returns the lowest step of a key from its aggregate page; NaN, the step of no finite value, is the greatest double.';
REVOKE ALL ON FUNCTION ingest.key_first_step FROM PUBLIC;
GRANT EXECUTE ON FUNCTION ingest.key_first_step TO tidemark_ingest, tidemark_runs;

CREATE FUNCTION ingest.key_last_step(stats double precision[], non_finite double precision[], key_id integer)
  RETURNS double precision LANGUAGE sql IMMUTABLE PARALLEL SAFE
  RETURN CASE WHEN non_finite[(key_id & 31) * 3 + 1] > 0
    THEN greatest(nullif(stats[(key_id & 31) * 10 + 9], 'NaN'), non_finite[(key_id & 31) * 3 + 3])
    ELSE stats[(key_id & 31) * 10 + 9] END;
COMMENT ON FUNCTION ingest.key_last_step IS 'Returns the highest step of a key from its aggregate page.';
REVOKE ALL ON FUNCTION ingest.key_last_step FROM PUBLIC;
GRANT EXECUTE ON FUNCTION ingest.key_last_step TO tidemark_ingest, tidemark_runs;

CREATE VIEW ingest.metric_aggregates_v1 WITH (security_invoker=true) AS
 SELECT k.org_id, k.run_id, k.key, p.stats[p.at + 1]::bigint AS count, p.stats[p.at + 4] AS min,
    p.stats[p.at + 6] AS max, p.stats[p.at + 2] AS mean,
        CASE
            WHEN p.stats[p.at + 3] < 0.00000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000001::double precision THEN 0::double precision
            WHEN p.stats[p.at + 3] < 'Infinity'::double precision THEN p.stats[p.at + 3] / p.stats[p.at + 1]
            ELSE NULL::double precision
        END AS variance,
    p.stats[p.at + 8] AS latest, p.stats[p.at + 9] AS latest_step,
    p.stats[p.at +
        CASE
            WHEN k.minimise THEN 4
            ELSE 6
        END] AS best,
    p.stats[p.at +
        CASE
            WHEN k.minimise THEN 5
            ELSE 7
        END] AS best_step,
    ingest.key_first_step(p.stats, p.non_finite, k.key_id) AS first_step,
    ingest.key_last_step(p.stats, p.non_finite, k.key_id) AS last_step,
    coalesce(p.non_finite[(k.key_id & 31) * 3 + 1], 0) AS non_finite,
    CASE WHEN p.non_finite[(k.key_id & 31) * 3 + 1] > 0 THEN p.non_finite[(k.key_id & 31) * 3 + 3] END AS non_finite_step
   FROM ingest.metric_keys k
     CROSS JOIN LATERAL ( SELECT o.stats, o.non_finite, (k.key_id & 31) * 10 AS at
           FROM ingest.metric_aggregate_pages o
          WHERE o.org_id = k.org_id AND o.run_id = k.run_id AND o.page = (k.key_id >> 5)
         OFFSET 0) p;
COMMENT ON VIEW ingest.metric_aggregates_v1 IS
  'Key aggregates: one row per run and key. variance is the population variance, null where a double cannot hold '
  'it; best is the minimum where less is better, else the maximum. All but first_step and last_step are over finite '
  'values: where there is none, count is 0 and the others are NaN. non_finite is the number of other values, and '
  'non_finite_step their highest step, null where there is none. The page is looked up for each key: a join would read '
  'all pages of a run for a few keys.';
GRANT SELECT ON TABLE ingest.metric_aggregates_v1 TO tidemark_ingest, tidemark_runs;

CREATE VIEW ingest.metric_keys_v1 WITH (security_invoker = true) AS
  SELECT k.org_id, k.run_id, k.key, k.key_id, k.minimise FROM ingest.metric_keys k;
COMMENT ON VIEW ingest.metric_keys_v1 IS 'The keys of runs with their ids.';
GRANT SELECT ON TABLE ingest.metric_keys_v1 TO tidemark_runs;

CREATE VIEW ingest.project_points_v1 WITH (security_invoker = true) AS
  SELECT p.org_id, p.project_id, sum(p.points)::bigint AS points
  FROM ingest.project_points p GROUP BY p.org_id, p.project_id;
COMMENT ON VIEW ingest.project_points_v1 IS
  'How many values the runs of a project have, at this moment. A project without values has no row.';
GRANT SELECT ON TABLE ingest.project_points_v1 TO tidemark_runs;

CREATE VIEW ingest.project_series_v1 WITH (security_invoker = true) AS
SELECT p.org_id, p.project_id, sum(p.series)::bigint AS series FROM ingest.project_points p GROUP BY p.org_id, p.project_id;
COMMENT ON VIEW ingest.project_series_v1 IS
  'How many pairs of run and metric key a project has ever had. A project without metrics has no row.';
GRANT SELECT ON TABLE ingest.project_series_v1 TO tidemark_runs;

CREATE VIEW ingest.run_points_v1 WITH (security_invoker = true) AS
  SELECT m.org_id, m.run_id, m.point_count AS points FROM ingest.metric_runs m;
COMMENT ON VIEW ingest.run_points_v1 IS 'How many values runs have, at this moment. A run without metrics has no row.';
GRANT SELECT ON TABLE ingest.run_points_v1 TO tidemark_runs;

CREATE VIEW ingest.sort_keys_v1 WITH (security_invoker = true) AS
  SELECT s.org_id, s.key, s.by FROM ingest.sort_keys s WHERE s.ready;
COMMENT ON VIEW ingest.sort_keys_v1 IS
  'The keys whose values to sort by are those of all runs in sort_values_v1, in the snapshot that sees this.';
GRANT SELECT ON TABLE ingest.sort_keys_v1 TO tidemark_runs;

CREATE VIEW ingest.sort_values_v1 WITH (security_invoker = true) AS
  SELECT k.org_id, k.run_id, k.key, k.sort_best, k.sort_latest, k.sort_created_at,
         NOT EXISTS (SELECT FROM ingest.unindexed_runs u WHERE u.org_id = k.org_id AND u.run_id = k.run_id OFFSET 0) AS indexed
  FROM ingest.metric_keys k;
COMMENT ON VIEW ingest.sort_values_v1 IS
  'The values to sort by as they are stored; more is better in sort_best. Those of a key in sort_keys_v1, by the '
  'column that it names, are exact and of all runs that have the key. Of other keys, those of indexed runs are '
  'exact; the other runs are in unindexed_sort_values_v2. OFFSET keeps it a look-up per run.';
GRANT SELECT ON TABLE ingest.sort_values_v1 TO tidemark_runs;

CREATE VIEW ingest.stored_rows_v1 WITH (security_invoker = true) AS
  SELECT a.org_id, 'attributes'::text AS kind, a.bytes::bigint AS amount FROM ingest.attributes a
  UNION ALL SELECT l.org_id, 'logs', l.bytes FROM ingest.log_segments l
  UNION ALL SELECT l.org_id, 'logs', l.bytes FROM ingest.log_blocks l
  UNION ALL SELECT o.org_id, 'objects', o.bytes FROM ingest.objects o WHERE NOT o.from_attribute
  UNION ALL SELECT c.org_id, 'objects', c.bytes FROM ingest.table_chunks c
  UNION ALL SELECT m.org_id, 'series', m.key_count FROM ingest.metric_runs m
  UNION ALL SELECT m.org_id, 'values', m.point_count FROM ingest.metric_runs m
  UNION ALL SELECT r.org_id, 'values', ingest.rank_row_values(r.arrival, r.first_slot, r.packed) FROM ingest.rank_metric_rows r
  UNION ALL SELECT b.org_id, 'values', octet_length(b.set_values) / 8 FROM ingest.rank_metric_blocks b;
COMMENT ON VIEW ingest.stored_rows_v1 IS
  'What each row that is stored counts for: logical bytes of the kinds of storage, and numbers of values and series. '
  'Reads everything: for recounts.';
GRANT SELECT ON TABLE ingest.stored_rows_v1 TO tidemark_usage;

CREATE VIEW ingest.usage_v1 WITH (security_invoker = true) AS
  SELECT c.org_id,
         coalesce(sum(c.month_points) FILTER (WHERE c.month = date_trunc('month', now() AT TIME ZONE 'UTC')::date), 0)::bigint
           AS month_points,
         sum(c.points)::bigint AS points, sum(c.series)::bigint AS series
  FROM (SELECT p.org_id, p.month, p.month_points, p.points, p.series FROM ingest.project_points p
        UNION ALL
        SELECT r.org_id, r.month, r.month_points, r.points, 0 FROM ingest.rank_points r) c
  GROUP BY c.org_id;
COMMENT ON VIEW ingest.usage_v1 IS
  'What an organization has written: values of this month in UTC and of all times, those of ranks included, and '
  'series, which are pairs of run and metric key. An organization without values has no row.';
GRANT SELECT ON TABLE ingest.usage_v1 TO tidemark_usage;

CREATE FUNCTION ingest.add_captured_lines(org uuid, run uuid, of_stream text, segments bigint[], places smallint[],
  logged text[], documents text[], received timestamp with time zone, marker_seconds double precision)
RETURNS bigint
LANGUAGE plpgsql
SET plan_cache_mode TO 'force_generic_plan'
AS $function$
DECLARE
  highest constant bigint := 9007199254740991;
  before bigint;
  received_us constant bigint := (extract(epoch FROM received) * 1000000)::bigint;
BEGIN
  before := ingest.last_line(org, run, of_stream);
  INSERT INTO ingest.log_segments
    (org_id, run_id, stream, id, received_us, first_line, last_line, lines, message_bytes, block)
  SELECT org, run, of_stream, w.segment, received_us, min(w.line), max(w.line), count(*), sum(octet_length(w.message)),
         '\x02'::bytea || string_agg(
           int8send(w.line) || int8send(w.place) || int8send(0)
           || int8send(coalesce((extract(epoch FROM w.logged::timestamptz) * 1000000)::bigint, -9223372036854775808))
           || int4send(octet_length(w.message)) || w.message,
           ''::bytea ORDER BY w.line, w.place)
  FROM (
    SELECT s.segment, s.place, s.logged, ingest.line_of(s.document::json) AS message, least(before + s.n, highest) AS line
    FROM unnest(segments, places, logged, documents) WITH ORDINALITY AS s (segment, place, logged, document, n)
  ) w
  GROUP BY w.segment;
  IF marker_seconds IS NOT NULL THEN
    INSERT INTO ingest.dirty_markers (org_id, kind, run_id, part, id, due_at)
    VALUES (org, 'logs', run, of_stream, segments[1], now() + make_interval(secs => marker_seconds));
  END IF;
  RETURN least(before + cardinality(segments), highest);
END
$function$;
COMMENT ON FUNCTION ingest.add_captured_lines IS
  'Stores JSON strings as console lines of a stream, behind its last line. Each line has a segment, a multiple of '
  '64 for neighbors, and its place in it, from 0 to 63. Returns the number of the last line. Two writers at one '
  'time may use the same numbers, as every two processes of a run do. The blocks are plain ones of the log codec, '
  'because the numbers are not known before.';
REVOKE ALL ON FUNCTION ingest.add_captured_lines FROM PUBLIC;
GRANT EXECUTE ON FUNCTION ingest.add_captured_lines TO tidemark_ingest;

CREATE FUNCTION ingest.append_attributes(org uuid, run uuid, project uuid, first_id bigint, paths text[], types text[],
  steps double precision[], logged text[], documents text[], summaries text[], artifacts text[], OUT outcome text,
  OUT place integer, OUT stored_at timestamp with time zone)
RETURNS record
LANGUAGE plpgsql
AS $function$
BEGIN
  PERFORM platform.enter_org(org);
  IF cardinality(artifacts) > 0 THEN
    SELECT a.n INTO place FROM unnest(artifacts) WITH ORDINALITY AS a (id, n)
    WHERE a.id IS NOT NULL AND NOT EXISTS (
      SELECT FROM artifacts.artifacts_v1 v WHERE v.org_id = org AND v.id = a.id::uuid AND v.run_id = run OFFSET 0)
    ORDER BY a.n LIMIT 1;
    IF FOUND THEN
      outcome := 'no_artifact';
      RETURN;
    END IF;
  END IF;

  stored_at := now();
  INSERT INTO ingest.attributes
    (org_id, id, run_id, path, type, step, logged_at, value, summary, artifact_id, created_at)
  SELECT org, first_id + a.n - 1, run, a.path, a.type, nullif(a.step, 'NaN'),
         coalesce(a.logged_at::timestamptz, stored_at), a.document::json, a.summary::json, artifacts[a.n]::uuid, stored_at
  FROM unnest(paths, types, steps, logged, documents, summaries)
       WITH ORDINALITY AS a (path, type, step, logged_at, document, summary, n);
  IF types && ARRAY['histogram_series', 'string_series'] THEN
    INSERT INTO ingest.objects (org_id, id, run_id, project_id, key, kind, from_attribute, step, bytes, created_at)
    SELECT org, first_id + a.n - 1, run, project, a.path,
           CASE a.type WHEN 'string_series' THEN 'text' ELSE 'histogram' END, true, nullif(a.step, 'NaN'),
           octet_length(a.path) + octet_length(a.document) + octet_length(a.summary), stored_at
    FROM unnest(paths, types, steps, documents, summaries)
         WITH ORDINALITY AS a (path, type, step, document, summary, n)
    WHERE a.type IN ('histogram_series', 'string_series');
  END IF;
  outcome := 'inserted';
END
$function$;
COMMENT ON FUNCTION ingest.append_attributes IS
  'Stores one request of attributes in one round trip. Outcomes: inserted; no_artifact: the artifact of the '
  'attribute at this place, counted from 1, is none of the run. The rows get the ids from first_id on; an id that '
  'is taken fails the transaction. NaN stands for no step, null for no time and no artifact; an empty list of '
  'artifacts stands for none at all.';
REVOKE ALL ON FUNCTION ingest.append_attributes FROM PUBLIC;
GRANT EXECUTE ON FUNCTION ingest.append_attributes TO tidemark_ingest;

CREATE FUNCTION ingest.append_captured(org uuid, run uuid, project uuid, first_id bigint, paths text[], types text[],
  steps double precision[], logged text[], documents text[], summaries text[], artifacts text[], line_streams text[],
  stdout_segments bigint[], stdout_marker double precision, stderr_segments bigint[], stderr_marker double precision,
  lines_per_segment integer, OUT outcome text, OUT place integer, OUT stored_at timestamp with time zone,
  OUT highest_line bigint)
RETURNS record
LANGUAGE plpgsql
AS $function$
DECLARE
  stream text;
  segments bigint[];
  line_times text[];
  line_documents text[];
BEGIN
  SELECT a.outcome, a.place, a.stored_at INTO outcome, place, stored_at
  FROM ingest.append_attributes(org, run, project, first_id, paths, types, steps, logged, documents, summaries, artifacts) a;
  IF outcome <> 'inserted' THEN
    RETURN;
  END IF;
  FOREACH stream IN ARRAY ARRAY['stdout', 'stderr'] LOOP
    segments := CASE stream WHEN 'stdout' THEN stdout_segments ELSE stderr_segments END;
    CONTINUE WHEN segments = '{}';
    -- Nothing is looked up by its place: that would pass all texts before it.
    SELECT array_agg(a.logged ORDER BY a.n), array_agg(a.document ORDER BY a.n) INTO line_times, line_documents
    FROM unnest(logged, documents, line_streams) WITH ORDINALITY AS a (logged, document, of_stream, n) WHERE a.of_stream = stream;
    highest_line := greatest(highest_line, ingest.add_captured_lines(org, run, stream,
      ARRAY(SELECT segments[(n - 1) / lines_per_segment + 1] FROM generate_series(1, cardinality(line_documents)) n ORDER BY n),
      ARRAY(SELECT ((n - 1) % lines_per_segment)::smallint FROM generate_series(1, cardinality(line_documents)) n ORDER BY n),
      line_times, line_documents,
      stored_at, CASE stream WHEN 'stdout' THEN stdout_marker ELSE stderr_marker END));
  END LOOP;
END
$function$;
COMMENT ON FUNCTION ingest.append_captured IS
  'As append_attributes, for a request with console lines that the SDK captured, which are stored as such in the '
  'same transaction. line_streams: of each attribute the stream of the line that it is, or null. Every '
  'lines_per_segment lines of a stream, at most 64, make a segment with the next of the ids. Markers as of '
  'append_log_lines. highest_line: the highest number that a line got.';
REVOKE ALL ON FUNCTION ingest.append_captured FROM PUBLIC;
GRANT EXECUTE ON FUNCTION ingest.append_captured TO tidemark_ingest;

CREATE FUNCTION ingest.append_log_lines(org uuid, run uuid, run_known boolean, only_project uuid, idempotency_key bytea,
  idempotency_body bytea, of_stream text, segment_id bigint, lowest_line bigint, highest_line bigint,
  line_count integer, text_bytes integer, line_block bytea, marker_seconds double precision, OUT outcome text,
  OUT inserted integer, OUT run_project uuid)
RETURNS record
LANGUAGE plpgsql
AS $function$
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

  INSERT INTO ingest.log_segments
    (org_id, run_id, stream, id, received_us, first_line, last_line, lines, message_bytes, block)
  VALUES (org, run, of_stream, segment_id, (extract(epoch FROM now()) * 1000000)::bigint,
          lowest_line, highest_line, line_count, text_bytes, line_block);
  IF marker_seconds IS NOT NULL THEN
    INSERT INTO ingest.dirty_markers (org_id, kind, run_id, part, id, due_at)
    VALUES (org, 'logs', run, of_stream, segment_id, now() + make_interval(secs => marker_seconds));
  END IF;

  IF idempotency_key IS NOT NULL THEN
    PERFORM platform.keep_key(org, idempotency_key, idempotency_body, int4send(line_count));
  END IF;
  outcome := 'inserted';
  inserted := line_count;
END
$function$;
COMMENT ON FUNCTION ingest.append_log_lines IS
  'Stores one request of console lines in one round trip. Outcomes: inserted; not_found; replayed: a repeat of a '
  'stored request, with its count; reused: the idempotency key belongs to another request. A segment id that is '
  'taken fails the transaction. marker_seconds: leave a dirty marker that is due in this many seconds; null: leave '
  'none. Takes no lock that a compactor ever holds.';
REVOKE ALL ON FUNCTION ingest.append_log_lines FROM PUBLIC;
GRANT EXECUTE ON FUNCTION ingest.append_log_lines TO tidemark_ingest;

CREATE FUNCTION ingest.append_metric_group(org uuid, sort_keys_version bigint, points_slot smallint,
  runs ingest.metric_run_change[], writes ingest.metric_write[], markers ingest.metric_marker[],
  records platform.idempotency_record[], new_keys ingest.new_metric_key[], page_changes ingest.aggregate_page_change[],
  projects ingest.project_growth[], sort_changes ingest.sort_value_change[], OUT outcome text, OUT indexes integer[],
  OUT same_bodies boolean[], OUT old_replies bytea[], OUT noted_minute integer)
RETURNS record
LANGUAGE plpgsql
SET plan_cache_mode TO 'force_generic_plan'
SET enable_seqscan TO 'off'
AS $function$
DECLARE
  minute constant integer := floor(extract(epoch FROM now()) / 60)::integer;
  this_month constant date := date_trunc('month', now() AT TIME ZONE 'UTC')::date;
  has_new boolean;
  has_old_note boolean;
BEGIN
  PERFORM platform.enter_org(org);

  IF cardinality(records) > 0 THEN
    SELECT array_agg(c.place), array_agg(c.same_body), array_agg(c.reply) INTO indexes, same_bodies, old_replies
    FROM platform.claim_keys(org, records) c;
    IF indexes IS NOT NULL THEN
      outcome := 'keys';
      RETURN;
    END IF;
  END IF;

  SELECT bool_or(r.version = 0), bool_or(r.noted_minute < minute) INTO has_new, has_old_note FROM unnest(runs) r;
  -- Version 0 is the same as no row, so nothing has to be undone if the group is not applied.
  IF has_new THEN
    INSERT INTO ingest.metric_runs (org_id, run_id, version, key_count, point_count)
    SELECT org, r.run_id, 0, 0, 0 FROM unnest(runs) r WHERE r.version = 0 ORDER BY r.run_id
    ON CONFLICT (org_id, run_id) DO NOTHING;
  END IF;
  SELECT array_agg(r.ordinality) FILTER (WHERE m.version IS DISTINCT FROM r.version) INTO indexes
  FROM unnest(runs) WITH ORDINALITY r
  LEFT JOIN LATERAL (SELECT o.version FROM ingest.metric_runs o
                     WHERE o.org_id = org AND o.run_id = r.run_id OFFSET 0 FOR UPDATE) m ON true;
  IF indexes IS NOT NULL THEN
    outcome := 'stale';
    RETURN;
  END IF;

  -- After the locks, which gave this transaction its number, and in a snapshot of its own: fill_sort_key relies on both.
  IF sort_keys_version <> coalesce((SELECT v.version FROM ingest.sort_key_versions v WHERE v.org_id = org), 0) THEN
    outcome := 'sort_keys';
    RETURN;
  END IF;

  INSERT INTO ingest.metric_runs (org_id, run_id, version, key_count, point_count)
  SELECT org, r.run_id, r.next_version, r.key_count, r.point_count FROM unnest(runs) r
  ON CONFLICT (org_id, run_id) DO UPDATE
  SET version = excluded.version, key_count = excluded.key_count, point_count = excluded.point_count;

  INSERT INTO ingest.metric_segments (org_id, run_id, id, received_us, first_step, last_step, points)
  SELECT org, w.run_id, w.seq, (extract(epoch FROM now()) * 1000000)::bigint, w.first_step, w.last_step, w.segment
  FROM unnest(writes) w;

  IF cardinality(records) > 0 THEN
    PERFORM platform.keep_keys(org, records);
  END IF;

  IF cardinality(markers) > 0 THEN
    INSERT INTO ingest.dirty_markers (org_id, kind, run_id, part, id, due_at)
    SELECT org, 'metrics', m.run_id, '', m.seq, now() + make_interval(secs => m.due_seconds) FROM unnest(markers) m;
  END IF;

  -- Waits for an indexer that has one of the runs.
  IF has_old_note THEN
    INSERT INTO ingest.unindexed_runs AS u (org_id, run_id, touched_minute)
    SELECT org, r.run_id, minute FROM unnest(runs) r
    WHERE r.noted_minute < minute AND NOT EXISTS (SELECT FROM ingest.unindexed_runs o
                                      WHERE o.org_id = org AND o.run_id = r.run_id AND o.touched_minute >= minute OFFSET 0)
    ON CONFLICT (org_id, run_id) DO UPDATE SET touched_minute = greatest(u.touched_minute, excluded.touched_minute);
  END IF;

  IF cardinality(new_keys) > 0 THEN
    INSERT INTO ingest.metric_keys (org_id, run_id, key, key_id, minimise)
    SELECT org, k.run_id, k.key, k.key_id, k.minimise FROM unnest(new_keys) k;
  END IF;
  INSERT INTO ingest.metric_aggregate_pages AS a (org_id, run_id, page, stats, non_finite)
  SELECT org, s.run_id, s.page,
         p.stats[1:s.slot * 10] || s.stats || p.stats[s.slot * 10 + cardinality(s.stats) + 1:320], nullif(s.non_finite, '{}')
  FROM unnest(page_changes) s
  LEFT JOIN LATERAL (SELECT o.stats FROM ingest.metric_aggregate_pages o
                     WHERE o.org_id = org AND o.run_id = s.run_id AND o.page = s.page
                       AND (s.slot > 0 OR cardinality(s.stats) < 320) OFFSET 0) p ON true
  ON CONFLICT (org_id, run_id, page) DO UPDATE
  SET stats = excluded.stats, non_finite = coalesce(excluded.non_finite, a.non_finite);

  IF cardinality(sort_changes) > 0 THEN
    INSERT INTO ingest.metric_keys AS k (org_id, run_id, key, key_id, minimise, sort_best, sort_latest, sort_created_at)
    SELECT org, s.run_id, s.key, s.key_id, s.minimise, nullif(s.best, 'NaN'), nullif(s.latest, 'NaN'),
           CASE WHEN s.is_new THEN (SELECT r.created_at FROM runs.run_refs_v1 r WHERE r.org_id = org AND r.id = s.run_id) END
    FROM unnest(sort_changes) s
    ON CONFLICT (org_id, run_id, key) DO UPDATE SET
      sort_best = coalesce(excluded.sort_best, k.sort_best),
      sort_latest = coalesce(excluded.sort_latest, k.sort_latest),
      sort_created_at = coalesce(k.sort_created_at, (SELECT r.created_at FROM runs.run_refs_v1 r
                                                     WHERE r.org_id = k.org_id AND r.id = k.run_id))
    WHERE k.sort_best IS DISTINCT FROM coalesce(excluded.sort_best, k.sort_best)
      OR k.sort_latest IS DISTINCT FROM coalesce(excluded.sort_latest, k.sort_latest);
  END IF;

  -- Last, because another group may wait for one of these rows until this one is committed.
  INSERT INTO ingest.project_points AS p (org_id, project_id, slot, points, series, month, month_points)
  SELECT org, a.project_id, points_slot, a.points, a.series, this_month, a.points FROM unnest(projects) a
  ON CONFLICT (org_id, project_id, slot) DO UPDATE
  SET points = p.points + excluded.points, series = p.series + excluded.series,
      month_points = CASE WHEN p.month >= excluded.month THEN p.month_points ELSE 0 END + excluded.month_points,
      month = greatest(p.month, excluded.month);
  outcome := 'applied';
  noted_minute := minute;
END
$function$;
COMMENT ON FUNCTION ingest.append_metric_group IS
  'Stores a group of requests of one organization, all of them or none, with the changes of key aggregates that '
  'they make. runs are distinct and ascending. Each request is an element of writes; markers are the dirty markers '
  'that some of them leave, records the idempotency records of those that have a key, keys distinct. new_keys are '
  'keys that the runs did not have and that are not sort keys, which are among sort_changes. projects are distinct '
  'and ascending, and counted in points_slot, 0 to 15, which the caller uses for one group at a time. '
  'sort_keys_version is that of the sort keys that the caller knows. Outcomes: applied; keys: the keys at indexes '
  'cannot be used, as claim_keys says; stale: the runs at indexes have other versions; sort_keys: the sort keys have '
  'another version. Nothing is written in the last three cases. Look-ups are laterals behind OFFSET 0, and changes '
  'go through ON CONFLICT: a plan that was made while a table was small must not read it whole when it has grown. '
  'One plan is right for all values: planning at each call would cost more than everything else. Locks are taken in '
  'this order by all: idempotency keys, runs ascending, their rows in unindexed_runs, counters ascending.';
REVOKE ALL ON FUNCTION ingest.append_metric_group FROM PUBLIC;
GRANT EXECUTE ON FUNCTION ingest.append_metric_group TO tidemark_ingest;

CREATE FUNCTION ingest.append_rank_metrics(org uuid, run uuid, run_known boolean, only_project uuid,
  idempotency_key bytea, idempotency_body bytea, at_step double precision, at_rank smallint, at_local_rank smallint,
  rank_weight double precision, client_us bigint, value_count integer, sets integer[], first_slots smallint[],
  pages boolean[], packed_values bytea[], marker_sets integer[], marker_seconds double precision[], OUT outcome text,
  OUT inserted integer, OUT run_project uuid)
RETURNS record
LANGUAGE plpgsql
AS $function$
DECLARE
  before record;
  now_us bigint;
  stored bigint;
  replaced bigint;
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

  -- The clock and not now(): this may have waited for its key.
  now_us := (extract(epoch FROM clock_timestamp()) * 1000000)::bigint;
  WITH written AS (
    INSERT INTO ingest.rank_metric_rows AS r
      (org_id, run_id, set_id, step, rank, arrival, received_us, sent_us, weight, local_rank, first_slot, packed)
    SELECT org, run, v.set_id, at_step, at_rank, CASE WHEN v.is_page THEN 1 + (now_us & 2147483646)::integer ELSE 0 END,
           now_us, client_us, rank_weight, at_local_rank, v.first_slot, v.packed
    FROM unnest(sets, first_slots, pages, packed_values) AS v (set_id, first_slot, is_page, packed)
    ON CONFLICT (org_id, run_id, set_id, step, rank, arrival) DO UPDATE
    SET received_us = excluded.received_us, sent_us = excluded.sent_us, weight = excluded.weight,
        local_rank = excluded.local_rank, packed = excluded.packed
    WHERE r.arrival = 0
    -- A row that was not there has no transaction that deleted it.
    RETURNING CASE WHEN r.xmax = '0' THEN 0 ELSE octet_length(r.packed) / 8 END AS replaced_values
  )
  SELECT count(*), coalesce(sum(w.replaced_values), 0) INTO stored, replaced FROM written w;
  IF stored < cardinality(sets) THEN
    RAISE unique_violation USING MESSAGE = 'two requests of one rank, step and moment';
  END IF;

  INSERT INTO ingest.dirty_markers (org_id, kind, run_id, part, id, due_at)
  SELECT org, 'ranks', run, m.set_id::text, now_us, now() + make_interval(secs => m.seconds)
  FROM unnest(marker_sets, marker_seconds) AS m (set_id, seconds)
  ON CONFLICT DO NOTHING;

  IF idempotency_key IS NOT NULL THEN
    PERFORM platform.keep_key(org, idempotency_key, idempotency_body, int4send(value_count));
  END IF;
  PERFORM ingest.count_rank_values(org, value_count, value_count - replaced);
  outcome := 'inserted';
  inserted := value_count;
END
$function$;
COMMENT ON FUNCTION ingest.append_rank_metrics IS
  'Stores one request of rank metrics in one round trip, with the outcomes of append_log_lines, and leaves a dirty '
  'marker for each of marker_sets, due in marker_seconds.';
REVOKE ALL ON FUNCTION ingest.append_rank_metrics FROM PUBLIC;
GRANT EXECUTE ON FUNCTION ingest.append_rank_metrics TO tidemark_ingest;

CREATE FUNCTION ingest.ask_sort_key_v1(org uuid, of_key text, of_by text)
RETURNS void
LANGUAGE plpgsql
SECURITY DEFINER
SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
DECLARE
  keys_max constant integer := 16;
  asked timestamptz;
BEGIN
  PERFORM platform.enter_org(org);
  SELECT s.asked_at INTO asked FROM ingest.sort_keys s
  WHERE s.org_id = org AND s.key = of_key COLLATE "C" AND s.by = of_by COLLATE "C";
  IF asked > now() - interval '1 hour' THEN
    RETURN;
  END IF;
  UPDATE ingest.sort_keys s SET asked_at = now()
  WHERE s.org_id = org AND s.key = of_key COLLATE "C" AND s.by = of_by COLLATE "C";
  -- The time of one that is requested all the time is up to an hour old.
  IF FOUND OR keys_max <= (SELECT count(*) FROM ingest.sort_keys s
                           WHERE s.org_id = org AND s.asked_at > now() - interval '2 hours') THEN
    RETURN;
  END IF;

  INSERT INTO ingest.sort_key_versions (org_id, version) VALUES (org, 0) ON CONFLICT (org_id) DO NOTHING;
  PERFORM FROM ingest.sort_key_versions v WHERE v.org_id = org FOR UPDATE;
  -- Again, because another one may have been quicker.
  IF EXISTS (SELECT FROM ingest.sort_keys s
             WHERE s.org_id = org AND s.key = of_key COLLATE "C" AND s.by = of_by COLLATE "C") THEN
    RETURN;
  END IF;
  IF keys_max <= (SELECT count(*) FROM ingest.sort_keys s WHERE s.org_id = org) THEN
    DELETE FROM ingest.sort_keys s
    USING (SELECT o.key, o.by FROM ingest.sort_keys o
           WHERE o.org_id = org AND o.asked_at <= now() - interval '2 hours' ORDER BY o.asked_at LIMIT 1) oldest
    WHERE s.org_id = org AND s.key = oldest.key AND s.by = oldest.by;
    IF NOT FOUND THEN
      RETURN;
    END IF;
  END IF;
  INSERT INTO ingest.sort_keys (org_id, key, by, asked_at) VALUES (org, of_key, of_by, now());
  UPDATE ingest.sort_key_versions v SET version = v.version + 1 WHERE v.org_id = org;
END
$function$;
COMMENT ON FUNCTION ingest.ask_sort_key_v1 IS
  'Notes that a list of the organization is sorted by a key, by its best or its latest value. A key that is new '
  'here becomes a sort key, and soon a ready one, unless there are 16 that were requested within the hour; else it '
  'replaces the one with the oldest request. Writes nothing where it was called within the hour. Call it in '
  'a transaction of its own.';
REVOKE ALL ON FUNCTION ingest.ask_sort_key_v1 FROM PUBLIC;
ALTER FUNCTION ingest.ask_sort_key_v1 OWNER TO tidemark_definer;
GRANT EXECUTE ON FUNCTION ingest.ask_sort_key_v1 TO tidemark_runs;

CREATE FUNCTION ingest.assign_rank_keys(org uuid, run uuid, world smallint, request_keys text[], sets_max integer)
RETURNS TABLE(set_id integer, slot smallint, is_page boolean)
LANGUAGE plpgsql
AS $function$
#variable_conflict use_column
DECLARE
  next_set integer;
  chunk text[];
  chunk_digest bytea;
  chunk_set integer;
  page integer;
  page_keys smallint;
  k record;
BEGIN
  PERFORM platform.enter_org(org);
  FOR at IN 1 .. cardinality(request_keys) BY 64 LOOP
    chunk := request_keys[at : at + 63];
    chunk_digest := substring(sha256(convert_to(world || chunk::text, 'UTF8')) FROM 1 FOR 16);
    SELECT s.set_id INTO chunk_set FROM ingest.rank_metric_sets s
    WHERE s.org_id = org AND s.run_id = run AND s.digest = chunk_digest;
    IF NOT FOUND AND next_set IS NULL THEN
      INSERT INTO ingest.rank_metric_runs AS r (org_id, run_id, sets) VALUES (org, run, 0)
      ON CONFLICT (org_id, run_id) DO UPDATE SET sets = r.sets
      RETURNING r.sets INTO next_set;
      -- The previous holder of the lock may have made it.
      SELECT s.set_id INTO chunk_set FROM ingest.rank_metric_sets s
      WHERE s.org_id = org AND s.run_id = run AND s.digest = chunk_digest;
    END IF;
    IF chunk_set IS NULL AND next_set < sets_max THEN
      chunk_set := next_set;
      next_set := next_set + 1;
      INSERT INTO ingest.rank_metric_sets (org_id, run_id, set_id, digest, world_size, keys)
      VALUES (org, run, chunk_set, chunk_digest, world, cardinality(chunk));
      INSERT INTO ingest.rank_metric_keys (org_id, run_id, key, set_id, slot, world_size, is_page)
      SELECT org, run, c.key, chunk_set, c.n - 1, world, false FROM unnest(chunk) WITH ORDINALITY AS c (key, n);
    END IF;
    IF chunk_set IS NOT NULL THEN
      RETURN QUERY SELECT chunk_set, (n - 1)::smallint, false FROM generate_series(1, cardinality(chunk)) AS n;
      CONTINUE;
    END IF;

    IF page IS NULL THEN
      SELECT s.set_id, s.keys INTO page, page_keys FROM ingest.rank_metric_sets s
      WHERE s.org_id = org AND s.run_id = run AND s.digest IS NULL AND s.world_size = world
      ORDER BY s.set_id DESC LIMIT 1;
    END IF;
    FOR k IN
      SELECT c.key, p.set_id, p.slot FROM unnest(chunk) WITH ORDINALITY AS c (key, n)
      LEFT JOIN ingest.rank_metric_keys p
        ON p.org_id = org AND p.run_id = run AND p.key = c.key AND p.is_page AND p.world_size = world
      ORDER BY c.n
    LOOP
      is_page := true;
      IF k.set_id IS NULL THEN
        IF page IS NULL OR page_keys = 64 THEN
          UPDATE ingest.rank_metric_sets s SET keys = page_keys
          WHERE s.org_id = org AND s.run_id = run AND s.set_id = page;
          page := next_set;
          page_keys := 0;
          next_set := next_set + 1;
          INSERT INTO ingest.rank_metric_sets (org_id, run_id, set_id, world_size, keys)
          VALUES (org, run, page, world, page_keys);
        END IF;
        INSERT INTO ingest.rank_metric_keys (org_id, run_id, key, set_id, slot, world_size, is_page)
        VALUES (org, run, k.key, page, page_keys, world, true);
        set_id := page;
        slot := page_keys;
        page_keys := page_keys + 1;
      ELSE
        set_id := k.set_id;
        slot := k.slot;
      END IF;
      RETURN NEXT;
    END LOOP;
  END LOOP;

  UPDATE ingest.rank_metric_runs r SET sets = next_set WHERE r.org_id = org AND r.run_id = run AND r.sets < next_set;
  UPDATE ingest.rank_metric_sets s SET keys = page_keys
  WHERE s.org_id = org AND s.run_id = run AND s.set_id = page AND s.keys <> page_keys;
END
$function$;
COMMENT ON FUNCTION ingest.assign_rank_keys IS
  'Returns where the keys of a request are stored, in the order of the keys, and assigns a set or a slot of a page '
  'to each key that has none. Makes up to sets_max sets for keys that arrive together, then pages.';
REVOKE ALL ON FUNCTION ingest.assign_rank_keys FROM PUBLIC;
GRANT EXECUTE ON FUNCTION ingest.assign_rank_keys TO tidemark_ingest;

CREATE FUNCTION ingest.attribute_paths_v1(org uuid, run uuid)
RETURNS TABLE(path text)
LANGUAGE sql
STABLE
AS $function$
  WITH RECURSIVE paths AS (
    (SELECT a.path FROM ingest.attributes a WHERE a.org_id = org AND a.run_id = run ORDER BY a.path LIMIT 1)
    UNION ALL
    SELECT (SELECT a.path FROM ingest.attributes a WHERE a.org_id = org AND a.run_id = run AND a.path > p.path ORDER BY a.path LIMIT 1)
    FROM paths p WHERE p.path IS NOT NULL
  )
  SELECT p.path FROM paths p WHERE p.path IS NOT NULL
$function$;
COMMENT ON FUNCTION ingest.attribute_paths_v1 IS
  'Returns the paths of the attributes of a run, each once. Jumps over the older rows of a path, of which a run may '
  'have a hundred thousand.';
REVOKE ALL ON FUNCTION ingest.attribute_paths_v1 FROM PUBLIC;
GRANT EXECUTE ON FUNCTION ingest.attribute_paths_v1 TO tidemark_runs;

CREATE FUNCTION ingest.chunk_values(statistics bytea, slot integer)
RETURNS integer
LANGUAGE sql
IMMUTABLE PARALLEL SAFE
RETURN CASE WHEN ((statistics IS NULL) OR (octet_length(statistics) < (72 * (slot + 1))) OR (get_byte(statistics, ((72 * slot) + 7)) = 0)) THEN 0 ELSE ((((4096 + ((get_byte(statistics, ((72 * slot) + 6)) & 15) << 8)) + get_byte(statistics, ((72 * slot) + 5))) << LEAST((((get_byte(statistics, ((72 * slot) + 7)) << 4) + (get_byte(statistics, ((72 * slot) + 6)) >> 4)) - 1023), 18)) >> 12) END;
COMMENT ON FUNCTION ingest.chunk_values IS
  'Returns how many values a key has in a block of a range of 16 keys, or slightly less where it has thousands: the '
  'first double of its statistics, of whose mantissa the twelve leading bits count.';
REVOKE ALL ON FUNCTION ingest.chunk_values FROM PUBLIC;
GRANT EXECUTE ON FUNCTION ingest.chunk_values TO tidemark_ingest;

CREATE FUNCTION ingest.chunk_is_finite(statistics bytea, slot integer)
RETURNS boolean
LANGUAGE sql
IMMUTABLE PARALLEL SAFE
RETURN get_byte(statistics, 72 * slot + 47) & 127 <> 127 OR get_byte(statistics, 72 * slot + 46) < 240;
COMMENT ON FUNCTION ingest.chunk_is_finite IS
  'Returns whether all values of a key in a block of a range of 16 keys, which has the key, are finite: the lowest, the '
  'sixth double of its statistics, is then not NaN.';
REVOKE ALL ON FUNCTION ingest.chunk_is_finite FROM PUBLIC;
GRANT EXECUTE ON FUNCTION ingest.chunk_is_finite TO tidemark_ingest;

CREATE FUNCTION ingest.compact_rank_rows(org uuid, run uuid, of_set integer, held_fence uuid,
  lease_seconds double precision, rest_seconds double precision, entries_min integer, entries_max integer,
  overlaps_max integer)
RETURNS integer
LANGUAGE plpgsql
AS $function$
BEGIN
  PERFORM platform.enter_org(org);
  UPDATE ingest.compaction_work w SET claimed_until = now() + make_interval(secs => lease_seconds)
  WHERE w.org_id = org AND w.kind = 'ranks' AND w.run_id = run AND w.part = of_set::text AND w.fence = held_fence;
  IF NOT FOUND THEN
    RETURN -1;
  END IF;
  RETURN ingest.move_rank_rows_to_block(org, run, of_set, rest_seconds, entries_min, entries_max, overlaps_max);
END
$function$;
COMMENT ON FUNCTION ingest.compact_rank_rows IS
  'Moves rows as move_rank_rows_to_block does, and extends the claim on the work by lease_seconds. Returns -1, and '
  'does nothing, when the fence token is no longer the holder''s.';
REVOKE ALL ON FUNCTION ingest.compact_rank_rows FROM PUBLIC;
GRANT EXECUTE ON FUNCTION ingest.compact_rank_rows TO tidemark_ingest_worker;

CREATE FUNCTION ingest.copied_document(document json, old_artifact uuid, new_artifact uuid) RETURNS json
  LANGUAGE sql IMMUTABLE PARALLEL SAFE
  RETURN CASE WHEN new_artifact IS NULL THEN document
              ELSE replace(document::text, old_artifact::text, new_artifact::text)::json END;
COMMENT ON FUNCTION ingest.copied_document IS
  'Returns a document with the id of an artifact replaced by that of its copy; null for no copy.';
REVOKE ALL ON FUNCTION ingest.copied_document FROM PUBLIC;
GRANT EXECUTE ON FUNCTION ingest.copied_document TO tidemark_ingest;

CREATE FUNCTION ingest.copied_artifact(org uuid, source uuid, copy uuid, artifact uuid)
RETURNS uuid
LANGUAGE plpgsql
STABLE
AS $function$
BEGIN
  RETURN (SELECT platform.copied_id(copy, f.id) FROM artifacts.artifacts_v1 f
          WHERE f.org_id = org AND f.id = artifact AND f.run_id = source);
END
$function$;
COMMENT ON FUNCTION ingest.copied_artifact IS
  'Returns the id of the copy of an artifact of the source; null for artifacts of other runs, and for none.';
REVOKE ALL ON FUNCTION ingest.copied_artifact FROM PUBLIC;
GRANT EXECUTE ON FUNCTION ingest.copied_artifact TO tidemark_ingest;

CREATE FUNCTION ingest.copy_attributes(org uuid, source uuid, copy uuid, project uuid, after_id bigint, rows_max integer)
RETURNS bigint
LANGUAGE plpgsql
SET plan_cache_mode TO 'force_generic_plan'
SET enable_seqscan TO 'off'
AS $function$
DECLARE
  first_id constant bigint := ingest.fresh_id();
  page bigint[];
BEGIN
  page := ARRAY(SELECT a.id FROM (SELECT o.id FROM ingest.attributes o
                                  WHERE o.org_id = org AND o.run_id = source OFFSET 0) a
                WHERE a.id > after_id ORDER BY a.id LIMIT rows_max);
  INSERT INTO ingest.attributes (org_id, id, run_id, path, type, step, logged_at, value, summary, created_at, artifact_id)
  SELECT org, first_id + w.n - 1, copy, a.path, a.type, a.step, a.logged_at,
         ingest.copied_document(a.value, a.artifact_id, f.id), ingest.copied_document(a.summary, a.artifact_id, f.id),
         a.created_at, coalesce(f.id, a.artifact_id)
  FROM unnest(page) WITH ORDINALITY AS w (id, n)
  CROSS JOIN LATERAL (SELECT o.* FROM ingest.attributes o WHERE o.org_id = org AND o.id = w.id OFFSET 0) a
  CROSS JOIN LATERAL (SELECT CASE WHEN a.artifact_id IS NOT NULL
                                  THEN ingest.copied_artifact(org, source, copy, a.artifact_id) END AS id OFFSET 0) f;
  INSERT INTO ingest.objects (org_id, id, run_id, project_id, key, kind, from_attribute, step, artifact_id, value, metadata,
                              summary, bytes, created_at)
  SELECT org, first_id + w.n - 1, copy, project, o.key, o.kind, true, o.step, o.artifact_id, o.value, o.metadata, o.summary,
         o.bytes, o.created_at
  FROM unnest(page) WITH ORDINALITY AS w (id, n)
  CROSS JOIN LATERAL (SELECT f.* FROM ingest.objects f
                      WHERE f.org_id = org AND f.id = w.id AND f.run_id = source AND f.from_attribute OFFSET 0) o;
  RETURN CASE WHEN cardinality(page) = rows_max THEN page[rows_max] END;
END
$function$;
COMMENT ON FUNCTION ingest.copy_attributes IS
  'Copies the next attributes of a run behind after_id, at most rows_max, with the objects that they are, in the order of '
  'their ids. Returns the last of them; null: there are no more.';
REVOKE ALL ON FUNCTION ingest.copy_attributes FROM PUBLIC;
GRANT EXECUTE ON FUNCTION ingest.copy_attributes TO tidemark_ingest;

CREATE FUNCTION ingest.copy_objects(org uuid, source uuid, copy uuid, project uuid, after_id bigint, rows_max integer,
  bytes_max bigint)
RETURNS bigint
LANGUAGE plpgsql
SET plan_cache_mode TO 'force_generic_plan'
SET enable_seqscan TO 'off'
AS $function$
DECLARE
  first_id constant bigint := ingest.fresh_id();
  page bigint[];
  fitting bigint[];
BEGIN
  page := ARRAY(SELECT b.id FROM (SELECT o.id FROM ingest.objects o
                                  WHERE o.org_id = org AND o.run_id = source AND NOT o.from_attribute OFFSET 0) b
                WHERE b.id > after_id ORDER BY b.id LIMIT rows_max);
  fitting := ARRAY(
    SELECT f.id FROM (
      SELECT w.id, sum(c.bytes) OVER (ORDER BY w.id) - c.bytes AS bytes_before FROM unnest(page) AS w (id)
      CROSS JOIN LATERAL (SELECT coalesce(sum(octet_length(k.rows)), 0) AS bytes FROM ingest.table_chunks k
                          WHERE k.org_id = org AND k.object_id = w.id OFFSET 0) c
    ) f WHERE f.bytes_before < bytes_max ORDER BY f.id);
  WITH picked AS MATERIALIZED (
    SELECT o.*, first_id + w.n - 1 AS new_id, f.id AS new_artifact
    FROM unnest(fitting) WITH ORDINALITY AS w (id, n)
    CROSS JOIN LATERAL (SELECT b.* FROM ingest.objects b WHERE b.org_id = org AND b.id = w.id OFFSET 0) o
    CROSS JOIN LATERAL (SELECT CASE WHEN o.artifact_id IS NOT NULL
                                    THEN ingest.copied_artifact(org, source, copy, o.artifact_id) END AS id OFFSET 0) f
  ), made AS (
    INSERT INTO ingest.objects (org_id, id, run_id, project_id, key, kind, from_attribute, step, artifact_id, value, metadata,
                                summary, bytes, created_at)
    SELECT org, p.new_id, copy, project, p.key, p.kind, false, p.step, coalesce(p.new_artifact, p.artifact_id),
           ingest.copied_document(p.value, p.artifact_id, p.new_artifact),
           ingest.copied_document(p.metadata, p.artifact_id, p.new_artifact),
           ingest.copied_document(p.summary, p.artifact_id, p.new_artifact), p.bytes, p.created_at
    FROM picked p
  )
  INSERT INTO ingest.table_chunks (org_id, object_id, chunk, rows, bytes)
  SELECT org, p.new_id, c.chunk, c.rows, c.bytes FROM picked p
  CROSS JOIN LATERAL (SELECT k.* FROM ingest.table_chunks k WHERE k.org_id = org AND k.object_id = p.id OFFSET 0) c;
  RETURN CASE WHEN cardinality(page) = rows_max OR cardinality(fitting) < cardinality(page)
              THEN fitting[cardinality(fitting)] END;
END
$function$;
COMMENT ON FUNCTION ingest.copy_objects IS
  'Copies the next objects of a run behind after_id that are no attributes, at most rows_max, until those before have '
  'bytes_max bytes of rows of tables, with these rows. Returns the last of them; null: there are no more.';
REVOKE ALL ON FUNCTION ingest.copy_objects FROM PUBLIC;
GRANT EXECUTE ON FUNCTION ingest.copy_objects TO tidemark_ingest;

CREATE FUNCTION ingest.copy_run_v1(org uuid, source uuid, copy uuid, project uuid, state json)
RETURNS json
LANGUAGE plpgsql
SECURITY DEFINER
SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
DECLARE
  attributes_max constant integer := 5000;
  objects_max constant integer := 200;
  bytes_max constant bigint := 8 * 1024 * 1024;
  part text := coalesce(state ->> 'part', 'attributes');
  after_id bigint := coalesce((state ->> 'after')::bigint, 0);
  metrics json := state -> 'metrics';
BEGIN
  IF state IS NULL THEN
    metrics := ingest.copy_metrics(org, source, copy);
    PERFORM ingest.copy_logs_and_ranks(org, source, copy);
  END IF;
  IF part = 'attributes' THEN
    after_id := ingest.copy_attributes(org, source, copy, project, after_id, attributes_max);
    IF after_id IS NULL THEN
      part := 'objects';
      after_id := 0;
    END IF;
  END IF;
  -- Not on top of a full page.
  IF part = 'objects' THEN
    after_id := ingest.copy_objects(org, source, copy, project, after_id, objects_max, bytes_max);
    IF after_id IS NULL THEN
      part := 'done';
    END IF;
  END IF;
  RETURN json_build_object('part', part, 'after', after_id, 'metrics', metrics);
END
$function$;
COMMENT ON FUNCTION ingest.copy_run_v1 IS
  'Copies the next part of what a run has here to another run, which nothing shows yet. state is what the call before '
  'returned, null at the start; its part is done after the last one. finish_copy_v1 makes the copy complete.';
REVOKE ALL ON FUNCTION ingest.copy_run_v1 FROM PUBLIC;
ALTER FUNCTION ingest.copy_run_v1 OWNER TO tidemark_ingest;
GRANT EXECUTE ON FUNCTION ingest.copy_run_v1 TO tidemark_runs;

CREATE FUNCTION ingest.copies_of(tables text[])
RETURNS text
LANGUAGE sql
STABLE
AS $function$
  SELECT string_agg(format('%1$I AS (INSERT INTO ingest.%1$I (run_id, %2$s)
                                     SELECT $3, %2$s FROM ingest.%1$I o WHERE o.org_id = $1 AND o.run_id = $2)',
                           t.name, platform.copied_columns(('ingest.' || t.name)::regclass)), ', ')
  FROM unnest(tables) AS t (name)
$function$;
COMMENT ON FUNCTION ingest.copies_of IS
  'Returns parts of a WITH clause that copy the rows of the run $2 of the organization $1 in some tables to the run $3. '
  'In one statement all are of one moment, whatever is written or compacted meanwhile: rows go from segments to blocks.';
REVOKE ALL ON FUNCTION ingest.copies_of FROM PUBLIC;
GRANT EXECUTE ON FUNCTION ingest.copies_of TO tidemark_ingest;

CREATE FUNCTION ingest.copy_metrics(org uuid, source uuid, copy uuid)
RETURNS json
LANGUAGE plpgsql
SET enable_seqscan TO 'off'
AS $function$
DECLARE
  metrics json;
BEGIN
  IF NOT EXISTS (SELECT FROM ingest.metric_runs m WHERE m.org_id = org AND m.run_id = source) THEN
    RETURN NULL;
  END IF;
  EXECUTE format(
    'WITH %s, keys AS (
       INSERT INTO ingest.metric_keys (org_id, run_id, key, key_id, minimise, sort_best, sort_latest, sort_created_at)
       SELECT $1, $3, k.key, k.key_id, k.minimise, v.best, v.latest,
              (SELECT r.created_at FROM runs.run_refs_v1 r WHERE r.org_id = $1 AND r.id = $2)
       FROM (SELECT o.* FROM ingest.metric_keys o WHERE o.org_id = $1 AND o.run_id = $2 OFFSET 0) k
       CROSS JOIN LATERAL (
         SELECT nullif(CASE WHEN k.minimise THEN -p.stats[(k.key_id & 31) * 10 + 4] ELSE p.stats[(k.key_id & 31) * 10 + 6] END,
                       ''NaN'') AS best,
                nullif(p.stats[(k.key_id & 31) * 10 + 8], ''NaN'') AS latest
         FROM ingest.metric_aggregate_pages p
         WHERE p.org_id = $1 AND p.run_id = $2 AND p.page = k.key_id >> 5 OFFSET 0) v
     )
     SELECT json_build_object(''version'', m.version, ''keys'', m.key_count, ''points'', m.point_count)
     FROM ingest.metric_runs m WHERE m.org_id = $1 AND m.run_id = $2',
    ingest.copies_of(ARRAY['metric_aggregate_pages', 'metric_blocks', 'metric_segments']))
  INTO metrics USING org, source, copy;
  RETURN metrics;
END
$function$;
COMMENT ON FUNCTION ingest.copy_metrics IS
  'Copies the metrics of a run as they are at one moment. Keys get the values to sort by of that moment, so the copy is '
  'indexed. Returns version, keys and points, which finish_copy_v1 stores; null: there are none.';
REVOKE ALL ON FUNCTION ingest.copy_metrics FROM PUBLIC;
GRANT EXECUTE ON FUNCTION ingest.copy_metrics TO tidemark_ingest;

CREATE FUNCTION ingest.copy_logs_and_ranks(org uuid, source uuid, copy uuid)
RETURNS void
LANGUAGE plpgsql
SET enable_seqscan TO 'off'
AS $function$
DECLARE
  rank_values bigint;
BEGIN
  IF EXISTS (SELECT FROM ingest.log_segments l WHERE l.org_id = org AND l.run_id = source)
    OR EXISTS (SELECT FROM ingest.log_blocks l WHERE l.org_id = org AND l.run_id = source) THEN
    EXECUTE format('WITH %s SELECT', ingest.copies_of(ARRAY['log_blocks', 'log_segments'])) USING org, source, copy;
  END IF;
  IF NOT EXISTS (SELECT FROM ingest.rank_metric_runs m WHERE m.org_id = org AND m.run_id = source) THEN
    RETURN;
  END IF;
  EXECUTE format(
    'WITH %s
     SELECT coalesce((SELECT sum(ingest.rank_row_values(r.arrival, r.first_slot, r.packed)) FROM ingest.rank_metric_rows r
                      WHERE r.org_id = $1 AND r.run_id = $2), 0)
            + coalesce((SELECT sum(octet_length(b.set_values) / 8) FROM ingest.rank_metric_blocks b
                        WHERE b.org_id = $1 AND b.run_id = $2), 0)',
    ingest.copies_of(ARRAY['rank_metric_rows', 'rank_metric_blocks', 'rank_metric_sets', 'rank_metric_keys', 'rank_metric_runs']))
  INTO rank_values USING org, source, copy;
  PERFORM ingest.count_rank_values(org, rank_values, rank_values);
END
$function$;
COMMENT ON FUNCTION ingest.copy_logs_and_ranks IS
  'Copies the console lines of a run as they are at one moment, and the rank metrics as they are at another one.';
REVOKE ALL ON FUNCTION ingest.copy_logs_and_ranks FROM PUBLIC;
GRANT EXECUTE ON FUNCTION ingest.copy_logs_and_ranks TO tidemark_ingest;

CREATE FUNCTION ingest.copy_sizes_v1(org uuid, run_ids uuid[], OUT points bigint, OUT series bigint, OUT bytes bigint)
RETURNS record
LANGUAGE sql
STABLE SECURITY DEFINER
SET search_path TO 'pg_catalog', 'pg_temp'
SET enable_seqscan TO 'off'
AS $function$
  SELECT coalesce(sum(coalesce(m.point_count, 0) + k.points), 0)::bigint, coalesce(sum(m.key_count), 0)::bigint,
         coalesce(sum(l.bytes + a.bytes + o.bytes), 0)::bigint
  FROM unnest(run_ids) AS w (id)
  LEFT JOIN LATERAL (SELECT f.point_count, f.key_count FROM ingest.metric_runs f
                     WHERE f.org_id = org AND f.run_id = w.id OFFSET 0) m ON true
  CROSS JOIN LATERAL (
    SELECT coalesce((SELECT sum(ingest.rank_row_values(f.arrival, f.first_slot, f.packed)) FROM ingest.rank_metric_rows f
                     WHERE f.org_id = org AND f.run_id = w.id), 0)
           + coalesce((SELECT sum(octet_length(f.set_values) / 8) FROM ingest.rank_metric_blocks f
                       WHERE f.org_id = org AND f.run_id = w.id), 0) AS points OFFSET 0) k
  CROSS JOIN LATERAL (
    SELECT coalesce((SELECT sum(f.bytes) FROM ingest.log_segments f WHERE f.org_id = org AND f.run_id = w.id), 0)
           + coalesce((SELECT sum(f.bytes) FROM ingest.log_blocks f WHERE f.org_id = org AND f.run_id = w.id), 0) AS bytes
    OFFSET 0) l
  CROSS JOIN LATERAL (
    SELECT coalesce(sum(f.bytes), 0) AS bytes FROM ingest.attributes f WHERE f.org_id = org AND f.run_id = w.id OFFSET 0) a
  CROSS JOIN LATERAL (
    SELECT coalesce(sum(f.bytes + coalesce((SELECT sum(c.bytes) FROM ingest.table_chunks c
                                            WHERE c.org_id = org AND c.object_id = f.id), 0)), 0) AS bytes
    FROM ingest.objects f WHERE f.org_id = org AND f.run_id = w.id AND NOT f.from_attribute OFFSET 0) o
$function$;
COMMENT ON FUNCTION ingest.copy_sizes_v1 IS
  'Returns what copies of runs would count for: values of metrics and ranks, pairs of run and metric key, and the logical '
  'bytes of everything else.';
REVOKE ALL ON FUNCTION ingest.copy_sizes_v1 FROM PUBLIC;
ALTER FUNCTION ingest.copy_sizes_v1 OWNER TO tidemark_ingest;
GRANT EXECUTE ON FUNCTION ingest.copy_sizes_v1 TO tidemark_runs;

CREATE FUNCTION ingest.count_rank_values(org uuid, values_written bigint, values_added bigint)
RETURNS void
LANGUAGE plpgsql
AS $function$
BEGIN
  INSERT INTO ingest.rank_points AS p (org_id, slot, points, month, month_points)
  VALUES (org, floor(random() * 16)::smallint, values_added, date_trunc('month', now() AT TIME ZONE 'UTC')::date, values_written)
  ON CONFLICT (org_id, slot) DO UPDATE
  SET points = p.points + excluded.points,
      month_points = CASE WHEN p.month >= excluded.month THEN p.month_points ELSE 0 END + excluded.month_points,
      month = greatest(p.month, excluded.month);
END
$function$;
COMMENT ON FUNCTION ingest.count_rank_values IS
  'Counts values of ranks that this transaction writes, and those of them that it adds: the others replace some. Call '
  'it last: another transaction may wait for the counter until this one is committed.';
REVOKE ALL ON FUNCTION ingest.count_rank_values FROM PUBLIC;
GRANT EXECUTE ON FUNCTION ingest.count_rank_values TO tidemark_ingest;

CREATE FUNCTION ingest.create_object(org uuid, run uuid, project uuid, only_project uuid, idempotency_key bytea,
  idempotency_body bytea, new_id bigint, new_kind text, new_key text, new_step double precision, artifact uuid,
  new_value text, new_metadata text, new_summary text, chunks bytea[], chunk_bytes integer[], OUT outcome text,
  OUT id bigint)
RETURNS record
LANGUAGE plpgsql
AS $function$
#variable_conflict use_column
DECLARE
  before record;
  linked record;
BEGIN
  PERFORM platform.enter_org(org);
  IF idempotency_key IS NOT NULL THEN
    SELECT c.same_body, c.reply INTO before FROM platform.claim_key(org, idempotency_key, idempotency_body) c;
    IF FOUND THEN
      outcome := CASE WHEN before.same_body THEN 'replayed' ELSE 'reused' END;
      id := CASE WHEN before.same_body THEN ('x' || encode(before.reply, 'hex'))::bit(64)::bigint END;
      RETURN;
    END IF;
  END IF;

  IF artifact IS NOT NULL THEN
    SELECT v.run_id, v.name, v.uri, v.mime_type, v.size_bytes, v.step INTO linked
    FROM artifacts.artifacts_v1 v WHERE v.org_id = org AND v.id = artifact;
    IF NOT FOUND OR ingest.visible_project(org, linked.run_id, only_project) IS NULL THEN
      outcome := 'no_artifact';
      RETURN;
    END IF;
    IF linked.run_id <> run THEN
      outcome := 'other_run';
      RETURN;
    END IF;
    IF new_value IS NULL THEN
      new_step := coalesce(new_step, linked.step);
      new_value := '{"kind":' || to_json(new_kind) || ',"uri":' || to_json(linked.uri) || ',"metadata":' || new_metadata || '}';
      new_summary := ingest.with_members(new_summary,
        '{"artifact_name":' || to_json(linked.name) || ',"artifact_uri":' || to_json(linked.uri)
        || ',"mime_type":' || to_json(linked.mime_type)
        || ',"size_bytes":' || coalesce(linked.size_bytes::text, 'null') || '}');
    END IF;
  END IF;

  -- Another process may have taken the id for an attribute in the same millisecond.
  IF EXISTS (SELECT FROM ingest.attributes a WHERE a.org_id = org AND a.id = new_id) THEN
    RAISE unique_violation;
  END IF;
  INSERT INTO ingest.objects (org_id, id, run_id, project_id, key, kind, from_attribute, step, artifact_id, value, metadata,
                              summary, bytes, created_at)
  VALUES (org, new_id, run, project, new_key, new_kind, false, new_step, artifact, new_value::json, new_metadata::json,
          new_summary::json,
          octet_length(new_key) + octet_length(new_value) + octet_length(new_metadata) + octet_length(new_summary), now());
  INSERT INTO ingest.table_chunks (org_id, object_id, chunk, rows, bytes)
  SELECT org, new_id, c.n - 1, c.rows, c.bytes FROM unnest(chunks, chunk_bytes) WITH ORDINALITY AS c (rows, bytes, n);

  IF idempotency_key IS NOT NULL THEN
    PERFORM platform.keep_key(org, idempotency_key, idempotency_body, int8send(new_id));
  END IF;
  outcome := 'inserted';
  id := new_id;
END
$function$;
COMMENT ON FUNCTION ingest.create_object IS
  'Stores an object with the rows of a table in one round trip. Outcomes: inserted; replayed: a repeat of a stored '
  'request, with its id; reused: the idempotency key belongs to another request; no_artifact: there is none that '
  'lies in only_project; other_run: it is of another run. Without a value the object is a medium, whose value and '
  'summary come from its artifact. An id that is taken fails the transaction.';
REVOKE ALL ON FUNCTION ingest.create_object FROM PUBLIC;
GRANT EXECUTE ON FUNCTION ingest.create_object TO tidemark_ingest;

CREATE FUNCTION ingest.crowded_key_ranges(org uuid, run uuid, sealed_points integer, after_key integer,
  after_width integer, ranges_max integer)
RETURNS TABLE(first_key integer, width integer)
LANGUAGE plpgsql
STABLE
SET plan_cache_mode TO 'force_generic_plan'
AS $function$
BEGIN
  PERFORM platform.enter_org(org);
  RETURN QUERY
    SELECT b.first_key, b.width FROM ingest.metric_blocks b
    WHERE b.org_id = org AND b.run_id = run AND b.points < sealed_points
      AND b.first_key >= after_key AND (b.first_key, b.width) > (after_key, after_width)
    GROUP BY b.first_key, b.width HAVING count(*) > 1
    ORDER BY b.first_key, b.width LIMIT ranges_max;
END
$function$;
COMMENT ON FUNCTION ingest.crowded_key_ranges IS
  'Returns the next key ranges of a run behind a first key and width, in this order, that have several blocks which '
  'are not sealed. Reads all blocks of the run: call it once, for a run that is not written any more.';
REVOKE ALL ON FUNCTION ingest.crowded_key_ranges FROM PUBLIC;
GRANT EXECUTE ON FUNCTION ingest.crowded_key_ranges TO tidemark_ingest_worker;

CREATE FUNCTION ingest.fill_sort_key(org uuid, of_key text, of_by text, runs_max integer,
  lease_seconds double precision, OUT outcome text, OUT runs integer)
RETURNS record
LANGUAGE plpgsql
SET plan_cache_mode TO 'force_generic_plan'
SET enable_seqscan TO 'off'
AS $function$
DECLARE
  sort_key record;
  run_ids uuid[];
BEGIN
  PERFORM platform.enter_org(org);
  runs := 0;
  SELECT s.ready, s.boundary, s.filled_to INTO sort_key FROM ingest.sort_keys s
  WHERE s.org_id = org AND s.key = of_key COLLATE "C" AND s.by = of_by COLLATE "C" FOR UPDATE;
  IF NOT FOUND OR sort_key.ready THEN
    outcome := 'ended';
    RETURN;
  END IF;
  IF sort_key.boundary IS NULL OR pg_snapshot_xmin(pg_current_snapshot()) < sort_key.boundary THEN
    outcome := 'waiting';
    RETURN;
  END IF;

  run_ids := ARRAY(SELECT u.run_id FROM ingest.unindexed_runs u WHERE u.org_id = org AND u.run_id > sort_key.filled_to
                   ORDER BY u.run_id LIMIT runs_max);
  IF run_ids = '{}' THEN
    UPDATE ingest.sort_keys s SET ready = true
    WHERE s.org_id = org AND s.key = of_key COLLATE "C" AND s.by = of_by COLLATE "C";
    outcome := 'ready';
    RETURN;
  END IF;
  -- Writes of these runs wait. What is read next is as the last write left it.
  PERFORM FROM unnest(run_ids) AS r (id)
  CROSS JOIN LATERAL (SELECT FROM ingest.metric_runs o WHERE o.org_id = org AND o.run_id = r.id OFFSET 0 FOR UPDATE) m;
  INSERT INTO ingest.metric_keys AS k (org_id, run_id, key, key_id, minimise, sort_best, sort_latest, sort_created_at)
  SELECT org, r.id, of_key, m.key_id, m.minimise,
         CASE WHEN of_by = 'best' THEN v.best ELSE m.sort_best END,
         CASE WHEN of_by = 'latest' THEN v.latest ELSE m.sort_latest END,
         coalesce(m.sort_created_at, (SELECT c.created_at FROM runs.run_refs_v1 c WHERE c.org_id = org AND c.id = r.id))
  FROM unnest(run_ids) AS r (id)
  CROSS JOIN LATERAL (SELECT o.key_id, o.minimise, o.sort_best, o.sort_latest, o.sort_created_at
                      FROM ingest.metric_keys o
                      WHERE o.org_id = org AND o.run_id = r.id AND o.key = of_key COLLATE "C" OFFSET 0) m
  CROSS JOIN LATERAL (SELECT nullif(CASE WHEN m.minimise THEN -o.stats[(m.key_id & 31) * 10 + 4]
                                         ELSE o.stats[(m.key_id & 31) * 10 + 6] END, 'NaN') AS best,
                             nullif(o.stats[(m.key_id & 31) * 10 + 8], 'NaN') AS latest
                      FROM ingest.metric_aggregate_pages o
                      WHERE o.org_id = org AND o.run_id = r.id AND o.page = m.key_id >> 5 OFFSET 0) v
  WHERE CASE WHEN of_by = 'best' THEN m.sort_best IS DISTINCT FROM v.best ELSE m.sort_latest IS DISTINCT FROM v.latest END
  ON CONFLICT (org_id, run_id, key) DO UPDATE
  SET sort_best = excluded.sort_best, sort_latest = excluded.sort_latest, sort_created_at = excluded.sort_created_at;
  UPDATE ingest.sort_keys s
  SET filled_to = run_ids[cardinality(run_ids)], claimed_until = clock_timestamp() + make_interval(secs => lease_seconds)
  WHERE s.org_id = org AND s.key = of_key COLLATE "C" AND s.by = of_by COLLATE "C";
  outcome := 'filled';
  runs := cardinality(run_ids);
END
$function$;
COMMENT ON FUNCTION ingest.fill_sort_key IS
  'Does one step towards a sort key that is ready: gives the next runs that are not indexed, at most runs_max, '
  'their values. Outcomes: filled, of how many runs, and the claim lasts lease_seconds more; ready: there were no '
  'more; waiting: a write that does not know of the sort key may be on its way; ended: it is ready or gone. Runs '
  'that are indexed have their values already.';
REVOKE ALL ON FUNCTION ingest.fill_sort_key FROM PUBLIC;
GRANT EXECUTE ON FUNCTION ingest.fill_sort_key TO tidemark_ingest;

CREATE FUNCTION ingest.finish_indexing(org uuid, run uuid, touched integer)
RETURNS boolean
LANGUAGE plpgsql
AS $function$
BEGIN
  DELETE FROM ingest.unindexed_runs u WHERE u.org_id = org AND u.run_id = run AND u.touched_minute = touched;
  RETURN FOUND;
END
$function$;
COMMENT ON FUNCTION ingest.finish_indexing IS
  'Ends the indexing of a run. Returns false, and does nothing, when the run was written since the minute touched.';
REVOKE ALL ON FUNCTION ingest.finish_indexing FROM PUBLIC;
GRANT EXECUTE ON FUNCTION ingest.finish_indexing TO tidemark_ingest;

CREATE FUNCTION ingest.finish_copy_v1(org uuid, copy uuid, project uuid, state json)
RETURNS void
LANGUAGE plpgsql
SECURITY DEFINER
SET search_path TO 'pg_catalog', 'pg_temp'
SET plan_cache_mode TO 'force_generic_plan'
SET enable_seqscan TO 'off'
AS $function$
DECLARE
  patience constant interval := '1 minute';
  points constant bigint := state -> 'metrics' ->> 'points';
  keys constant integer := state -> 'metrics' ->> 'keys';
  this_month constant date := date_trunc('month', now() AT TIME ZONE 'UTC')::date;
BEGIN
  INSERT INTO ingest.dirty_markers (org_id, kind, run_id, part, id, due_at)
  SELECT org, m.kind, copy, m.part, 0, now() + patience FROM (
    SELECT 'metrics' AS kind, '' AS part
    WHERE EXISTS (SELECT FROM ingest.metric_segments s WHERE s.org_id = org AND s.run_id = copy OFFSET 0)
    UNION ALL
    SELECT 'logs', t.stream FROM (VALUES ('stdout'), ('stderr')) AS t (stream)
    WHERE EXISTS (SELECT FROM ingest.log_segments s WHERE s.org_id = org AND s.run_id = copy AND s.stream = t.stream OFFSET 0)
    UNION ALL
    SELECT 'ranks', t.set_id::text FROM ingest.rank_metric_sets t
    WHERE t.org_id = org AND t.run_id = copy
      AND EXISTS (SELECT FROM ingest.rank_metric_rows s WHERE s.org_id = org AND s.run_id = copy AND s.set_id = t.set_id OFFSET 0)
  ) m;
  IF points IS NULL THEN
    RETURN;
  END IF;
  INSERT INTO ingest.metric_runs (org_id, run_id, version, key_count, point_count)
  VALUES (org, copy, (state -> 'metrics' ->> 'version')::bigint, keys, points);
  INSERT INTO ingest.project_points AS p (org_id, project_id, slot, points, series, month, month_points)
  VALUES (org, project, 0, points, keys, this_month, points)
  ON CONFLICT (org_id, project_id, slot) DO UPDATE
  SET points = p.points + excluded.points, series = p.series + excluded.series,
      month_points = CASE WHEN p.month >= excluded.month THEN p.month_points ELSE 0 END + excluded.month_points,
      month = greatest(p.month, excluded.month);
END
$function$;
COMMENT ON FUNCTION ingest.finish_copy_v1 IS
  'Makes the data of a copied run complete, in the transaction that makes the run: counts its values, and has what landed '
  'compacted. state is the last one of copy_run_v1.';
REVOKE ALL ON FUNCTION ingest.finish_copy_v1 FROM PUBLIC;
ALTER FUNCTION ingest.finish_copy_v1 OWNER TO tidemark_ingest;
GRANT EXECUTE ON FUNCTION ingest.finish_copy_v1 TO tidemark_runs;

CREATE FUNCTION ingest.fresh_id() RETURNS bigint
  LANGUAGE sql VOLATILE
  RETURN floor(extract(epoch FROM clock_timestamp() - timestamptz '2026-01-01T00:00:00Z') * 1000)::bigint * 4096
         + floor(random() * 2048)::bigint;
COMMENT ON FUNCTION ingest.fresh_id IS
  'Returns the first of ids for attributes and objects, as the source of ids of a process makes them: they ascend with '
  'time, and another process may take the same.';
REVOKE ALL ON FUNCTION ingest.fresh_id FROM PUBLIC;
GRANT EXECUTE ON FUNCTION ingest.fresh_id TO tidemark_ingest;

CREATE FUNCTION ingest.follow_runs_v1(org uuid, run_ids uuid[], project_ids uuid[], rows_max integer)
RETURNS integer
LANGUAGE plpgsql
SECURITY DEFINER
SET search_path TO 'pg_catalog', 'pg_temp'
SET plan_cache_mode TO 'force_generic_plan'
SET enable_seqscan TO 'off'
AS $function$
DECLARE
  followed integer;
BEGIN
  WITH picked AS MATERIALIZED (
    SELECT o.id, w.project_id FROM unnest(run_ids, project_ids) AS w (run_id, project_id)
    CROSS JOIN LATERAL (SELECT f.id FROM ingest.objects f
                        WHERE f.org_id = org AND f.run_id = w.run_id AND f.project_id <> w.project_id OFFSET 0) o
    LIMIT rows_max
  )
  UPDATE ingest.objects o SET project_id = p.project_id
  FROM picked p WHERE o.org_id = org AND o.id = p.id;
  GET DIAGNOSTICS followed = ROW_COUNT;
  RETURN followed;
END
$function$;
COMMENT ON FUNCTION ingest.follow_runs_v1 IS
  'Gives objects of moved runs, at most rows_max of them, the projects of their runs. Returns how many it found.';
REVOKE ALL ON FUNCTION ingest.follow_runs_v1 FROM PUBLIC;
ALTER FUNCTION ingest.follow_runs_v1 OWNER TO tidemark_ingest;
GRANT EXECUTE ON FUNCTION ingest.follow_runs_v1 TO tidemark_runs;

CREATE FUNCTION ingest.in_one_bucket(
  a double precision, b double precision, low double precision, high double precision, buckets integer
) RETURNS boolean
  LANGUAGE sql IMMUTABLE PARALLEL SAFE
  RETURN CASE
    WHEN low = high THEN true
    WHEN high > 1e300 THEN false
    ELSE CASE WHEN (greatest(a, low) - low) * buckets < high - low + 1 THEN 0
              ELSE least(floor((greatest(a, low) - low) * buckets / (high - low + 1)), buckets - 1) END
         = CASE WHEN (least(b, high) - low) * buckets < high - low + 1 THEN 0
                ELSE least(floor((least(b, high) - low) * buckets / (high - low + 1)), buckets - 1) END
  END;
COMMENT ON FUNCTION ingest.in_one_bucket IS
  'Returns whether all steps from a to b that lie from low to high are in one of buckets equal parts of the latter, '
  'by the arithmetic of the sampler; false where PostgreSQL would refuse to calculate.';
REVOKE ALL ON FUNCTION ingest.in_one_bucket FROM PUBLIC;
GRANT EXECUTE ON FUNCTION ingest.in_one_bucket TO tidemark_ingest;

CREATE FUNCTION ingest.in_one_part(a double precision, b double precision, low double precision, span double precision, buckets integer)
RETURNS boolean LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN CASE
  WHEN span = 0 THEN true
  WHEN span > 1e300 OR low > 1e300 OR a < low THEN false
  ELSE (CASE WHEN (a - low) * buckets < span THEN 0 ELSE least(floor((a - low) * buckets / span), buckets - 1) END)
     = (CASE WHEN (b - low) * buckets < span THEN 0 ELSE least(floor((b - low) * buckets / span), buckets - 1) END)
END;
COMMENT ON FUNCTION ingest.in_one_part IS
  'Returns whether the steps a and b, from low on, are in one of buckets equal parts of span, by the arithmetic of '
  'the sampler; false where PostgreSQL would refuse to calculate.';
REVOKE ALL ON FUNCTION ingest.in_one_part FROM PUBLIC;
GRANT EXECUTE ON FUNCTION ingest.in_one_part TO tidemark_ingest;

CREATE FUNCTION ingest.index_sort_values(org uuid, run uuid, after_key text, keys_max integer)
RETURNS text
LANGUAGE plpgsql
SET plan_cache_mode TO 'force_generic_plan'
SET enable_seqscan TO 'off'
AS $function$
DECLARE
  created timestamptz;
  last_key text;
BEGIN
  -- Without the lock, a value that a write keeps exact meanwhile could be replaced by the one before.
  PERFORM FROM ingest.metric_runs m WHERE m.org_id = org AND m.run_id = run FOR UPDATE;
  created := (SELECT r.created_at FROM runs.run_refs_v1 r WHERE r.org_id = org AND r.id = run);
  SELECT max(n.key) INTO last_key FROM (
    SELECT k.key FROM ingest.metric_keys k
    WHERE k.org_id = org AND k.run_id = run AND k.key > after_key COLLATE "C" ORDER BY k.key LIMIT keys_max
  ) n;
  INSERT INTO ingest.metric_keys AS k (org_id, run_id, key, key_id, minimise, sort_best, sort_latest, sort_created_at)
  SELECT org, run, n.key, n.key_id, n.minimise, v.best, v.latest, created
  FROM (SELECT m.* FROM ingest.metric_keys m
        WHERE m.org_id = org AND m.run_id = run AND m.key > after_key COLLATE "C" AND m.key <= last_key COLLATE "C"
        OFFSET 0) n
  CROSS JOIN LATERAL (SELECT nullif(CASE WHEN n.minimise THEN -o.stats[(n.key_id & 31) * 10 + 4]
                                         ELSE o.stats[(n.key_id & 31) * 10 + 6] END, 'NaN') AS best,
                             nullif(o.stats[(n.key_id & 31) * 10 + 8], 'NaN') AS latest
                      FROM ingest.metric_aggregate_pages o
                      WHERE o.org_id = org AND o.run_id = run AND o.page = n.key_id >> 5 OFFSET 0) v
  WHERE n.sort_best IS DISTINCT FROM v.best OR n.sort_latest IS DISTINCT FROM v.latest
  ON CONFLICT (org_id, run_id, key) DO UPDATE
  SET sort_best = excluded.sort_best, sort_latest = excluded.sort_latest, sort_created_at = excluded.sort_created_at;
  RETURN last_key;
END
$function$;
COMMENT ON FUNCTION ingest.index_sort_values IS
  'Copies the values to sort by of the next keys of a run behind after_key, at most keys_max. Returns the last of '
  'these keys, null when there are none. A write of the run waits until the transaction ends.';
REVOKE ALL ON FUNCTION ingest.index_sort_values FROM PUBLIC;
GRANT EXECUTE ON FUNCTION ingest.index_sort_values TO tidemark_ingest;

CREATE FUNCTION ingest.last_line(org uuid, run uuid, of_stream text)
RETURNS bigint
LANGUAGE plpgsql
STABLE
SET enable_seqscan TO 'off'
SET plan_cache_mode TO 'force_generic_plan'
AS $function$
DECLARE
  top smallint;
BEGIN
  SELECT b.level INTO top FROM ingest.log_blocks b
  WHERE b.org_id = org AND b.run_id = run AND b.stream = of_stream ORDER BY b.level DESC LIMIT 1;
  RETURN coalesce(greatest(
    (SELECT max(s.last_line) FROM (
       SELECT l.last_line FROM ingest.log_segments l
       WHERE l.org_id = org AND l.run_id = run AND l.stream = of_stream ORDER BY l.id DESC LIMIT 64) s),
    (SELECT max(s.last_line) FROM generate_series(0, top) AS v(level) CROSS JOIN LATERAL (
       SELECT b.last_line FROM ingest.log_blocks b
       WHERE b.org_id = org AND b.run_id = run AND b.stream = of_stream AND b.level = v.level
       ORDER BY b.first_line DESC, b.first_id DESC LIMIT 1) s)), 0);
END
$function$;
COMMENT ON FUNCTION ingest.last_line IS
  'Returns the highest number among the lines of the last 64 requests of a stream and its compacted lines; 0 '
  'without lines. A look at all that waits would cost more with every line.';
REVOKE ALL ON FUNCTION ingest.last_line FROM PUBLIC;
GRANT EXECUTE ON FUNCTION ingest.last_line TO tidemark_ingest;

CREATE FUNCTION ingest.line_of(document json)
RETURNS bytea
LANGUAGE plpgsql
IMMUTABLE PARALLEL SAFE
SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
DECLARE
  bytes bytea := convert_to(ingest.text_of(document), 'UTF8');
  length integer := 16384;
BEGIN
  IF octet_length(bytes) <= length THEN
    RETURN bytes;
  END IF;
  -- Not in the middle of a character.
  WHILE get_byte(bytes, length) & 192 = 128 LOOP
    length := length - 1;
  END LOOP;
  RETURN substring(bytes FROM 1 FOR length);
END
$function$;
COMMENT ON FUNCTION ingest.line_of IS
  'Returns the message of the console line that a JSON string becomes: as much of it as a line may have.';
REVOKE ALL ON FUNCTION ingest.line_of FROM PUBLIC;
GRANT EXECUTE ON FUNCTION ingest.line_of TO tidemark_ingest;

CREATE FUNCTION ingest.little_endian(bytes bytea, at integer) RETURNS integer
  LANGUAGE sql IMMUTABLE PARALLEL SAFE
  RETURN get_byte(bytes, at) + (get_byte(bytes, at + 1) << 8) + (get_byte(bytes, at + 2) << 16) + (get_byte(bytes, at + 3) << 24);
COMMENT ON FUNCTION ingest.little_endian IS 'Reads a 32-bit number, lowest byte first, at a byte of a block.';
REVOKE ALL ON FUNCTION ingest.little_endian FROM PUBLIC;
GRANT EXECUTE ON FUNCTION ingest.little_endian TO tidemark_ingest;

CREATE FUNCTION ingest.chunk_step(statistics bytea, at integer)
RETURNS bigint LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN (ingest.little_endian(statistics, at + 4)::bigint << 32) | (ingest.little_endian(statistics, at)::bigint & 4294967295);
COMMENT ON FUNCTION ingest.chunk_step IS
  'Reads the bits of a step at a byte of chunk statistics. Steps are never negative, so their bits are in the order '
  'of the steps.';
REVOKE ALL ON FUNCTION ingest.chunk_step FROM PUBLIC;
GRANT EXECUTE ON FUNCTION ingest.chunk_step TO tidemark_ingest;

CREATE FUNCTION ingest.lock_metric_runs(org uuid, run_ids uuid[])
RETURNS void
LANGUAGE plpgsql
SET plan_cache_mode TO 'force_generic_plan'
SET enable_seqscan TO 'off'
AS $function$
BEGIN
  INSERT INTO ingest.metric_runs (org_id, run_id, version, key_count, point_count)
  SELECT org, r.id, 0, 0, 0 FROM unnest(run_ids) AS r (id)
  ON CONFLICT (org_id, run_id) DO NOTHING;
  PERFORM FROM unnest(run_ids) AS r (id)
  CROSS JOIN LATERAL (SELECT FROM ingest.metric_runs o
                      WHERE o.org_id = org AND o.run_id = r.id OFFSET 0 FOR UPDATE) m;
END
$function$;
COMMENT ON FUNCTION ingest.lock_metric_runs IS
  'Locks runs, distinct and ascending, until the transaction ends, so that what is read of them next cannot change.';
REVOKE ALL ON FUNCTION ingest.lock_metric_runs FROM PUBLIC;
GRANT EXECUTE ON FUNCTION ingest.lock_metric_runs TO tidemark_ingest;

CREATE FUNCTION ingest.log_blocks_at_top(org uuid, run uuid, of_stream text, lowest_level integer, blocks_max integer)
RETURNS TABLE(level smallint, first_line bigint, first_id bigint, last_line bigint, last_id bigint, lines integer,
  message_bytes integer)
LANGUAGE plpgsql
STABLE
SET plan_cache_mode TO 'force_generic_plan'
AS $function$
DECLARE
  top record;
BEGIN
  PERFORM platform.enter_org(org);
  SELECT b.level, b.first_line, b.first_id, b.last_line, b.last_id, b.lines, b.message_bytes INTO top
  FROM ingest.log_blocks b
  WHERE b.org_id = org AND b.run_id = run AND b.stream = of_stream AND b.level >= lowest_level
  ORDER BY b.level DESC, b.first_line, b.first_id LIMIT 1;
  IF NOT FOUND THEN
    RETURN;
  END IF;
  RETURN QUERY SELECT top.level, top.first_line, top.first_id, top.last_line, top.last_id, top.lines, top.message_bytes;
  RETURN QUERY
    SELECT b.level, b.first_line, b.first_id, b.last_line, b.last_id, b.lines, b.message_bytes
    FROM generate_series(0, top.level - 1) AS v(level) CROSS JOIN LATERAL (
      SELECT c.* FROM ingest.log_blocks c
      WHERE c.org_id = org AND c.run_id = run AND c.stream = of_stream AND c.level = v.level
        AND (c.first_line, c.first_id) <= (top.last_line, top.last_id)
      ORDER BY c.first_line DESC, c.first_id DESC LIMIT blocks_max
    ) b
    WHERE (b.last_line, b.last_id) >= (top.first_line, top.first_id);
END
$function$;
COMMENT ON FUNCTION ingest.log_blocks_at_top IS
  'Returns the first block of the highest level of a stream, if that is at least lowest_level, and the blocks of '
  'all lower levels that overlap it, at most blocks_max of each.';
REVOKE ALL ON FUNCTION ingest.log_blocks_at_top FROM PUBLIC;
GRANT EXECUTE ON FUNCTION ingest.log_blocks_at_top TO tidemark_ingest_worker;

CREATE FUNCTION ingest.log_blocks_before(org uuid, run uuid, of_stream text, before_lines double precision[],
  before_ids double precision[], blocks_max integer)
RETURNS TABLE(index integer, level smallint, first_line bigint, first_id bigint, last_line bigint, last_id bigint,
  lines integer, message_bytes integer)
LANGUAGE plpgsql
STABLE
SET plan_cache_mode TO 'force_generic_plan'
AS $function$
DECLARE
  top smallint;
BEGIN
  PERFORM platform.enter_org(org);
  SELECT b.level INTO top FROM ingest.log_blocks b
  WHERE b.org_id = org AND b.run_id = run AND b.stream = of_stream ORDER BY b.level DESC LIMIT 1;
  RETURN QUERY
    SELECT p.n::integer - 1, b.level, b.first_line, b.first_id, b.last_line, b.last_id, b.lines, b.message_bytes
    FROM unnest(before_lines, before_ids) WITH ORDINALITY AS p (line, id, n)
    CROSS JOIN generate_series(0, top) AS v(level)
    CROSS JOIN LATERAL (
      SELECT c.* FROM ingest.log_blocks c
      WHERE c.org_id = org AND c.run_id = run AND c.stream = of_stream AND c.level = v.level
        AND (c.first_line, c.first_id) <= (p.line::bigint, p.id::bigint)
      ORDER BY c.first_line DESC, c.first_id DESC LIMIT blocks_max
    ) b
    ORDER BY p.n, b.level, b.first_line DESC, b.first_id DESC;
END
$function$;
COMMENT ON FUNCTION ingest.log_blocks_before IS
  'Returns of each level of a stream the blocks that begin at or before each of the positions, nearest first, at '
  'most blocks_max of each.';
REVOKE ALL ON FUNCTION ingest.log_blocks_before FROM PUBLIC;
GRANT EXECUTE ON FUNCTION ingest.log_blocks_before TO tidemark_ingest_worker;

CREATE FUNCTION ingest.log_parts_after(org uuid, run uuid, of_stream text, after_line bigint, after_id bigint,
  from_line bigint, from_id bigint, lines_max bigint, bytes_max bigint, blocks_max integer)
RETURNS TABLE(first_line bigint, first_id bigint, base_id bigint, base_us bigint, block bytea)
LANGUAGE plpgsql
STABLE
SET plan_cache_mode TO 'force_generic_plan'
AS $function$
DECLARE
  top smallint;
  start_line bigint := after_line;
  start_id bigint := after_id;
  lines bigint := 0;
  bytes bigint := 0;
  -- No line of the segments so far lies behind this.
  reach bigint := after_line;
  s record;
BEGIN
  PERFORM platform.enter_org(org);
  SELECT b.level INTO top FROM ingest.log_blocks b
  WHERE b.org_id = org AND b.run_id = run AND b.stream = of_stream ORDER BY b.level DESC LIMIT 1;
  IF (from_line, from_id) > (after_line, after_id) THEN
    start_line := from_line;
    start_id := from_id;
  END IF;

  FOR s IN
    SELECT u.* FROM (
      -- Whether what follows the last one of these would come next is not known: `ends`.
      SELECT l.*, l.n > lines_max AS ends, NULL::bytea AS block FROM (
        SELECT l.first_line, l.id AS first_id, l.last_line, l.lines::bigint AS lines, l.received_us,
               row_number() OVER (ORDER BY l.first_line, l.id) AS n
        FROM ingest.log_segments l
        WHERE l.org_id = org AND l.run_id = run AND l.stream = of_stream
          AND l.last_line >= after_line AND (l.first_line, l.id) > (from_line, from_id)
        ORDER BY l.first_line, l.id LIMIT lines_max + 1
      ) l
      UNION ALL
      SELECT b.first_line, b.first_id, b.last_line, b.lines, NULL, NULL, false, b.block
      FROM generate_series(0, top) AS v(level) CROSS JOIN LATERAL (
        SELECT b.* FROM ingest.log_blocks b
        WHERE b.org_id = org AND b.run_id = run AND b.stream = of_stream AND b.level = v.level
          AND (b.first_line, b.first_id) <= (after_line, after_id)
        ORDER BY b.first_line DESC, b.first_id DESC LIMIT 1
      ) b
      WHERE (b.last_line, b.last_id) > (after_line, after_id) AND (b.first_line, b.first_id) > (from_line, from_id)
      UNION ALL
      SELECT b.first_line, b.first_id, b.last_line, b.lines, NULL, NULL, b.n > blocks_max, b.block
      FROM generate_series(0, top) AS v(level) CROSS JOIN LATERAL (
        SELECT b.*, row_number() OVER (ORDER BY b.first_line, b.first_id) AS n FROM (
          SELECT b.* FROM ingest.log_blocks b
          WHERE b.org_id = org AND b.run_id = run AND b.stream = of_stream AND b.level = v.level
            AND (b.first_line, b.first_id) > (start_line, start_id)
          ORDER BY b.first_line, b.first_id LIMIT blocks_max + 1
        ) b
      ) b
    ) u
    ORDER BY u.first_line, u.first_id
  LOOP
    first_line := s.first_line;
    first_id := s.first_id;
    IF s.ends OR bytes >= bytes_max OR (lines >= lines_max AND first_line > reach) THEN
      base_id := NULL;
      base_us := NULL;
      block := NULL;
      RETURN NEXT;
      RETURN;
    END IF;
    IF s.block IS NULL THEN
      base_id := s.first_id;
      base_us := s.received_us;
      SELECT l.block INTO block FROM ingest.log_segments l
      WHERE l.org_id = org AND l.run_id = run AND l.stream = of_stream AND l.id = s.first_id;
    ELSE
      base_id := 0;
      base_us := 0;
      block := s.block;
    END IF;
    RETURN NEXT;
    bytes := bytes + octet_length(block);
    reach := greatest(reach, s.last_line);
    -- Of a segment that begins before the index, the share that lies behind it, by its numbers.
    lines := lines + CASE
      WHEN s.first_line > after_line THEN s.lines
      ELSE trunc(s.lines::numeric * (s.last_line - after_line) / (s.last_line - s.first_line + 1)) END;
  END LOOP;
END
$function$;
COMMENT ON FUNCTION ingest.log_parts_after IS
  'Returns the segments and blocks that may hold lines after a position, in the order of their first line. '
  'from_line and from_id are the first position of the part that was read last, both -1 to begin. They end where no '
  'later line can be among the first lines_max, or where their bytes suffice; a last row without a block says that '
  'there are more, with the position before which no line was left out. One statement, so one snapshot: a line that '
  'is being moved between the tiers shows exactly once. Of each level only the block at the position and the next '
  'blocks_max are read, so the cost does not grow with the stream; of segments all that wait. One plan is right for '
  'all values, and planning at each call would take three times as long as the rest.';
REVOKE ALL ON FUNCTION ingest.log_parts_after FROM PUBLIC;
GRANT EXECUTE ON FUNCTION ingest.log_parts_after TO tidemark_ingest;

CREATE FUNCTION ingest.log_parts_at_end(org uuid, run uuid, of_stream text, until_line bigint, until_id bigint,
  lines_max bigint, bytes_max bigint, blocks_max integer)
RETURNS TABLE(last_line bigint, last_id bigint, base_id bigint, base_us bigint, block bytea)
LANGUAGE plpgsql
STABLE
SET plan_cache_mode TO 'force_generic_plan'
AS $function$
DECLARE
  top smallint;
  lines bigint := 0;
  bytes bigint := 0;
  -- No line of the segments so far lies before this.
  reach bigint := until_line;
  s record;
BEGIN
  PERFORM platform.enter_org(org);
  SELECT b.level INTO top FROM ingest.log_blocks b
  WHERE b.org_id = org AND b.run_id = run AND b.stream = of_stream ORDER BY b.level DESC LIMIT 1;

  FOR s IN
    SELECT u.* FROM (
      SELECT l.*, l.n > lines_max AS ends, NULL::bytea AS block FROM (
        -- Where in its last number a segment ends is not known: at most at the last id that it may have.
        SELECT l.last_line, l.id + 63 AS last_id, l.first_line, l.lines::bigint AS lines, l.id AS base_id, l.received_us,
               row_number() OVER (ORDER BY l.last_line DESC, l.id DESC) AS n
        FROM ingest.log_segments l
        WHERE l.org_id = org AND l.run_id = run AND l.stream = of_stream
          AND (l.last_line, l.id + 63) < (until_line, until_id)
        ORDER BY l.last_line DESC, l.id DESC LIMIT lines_max + 1
      ) l
      UNION ALL
      SELECT b.last_line, b.last_id, b.first_line, b.lines, NULL, NULL, NULL, b.n > blocks_max, b.block
      FROM generate_series(0, top) AS v(level) CROSS JOIN LATERAL (
        SELECT b.*, row_number() OVER (ORDER BY b.first_line DESC, b.first_id DESC) AS n FROM (
          SELECT b.* FROM ingest.log_blocks b
          WHERE b.org_id = org AND b.run_id = run AND b.stream = of_stream AND b.level = v.level
            AND (b.first_line, b.first_id) < (until_line, until_id) AND (b.last_line, b.last_id) < (until_line, until_id)
          ORDER BY b.first_line DESC, b.first_id DESC LIMIT blocks_max + 1
        ) b
      ) b
    ) u
    ORDER BY u.last_line DESC, u.last_id DESC
  LOOP
    last_line := s.last_line;
    last_id := s.last_id;
    IF s.ends OR bytes >= bytes_max OR (lines >= lines_max AND last_line < reach) THEN
      base_id := NULL;
      base_us := NULL;
      block := NULL;
      RETURN NEXT;
      RETURN;
    END IF;
    IF s.block IS NULL THEN
      base_id := s.base_id;
      base_us := s.received_us;
      SELECT l.block INTO block FROM ingest.log_segments l
      WHERE l.org_id = org AND l.run_id = run AND l.stream = of_stream AND l.id = s.base_id;
    ELSE
      base_id := 0;
      base_us := 0;
      block := s.block;
    END IF;
    RETURN NEXT;
    bytes := bytes + octet_length(block);
    lines := lines + s.lines;
    reach := least(reach, s.first_line);
  END LOOP;
END
$function$;
COMMENT ON FUNCTION ingest.log_parts_at_end IS
  'Returns parts as log_parts_after does, from the end of the stream, in descending order of their last line. The '
  'last row, where there are more, has the position behind which no line was left out.';
REVOKE ALL ON FUNCTION ingest.log_parts_at_end FROM PUBLIC;
GRANT EXECUTE ON FUNCTION ingest.log_parts_at_end TO tidemark_ingest;

CREATE FUNCTION ingest.metric_block_tails(org uuid, run uuid, first_keys integer[], sealed_points integer)
RETURNS TABLE(first_key integer, width integer, first_seq bigint, last_seq bigint, points integer, value_count integer)
LANGUAGE plpgsql
STABLE
SET plan_cache_mode TO 'force_generic_plan'
AS $function$
DECLARE
  wanted integer;
BEGIN
  PERFORM platform.enter_org(org);
  FOREACH wanted IN ARRAY first_keys LOOP
    FOR first_key, width, first_seq, last_seq, points, value_count IN
      SELECT b.first_key, b.width, b.first_seq, b.last_seq, b.points, b.value_count FROM ingest.metric_blocks b
      WHERE b.org_id = org AND b.run_id = run AND b.first_key = wanted ORDER BY b.first_seq DESC
    LOOP
      EXIT WHEN width = 16 AND points >= sealed_points;
      RETURN NEXT;
    END LOOP;
  END LOOP;
END
$function$;
COMMENT ON FUNCTION ingest.metric_block_tails IS
  'Returns of each of the first keys the blocks that may still be joined with others, newest first: all that are '
  'newer than the last block of 16 keys with at least sealed_points points. They are few at any time.';
REVOKE ALL ON FUNCTION ingest.metric_block_tails FROM PUBLIC;
GRANT EXECUTE ON FUNCTION ingest.metric_block_tails TO tidemark_ingest_worker;

CREATE FUNCTION ingest.metric_chunks(org uuid, run uuid, of_key integer, from_step double precision,
  to_step double precision, after_seq bigint, bytes_max bigint)
RETURNS SETOF ingest.metric_chunk
LANGUAGE plpgsql
STABLE
AS $function$
DECLARE
  b record;
  entry bytea;
  chunk ingest.metric_chunk;
BEGIN
  FOR b IN
    SELECT m.first_seq, m.width, of_key - m.first_key AS slot, m.steps_end, m.axis_end, m.statistics, m.data
    FROM ingest.metric_blocks m
    WHERE m.org_id = org AND m.run_id = run
      AND m.first_key IN (of_key & -16, of_key & -256, of_key & -4096) AND of_key < m.first_key + m.width
      AND m.first_seq > after_seq AND m.last_step >= from_step AND m.first_step <= to_step
    ORDER BY m.first_seq
  LOOP
    CONTINUE WHEN b.width = 16 AND ingest.chunk_values(b.statistics, b.slot) = 0;
    entry := substring(b.data FROM b.axis_end + 1 + 8 * b.slot FOR 8);
    CONTINUE WHEN ingest.little_endian(entry, 4) = 0;
    chunk := (b.first_seq, substring(b.data FROM 1 FOR b.steps_end),
              substring(b.data FROM b.steps_end + 1 FOR b.axis_end - b.steps_end),
              substring(b.data FROM ingest.little_endian(entry, 0) + 1 FOR ingest.little_endian(entry, 4)))::ingest.metric_chunk;
    bytes_max := bytes_max - octet_length(chunk.steps) - octet_length(chunk.times) - octet_length(chunk.section);
    RETURN NEXT chunk;
    EXIT WHEN bytes_max <= 0;
  END LOOP;
END
$function$;
COMMENT ON FUNCTION ingest.metric_chunks IS
  'Returns what the blocks have of one key, in the order of arrival, of those that begin after after_seq and may '
  'have steps within the bounds, up to the chunk that takes it to bytes_max bytes.';
REVOKE ALL ON FUNCTION ingest.metric_chunks FROM PUBLIC;
GRANT EXECUTE ON FUNCTION ingest.metric_chunks TO tidemark_ingest;

CREATE FUNCTION ingest.metric_columns_page(org uuid, run_ids uuid[], to_steps double precision[], entry_runs integer[],
  entry_keys integer[], key_firsts double precision[], key_lasts double precision[], entry_modes integer[],
  lows double precision[], spans double precision[], from_step double precision, buckets integer, points_max integer,
  with_edges boolean, from_index integer, after_tier integer, after_seq bigint, after_first_key integer,
  bytes_max bigint)
RETURNS TABLE(kind text, index integer, entry integer, tier integer, seq bigint, first_key integer, received_us bigint,
  steps bytea, times bytea, section bytea)
LANGUAGE plpgsql
STABLE
SET plan_cache_mode TO 'force_generic_plan'
SET work_mem TO '16MB'
AS $function$
DECLARE
  run uuid;
  to_step double precision;
  reach double precision;
  -- of the entries of the run, by key id
  numbers integer[];
  ids integer[];
  modes integer[];
  range_starts integer[];
  is_timed boolean;
  edge_seqs bigint[];
  b record;
  whole bytea;
  is_open boolean;
  last_wanted integer;
  slot integer;
  at integer;
  total integer;
  found bytea;
BEGIN
  PERFORM platform.enter_org(org);
  FOR index, numbers, ids, modes IN
    SELECT e.run, array_agg(e.n::integer ORDER BY e.n), array_agg(e.key ORDER BY e.n), array_agg(e.mode ORDER BY e.n)
    FROM unnest(entry_runs, entry_keys, entry_modes) WITH ORDINALITY AS e (run, key, mode, n)
    WHERE e.run >= from_index GROUP BY e.run ORDER BY e.run
  LOOP
    run := run_ids[index];
    to_step := to_steps[index];
    SELECT array_agg(i.id & -16) || array_agg(i.id & -256) || array_agg(i.id & -4096) INTO range_starts FROM unnest(ids) AS i (id);
    FOR i IN 1 .. cardinality(ids) LOOP
      IF modes[i] = 3 THEN
        -- Of a part of the steps it is known that it has more points than buckets when the blocks inside have.
        total := 0;
        FOR at IN
          SELECT ingest.chunk_values(m.statistics, ids[i] - m.first_key) FROM ingest.metric_blocks m
          WHERE m.org_id = org AND m.run_id = run AND m.first_key = ids[i] & -16 AND m.width = 16
            AND m.first_step >= from_step AND m.last_step <= to_step
        LOOP
          total := total + at;
          EXIT WHEN total > buckets;
        END LOOP;
        modes[i] := CASE WHEN total > buckets THEN 2 ELSE 1 END;
      END IF;
    END LOOP;
    is_timed := 1 = ANY (modes);
    reach := to_step;
    IF points_max IS NOT NULL THEN
      -- as far as the key needs that needs the furthest
      reach := 0;
      FOR i IN 1 .. cardinality(ids) LOOP
        reach := greatest(reach, ingest.metric_reach(org, run, ids[i], from_step, to_step, points_max));
        EXIT WHEN reach = 'Infinity';
      END LOOP;
      reach := least(reach, to_step);
    END IF;
    edge_seqs := NULL;
    IF with_edges THEN
      SELECT array_agg(s.first_seq) INTO edge_seqs
      FROM unnest(ids) AS i (id)
      CROSS JOIN LATERAL (
        (SELECT m.first_seq FROM ingest.metric_blocks m
         WHERE m.org_id = org AND m.run_id = run AND m.first_key = i.id & -16 AND m.width = 16 AND m.last_step < from_step
           AND ingest.chunk_values(m.statistics, i.id - m.first_key) > 0
         ORDER BY ingest.chunk_step(m.statistics, 72 * (i.id - m.first_key) + 24) DESC, m.first_seq DESC LIMIT 1)
        UNION ALL
        (SELECT m.first_seq FROM ingest.metric_blocks m
         WHERE m.org_id = org AND m.run_id = run AND m.first_key = i.id & -16 AND m.width = 16 AND m.first_step > to_step
           AND ingest.chunk_values(m.statistics, i.id - m.first_key) > 0
         ORDER BY ingest.chunk_step(m.statistics, 72 * (i.id - m.first_key) + 8), m.first_seq LIMIT 1)
      ) s;
    END IF;

    IF after_tier = 1 THEN
      FOR b IN
        SELECT m.first_seq, m.first_key, m.width, m.first_step, m.last_step, m.points, m.steps_end, m.axis_end, m.statistics, m.sums, m.data
        FROM ingest.metric_blocks m
        WHERE m.org_id = org AND m.run_id = run AND m.first_key = ANY (range_starts) AND m.first_key + m.width > ids[1]
          AND m.first_seq >= after_seq AND (m.first_seq, m.first_key) > (after_seq, after_first_key)
          AND (m.last_step >= from_step AND m.first_step <= reach
               OR with_edges AND (m.width > 16 OR m.first_seq = ANY (edge_seqs)))
        ORDER BY m.first_seq, m.first_key
      LOOP
        whole := NULL;
        is_open := false;
        last_wanted := width_bucket(b.first_key + b.width - 1, ids);
        FOR i IN width_bucket(b.first_key - 1, ids) + 1 .. last_wanted LOOP
          slot := ids[i] - b.first_key;
          CONTINUE WHEN b.width = 16 AND ingest.chunk_values(b.statistics, slot) = 0;
          at := numbers[i];
          IF modes[i] = 2 AND octet_length(b.sums) >= 16 * (slot + 1) AND ingest.chunk_is_finite(b.statistics, slot)
             AND greatest(b.first_step, key_firsts[at]) >= from_step AND least(b.last_step, key_lasts[at]) <= to_step
             AND ingest.in_one_part(greatest(b.first_step, key_firsts[at]), least(b.last_step, key_lasts[at]), lows[at], spans[at], buckets) THEN
            kind := 'statistics';
            section := substring(b.statistics FROM 72 * slot + 1 FOR 72) || substring(b.sums FROM 16 * slot + 1 FOR 16);
            bytes_max := bytes_max - octet_length(section);
          ELSE
            IF whole IS NULL THEN
              -- To look for a key in stored bytes costs about as much as to read sixteen kilobytes of them.
              whole := CASE WHEN octet_length(b.data) <= 16384 * (last_wanted - i + 1) THEN substring(b.data FROM 1) ELSE b.data END;
            END IF;
            found := substring(whole FROM b.axis_end + 1 + 8 * slot FOR 8);
            CONTINUE WHEN ingest.little_endian(found, 4) = 0;
            kind := 'chunk';
            section := substring(whole FROM ingest.little_endian(found, 0) + 1 FOR ingest.little_endian(found, 4));
            IF NOT is_open THEN
              is_open := true;
              steps := substring(whole FROM 1 FOR b.steps_end);
              IF is_timed THEN
                times := substring(whole FROM b.steps_end + 1 FOR b.axis_end - b.steps_end);
              END IF;
              bytes_max := bytes_max - octet_length(steps) - coalesce(octet_length(times), 0);
            END IF;
            -- To decode a point takes time however few bytes it has.
            bytes_max := bytes_max - greatest(octet_length(section), 4 * b.points);
          END IF;
          entry := at;
          RETURN NEXT;
          steps := NULL;
          times := NULL;
        END LOOP;
        seq := b.first_seq;
        first_key := b.first_key;
        EXIT WHEN bytes_max <= 0;
      END LOOP;
      entry := NULL;
      IF bytes_max > 0 THEN
        after_tier := 2;
        after_seq := -1;
      END IF;
    END IF;

    -- Their points arrived after those of the blocks, so of equal steps theirs come later.
    IF after_tier = 2 THEN
      kind := 'segment';
      FOR seq, received_us, section IN
        SELECT l.id, l.received_us, l.points FROM ingest.metric_segments l
        WHERE l.org_id = org AND l.run_id = run AND l.id > after_seq
          AND (with_edges OR l.last_step >= from_step AND l.first_step <= reach)
        ORDER BY l.id
      LOOP
        RETURN NEXT;
        bytes_max := bytes_max - octet_length(section);
        EXIT WHEN bytes_max <= 0;
      END LOOP;
      received_us := NULL;
    END IF;
    section := NULL;
    IF bytes_max <= 0 THEN
      kind := 'more';
      tier := after_tier;
      RETURN NEXT;
      RETURN;
    END IF;
    seq := NULL;
    first_key := NULL;
    after_tier := 1;
    after_seq := -1;
    after_first_key := -1;
  END LOOP;
END
$function$;
COMMENT ON FUNCTION ingest.metric_columns_page IS
  'Returns what is stored of entries, each a key of a run, ordered by run and key id: entry_runs are indexes '
  'into run_ids, from 1, and entries have numbers from 1. Of each run first its blocks in the order of arrival, of '
  'each block the entries: chunk: the section of the key, with the block''s steps and, where some entry is wanted '
  'with them, times in the first row of a block; or, of a block that lies in one of buckets equal parts of span '
  'from low on, statistics: the chunk statistics and the sum in section. Then segment: whole requests in section. A '
  'last row of kind more says that what follows tier, seq and first_key in the run at index was left out. Modes: 0 '
  'points without times, 1 with times, 2 statistics where they suffice, 3 the same where the blocks within the '
  'steps are sure to have more points than buckets, otherwise as 1. Read are points from from_step to the to_step '
  'of their run, of each entry at least the first points_max or without it all; with edges also the point before '
  'and the one after. Begins in the run at from_index, after after_tier, after_seq and after_first_key; 1, 1, -1 '
  'and -1 for the begin of all.';
REVOKE ALL ON FUNCTION ingest.metric_columns_page FROM PUBLIC;
GRANT EXECUTE ON FUNCTION ingest.metric_columns_page TO tidemark_ingest;

CREATE FUNCTION ingest.metric_facts(org uuid, run_ids uuid[], of_keys text[])
RETURNS TABLE(index integer, version bigint, facts bytea)
LANGUAGE plpgsql
STABLE
SET plan_cache_mode TO 'force_generic_plan'
AS $function$
BEGIN
  PERFORM platform.enter_org(org);
  RETURN QUERY
    SELECT r.index::integer, coalesce(m.version, 0), h.facts
    FROM unnest(run_ids) WITH ORDINALITY AS r (id, index)
    LEFT JOIN LATERAL (
      SELECT v.version FROM ingest.metric_runs v WHERE v.org_id = org AND v.run_id = r.id LIMIT 1
    ) m ON true
    CROSS JOIN LATERAL (
      SELECT string_agg(int4send(a.place::integer - 1) || int4send(k.key_id)
                        || float8send(ingest.key_points(p.stats, p.non_finite, k.key_id))
                        || float8send(ingest.key_first_step(p.stats, p.non_finite, k.key_id))
                        || float8send(ingest.key_last_step(p.stats, p.non_finite, k.key_id)), '') AS facts
      FROM unnest(of_keys) WITH ORDINALITY AS a (key, place)
      CROSS JOIN LATERAL (
        SELECT n.key_id FROM ingest.metric_keys n
        WHERE n.org_id = org AND n.run_id = r.id AND n.key = a.key COLLATE "C" LIMIT 1
      ) k
      CROSS JOIN LATERAL (
        SELECT g.stats, g.non_finite FROM ingest.metric_aggregate_pages g
        WHERE g.org_id = org AND g.run_id = r.id AND g.page = k.key_id >> 5 LIMIT 1
      ) p
    ) h
    ORDER BY r.index;
END
$function$;
COMMENT ON FUNCTION ingest.metric_facts IS
  'Returns what is known of some keys in some runs without reading points, by run in the requested order: the '
  'version of the run and, in facts, of each key that it has the place among those that are requested, from 0, and '
  'the id, four bytes each, and the number, the first and the last step of its points, doubles; all highest byte '
  'first.';
REVOKE ALL ON FUNCTION ingest.metric_facts FROM PUBLIC;
GRANT EXECUTE ON FUNCTION ingest.metric_facts TO tidemark_ingest;

CREATE FUNCTION ingest.metric_points_page(org uuid, run uuid, after_key text, from_step double precision,
  to_step double precision, points_max integer, after_tier integer, after_seq bigint, after_first_key integer,
  bytes_max bigint, keys_max integer, values_max integer, short_max integer)
RETURNS TABLE(kind text, version bigint, key text, key_id integer, tier integer, seq bigint, first_key integer,
  received_us bigint, steps bytea, times bytea, keys bytea, section bytea)
LANGUAGE plpgsql
STABLE
SET plan_cache_mode TO 'force_generic_plan'
SET work_mem TO '16MB'
AS $function$
DECLARE
  b record;
  whole bytea;
  ids integer[] := '{}';
  long_id integer;
  looked_at integer := 0;
  read_values double precision := 0;
  sure double precision := 0;
  reach double precision := 'Infinity';
  last_key text;
BEGIN
  PERFORM platform.enter_org(org);
  kind := 'run';
  version := coalesce((SELECT m.version FROM ingest.metric_runs m WHERE m.org_id = org AND m.run_id = run), 0);
  RETURN NEXT;

  FOR b IN
    SELECT n.key, n.key_id, ingest.key_points(p.stats, p.non_finite, n.key_id) AS count,
           ingest.key_first_step(p.stats, p.non_finite, n.key_id) AS first_step,
           ingest.key_last_step(p.stats, p.non_finite, n.key_id) AS last_step
    FROM (SELECT k.key, k.key_id FROM ingest.metric_keys k
          WHERE k.org_id = org AND k.run_id = run AND k.key > after_key COLLATE "C" ORDER BY k.key LIMIT keys_max) n
    CROSS JOIN LATERAL (
      SELECT g.stats, g.non_finite FROM ingest.metric_aggregate_pages g
      WHERE g.org_id = org AND g.run_id = run AND g.page = n.key_id >> 5 LIMIT 1
    ) p
    ORDER BY n.key
  LOOP
    looked_at := looked_at + 1;
    last_key := b.key;
    CONTINUE WHEN b.last_step < from_step OR b.first_step > to_step;
    IF after_tier < 0 THEN
      kind := 'key';
      key := b.key;
      key_id := b.key_id;
      RETURN NEXT;
    END IF;
    IF b.count > short_max THEN
      long_id := b.key_id;
      reach := ingest.metric_reach(org, run, long_id, from_step, to_step, points_max - sure::integer);
    ELSE
      ids := ids || b.key_id;
    END IF;
    read_values := read_values + b.count;
    IF b.first_step >= from_step AND b.last_step <= to_step THEN
      sure := sure + b.count;
    END IF;
    EXIT WHEN long_id IS NOT NULL OR sure >= points_max OR read_values >= values_max;
  END LOOP;
  key := NULL;
  key_id := NULL;
  after_tier := greatest(after_tier, 1);

  IF after_tier = 1 THEN
    tier := 1;
    FOR b IN
      SELECT w.ids, m.*
      FROM (SELECT i.id & -v.width AS range_start, v.width, array_agg(i.id) AS ids
            FROM unnest(ids) AS i (id) CROSS JOIN (VALUES (16), (256), (4096)) AS v (width) GROUP BY 1, 2) w
      CROSS JOIN LATERAL (
        SELECT d.first_key, d.first_seq, d.steps_end, d.axis_end, d.data FROM ingest.metric_blocks d
        WHERE d.org_id = org AND d.run_id = run AND d.first_key = w.range_start AND d.width = w.width
          AND d.first_seq >= after_seq AND (d.first_seq, d.first_key) > (after_seq, after_first_key)
          AND d.last_step >= from_step AND d.first_step <= to_step
        OFFSET 0
      ) m
      ORDER BY m.first_seq, m.first_key
    LOOP
      seq := b.first_seq;
      first_key := b.first_key;
      -- To look for a key in stored bytes costs about as much as to read sixteen kilobytes of them.
      whole := CASE WHEN cardinality(b.ids) * 16384 >= octet_length(b.data) THEN b.data || ''::bytea ELSE b.data END;
      SELECT string_agg(int4send(e.id) || int4send(e.size), '' ORDER BY e.id),
             string_agg(substring(whole FROM e.at + 1 FOR e.size), '' ORDER BY e.id)
      INTO keys, section
      FROM (
        SELECT d.id, ingest.little_endian(d.entry, 0) AS at, ingest.little_endian(d.entry, 4) AS size
        FROM (SELECT i.id, substring(whole FROM b.axis_end + 1 + 8 * (i.id - b.first_key) FOR 8) AS entry
              FROM unnest(b.ids) AS i (id) OFFSET 0) d
        OFFSET 0
      ) e
      WHERE e.size > 0;
      CONTINUE WHEN section IS NULL;
      kind := 'block';
      steps := substring(whole FROM 1 FOR b.steps_end);
      times := substring(whole FROM b.steps_end + 1 FOR b.axis_end - b.steps_end);
      RETURN NEXT;
      bytes_max := bytes_max - octet_length(steps) - octet_length(times) - octet_length(section);
      EXIT WHEN bytes_max <= 0;
    END LOOP;
    keys := NULL;
    steps := NULL;
    times := NULL;
    IF bytes_max > 0 THEN
      after_tier := 2;
      after_seq := -1;
    END IF;
  END IF;

  IF after_tier = 2 AND bytes_max > 0 THEN
    IF long_id IS NOT NULL THEN
      tier := 2;
      first_key := -1;
      key_id := long_id;
      FOR kind, seq, steps, times, section IN
        SELECT 'chunk', c.* FROM ingest.metric_chunks(org, run, long_id, from_step, least(to_step, reach), after_seq, bytes_max) c
      LOOP
        RETURN NEXT;
        bytes_max := bytes_max - octet_length(steps) - octet_length(times) - octet_length(section);
      END LOOP;
      steps := NULL;
      times := NULL;
      key_id := NULL;
    END IF;
    IF bytes_max > 0 THEN
      after_tier := 3;
      after_seq := -1;
    END IF;
  END IF;

  IF after_tier = 3 AND bytes_max > 0 AND (ids <> '{}' OR long_id IS NOT NULL) THEN
    kind := 'segment';
    tier := 3;
    first_key := -1;
    FOR seq, received_us, section IN
      SELECT l.id, l.received_us, l.points FROM ingest.metric_segments l
      WHERE l.org_id = org AND l.run_id = run AND l.id > after_seq
        AND l.last_step >= from_step AND l.first_step <= to_step AND (l.first_step < reach OR ids <> '{}')
      ORDER BY l.id
    LOOP
      RETURN NEXT;
      bytes_max := bytes_max - octet_length(section);
      EXIT WHEN bytes_max <= 0;
    END LOOP;
    received_us := NULL;
  END IF;

  section := NULL;
  IF bytes_max <= 0 THEN
    kind := 'more';
    RETURN NEXT;
  ELSIF last_key IS NOT NULL AND (looked_at = keys_max OR long_id IS NOT NULL OR read_values >= values_max) AND sure < points_max THEN
    kind := 'keys';
    key := last_key;
    RETURN NEXT;
  END IF;
END
$function$;
COMMENT ON FUNCTION ingest.metric_points_page IS
  'Returns what is stored of the first keys of a run that follow after_key: as many keys as are sure to have '
  'points_max points within the bounds, or as are read in one call. Kinds of rows, in this order: run: the run''s '
  'version; key: the text and id of a key that is read, not on later pages; block: points of several keys in a '
  'block: its steps and times, the id and the length of the section of each key in keys, four bytes each, highest '
  'first, and these sections in section; chunk: points of one key in a block, as of metric_chunks; segment: a whole '
  'request in section; more: the page is full, and what follows tier, seq and first_key was left out; keys: these '
  'keys are complete, and there are more behind key. The order within a key is that of arrival. A page begins after '
  'after_tier, seq and first_key, all -1 to begin. One call reads at most keys_max keys, about values_max values, '
  'and one key of more than short_max points, after the others and only as far as it is wanted.';
REVOKE ALL ON FUNCTION ingest.metric_points_page FROM PUBLIC;
GRANT EXECUTE ON FUNCTION ingest.metric_points_page TO tidemark_ingest;

CREATE FUNCTION ingest.metric_reach(org uuid, run uuid, of_key integer, from_step double precision,
  to_step double precision, wanted integer)
RETURNS double precision
LANGUAGE plpgsql
STABLE
AS $function$
BEGIN
  RETURN coalesce((
    SELECT min(c.last_step) FROM (
      SELECT b.last_step, sum(ingest.chunk_values(b.statistics, of_key - b.first_key)) OVER (ORDER BY b.last_step) AS total
      FROM ingest.metric_blocks b
      WHERE b.org_id = org AND b.run_id = run AND b.first_key = of_key & -16 AND b.width = 16
        AND b.first_step >= from_step AND b.last_step <= to_step
    ) c
    WHERE c.total >= wanted
  ), 'Infinity');
END
$function$;
COMMENT ON FUNCTION ingest.metric_reach IS
  'Returns the lowest step up to which a key has wanted points in blocks that lie within the bounds; Infinity when '
  'that cannot be told. A block that begins behind it has none of the first wanted points.';
REVOKE ALL ON FUNCTION ingest.metric_reach FROM PUBLIC;
GRANT EXECUTE ON FUNCTION ingest.metric_reach TO tidemark_ingest;

CREATE FUNCTION ingest.metric_run_states(org uuid, run_ids uuid[], with_pages boolean[], key_runs integer[],
  keys text[], page_runs integer[], pages integer[])
RETURNS TABLE(index integer, key_ids bytea, version bigint, key_count integer, point_count bigint, project_id uuid,
  page integer, stats bytea, non_finite bytea)
LANGUAGE plpgsql
STABLE
SET plan_cache_mode TO 'force_generic_plan'
SET enable_seqscan TO 'off'
AS $function$
BEGIN
  PERFORM platform.enter_org(org);
  RETURN QUERY
    WITH found AS MATERIALIZED (
      SELECT k.run, k.n, (SELECT m.key_id FROM ingest.metric_keys m
                          WHERE m.org_id = org AND m.run_id = run_ids[k.run] AND m.key = k.key COLLATE "C") AS id
      FROM unnest(key_runs, keys) WITH ORDINALITY AS k (run, key, n)
    )
    SELECT NULL::integer, (SELECT string_agg(int4send(coalesce(f.id, -1)), ''::bytea ORDER BY f.n) FROM found f),
           NULL::bigint, NULL::integer, NULL::bigint, NULL::uuid, NULL::integer, NULL::bytea, NULL::bytea
    UNION ALL
    SELECT r.index::integer, NULL, m.version, m.key_count, m.point_count,
           (SELECT f.project_id FROM runs.run_refs_v1 f WHERE f.org_id = org AND f.id = r.id), NULL, NULL, NULL
    FROM unnest(run_ids) WITH ORDINALITY AS r (id, index)
    CROSS JOIN LATERAL (SELECT o.* FROM ingest.metric_runs o WHERE o.org_id = org AND o.run_id = r.id OFFSET 0) m
    UNION ALL
    SELECT w.run, NULL, NULL, NULL, NULL, NULL, w.page, array_send(p.stats), array_send(p.non_finite)
    FROM (SELECT f.run, f.id >> 5 AS page FROM found f WHERE f.id IS NOT NULL AND with_pages[f.run]
          UNION SELECT a.run, a.page FROM unnest(page_runs, pages) AS a (run, page)) w
    CROSS JOIN LATERAL (SELECT o.stats, o.non_finite FROM ingest.metric_aggregate_pages o
                        WHERE o.org_id = org AND o.run_id = run_ids[w.run] AND o.page = w.page OFFSET 0) p;
END
$function$;
COMMENT ON FUNCTION ingest.metric_run_states IS
  'Returns what a writer has to know of runs, in one snapshot. Arrays whose names end in runs hold indexes into '
  'run_ids, from 1. First a row without an index, with key_ids: the ids of the keys in the runs of key_runs, in their '
  'order, as 32-bit numbers, big-endian, -1 for a key that the run does not have. Then of each run with metrics its '
  'version, its counts of keys and values and its project, and each aggregate page that is requested by page_runs and pages, or '
  'that one of these keys is in if the run is with_pages, as array_send writes it. Plans as append_metric_group '
  'does.';
REVOKE ALL ON FUNCTION ingest.metric_run_states FROM PUBLIC;
GRANT EXECUTE ON FUNCTION ingest.metric_run_states TO tidemark_ingest;

CREATE FUNCTION ingest.metric_series_page(org uuid, run_ids uuid[], of_keys text[], from_step double precision,
  to_step double precision, points_max integer, buckets integer, from_index integer, after_tier integer,
  after_seq bigint, after_first_key integer, bytes_max bigint)
RETURNS TABLE(kind text, index integer, version bigint, place integer, tier integer, seq bigint, first_key integer,
  received_us bigint, steps bytea, times bytea, section bytea)
LANGUAGE plpgsql
STABLE
SET plan_cache_mode TO 'force_generic_plan'
SET work_mem TO '16MB'
AS $function$
DECLARE
  run uuid;
  -- of the keys that the run has within the bounds, by id
  places integer[];
  ids integer[];
  counts double precision[];
  first_steps double precision[];
  last_steps double precision[];
  range_starts integer[];
  -- whether a key is wanted with the times of its points
  is_timed boolean;
  reach double precision;
  b record;
  whole bytea;
  is_open boolean;
  last_wanted integer;
  slot integer;
  sampled boolean;
  entry bytea;
BEGIN
  PERFORM platform.enter_org(org);
  FOR run, index, version, places, ids, counts, first_steps, last_steps, range_starts, is_timed, section IN
    SELECT r.id, r.index, coalesce(m.version, 0), h.*
    FROM unnest(run_ids) WITH ORDINALITY AS r (id, index)
    LEFT JOIN LATERAL (
      SELECT v.version FROM ingest.metric_runs v WHERE v.org_id = org AND v.run_id = r.id LIMIT 1
    ) m ON true
    CROSS JOIN LATERAL (
      SELECT array_agg(f.place), array_agg(f.id), array_agg(f.count), array_agg(f.first_step), array_agg(f.last_step),
             array_agg(f.id & -16) || array_agg(f.id & -256) || array_agg(f.id & -4096),
             bool_or(buckets IS NULL OR f.count <= points_max),
             string_agg(int4send(f.place) || int4send(f.id) || float8send(f.count) || float8send(f.first_step) || float8send(f.last_step), '')
      FROM (
        SELECT a.place::integer - 1 AS place, k.key_id AS id, ingest.key_points(p.stats, p.non_finite, k.key_id) AS count,
               ingest.key_first_step(p.stats, p.non_finite, k.key_id) AS first_step,
               ingest.key_last_step(p.stats, p.non_finite, k.key_id) AS last_step
        FROM unnest(of_keys) WITH ORDINALITY AS a (key, place)
        CROSS JOIN LATERAL (
          SELECT n.key_id FROM ingest.metric_keys n
          WHERE n.org_id = org AND n.run_id = r.id AND n.key = a.key COLLATE "C" LIMIT 1
        ) k
        CROSS JOIN LATERAL (
          SELECT g.stats, g.non_finite FROM ingest.metric_aggregate_pages g
          WHERE g.org_id = org AND g.run_id = r.id AND g.page = k.key_id >> 5 LIMIT 1
        ) p
        ORDER BY k.key_id
      ) f
      WHERE f.last_step >= from_step AND f.first_step <= to_step
    ) h
    WHERE r.index >= from_index
    ORDER BY r.index
  LOOP
    kind := 'run';
    RETURN NEXT;
    IF ids IS NOT NULL THEN
      reach := 'Infinity';
      IF buckets IS NULL THEN
        -- as far as the key needs that needs the furthest
        reach := 0;
        FOR i IN 1 .. cardinality(ids) LOOP
          reach := greatest(reach, CASE WHEN counts[i] > points_max
            THEN ingest.metric_reach(org, run, ids[i], from_step, to_step, points_max) ELSE 'Infinity' END);
          EXIT WHEN reach = 'Infinity';
        END LOOP;
      END IF;

      IF after_tier = 1 THEN
        -- As metric_chunks, whose rows would be copied once more on their way through here.
        FOR b IN
          SELECT m.first_seq, m.first_key, m.width, m.first_step, m.last_step, m.steps_end, m.axis_end, m.statistics, m.data
          FROM ingest.metric_blocks m
          WHERE m.org_id = org AND m.run_id = run AND m.first_key = ANY (range_starts) AND m.first_key + m.width > ids[1]
            AND m.first_seq >= after_seq AND (m.first_seq, m.first_key) > (after_seq, after_first_key)
            AND m.last_step >= from_step AND m.first_step <= least(to_step, reach)
          ORDER BY m.first_seq, m.first_key
        LOOP
          whole := NULL;
          is_open := false;
          last_wanted := width_bucket(b.first_key + b.width - 1, ids);
          FOR i IN width_bucket(b.first_key - 1, ids) + 1 .. last_wanted LOOP
            slot := ids[i] - b.first_key;
            CONTINUE WHEN b.width = 16 AND ingest.chunk_values(b.statistics, slot) = 0;
            sampled := buckets IS NOT NULL AND counts[i] > points_max;
            IF sampled AND b.statistics IS NOT NULL AND ingest.chunk_is_finite(b.statistics, slot)
               AND ingest.in_one_bucket(b.first_step, b.last_step, first_steps[i], last_steps[i], buckets) THEN
              kind := 'statistics';
              section := substring(b.statistics FROM 72 * slot + 1 FOR 72);
            ELSE
              IF whole IS NULL THEN
                -- To look for a key in stored bytes costs about as much as to read sixteen kilobytes of them.
                whole := CASE WHEN octet_length(b.data) <= 16384 * (last_wanted - i + 1) THEN substring(b.data FROM 1) ELSE b.data END;
              END IF;
              entry := substring(whole FROM b.axis_end + 1 + 8 * slot FOR 8);
              CONTINUE WHEN ingest.little_endian(entry, 4) = 0;
              kind := 'chunk';
              section := substring(whole FROM ingest.little_endian(entry, 0) + 1 FOR ingest.little_endian(entry, 4));
              IF NOT is_open THEN
                is_open := true;
                steps := substring(whole FROM 1 FOR b.steps_end);
                IF is_timed THEN
                  times := substring(whole FROM b.steps_end + 1 FOR b.axis_end - b.steps_end);
                END IF;
                bytes_max := bytes_max - octet_length(steps) - coalesce(octet_length(times), 0);
              END IF;
            END IF;
            place := places[i];
            RETURN NEXT;
            bytes_max := bytes_max - octet_length(section);
            steps := NULL;
            times := NULL;
          END LOOP;
          seq := b.first_seq;
          first_key := b.first_key;
          EXIT WHEN bytes_max <= 0;
        END LOOP;
        place := NULL;
        IF bytes_max > 0 THEN
          after_tier := 2;
          after_seq := -1;
        END IF;
      END IF;

      -- Their points arrived after those of the blocks, so of equal steps theirs come later.
      IF after_tier = 2 THEN
        kind := 'segment';
        FOR seq, received_us, section IN
          SELECT l.id, l.received_us, l.points FROM ingest.metric_segments l
          WHERE l.org_id = org AND l.run_id = run AND l.id > after_seq
            AND l.last_step >= from_step AND l.first_step <= to_step AND l.first_step < reach
          ORDER BY l.id
        LOOP
          RETURN NEXT;
          bytes_max := bytes_max - octet_length(section);
          EXIT WHEN bytes_max <= 0;
        END LOOP;
        received_us := NULL;
      END IF;
      section := NULL;
      IF bytes_max <= 0 THEN
        kind := 'more';
        tier := after_tier;
        RETURN NEXT;
        RETURN;
      END IF;
    END IF;
    seq := NULL;
    first_key := NULL;
    after_tier := 1;
    after_seq := -1;
    after_first_key := -1;
  END LOOP;
END
$function$;
COMMENT ON FUNCTION ingest.metric_series_page IS
  'Returns what is stored of some keys in some runs, by run in the requested order. Of each run first a row of kind '
  'run: its version and, in section, of each key that it has within the bounds its place among those that are asked '
  'for, from 0, and its id, four bytes each, and the number, the first and the last step of all its points, '
  'doubles; all highest byte first. Then its blocks in the order of arrival, of each block the keys by id: chunk: '
  'the section of the key at place, with the block''s steps and times in the first row of a block; or with buckets, '
  'of a block that lies in one of these parts of the steps of the key, statistics: the chunk statistics in section. '
  'Blocks have no times where all keys are sampled. Then segment: whole requests in section. A last row of kind '
  'more says that what follows tier, seq and first_key in the run at index was left out. Read are the first '
  'points_max points within the bounds of each key, or, with buckets, all points of a key that has at most '
  'points_max, and what a sampler needs of one that has more. Begins in the run at from_index, counted from 1, '
  'after after_tier, after_seq and after_first_key; 1, -1 and -1 for its begin.';
REVOKE ALL ON FUNCTION ingest.metric_series_page FROM PUBLIC;
GRANT EXECUTE ON FUNCTION ingest.metric_series_page TO tidemark_ingest;

CREATE FUNCTION ingest.metric_versions(org uuid, run_ids uuid[])
RETURNS TABLE(version bigint)
LANGUAGE plpgsql
STABLE
SET plan_cache_mode TO 'force_generic_plan'
AS $function$
BEGIN
  PERFORM platform.enter_org(org);
  RETURN QUERY
    SELECT coalesce((SELECT m.version FROM ingest.metric_runs m WHERE m.org_id = org AND m.run_id = r.id), 0)
    FROM unnest(run_ids) WITH ORDINALITY AS r (id, index) ORDER BY r.index;
END
$function$;
COMMENT ON FUNCTION ingest.metric_versions IS
  'Returns the version of each run, in their order; 0 for a run without metrics.';
REVOKE ALL ON FUNCTION ingest.metric_versions FROM PUBLIC;
GRANT EXECUTE ON FUNCTION ingest.metric_versions TO tidemark_ingest;

CREATE FUNCTION ingest.move_points_v1(org uuid, run_ids uuid[], from_projects uuid[], to_project uuid)
RETURNS void
LANGUAGE plpgsql
SECURITY DEFINER
SET search_path TO 'pg_catalog', 'pg_temp'
SET plan_cache_mode TO 'force_generic_plan'
SET enable_seqscan TO 'off'
AS $function$
DECLARE
  this_month constant date := date_trunc('month', now() AT TIME ZONE 'UTC')::date;
BEGIN
  -- Whoever knows the run of before, also as one without metrics, has to read it again, with its project.
  INSERT INTO ingest.metric_runs AS m (org_id, run_id, version, key_count, point_count)
  SELECT org, w.id, 1, 0, 0 FROM unnest(run_ids) AS w (id) ORDER BY w.id
  ON CONFLICT (org_id, run_id) DO UPDATE SET version = m.version + 1;
  INSERT INTO ingest.project_points AS p (org_id, project_id, slot, points, series, month, month_points)
  SELECT org, g.project_id, 0, sum(g.points), sum(g.series), this_month, 0
  FROM unnest(run_ids, from_projects) AS w (id, from_project)
  CROSS JOIN LATERAL (SELECT o.point_count, o.key_count FROM ingest.metric_runs o
                      WHERE o.org_id = org AND o.run_id = w.id OFFSET 0) m
  CROSS JOIN LATERAL (VALUES (w.from_project, -m.point_count, -m.key_count),
                             (to_project, m.point_count, m.key_count)) AS g (project_id, points, series)
  GROUP BY g.project_id ORDER BY g.project_id
  ON CONFLICT (org_id, project_id, slot) DO UPDATE SET points = p.points + excluded.points, series = p.series + excluded.series;
END
$function$;
COMMENT ON FUNCTION ingest.move_points_v1 IS
  'Counts the values and series of runs, distinct and ascending, in another project, in the transaction that moves '
  'them. Locks as append_metric_group does. What was written this month stays with the project that it was written to.';
REVOKE ALL ON FUNCTION ingest.move_points_v1 FROM PUBLIC;
ALTER FUNCTION ingest.move_points_v1 OWNER TO tidemark_ingest;
GRANT EXECUTE ON FUNCTION ingest.move_points_v1 TO tidemark_runs;

CREATE FUNCTION ingest.move_rank_rows_to_block(org uuid, run uuid, of_set integer, rest_seconds double precision,
  entries_min integer, entries_max integer, overlaps_max integer)
RETURNS integer
LANGUAGE plpgsql
SET enable_seqscan TO 'off'
AS $function$
DECLARE
  until_us bigint := (extract(epoch FROM clock_timestamp()) * 1000000 - rest_seconds * 1000000)::bigint;
  behind double precision;
  resting bigint;
  low_step double precision;
  top_step double precision;
  moved integer;
BEGIN
  PERFORM platform.enter_org(org);
  IF NOT pg_try_advisory_xact_lock(hashtextextended('rank ' || run::text || org::text, of_set)) THEN
    RETURN 0;
  END IF;
  SELECT coalesce(max(b.last_step), -1) INTO behind FROM ingest.rank_metric_blocks b
  WHERE b.org_id = org AND b.run_id = run AND b.set_id = of_set;
  SELECT count(*), min(r.step), max(r.step) INTO resting, low_step, top_step FROM (
    SELECT r.step FROM ingest.rank_metric_rows r
    WHERE r.org_id = org AND r.run_id = run AND r.set_id = of_set AND r.step > behind
      AND r.received_us < until_us AND r.arrival = 0
    ORDER BY r.step, r.rank LIMIT entries_max
  ) r;
  IF resting < entries_min THEN
    SELECT count(*), min(r.step), max(r.step) INTO resting, low_step, top_step FROM (
      SELECT r.step FROM ingest.rank_metric_rows r
      WHERE r.org_id = org AND r.run_id = run AND r.set_id = of_set AND r.step <= behind
        AND r.received_us < until_us AND r.arrival = 0
      ORDER BY r.step, r.rank LIMIT entries_max
    ) r;
    IF resting < entries_min OR overlaps_max <= (
      SELECT count(*) FROM ingest.rank_metric_blocks b
      WHERE b.org_id = org AND b.run_id = run AND b.set_id = of_set
        AND b.last_step >= low_step AND b.first_step <= top_step
    ) THEN
      RETURN 0;
    END IF;
  END IF;

  WITH gone AS MATERIALIZED (
    DELETE FROM ingest.rank_metric_rows r
    WHERE r.org_id = org AND r.run_id = run AND r.set_id = of_set AND r.step BETWEEN low_step AND top_step
      AND r.received_us < until_us AND r.arrival = 0
    RETURNING r.*
  ), sorted AS MATERIALIZED (
    SELECT g.* FROM gone g ORDER BY g.step, g.rank
  ), slots AS (
    -- Slot by slot, so that what is to be sorted is sorted already.
    SELECT n.slot, c.slot_values
    FROM generate_series(0, (SELECT max(octet_length(g.packed)) / 8 - 1 FROM gone g)) AS n (slot)
    CROSS JOIN LATERAL (
      SELECT string_agg(substring(r.packed FROM 8 * n.slot + 1 FOR 8), '' ORDER BY r.step, r.rank) AS slot_values FROM sorted r
    ) c
  )
  INSERT INTO ingest.rank_metric_blocks
    (org_id, run_id, set_id, block_id, first_step, last_step, entries, step_count, step_list,
     steps, ranks, local_ranks, weights, received_us, sent_us, set_values)
  SELECT org, run, of_set, gen_random_uuid(), min(r.step), max(r.step), count(*), count(DISTINCT r.step),
         array_agg(DISTINCT r.step ORDER BY r.step),
         string_agg(float8send(r.step), '' ORDER BY r.step, r.rank),
         string_agg(int2send(r.rank), '' ORDER BY r.step, r.rank),
         string_agg(int2send(coalesce(r.local_rank, r.rank)), '' ORDER BY r.step, r.rank),
         string_agg(CASE WHEN r.weight IS NULL THEN '\x00'::bytea ELSE '\x01'::bytea || float8send(r.weight) END, ''
                    ORDER BY r.step, r.rank),
         string_agg(int8send(r.received_us), '' ORDER BY r.step, r.rank),
         string_agg(int8send(coalesce(r.sent_us, -9223372036854775808)), '' ORDER BY r.step, r.rank),
         (SELECT string_agg(s.slot_values, '' ORDER BY s.slot) FROM slots s)
  FROM sorted r
  HAVING count(*) > 0
  RETURNING entries INTO moved;
  RETURN coalesce(moved, 0);
END
$function$;
COMMENT ON FUNCTION ingest.move_rank_rows_to_block IS
  'Moves rows of a set that have not been written for rest_seconds into a block: first those behind all blocks, so '
  'that blocks do not overlap, then those that arrived late; each time those of the lowest steps, about entries_max of '
  'them, all resting rows of a step together; none where there are fewer than entries_min. Rows that arrived late stay '
  'rows where overlaps_max blocks are at their steps already: rows replace each other, blocks do not, so what a '
  'reader finds at a step stays bounded however often it is written. Returns how many rows were moved. A row that '
  'is written again meanwhile stays; so do rows of pages, which may have different keys. A second caller does '
  'nothing while another moves rows of the set.';
REVOKE ALL ON FUNCTION ingest.move_rank_rows_to_block FROM PUBLIC;
GRANT EXECUTE ON FUNCTION ingest.move_rank_rows_to_block TO tidemark_ingest_worker;

CREATE FUNCTION ingest.newest_attributes_v1(org uuid, run_ids uuid[], after_path text, rows_each integer,
  bytes_each bigint, bytes_all bigint)
RETURNS TABLE(index integer, path text, value json)
LANGUAGE plpgsql
STABLE
AS $function$
DECLARE
  batch constant integer := 64;
  reached text;
  rows_left integer;
  bytes_left bigint;
  bytes bigint;
  scanned integer;
BEGIN
  FOR at IN 1 .. cardinality(run_ids) LOOP
    index := at;
    reached := after_path;
    rows_left := rows_each;
    bytes_left := bytes_each;
    <<batches>>
    LOOP
      scanned := 0;
      FOR path, value IN
        SELECT a.path, a.value FROM ingest.attributes a
        WHERE a.org_id = org AND a.run_id = run_ids[at] AND a.path > reached
        ORDER BY a.path, a.id DESC LIMIT batch
      LOOP
        scanned := scanned + 1;
        CONTINUE WHEN path = reached;
        bytes := octet_length(value::text);
        IF rows_left = 0 OR bytes > bytes_all OR (bytes > bytes_left AND rows_left < rows_each) THEN
          value := NULL;
          RETURN NEXT;
          EXIT batches;
        END IF;
        RETURN NEXT;
        reached := path;
        rows_left := rows_left - 1;
        bytes_left := bytes_left - bytes;
        bytes_all := bytes_all - bytes;
      END LOOP;
      EXIT WHEN scanned < batch;
    END LOOP;
  END LOOP;
END
$function$;
COMMENT ON FUNCTION ingest.newest_attributes_v1 IS
  'Returns a page of the paths of runs after after_path, run by run, each with its newest value. A run has at most '
  'rows_each paths in a page, and, after a first one of any size, at most bytes_each bytes of JSON; all runs '
  'together at most bytes_all bytes. Where a run has more, its next path follows with null for its value: all '
  'values of the paths before the least of those are in the page. A function and not a view, because it counts '
  'bytes, and because it jumps over the older rows of a path, of which a run may have a hundred thousand; a few '
  'dozen at a time, so that paths with one row do not cost a jump each.';
REVOKE ALL ON FUNCTION ingest.newest_attributes_v1 FROM PUBLIC;
GRANT EXECUTE ON FUNCTION ingest.newest_attributes_v1 TO tidemark_runs;

CREATE FUNCTION ingest.note_attributes()
RETURNS trigger
LANGUAGE plpgsql
SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
DECLARE
  noted record;
BEGIN
  FOR noted IN
    SELECT n.org_id, array_agg(n.run_id) AS runs, array_agg(n.id) AS ids, array_agg(n.path) AS paths, array_agg(n.value::text) AS documents
    FROM new_attributes n
    WHERE EXISTS (SELECT FROM runs.kept_paths_v1 k WHERE k.org_id = n.org_id AND k.path = n.path OFFSET 0)
    GROUP BY n.org_id
  LOOP
    PERFORM runs.note_attributes_v1(noted.org_id, noted.runs, noted.ids, noted.paths, noted.documents);
  END LOOP;
  IF EXISTS (SELECT FROM new_attributes n WHERE n.type = 'tag') THEN
    -- In one order for all, so that two transactions cannot wait for each other.
    FOR noted IN
      SELECT n.org_id, n.run_id, array_agg(ingest.text_of(n.value) ORDER BY n.id) AS tags
      FROM new_attributes n
      WHERE n.type = 'tag' AND n.path IN ('sys/tags', 'sys/group_tags') AND json_typeof(n.value) = 'string'
      GROUP BY n.org_id, n.run_id ORDER BY n.org_id, n.run_id
    LOOP
      PERFORM runs.note_tags_v1(noted.org_id, noted.run_id, noted.tags);
    END LOOP;
  END IF;
  RETURN NULL;
END
$function$;
COMMENT ON FUNCTION ingest.note_attributes IS
  'Announces new values of kept columns and new tags to the runs service, in the statement that writes them.';

CREATE TRIGGER attributes_note AFTER INSERT ON ingest.attributes
  REFERENCING NEW TABLE AS new_attributes FOR EACH STATEMENT EXECUTE FUNCTION ingest.note_attributes();

CREATE FUNCTION ingest.note_sort_v1(org uuid, of_key text, of_by text)
RETURNS void
LANGUAGE plpgsql
AS $function$
DECLARE
  -- So few runs are looked up in about a millisecond, while a sort key costs every write something.
  unindexed_min constant integer := 50;
BEGIN
  PERFORM platform.enter_org(org);
  IF EXISTS (SELECT FROM ingest.sort_keys_v1 s WHERE s.org_id = org AND s.key = of_key COLLATE "C" AND s.by = of_by COLLATE "C")
     OR unindexed_min <= (SELECT count(*) FROM (SELECT FROM ingest.unindexed_runs u WHERE u.org_id = org LIMIT unindexed_min) u)
  THEN
    PERFORM ingest.ask_sort_key_v1(org, of_key, of_by);
  END IF;
END
$function$;
COMMENT ON FUNCTION ingest.note_sort_v1 IS
  'Notes that a list of the organization was sorted by a key: asks for the sort key where it is one already, or '
  'where too many runs are not indexed to look up each of them. Call it in a transaction of its '
  'own.';
REVOKE ALL ON FUNCTION ingest.note_sort_v1 FROM PUBLIC;
GRANT EXECUTE ON FUNCTION ingest.note_sort_v1 TO tidemark_runs;

CREATE FUNCTION ingest.rank_sets_of_key(org uuid, run uuid, of_key text, from_step double precision,
  to_step double precision)
RETURNS TABLE(set_id integer, slot smallint, world_size smallint, is_page boolean)
LANGUAGE sql
STABLE
SET enable_seqscan TO 'off'
AS $function$
  SELECT k.set_id, k.slot, k.world_size, k.is_page
  FROM ingest.rank_metric_keys k CROSS JOIN LATERAL (
    (SELECT FROM ingest.rank_metric_blocks b
     WHERE b.org_id = org AND b.run_id = run AND b.set_id = k.set_id AND b.last_step >= from_step AND b.first_step <= to_step
       AND (b.last_step <= to_step OR b.first_step >= from_step
            OR EXISTS (SELECT FROM unnest(b.step_list) AS l (step) WHERE l.step BETWEEN from_step AND to_step))
     ORDER BY b.last_step LIMIT 1)
    UNION ALL
    (SELECT FROM ingest.rank_metric_rows r
     WHERE r.org_id = org AND r.run_id = run AND r.set_id = k.set_id AND r.step BETWEEN from_step AND to_step
       AND (NOT k.is_page OR ingest.has_rank_value(r.packed, r.first_slot, k.slot))
     ORDER BY r.step DESC LIMIT 1)
    LIMIT 1
  ) found
  WHERE k.org_id = org AND k.run_id = run AND k.key = of_key
  ORDER BY k.set_id
$function$;
COMMENT ON FUNCTION ingest.rank_sets_of_key IS
  'Returns the sets that have the key, and a value of it between the steps.';
REVOKE ALL ON FUNCTION ingest.rank_sets_of_key FROM PUBLIC;
GRANT EXECUTE ON FUNCTION ingest.rank_sets_of_key TO tidemark_ingest;

CREATE FUNCTION ingest.rank_step_floor(org uuid, run uuid, sets integer[], slots smallint[], pages boolean[],
  from_step double precision, to_step double precision, steps_max integer)
RETURNS double precision
LANGUAGE plpgsql
STABLE
SET enable_seqscan TO 'off'
AS $function$
DECLARE
  lowest double precision;
  floor_step double precision := from_step;
  chain_steps bigint;
  chain_set integer;
  link record;
BEGIN
  -- Among the blocks of each set: down a chain of blocks that do not overlap, whose steps therefore add up.
  FOREACH chain_set IN ARRAY sets LOOP
    lowest := 'Infinity';
    chain_steps := 0;
    FOR link IN
      SELECT b.first_step, b.last_step, b.step_list, b.first_step >= from_step AND b.last_step <= to_step AS is_inside,
             CASE WHEN b.first_step >= from_step AND b.last_step <= to_step THEN b.step_count
                  ELSE (SELECT count(*) FROM unnest(b.step_list) AS l (step) WHERE l.step BETWEEN from_step AND to_step) END
             AS steps
      FROM ingest.rank_metric_blocks b
      WHERE b.org_id = org AND b.run_id = run AND b.set_id = chain_set AND b.last_step >= floor_step AND b.first_step <= to_step
      ORDER BY b.last_step DESC
    LOOP
      CONTINUE WHEN link.last_step >= lowest;
      IF chain_steps + link.steps >= steps_max THEN
        floor_step := greatest(floor_step, CASE WHEN link.is_inside THEN link.step_list[link.steps - (steps_max - chain_steps) + 1] ELSE (
          SELECT l.step FROM unnest(link.step_list) AS l (step) WHERE l.step BETWEEN from_step AND to_step
          ORDER BY l.step DESC OFFSET steps_max - chain_steps - 1 LIMIT 1) END);
        EXIT;
      END IF;
      lowest := link.first_step;
      chain_steps := chain_steps + link.steps;
    END LOOP;
  END LOOP;

  -- Among rows, of those that are left. With few sets from step to step, however many rows each has; with many, which share the
  -- ranks of a step among them, it is quicker to read each set on its own.
  IF cardinality(sets) > 8 THEN
    SELECT min(n.step) INTO lowest FROM (
      SELECT DISTINCT u.step
      FROM unnest(sets, slots, pages) AS s (set_id, slot, is_page) CROSS JOIN LATERAL (
        SELECT DISTINCT r.step FROM ingest.rank_metric_rows r
        WHERE r.org_id = org AND r.run_id = run AND r.set_id = s.set_id AND r.step BETWEEN floor_step AND to_step
          AND (NOT s.is_page OR ingest.has_rank_value(r.packed, r.first_slot, s.slot))
        ORDER BY r.step DESC LIMIT steps_max
      ) u
      ORDER BY u.step DESC LIMIT steps_max
    ) n HAVING count(*) = steps_max;
  ELSE
    WITH RECURSIVE newest (step, n) AS (
      SELECT 'Infinity'::double precision, 0
      UNION ALL
      SELECT (
        SELECT max(u.step)
        FROM unnest(sets, slots, pages) AS s (set_id, slot, is_page) CROSS JOIN LATERAL (
          SELECT r.step FROM ingest.rank_metric_rows r
          WHERE r.org_id = org AND r.run_id = run AND r.set_id = s.set_id
            AND r.step >= floor_step AND r.step <= to_step AND r.step < b.step
            AND (NOT s.is_page OR ingest.has_rank_value(r.packed, r.first_slot, s.slot))
          ORDER BY r.step DESC LIMIT 1
        ) u
      ), b.n + 1
      FROM newest b WHERE b.step IS NOT NULL AND b.n < steps_max
    )
    SELECT n.step INTO lowest FROM newest n WHERE n.n = steps_max;
  END IF;
  RETURN greatest(floor_step, lowest);
END
$function$;
COMMENT ON FUNCTION ingest.rank_step_floor IS
  'Returns a step from which on, up to to_step, the sets have at least steps_max steps, or all between the two. It '
  'is not always the highest such step, so the caller drops what is too much, but it is never much lower.';
REVOKE ALL ON FUNCTION ingest.rank_step_floor FROM PUBLIC;
GRANT EXECUTE ON FUNCTION ingest.rank_step_floor TO tidemark_ingest;

CREATE FUNCTION ingest.rank_values(org uuid, run uuid, sets integer[], slots smallint[], pages boolean[],
  from_step double precision, to_step double precision)
RETURNS TABLE(index integer, steps bytea, ranks bytea, key_values bytea, weights bytea, received_us bytea)
LANGUAGE sql
STABLE
SET enable_seqscan TO 'off'
AS $function$
  SELECT s.n::integer - 1, v.steps, v.ranks, v.key_values, v.weights, v.received_us
  FROM unnest(sets, slots, pages) WITH ORDINALITY AS s (set_id, slot, is_page, n) CROSS JOIN LATERAL (
    SELECT b.last_step AS at, b.steps, b.ranks, substring(b.set_values FROM 8 * b.entries * s.slot + 1 FOR 8 * b.entries) AS key_values,
           b.weights, b.received_us
    FROM ingest.rank_metric_blocks b
    WHERE b.org_id = org AND b.run_id = run AND b.set_id = s.set_id AND b.last_step >= from_step AND b.first_step <= to_step
    UNION ALL
    SELECT 'Infinity', string_agg(float8send(r.step), ''), string_agg(int2send(r.rank), ''),
           string_agg(substring(r.packed FROM 8 * (s.slot - r.first_slot) + 1 FOR 8), ''),
           string_agg(CASE WHEN r.weight IS NULL THEN '\x00'::bytea ELSE '\x01'::bytea || float8send(r.weight) END, ''),
           string_agg(int8send(r.received_us), '')
    FROM (
      SELECT r.* FROM ingest.rank_metric_rows r
      WHERE r.org_id = org AND r.run_id = run AND r.set_id = s.set_id AND r.step BETWEEN from_step AND to_step
        AND (NOT s.is_page OR ingest.has_rank_value(r.packed, r.first_slot, s.slot))
      ORDER BY r.step, r.rank, r.arrival
    ) r
    HAVING count(*) > 0
  ) v
  ORDER BY s.n, v.at
$function$;
COMMENT ON FUNCTION ingest.rank_values IS
  'Returns the values of a key between two steps, by set: columns of one length in the order of step and rank. '
  'First the blocks, ascending, which may have some values outside of the two steps, then the rows.';
REVOKE ALL ON FUNCTION ingest.rank_values FROM PUBLIC;
GRANT EXECUTE ON FUNCTION ingest.rank_values TO tidemark_ingest;

CREATE FUNCTION ingest.read_log_blocks(org uuid, run uuid, of_stream text, levels integer[],
  first_lines double precision[], first_ids double precision[])
RETURNS TABLE(block bytea)
LANGUAGE plpgsql
STABLE
SET plan_cache_mode TO 'force_generic_plan'
AS $function$
BEGIN
  PERFORM platform.enter_org(org);
  RETURN QUERY
    SELECT b.block
    FROM unnest(levels, first_lines, first_ids) WITH ORDINALITY AS w (level, line, id, n)
    JOIN ingest.log_blocks b ON b.org_id = org AND b.run_id = run AND b.stream = of_stream
      AND b.level = w.level AND b.first_line = w.line::bigint AND b.first_id = w.id::bigint
    ORDER BY w.n;
END
$function$;
COMMENT ON FUNCTION ingest.read_log_blocks IS
  'Returns the contents of blocks, each named by its level and its first position, in the requested order.';
REVOKE ALL ON FUNCTION ingest.read_log_blocks FROM PUBLIC;
GRANT EXECUTE ON FUNCTION ingest.read_log_blocks TO tidemark_ingest_worker;

CREATE FUNCTION ingest.read_metric_blocks(org uuid, run uuid, first_keys integer[], first_seqs double precision[])
RETURNS TABLE(data bytea)
LANGUAGE plpgsql
STABLE
SET plan_cache_mode TO 'force_generic_plan'
AS $function$
BEGIN
  PERFORM platform.enter_org(org);
  RETURN QUERY
    SELECT b.data FROM unnest(first_keys, first_seqs) WITH ORDINALITY AS w (key, seq, n)
    CROSS JOIN LATERAL (
      SELECT m.data FROM ingest.metric_blocks m
      WHERE m.org_id = org AND m.run_id = run AND m.first_key = w.key AND m.first_seq = w.seq::bigint LIMIT 1
    ) b
    ORDER BY w.n;
END
$function$;
COMMENT ON FUNCTION ingest.read_metric_blocks IS
  'Returns the contents of blocks, each named by its first key and first seq, in the requested order.';
REVOKE ALL ON FUNCTION ingest.read_metric_blocks FROM PUBLIC;
GRANT EXECUTE ON FUNCTION ingest.read_metric_blocks TO tidemark_ingest_worker;

CREATE FUNCTION ingest.release_compaction(org uuid, of_kind text, run uuid, of_part text, held_fence uuid,
  seen_marker timestamp with time zone, next_seconds double precision, quiet_seconds double precision,
  failures_in_row integer)
RETURNS void
LANGUAGE plpgsql
AS $function$
BEGIN
  IF quiet_seconds IS NOT NULL THEN
    DELETE FROM ingest.compaction_work w
    WHERE w.org_id = org AND w.kind = of_kind AND w.run_id = run AND w.part = of_part AND w.fence = held_fence
      AND w.marked_at = seen_marker AND w.marked_at < now() - make_interval(secs => quiet_seconds);
    IF FOUND THEN
      RETURN;
    END IF;
  END IF;
  UPDATE ingest.compaction_work w SET
    claimed_until = '-infinity',
    due_at = CASE WHEN w.marked_at = seen_marker THEN now() + make_interval(secs => next_seconds)
                  ELSE least(w.due_at, now() + make_interval(secs => next_seconds)) END,
    failures = failures_in_row
  WHERE w.org_id = org AND w.kind = of_kind AND w.run_id = run AND w.part = of_part AND w.fence = held_fence;
END
$function$;
COMMENT ON FUNCTION ingest.release_compaction IS
  'Ends a claim. The work is due again in next_seconds, or earlier when a dirty marker that was taken meanwhile '
  'says so. With quiet_seconds the work is deleted instead if its last marker is older than that: every writer '
  'leaves markers at shorter intervals, so what it wrote before has been seen.';
REVOKE ALL ON FUNCTION ingest.release_compaction FROM PUBLIC;
GRANT EXECUTE ON FUNCTION ingest.release_compaction TO tidemark_ingest_worker;

CREATE FUNCTION ingest.remove_rank_rows(org uuid, run uuid, rows_max bigint)
RETURNS bigint
LANGUAGE plpgsql
AS $function$
DECLARE
  gone bigint;
  gone_values bigint;
BEGIN
  WITH removed AS (
    DELETE FROM ingest.rank_metric_rows r WHERE r.ctid = ANY (ARRAY(
      SELECT o.ctid FROM ingest.rank_metric_rows o WHERE o.org_id = org AND o.run_id = run LIMIT rows_max))
    RETURNING r.arrival, r.first_slot, r.packed
  ), removed_blocks AS (
    DELETE FROM ingest.rank_metric_blocks b WHERE b.ctid = ANY (ARRAY(
      SELECT o.ctid FROM ingest.rank_metric_blocks o WHERE o.org_id = org AND o.run_id = run LIMIT rows_max))
    RETURNING octet_length(b.set_values) / 8 AS value_count
  )
  SELECT (SELECT count(*) FROM removed) + (SELECT count(*) FROM removed_blocks),
         coalesce((SELECT sum(ingest.rank_row_values(r.arrival, r.first_slot, r.packed)) FROM removed r), 0)
         + coalesce((SELECT sum(b.value_count) FROM removed_blocks b), 0)
  INTO gone, gone_values;
  UPDATE ingest.rank_points p SET points = p.points - gone_values
  WHERE gone_values > 0 AND p.org_id = org
    AND p.slot = (SELECT o.slot FROM ingest.rank_points o WHERE o.org_id = org ORDER BY o.points DESC LIMIT 1);
  RETURN gone;
END
$function$;
COMMENT ON FUNCTION ingest.remove_rank_rows IS
  'Removes at most rows_max rows and as many blocks of rank metrics of a run, and takes their values out of the '
  'count of the organization. Returns how many were removed.';
REVOKE ALL ON FUNCTION ingest.remove_rank_rows FROM PUBLIC;
GRANT EXECUTE ON FUNCTION ingest.remove_rank_rows TO tidemark_ingest_worker;

CREATE FUNCTION ingest.replace_log_blocks(org uuid, run uuid, of_stream text, held_fence uuid,
  lease_seconds double precision, segment_ids double precision[], old_levels integer[], old_lines double precision[],
  old_ids double precision[], new_levels integer[], first_lines double precision[], first_ids double precision[],
  last_lines double precision[], last_ids double precision[], line_counts integer[], text_bytes integer[],
  new_blocks bytea[])
RETURNS boolean
LANGUAGE plpgsql
AS $function$
DECLARE
  gone integer;
BEGIN
  PERFORM platform.enter_org(org);
  UPDATE ingest.compaction_work w SET claimed_until = now() + make_interval(secs => lease_seconds)
  WHERE w.org_id = org AND w.kind = 'logs' AND w.run_id = run AND w.part = of_stream AND w.fence = held_fence;
  IF NOT FOUND THEN
    RETURN false;
  END IF;

  DELETE FROM ingest.log_segments l USING unnest(segment_ids) AS d (id)
  WHERE l.org_id = org AND l.run_id = run AND l.stream = of_stream AND l.id = d.id::bigint;
  GET DIAGNOSTICS gone = ROW_COUNT;
  IF gone <> cardinality(segment_ids) THEN
    RAISE EXCEPTION '% of % segments were there', gone, cardinality(segment_ids);
  END IF;

  DELETE FROM ingest.log_blocks b USING unnest(old_levels, old_lines, old_ids) AS d (level, line, id)
  WHERE b.org_id = org AND b.run_id = run AND b.stream = of_stream
    AND b.level = d.level AND b.first_line = d.line::bigint AND b.first_id = d.id::bigint;
  GET DIAGNOSTICS gone = ROW_COUNT;
  IF gone <> cardinality(old_levels) THEN
    RAISE EXCEPTION '% of % blocks were there', gone, cardinality(old_levels);
  END IF;

  INSERT INTO ingest.log_blocks
    (org_id, run_id, stream, level, first_line, first_id, last_line, last_id, lines, message_bytes, block)
  SELECT org, run, of_stream, n.level, n.first_line::bigint, n.first_id::bigint, n.last_line::bigint,
         n.last_id::bigint, n.lines, n.bytes, n.block
  FROM unnest(new_levels, first_lines, first_ids, last_lines, last_ids, line_counts, text_bytes, new_blocks)
       AS n (level, first_line, first_id, last_line, last_id, lines, bytes, block);
  RETURN true;
END
$function$;
COMMENT ON FUNCTION ingest.replace_log_blocks IS
  'One step of a compaction, all of it or nothing: deletes the segments and blocks that were read and inserts '
  'blocks that hold exactly their lines. Returns false, and does nothing, when the fence token is no longer the '
  'holder''s. Otherwise the claim lasts lease_seconds more. Nothing else deletes these rows, so a row that is '
  'missing is a fault and fails the step.';
REVOKE ALL ON FUNCTION ingest.replace_log_blocks FROM PUBLIC;
GRANT EXECUTE ON FUNCTION ingest.replace_log_blocks TO tidemark_ingest_worker;

CREATE FUNCTION ingest.replace_metric_blocks(org uuid, run uuid, held_fence uuid, lease_seconds double precision,
  segment_ids double precision[], old_keys integer[], old_seqs double precision[], first_keys integer[],
  widths integer[], first_seqs double precision[], last_seqs double precision[], first_steps double precision[],
  last_steps double precision[], point_counts integer[], value_counts integer[], steps_ends integer[],
  axis_ends integer[], new_statistics bytea[], new_sums bytea[], new_data bytea[])
RETURNS boolean
LANGUAGE plpgsql
SET plan_cache_mode TO 'force_generic_plan'
AS $function$
DECLARE
  gone integer;
BEGIN
  PERFORM platform.enter_org(org);
  UPDATE ingest.compaction_work w SET claimed_until = now() + make_interval(secs => lease_seconds)
  WHERE w.org_id = org AND w.kind = 'metrics' AND w.run_id = run AND w.part = '' AND w.fence = held_fence;
  IF NOT FOUND THEN
    RETURN false;
  END IF;

  DELETE FROM ingest.metric_segments l
  WHERE l.org_id = org AND l.run_id = run AND l.id = ANY (segment_ids::bigint[]);
  GET DIAGNOSTICS gone = ROW_COUNT;
  IF gone <> cardinality(segment_ids) THEN
    RAISE EXCEPTION '% of % segments were there', gone, cardinality(segment_ids);
  END IF;

  FOR at IN 1 .. cardinality(old_keys) LOOP
    DELETE FROM ingest.metric_blocks b
    WHERE b.org_id = org AND b.run_id = run AND b.first_key = old_keys[at] AND b.first_seq = old_seqs[at]::bigint;
    IF NOT FOUND THEN
      RAISE EXCEPTION 'block % of key % was not there', old_seqs[at], old_keys[at];
    END IF;
  END LOOP;

  INSERT INTO ingest.metric_blocks
    (org_id, run_id, first_key, width, first_seq, last_seq, first_step, last_step, points, value_count,
     steps_end, axis_end, statistics, sums, data)
  SELECT org, run, n.first_key, n.width, n.first_seq::bigint, n.last_seq::bigint, n.first_step, n.last_step,
         n.points, n.value_count, n.steps_end, n.axis_end, nullif(n.statistics, ''), nullif(n.sums, ''), n.data
  FROM unnest(first_keys, widths, first_seqs, last_seqs, first_steps, last_steps, point_counts, value_counts,
              steps_ends, axis_ends, new_statistics, new_sums, new_data)
       AS n (first_key, width, first_seq, last_seq, first_step, last_step, points, value_count,
             steps_end, axis_end, statistics, sums, data);
  RETURN true;
END
$function$;
COMMENT ON FUNCTION ingest.replace_metric_blocks IS
  'Replaces landing segments and blocks of a run by blocks with the same points: all or nothing. Prolongs the '
  'claim; returns false, and does nothing, when the claim does not hold any more.';
REVOKE ALL ON FUNCTION ingest.replace_metric_blocks FROM PUBLIC;
GRANT EXECUTE ON FUNCTION ingest.replace_metric_blocks TO tidemark_ingest_worker;

CREATE FUNCTION ingest.text_of(document json)
RETURNS text
LANGUAGE sql
IMMUTABLE PARALLEL SAFE
SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
  SELECT CASE WHEN json_typeof(document) <> 'string' THEN NULL
    WHEN strpos(document::text, '\u') = 0 THEN document #>> '{}'
    ELSE regexp_replace(document::text, '(?<!\\)((?:\\\\)*)\\u(0000|d[89a-fA-F][0-9a-fA-F]{2})', '\1\\ufffd', 'g')::json #>> '{}' END
$function$;
COMMENT ON FUNCTION ingest.text_of IS
  'Returns the text of a JSON string, null for other values. What no text of PostgreSQL can hold becomes U+FFFD.';
REVOKE ALL ON FUNCTION ingest.text_of FROM PUBLIC;
GRANT EXECUTE ON FUNCTION ingest.text_of TO tidemark_ingest;

CREATE FUNCTION ingest.unindexed_sort_values_v2(org uuid, of_key text)
RETURNS TABLE(run_id uuid, sort_best double precision, sort_latest double precision)
LANGUAGE sql
STABLE
AS $function$
  SELECT u.run_id, CASE WHEN k.minimise THEN -p.stats[k.at + 4] ELSE p.stats[k.at + 6] END, p.stats[k.at + 8]
  FROM (SELECT o.run_id FROM ingest.unindexed_runs o WHERE o.org_id = org OFFSET 0) u
  CROSS JOIN LATERAL (SELECT o.key_id, o.minimise, (o.key_id & 31) * 10 AS at FROM ingest.metric_keys o
                      WHERE o.org_id = org AND o.run_id = u.run_id AND o.key = of_key COLLATE "C" OFFSET 0) k
  CROSS JOIN LATERAL (SELECT o.stats FROM ingest.metric_aggregate_pages o
                      WHERE o.org_id = org AND o.run_id = u.run_id AND o.page = k.key_id >> 5 OFFSET 0) p
  WHERE p.stats[k.at + 1] > 0
$function$;
COMMENT ON FUNCTION ingest.unindexed_sort_values_v2 IS
  'Returns the values to sort by of the runs that are not indexed and have finite values of the key, from their key '
  'aggregates; more is better in sort_best. A plain query without settings, so that PostgreSQL inlines it; every step '
  'is a look-up behind OFFSET 0, so that there is no other plan.';
REVOKE ALL ON FUNCTION ingest.unindexed_sort_values_v2 FROM PUBLIC;
GRANT EXECUTE ON FUNCTION ingest.unindexed_sort_values_v2 TO tidemark_runs;

CREATE FUNCTION ingest.visible_project(org uuid, run uuid, only_project uuid)
RETURNS uuid
LANGUAGE plpgsql
STABLE
AS $function$
BEGIN
  RETURN (SELECT r.project_id FROM runs.run_refs_v1 r
          WHERE r.org_id = org AND r.id = run AND (only_project IS NULL OR r.project_id = only_project));
END
$function$;
COMMENT ON FUNCTION ingest.visible_project IS
  'Returns the project of a run; null when the run does not exist, belongs to another organization or lies outside '
  'only_project.';
REVOKE ALL ON FUNCTION ingest.visible_project FROM PUBLIC;
GRANT EXECUTE ON FUNCTION ingest.visible_project TO tidemark_ingest;

CREATE FUNCTION ingest.waiting_log_rows(org uuid, run uuid, of_stream text, rest_seconds double precision,
  rows_max integer, bytes_max bigint)
RETURNS TABLE(id bigint, received_us bigint, age_seconds double precision, block bytea)
LANGUAGE plpgsql
STABLE
SET plan_cache_mode TO 'force_generic_plan'
AS $function$
DECLARE
  now_us constant bigint := (extract(epoch FROM now()) * 1000000)::bigint;
  text_bytes integer;
BEGIN
  PERFORM platform.enter_org(org);
  FOR id, received_us, text_bytes, block IN
    SELECT l.id, l.received_us, l.message_bytes, l.block FROM ingest.log_segments l
    WHERE l.org_id = org AND l.run_id = run AND l.stream = of_stream
      AND l.received_us <= now_us - rest_seconds * 1000000
    ORDER BY l.id LIMIT rows_max
  LOOP
    age_seconds := (now_us - received_us) / 1000000.0;
    RETURN NEXT;
    bytes_max := bytes_max - text_bytes;
    EXIT WHEN bytes_max <= 0;
  END LOOP;
END
$function$;
COMMENT ON FUNCTION ingest.waiting_log_rows IS
  'Returns the segments of a stream that were received at least rest_seconds ago, in the order of their arrival, up '
  'to rows_max rows or the row that takes their messages to bytes_max bytes.';
REVOKE ALL ON FUNCTION ingest.waiting_log_rows FROM PUBLIC;
GRANT EXECUTE ON FUNCTION ingest.waiting_log_rows TO tidemark_ingest_worker;

CREATE FUNCTION ingest.waiting_metric_rows(org uuid, run uuid, rows_max integer, bytes_max bigint)
RETURNS TABLE(id bigint, received_us bigint, age_seconds double precision, points bytea)
LANGUAGE plpgsql
STABLE
SET plan_cache_mode TO 'force_generic_plan'
AS $function$
DECLARE
  now_us constant bigint := (extract(epoch FROM now()) * 1000000)::bigint;
BEGIN
  PERFORM platform.enter_org(org);
  FOR id, received_us, points IN
    SELECT l.id, l.received_us, l.points FROM ingest.metric_segments l
    WHERE l.org_id = org AND l.run_id = run ORDER BY l.id LIMIT rows_max
  LOOP
    age_seconds := (now_us - received_us) / 1000000.0;
    RETURN NEXT;
    bytes_max := bytes_max - octet_length(points);
    EXIT WHEN bytes_max <= 0;
  END LOOP;
END
$function$;
COMMENT ON FUNCTION ingest.waiting_metric_rows IS
  'Returns the segments of a run in the order of their arrival, up to rows_max rows or the row that takes them to '
  'bytes_max bytes. A row that can be seen has no earlier row that cannot be seen.';
REVOKE ALL ON FUNCTION ingest.waiting_metric_rows FROM PUBLIC;
GRANT EXECUTE ON FUNCTION ingest.waiting_metric_rows TO tidemark_ingest_worker;

CREATE FUNCTION ingest.with_members(document text, members text) RETURNS text
  LANGUAGE sql IMMUTABLE PARALLEL SAFE
  RETURN CASE WHEN document = '{}' THEN '{' ELSE left(document, -1) || ',' END || substr(members, 2);
COMMENT ON FUNCTION ingest.with_members IS
  'Adds the members of one JSON object, at least one, to another one that has none of these names. Both are '
  'compact.';
REVOKE ALL ON FUNCTION ingest.with_members FROM PUBLIC;
GRANT EXECUTE ON FUNCTION ingest.with_members TO tidemark_ingest;

CREATE AGGREGATE ingest.concatenated(double precision[]) (SFUNC = array_cat, STYPE = double precision[],
  INITCOND = '{}');
COMMENT ON AGGREGATE ingest.concatenated(double precision[]) IS
  'Returns arrays of numbers one after another, in the order of the rows.';
GRANT EXECUTE ON FUNCTION ingest.concatenated(double precision[]) TO tidemark_runs;

CREATE FUNCTION ingest.metric_columns_v1(org uuid, run uuid, from_key text, end_key text, after_key text,
  keys_max bigint)
RETURNS TABLE(keys bytea, total bigint, latest bytea, min bytea, max bytea, mean bytea, variance bytea, count bytea,
  best bytea, best_step bytea, non_finite bytea, latest_step bytea)
LANGUAGE sql
STABLE
AS $function$
  SELECT m.keys,
         CASE WHEN after_key = '' AND m.found < keys_max THEN m.found
              WHEN from_key = '' AND end_key IS NULL THEN coalesce(n.key_count, 0)
              ELSE (SELECT pg_catalog.count(*) FROM ingest.metric_keys k
                    WHERE k.org_id = org AND k.run_id = run AND k.key >= from_key COLLATE "C"
                      AND (end_key IS NULL OR k.key < end_key COLLATE "C")) END,
         a.latest, a.min, a.max, a.mean, a.variance, a.count, a.best, a.best_step, a.non_finite, a.latest_step
  FROM (SELECT (SELECT r.key_count::bigint FROM ingest.metric_runs r WHERE r.org_id = org AND r.run_id = run) AS key_count
        OFFSET 0) n
  CROSS JOIN LATERAL (
    -- The aggregates keep the order of the sorted rows.
    SELECT string_agg(textsend(k.key), '\x00'::bytea) AS keys, pg_catalog.count(*) AS found,
           array_agg(k.key_id) AS ids, array_agg(k.minimise) AS minimise
    FROM (SELECT k.key, k.key_id, k.minimise FROM ingest.metric_keys k
          WHERE k.org_id = org AND k.run_id = run AND k.key >= from_key COLLATE "C"
            AND (end_key IS NULL OR k.key < end_key COLLATE "C") AND k.key > after_key COLLATE "C"
          ORDER BY k.key LIMIT keys_max) k
  ) m
  CROSS JOIN LATERAL (
    SELECT array_agg(DISTINCT k.id >> 5 ORDER BY k.id >> 5) AS pages FROM unnest(m.ids) AS k (id)
  ) d
  CROSS JOIN LATERAL (
    -- The pages one after another, where that costs less than a look-up for each key: of a run with few keys, and where a
    -- page has several of the keys, as it mostly has, because keys that are next to each other were mostly logged together.
    -- Not where values are not finite: then look-ups find their numbers too.
    SELECT CASE
      WHEN cardinality(d.pages) = 1 THEN (
        SELECT p.stats FROM ingest.metric_aggregate_pages p
        WHERE p.org_id = org AND p.run_id = run AND p.page = d.pages[1] AND p.non_finite IS NULL
      )
      WHEN n.key_count <= 256 OR cardinality(d.pages) * 4 <= m.found THEN (
        SELECT ingest.concatenated(p.stats) FROM unnest(d.pages) AS k (page)
        CROSS JOIN LATERAL (SELECT o.stats, o.non_finite FROM ingest.metric_aggregate_pages o
                            WHERE o.org_id = org AND o.run_id = run AND o.page = k.page OFFSET 0) p
        HAVING pg_catalog.count(p.non_finite) = 0
      ) END AS stats
    OFFSET 0
  ) w
  CROSS JOIN LATERAL (
    SELECT string_agg(float8send(k.stats[k.at + 8]), ''::bytea) AS latest,
           string_agg(float8send(k.stats[k.at + 9]), ''::bytea) AS latest_step,
           string_agg(float8send(k.stats[k.at + 4]), ''::bytea) AS min,
           string_agg(float8send(k.stats[k.at + 6]), ''::bytea) AS max,
           string_agg(float8send(k.stats[k.at + 2]), ''::bytea) AS mean,
           -- As metric_aggregates_v1: PostgreSQL must not divide the smallest numbers.
           string_agg(float8send(CASE WHEN k.stats[k.at + 3] < 1e-290 THEN 0
                                      WHEN k.stats[k.at + 3] < 'Infinity' THEN k.stats[k.at + 3] / k.stats[k.at + 1]
                                      ELSE 'NaN' END), ''::bytea) AS variance,
           string_agg(float8send(k.stats[k.at + 1]), ''::bytea) AS count,
           string_agg(float8send(k.stats[k.at + CASE WHEN k.minimise THEN 4 ELSE 6 END]), ''::bytea) AS best,
           string_agg(float8send(k.stats[k.at + CASE WHEN k.minimise THEN 5 ELSE 7 END]), ''::bytea) AS best_step,
           string_agg(float8send(coalesce(k.non_finite[k.at / 10 * 3 + 1], 0)) || float8send(coalesce(k.non_finite[k.at / 10 * 3 + 3], 0)),
                      ''::bytea) FILTER (WHERE k.is_looked_up) AS non_finite
    FROM (
      SELECT w.stats, ((width_bucket(k.id >> 5, d.pages) - 1) * 32 + (k.id & 31)) * 10 AS at, k.minimise,
             NULL::double precision[] AS non_finite, false AS is_looked_up
      FROM unnest(m.ids, m.minimise) AS k (id, minimise) WHERE w.stats IS NOT NULL
      UNION ALL
      SELECT p.stats, (k.id & 31) * 10, k.minimise, p.non_finite, true
      FROM unnest(m.ids, m.minimise) AS k (id, minimise)
      CROSS JOIN LATERAL (SELECT o.stats, o.non_finite FROM ingest.metric_aggregate_pages o
                          WHERE o.org_id = org AND o.run_id = run AND o.page = k.id >> 5 OFFSET 0) p
      WHERE w.stats IS NULL
    ) k
  ) a
$function$;
COMMENT ON FUNCTION ingest.metric_columns_v1 IS
  'Returns a page of the key aggregates of a run as columns: the next keys_max keys from from_key on, before '
  'end_key (null: no end) and behind after_key (empty: from the start), in code point order, separated by NUL in '
  'keys; the other columns hold a double per key, big-endian, in the same order; NaN stands for a variance that a '
  'double cannot hold. best is the minimum where less is better, else the maximum. All these are over finite values: '
  'where there is none, count is 0 and the others are NaN. non_finite has two doubles for each key, the number of the '
  'other values and their highest step; null or zeros where no key has any. Columns are null when the page is empty. '
  'total counts the keys between from_key and end_key; keys are counted only where neither the page nor the run has '
  'their number, because a run may have a hundred thousand. Bytes, because writing and reading thousands of numbers as '
  'text costs more than everything else. A plain query without settings, so that PostgreSQL inlines it.';
REVOKE ALL ON FUNCTION ingest.metric_columns_v1 FROM PUBLIC;
GRANT EXECUTE ON FUNCTION ingest.metric_columns_v1 TO tidemark_runs;

REVOKE CREATE ON SCHEMA ingest FROM tidemark_definer, tidemark_ingest;
