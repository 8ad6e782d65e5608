import { execFile } from "node:child_process";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "@jest/globals";
import { isDeep, requirePython } from "@tidemark/testkit";
import { describeWith } from "../stack/describe-with.ts";
import { startStack, type OwnStack } from "../stack/stack.ts";

const TIMEOUT_MS = 1_800_000;
const EXAMPLES = isDeep ? 40 : 2;
// The bounds of every schema one by one are some hundred requests an operation. Without them an operation with few parameters has few cases.
const [PHASES, CASES_LEAST] = isDeep ? ["coverage,fuzzing", EXAMPLES] : ["fuzzing", EXAMPLES / 2];
const SEED = 20_261_122;

const environment = await requirePython({
  requirements: join(import.meta.dirname, "openapi-requirements.txt"),
  leftOut: "whether /openapi.json accepts and refuses what the server does",
});

/** A check that failed for one request. */
type Failure = { operation: string; check: string; status: number; answer: string; request: string; message: string };

/**
 * What a JSON Schema of one request cannot say. Everything else that the schemas accept and the server refuses, or the other way
 * round, fails the test.
 */
const beyondSchemas: readonly { reason: string; check: string; answer: RegExp }[] = [
  {
    reason: "the length of a text in bytes of UTF-8: a pattern counts characters",
    check: "positive_data_acceptance",
    answer: /must have at most \d+ bytes/,
  },
  {
    reason: "a number that must not be above another one of the request",
    check: "positive_data_acceptance",
    answer:
      /must be below world_size|(?:start|from)_step must not be above (?:end|to)_step|min_step must not be above max_step|to must be after from|ended_at must not be more than 1 s before/,
  },
  {
    reason: "items that are the same but for the white space around them",
    check: "positive_data_acceptance",
    answer: /keys must be different/,
  },
  {
    reason: "a list that must be as long as another one of the request",
    check: "positive_data_acceptance",
    answer: /bins must have as many items as counts/,
  },
  {
    reason: "a text, a count or a sum that depends on another field of an evaluation, or how deep it is",
    check: "positive_data_acceptance",
    answer: /must be one of class_names|must be sample_count|levels deep/,
  },
  {
    reason: "two query parameters that exclude each other, or of which one is required",
    check: "positive_data_acceptance",
    answer:
      /tail cannot be used with q or cursor|run_ids is required|run_id, project_id or project is required|cannot be used with format=(?:ndjson|parquet)|deleted runs (?:cannot be searched|are not stale|are listed by their creation)/,
  },
  {
    reason: "a cursor must be one that the server gave out",
    check: "positive_data_acceptance",
    answer: /is not a cursor of this list|cursor is not valid/,
  },
  {
    reason: "the shape of an id in a path",
    check: "positive_data_acceptance",
    answer: /trace_id must be 32 hexadecimal digits/,
  },
  {
    reason: "an id must be that of a stored row",
    check: "positive_data_acceptance",
    answer: /must be an artifact of the same run|name different projects/,
  },
  {
    reason: "an idempotency key must not be that of another request",
    check: "positive_data_acceptance",
    answer: /"code":"idempotency_key_reused"/,
  },
  {
    reason: "paths of a manifest: each once, and without backslashes, control characters, empty parts and steps up",
    check: "positive_data_acceptance",
    answer: /path is given twice|path must not contain backslashes|path must be relative/,
  },
  {
    reason: "what the events of a request say together, and previews that need another field of their event",
    check: "positive_data_acceptance",
    answer:
      /is that of another event|differs from that of another event|form a cycle|another span than span_id|content_policy preview/,
  },
  {
    reason: "a reference must fit one collection of the organization",
    check: "positive_data_acceptance",
    answer: /ref fits several collections/,
  },
  {
    reason: "a body beyond its limit is refused with 413, which the tool does not count as a refusal",
    check: "negative_data_rejection",
    answer: /must have at most \d+ bytes/,
  },
  {
    reason: "a key at any depth of a document must be storable and must not reach a prototype",
    check: "positive_data_acceptance",
    answer: /has a key with NUL or a lone surrogate|the key (?:__proto__|prototype|constructor) is not allowed/,
  },
  {
    reason: "a checksum must be that of another part of the request",
    check: "positive_data_acceptance",
    answer: /payload_sha256 is not the checksum of the payload/,
  },
  {
    reason: "the grammar of hosts, and which of them may show this server",
    check: "positive_data_acceptance",
    answer: /allowed_parent_origin must (?:be an origin|begin with https|not be this server)/,
  },
  {
    reason: "how many there are is stored",
    check: "positive_data_acceptance",
    answer: /may have at most \d+ workspace views/,
  },
  {
    reason: "values of parameters in a filter, which are texts in the schema",
    check: "positive_data_acceptance",
    answer: /(?:stale|status|display_status|deleted|limit|offset|sort_by) must be|deleted runs cannot be selected/,
  },
  {
    reason: "the grammar of columns",
    check: "positive_data_acceptance",
    answer: /columns must (?:be config|name at most)|sort_by must be one of|(?:metric|by) must (?:be|name|have)/,
  },
  {
    reason: "the grammar of run search",
    check: "positive_data_acceptance",
    answer: /"code":"run_search_|"code":"object_explorer_invalid","field":"q"/,
  },
  {
    reason: "who has which role and which kind of organization is stored",
    check: "positive_data_acceptance",
    answer: /a personal organization has no seats for others/,
  },
  {
    reason: "a chunk says of its job what the job is",
    check: "positive_data_acceptance",
    answer: /must be that of the job|(?:job_id|source_type|target_project) must be /,
  },
  {
    reason: "what a run of a document must have, which may be in one of several places",
    check: "positive_data_acceptance",
    answer: /runs\[\d+\]: id or name is required/,
  },
  {
    reason: "an archive is lines that belong together, with a beginning and an end",
    check: "positive_data_acceptance",
    answer: /"code":"archive_(?:incomplete|invalid)"/,
  },
  {
    reason: "a letter of a name: Schemathesis puts a class with fewer letters in the place of \\p{L}",
    check: "negative_data_rejection",
    answer: /^\{"name":"[^"\\]*[^"\\\x20-\x7e][^"\\]*","slug":/,
  },
  {
    reason: "a time must be in the future",
    check: "positive_data_acceptance",
    answer: /expires_at must be in the future/,
  },
];

