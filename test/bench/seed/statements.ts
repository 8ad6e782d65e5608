// Of the portions: $1 organizations, and for each of them $2 the first and $3 the last number of its runs. All choices follow from the number of a
// run alone: `h` is its hash, from which digits are taken.

/** Names of the projects that seeded runs are in. */
const SEED_PROJECTS = [
  "llm-pretraining",
  "vision-backbones",
  "speech-asr",
  "rl-control",
  "recsys-ranking",
  "fraud-tabular",
  "diffusion-images",
  "protein-folding",
  "translation-mt",
  "forecasting",
] as const;

/** The metric keys that every seeded run has. */
export const SEED_METRICS = [
  "train/loss",
  "train/accuracy",
  "train/grad_norm",
  "train/lr",
  "train/tokens",
  "train/epoch",
  "train/throughput",
  "train/memory_gb",
  "eval/loss",
  "eval/accuracy",
  "eval/f1",
  "eval/perplexity",
  "eval/return_mean",
  "eval/return_std",
  "test/accuracy",
  "test/wer",
  "system/gpu_util",
  "system/gpu_temp",
  "system/cpu_util",
  "system/disk_io",
] as const;

const texts = (values: readonly string[]): string => `ARRAY[${values.map((value) => `'${value}'`).join(",")}]`;
const pick = (values: readonly string[], divisor = 1): string =>
  `(${texts(values)})[1 + (h / ${divisor}) % ${values.length}]`;
const runId = `md5(org || ' run ' || n)::uuid`;
const projectId = (number: string): string => `md5(org || ' project ' || ${number})::uuid`;
/** The numbers of a portion, each with its organization. */
const NUMBERS = `(SELECT o.org, g.n FROM unnest($1::uuid[], $2::bigint[], $3::bigint[]) AS o (org, first, last), generate_series(o.first, o.last) AS g (n)) numbers`;

/** Their runs. */
const NUMBERED_RUNS = `${NUMBERS} CROSS JOIN LATERAL (SELECT r AS run, r.* FROM runs.runs r WHERE r.org_id = org AND r.id = ${runId} OFFSET 0) r`;

/** The projects of the organizations $1. */
export const insertProjects = `
  INSERT INTO runs.projects (org_id, id, name)
  SELECT org, ${projectId("p.n")}, p.name
  FROM unnest($1::uuid[]) AS o (org) CROSS JOIN unnest(${texts(SEED_PROJECTS)}) WITH ORDINALITY AS p (name, n)
  ON CONFLICT DO NOTHING`;

const config = `
  '{"batch_size":' || ${pick(["16", "32", "64", "128", "256", "512"])}
  || ',"data":{"augment":' || (h % 3 = 0)::text || ',"dataset":"'
  || ${pick(["imagenet-1k", "librispeech", "c4-en", "wmt14-de-en", "criteo-1tb", "atari-57"], 7)}
  || '","shards":' || h % 1000 || ',"workers":' || 4 + h % 12 || '},"epochs":' || 1 + h % 90
  || ',"git_commit":"' || md5('commit ' || n) || substr(md5('rest ' || n), 1, 8)
  || '","lr":' || ${pick(["0.1", "0.01", "0.001", "0.0003", "0.00003"], 11)}
  || ',"model":{"depth":' || 6 + h % 42 || ',"dropout":0.' || h % 5 || ',"family":"'
  || ${pick(["transformer", "resnet", "conformer", "mlp-mixer", "unet", "mamba"], 13)}
  || '","heads":' || ${pick(["4", "8", "12", "16", "32"], 3)}
  || ',"hidden":' || ${pick(["256", "512", "768", "1024", "2048", "4096"], 5)}
  || '},"optimizer":"' || ${pick(["adamw", "sgd", "lion", "adafactor"], 17)}
  || '","precision":"' || ${pick(["bf16", "fp16", "fp32"], 19)}
  || '","scheduler":"' || ${pick(["cosine", "linear", "constant"], 23)}
  || '","seed":' || h % 100000 || ',"warmup_steps":' || h % 5000 || ',"weight_decay":0.' || h % 9 || '}'`;

const metadata = `
  '{"git":{"branch":"' || ${pick(["main", "dev", "feature/long-context", "fix/nan-loss"], 29)}
  || '","dirty":false},"host":"gpu-node-' || h % 200 || '.cluster.local","notes":"'
  || ${pick(
    [
      "first try with the new tokenizer",
      "compare against last week, lower learning rate",
      "reviewer asked for longer warm-up",
      "checking whether dropout matters at this depth",
      "do not delete, used in the quarterly report",
    ],
    31,
  )}
  || ' no ' || n || '","python":"3.11.4"}'`;