describeWith(environment)("/openapi.json", () => {
  let stack: OwnStack | undefined;
  let folder = "";
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), "tidemark-openapi-"));
    stack = await startStack("embedded");
  }, TIMEOUT_MS);
  afterAll(async () => {
    await stack?.stop();
    await rm(folder, { recursive: true, force: true });
  }, TIMEOUT_MS);

  test(
    "accepts what the server accepts and refuses what the server refuses, and answers are as it says",
    async () => {
      const report = join(folder, "events.ndjson");
      const config = join(folder, "schemathesis.toml");
      await writeFile(config, await configOf(stack!));
      const checks = `--checks all --exclude-checks ignored_auth --phases ${PHASES} --continue-on-failure --no-shrink`;
      const examples = `--max-examples ${EXAMPLES} --generation-database none --report ndjson`;
      const output = await schemathesis(
        environment!.python,
        folder,
        ["--config-file", config, "run", `${stack!.baseUrl}/openapi.json`, "--report-ndjson-path", report].concat(
          checks.split(" "),
          examples.split(" "),
          // It answers until the client has had enough.
          ["--exclude-path", "/api/projects/{project_id}/changes"],
        ),
      );
      const { cases, operations, failures } = readReport(await readFile(report, "utf8"));
      expect(output).toContain(`Tested: ${operations}`);
      expect(operations).toBeGreaterThan(50);
      expect(cases).toBeGreaterThan(operations * CASES_LEAST);
      const unexplained = failures.filter(
        ({ check, answer }) => !beyondSchemas.some((one) => one.check === check && one.answer.test(answer)),
      );
      expect(unexplained).toEqual([]);
    },
    TIMEOUT_MS,
  );
});

/** Credentials and ids, so that most requests reach the rules of their route. */
async function configOf(stack: OwnStack): Promise<string> {
  const { baseUrl, bootstrapToken, api } = stack;
  const operator = { headers: { "x-svc-bootstrap-token": bootstrapToken } };
  const signIn = async (name: string): Promise<{ orgId: string; cookie: string }> => {
    const answer = await fetch(`${baseUrl}/api/auth/dev/google`, {
      method: "POST",
      headers: { "content-type": "application/json", origin: baseUrl },
      body: JSON.stringify({ email: `${name}@example.org`, org_name: name, account_type: "business" }),
    });
    const { organization: own } = (await answer.json()) as { organization: { id: string } };
    const cookie = /^tidemark_session=([^;]+)/.exec(answer.headers.get("set-cookie") ?? "")?.[1];
    return { orgId: own.id, cookie: cookie ?? "" };
  };
  const { orgId, cookie } = await signIn("owner");
  await api.patch(`/api/orgs/${orgId}`, { plan_tier: "premium" }, operator);
  // All of them, because a key grants only scopes that it holds.
  const scopes = ["sdk:ingest", "export:read", "runs:control", "artifacts:write", "artifacts:manage", "imports:write"];
  scopes.push("usage:read", "api_keys:write");
  const issued = await api.post(`/api/orgs/${orgId}/api-keys`, { scopes }, operator);
  const key = issued.json.api_key as string;
  const { run } = (await api.as(key).post("/runs", {})).json;
  const { report } = (await api.as(key).post("/api/reports", { title: "t" })).json;
  const embed = (
    await api.as(key).post("/api/embed/sessions", {
      run_ids: [run.id],
      allowed_parent_origin: "https://portal.test",
      ttl_seconds: 3600,
    })
  ).json;
  const wish = { source_type: "wandb", target_project: "p" };
  const { job } = (await api.as(key).post("/api/imports/jobs", wish)).json;
  const session = { headers: { cookie: `tidemark_session=${cookie}`, origin: baseUrl } };
  const view = (await api.post("/api/workspace-views", { name: "n" }, session)).json.workspace_view;
  const [other, doomed] = [await stack.organization(), await stack.organization()];
  return `
seed = ${SEED}
[parameters]
"path.run_id" = "${run.id}"
"path.org_id" = "${orgId}"
"path.report_id" = "${report.id}"
"path.view_id" = "${view.id}"
"path.session_id" = "${embed.embed_session.id}"
"path.import_id" = ${job.id}
[auth.openapi.bearerApiKey]
bearer = "${key}"
[auth.openapi.bearerEmbedToken]
bearer = "${embed.embed_token}"
[auth.openapi.cookieSession]
api_key = "${cookie}"
[auth.openapi.bootstrapToken]
api_key = "${bootstrapToken}"
[output.sanitization]
enabled = false
# Answers hold random ids and names; requests made of them would differ from run to run.
[phases.coverage.extra-data-sources]
responses = false
[phases.fuzzing.extra-data-sources]
responses = false
[phases.fuzzing.error-feedback]
enabled = false
[checks.positive_data_acceptance]
# Besides success, what depends on stored rows: plans, missing rows, conflicts, rates, and mail that this installation cannot send.
expected-statuses = ["2xx", 304, 402, 404, 409, 410, 429, 503]
[[operations]]
# Its plan and billing state change with every request.
include-name = "PATCH /api/orgs/{org_id}"
[operations.parameters]
"path.org_id" = "${other.orgId}"
[[operations]]
# What is deleted opens nothing else.
include-name = ["DELETE /api/orgs/{org_id}", "POST /api/orgs/{org_id}/restore"]
headers = { Origin = "${baseUrl}" }
[operations.parameters]
"path.org_id" = "${doomed.orgId}"
[[operations]]
# This installation has no identity provider.
include-name = ["GET /api/auth/oidc/start", "GET /api/auth/oidc/callback"]
[operations.checks.positive_data_acceptance]
expected-statuses = ["2xx", 401, 429, 503]
[[operations]]
# Which credentials open them no schema says.
include-name = ["POST /api/auth/api-key", "POST /api/auth/one-time"]
headers = { Origin = "${baseUrl}" }
[operations.checks.positive_data_acceptance]
expected-statuses = ["2xx", 401, 429, 503]
[[operations]]
# Deleted rows are listed for people only, not for the key.
include-name = ["GET /runs", "GET /projects"]
[operations.checks.positive_data_acceptance]
expected-statuses = ["2xx", 304, 402, 403, 404, 409, 410, 429, 503]
[[operations]]
# Others are sent without an Origin, so that OPTIONS is answered with Allow, not as a preflight request.
include-name = [
  "POST /api/auth/dev/google", "POST /api/auth/invitation", "POST /api/auth/logout", "POST /api/auth/device-code/confirm",
  "POST /api/orgs/{org_id}/seats",
  "DELETE /projects/{project_id}", "POST /projects/{project_id}/restore",
  "PATCH /api/orgs/{org_id}/seats/{membership_id}", "DELETE /api/orgs/{org_id}/seats/{membership_id}",
  "POST /api/orgs/{org_id}/invitations", "POST /api/orgs/{org_id}/invitations/{invitation_id}/resend",
  "POST /api/orgs/{org_id}/invitations/{invitation_id}/revoke", "PUT /api/dashboard/preferences", "POST /api/workspace-views",
  "DELETE /api/auth/sessions/{session_id}",
  "POST /api/workspace-views/import", "PUT /api/workspace-views/{view_id}", "DELETE /api/workspace-views/{view_id}",
]
headers = { Origin = "${baseUrl}" }
[[operations]]
# They end the session with which they were called.
include-name = ["POST /api/orgs/current-user", "POST /api/auth/switch-organization", "POST /api/invitations/accept"]
headers = { Origin = "${baseUrl}", Cookie = "tidemark_session=${(await signIn("mover")).cookie}" }
[operations.checks.positive_data_acceptance]
expected-statuses = ["2xx", 401, 402, 403, 404, 409, 410, 429, 503]
`;
}