/** Runs: a tenth failed, one in a hundred and the newest 500 running, the rest finished. One in a thousand has the tag paper-fig3. */
export const insertRuns = `
  INSERT INTO runs.runs (org_id, id, project_id, name, status, config, tags, metadata, created_at, started_at,
                         finished_at, stop_state, stop_request_id, stop_requested_at, stop_completed_at)
  SELECT org, ${runId}, ${projectId(`(1 + n * 7 % ${SEED_PROJECTS.length})`)},
         ${pick(["calm", "brave", "amber", "quiet", "swift", "bold", "misty", "lunar", "solar", "vivid"])} || '-'
         || ${pick(["otter", "falcon", "harbor", "meadow", "comet", "glacier", "canyon", "lynx", "orchid", "delta"], 10)}
         || '-' || n,
         status, ${config},
         CASE WHEN n % 1000 = 7 THEN ARRAY['paper-fig3', 'baseline']
              ELSE ARRAY[${pick(["baseline", "sweep", "ablation", "nightly", "debug", "prod"])}, 'team-' || h % 40] END,
         ${metadata}, at, at,
         CASE WHEN status <> 'running' THEN at + (60 + h % 86400) * interval '1 second' END,
         CASE WHEN stopped THEN 'completed' WHEN asked THEN 'requested' ELSE 'none' END,
         CASE WHEN stopped OR asked THEN ${runId} END, CASE WHEN stopped OR asked THEN at END, CASE WHEN stopped THEN at END
  FROM (
    SELECT *, status = 'failed' AND n % 50 = 3 AS stopped, status = 'running' AND n % 100 = 51 AS asked
    FROM (
      SELECT org, n::integer AS n, abs(hashint4(n::integer)::bigint) AS h,
             timestamptz '2026-11-01 12:00:00Z' - n * interval '37 seconds' AS at,
             CASE WHEN n <= 500 OR n % 100 = 1 THEN 'running' WHEN n % 10 = 3 THEN 'failed' ELSE 'finished' END AS status
      FROM ${NUMBERS}
    ) numbered
  ) drawn
  ON CONFLICT DO NOTHING`;

const value = `(abs(hashint8(n * 131 + k.at)::bigint) % 1000000) / 1000000.0::float8`;

/** The first $4 keys and their aggregates, of 1,000 values each; all keys of a run are in its first page. */
export const insertHeads = `
  WITH drawn AS MATERIALIZED (
    SELECT org, ${runId} AS run, k.key, k.at, k.key ~ '(loss|perplexity|wer)$' AS minimise, ${value} AS v,
           timestamptz '2026-11-01 12:00:00Z' - n * interval '37 seconds' AS created
    FROM ${NUMBERS}, unnest(${texts(SEED_METRICS)}) WITH ORDINALITY AS k (key, at)
    WHERE k.at <= $4::integer
  ), keys AS (
    INSERT INTO ingest.metric_keys (org_id, run_id, key, key_id, minimise, sort_best, sort_latest, sort_created_at)
    SELECT org, run, key, at - 1, minimise, CASE WHEN minimise THEN -v / 2 ELSE v * 2 END, v, created FROM drawn
    ON CONFLICT DO NOTHING
  ), pages AS (
    INSERT INTO ingest.metric_aggregate_pages (org_id, run_id, page, stats)
    SELECT org, run, 0, array_agg(s.number ORDER BY at, s.n)
    FROM drawn, unnest(ARRAY[1000, v, 25, v / 2, 400, v * 2, 700, v, 999, 0]) WITH ORDINALITY AS s (number, n)
    GROUP BY org, run
    ON CONFLICT DO NOTHING
  )
  INSERT INTO ingest.metric_runs (org_id, run_id, version, key_count, point_count)
  SELECT org, run, 1, count(*), 1000 * count(*) FROM drawn GROUP BY org, run
  ON CONFLICT DO NOTHING`;

/** The texts of the runs, which a trigger writes otherwise. */
export const insertTexts = `
  INSERT INTO runs.run_texts
  SELECT t.* FROM ${NUMBERED_RUNS}
  CROSS JOIN LATERAL (SELECT p.name FROM runs.projects p WHERE p.org_id = r.org_id AND p.id = r.project_id OFFSET 0) p
  CROSS JOIN LATERAL runs.texts_of(r.run, p.name) t
  ON CONFLICT DO NOTHING`;

const count = (condition: string): string => `count(*) FILTER (WHERE ${condition})`;

/** Adds the runs, each with $4 keys, to the counters of their projects. Two statements in one, as they concern two services' tables. */
export const countRuns = `
  WITH counted AS (
    SELECT r.org_id, r.project_id, count(*) AS runs, ${count("r.status = 'running'")} AS running,
           ${count("r.status = 'finished'")} AS finished, ${count("r.status = 'failed'")} AS failed,
           ${count("r.display_status = 'stopping'")} AS stopping,
           ${count("r.display_status = 'stopped' AND r.status = 'finished'")} AS finished_stopped,
           ${count("r.display_status = 'stopped' AND r.status = 'failed'")} AS failed_stopped
    FROM ${NUMBERED_RUNS}
    GROUP BY r.org_id, r.project_id
  ), points AS (
    INSERT INTO ingest.project_points AS p (org_id, project_id, slot, points, series, month, month_points)
    SELECT org_id, project_id, 0, runs * 1000 * $4::integer, runs * $4::integer, '2026-01-01', 0 FROM counted
    ON CONFLICT (org_id, project_id, slot) DO UPDATE SET points = p.points + excluded.points, series = p.series + excluded.series
  )
  UPDATE runs.projects p
  SET runs_running = p.runs_running + running, runs_finished = p.runs_finished + finished, runs_failed = p.runs_failed + failed,
      runs_stopping = p.runs_stopping + stopping, runs_finished_stopped = p.runs_finished_stopped + finished_stopped,
      runs_failed_stopped = p.runs_failed_stopped + failed_stopped
  FROM counted c WHERE p.org_id = c.org_id AND p.id = c.project_id`;