/** Runs Schemathesis. It ends with 1 when a check failed, which the report says in detail. @throws Error when it could not run */
function schemathesis(python: string, cwd: string, args: readonly string[]): Promise<string> {
  const env = { ...process.env, NO_COLOR: "1", COLUMNS: "200" };
  return new Promise((resolve, reject) => {
    execFile(
      python,
      ["-m", "schemathesis.cli", ...args],
      { cwd, env, maxBuffer: 64 * 1024 * 1024 },
      (error, stdout, stderr) => {
        if (error === null || error.code === 1) resolve(stdout);
        else reject(new Error(`Schemathesis could not run: ${stdout}${stderr}`));
      },
    );
  });
}

type Content = { readonly $base64: string } | null | undefined;
type Recorder = {
  readonly label: string;
  readonly checks?: Readonly<
    Record<string, readonly { name: string; status: string; failure_info?: { failure: { message: string } } }[]>
  >;
  readonly interactions?: Readonly<
    Record<
      string,
      {
        readonly request: { readonly method: string; readonly uri: string; readonly body?: Content };
        readonly response?: { readonly status_code: number; readonly content?: Content } | null;
      }
    >
  >;
};

/** Reads the events of a run: how many requests were made to how many operations, and which checks failed. */
function readReport(events: string): { cases: number; operations: number; failures: Failure[] } {
  const failures: Failure[] = [];
  const operations = new Set<string>();
  let cases = 0;
  for (const line of events.split("\n")) {
    if (!line.startsWith('{"ScenarioFinished"')) continue;
    const { recorder } = (JSON.parse(line) as { ScenarioFinished: { recorder: Recorder } }).ScenarioFinished;
    operations.add(recorder.label);
    for (const [id, checks] of Object.entries(recorder.checks ?? {})) {
      cases += 1;
      const { request, response } = recorder.interactions![id]!;
      for (const { name, status, failure_info } of checks) {
        if (status !== "failure") continue;
        failures.push({
          operation: recorder.label,
          check: name,
          status: response?.status_code ?? 0,
          answer: textOf(response?.content),
          request: `${request.method} ${request.uri} ${textOf(request.body)}`.slice(0, 2000),
          message: failure_info?.failure.message ?? "",
        });
      }
    }
  }
  return { cases, operations: operations.size, failures };
}

function textOf(content: Content): string {
  return content ? Buffer.from(content.$base64, "base64").toString("utf8") : "";
}
