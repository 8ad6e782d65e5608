import { expect } from "@jest/globals";
import type { Api } from "../../stack/client.ts";

/** Text that would run, load or look like a part of the page if anything took it for markup. */
export const HOSTILE = `"><img src=x onerror="globalThis.hacked=1"><script>globalThis.hacked=1</script>`;

/** A picture of one pixel in the color. */
function svgOf(color: string): string {
  return `<svg xmlns="http://www.w3.org/2000/svg" width="40" height="40" onload="globalThis.hacked=1"><script>parent.hacked=1</script><rect width="40" height="40" fill="${color}"/></svg>`;
}

/** A run of the tests. */
export type Logged = { readonly id: string; readonly project: string; readonly path: (tab: string) => string };

async function post(api: Api, path: string, body: unknown, headers: Record<string, string> = {}) {
  const answer = await api.post(path, body, { headers });
  expect([path, answer.status, answer.status === 200 ? "" : answer.text]).toEqual([path, 200, ""]);
  return answer.json;
}

/** Makes a run with something in every tab, with names that are hostile. */
export async function logRun(api: Api, project: string, name = `calm-otter ${HOSTILE}`): Promise<Logged> {
  const config = { optim: { lr: 0.001, betas: [0.9, 0.99] }, [HOSTILE]: HOSTILE, seed: 7 };
  const metadata = { notes: "second try", git: { commit: "abc1234", remote: "javascript:alert(1)" }, author: "ada" };
  const { run } = await post(api, "/runs", { project, name, config, tags: ["base"], metadata });
  const { id } = run as { id: string };
  const points = Array.from({ length: 50 }, (_, step) => ({
    step,
    metrics: {
      "train/loss": 1 / (step + 1),
      "val/acc": step / 50,
      "system/gpu/0/gpu_percent": step,
      "system/gpu/1/gpu_percent": 2 * step,
    },
  }));
  await post(api, `/runs/${id}/metrics/batch`, { points });
  await post(api, `/api/runs/${id}/attributes`, {
    attributes: [
      { path: "config/batch_size", type: "config", value: 64 },
      { path: "sys/tags", type: "tag", value: "from-sdk" },
      { path: "console/stderr", type: "string_series", value: "captured by the SDK" },
    ],
  });
  await logObjects(api, id);
  for (const rank of [0, 1, 2, 3]) {
    for (const step of [1, 2]) {
      const metrics = { step_time: rank === 2 ? 3 : 1 + rank / 100 };
      await post(api, `/runs/${id}/rank-metrics`, { metrics, step, rank, world_size: 4 });
    }
  }
  await logTrace(api, id);
  const path = (tab: string): string => `/p/${encodeURIComponent(project)}/r/${id}/${tab}`;
  return { id, project, path };
}

async function logObjects(api: Api, runId: string): Promise<void> {
  for (const [step, color] of [
    [10, "#ff0000"],
    [20, "#00ff00"],
  ] as const) {
    const content = Buffer.from(svgOf(color)).toString("base64");
    const { artifact } = await post(api, `/api/runs/${runId}/artifacts/upload`, {
      name: `${HOSTILE}.svg`,
      mime_type: "image/svg+xml",
      content_base64: content,
      step,
    });
    for (const key of ["samples/a", "samples/b"]) {
      await post(api, `/api/runs/${runId}/objects`, { key, kind: "image", artifact_id: artifact.id, step });
    }
    await post(api, `/api/runs/${runId}/objects`, {
      key: "weights",
      kind: "histogram",
      step,
      value: { bins: [0, 1, 2], counts: [step, 4] },
    });
  }
  await post(api, `/api/runs/${runId}/objects`, {
    key: "eval",
    kind: "classification_eval",
    step: 20,
    value: {
      schema_version: 1,
      task: "binary_classification",
      class_names: [HOSTILE, "cat"],
      positive_label: "cat",
      sample_count: 8,
      confusion_matrix: [
        [3, 1],
        [0, 4],
      ],
      // 0.25 × 0.75 below the step, 0.75 × 1 behind it.
      roc_curve: [
        { threshold: 0.9, fpr: 0, tpr: 0.75 },
        { threshold: 0.5, fpr: 0.25, tpr: 0.75 },
        { threshold: 0.4, fpr: 0.25, tpr: 1 },
      ],
    },
  });
  const rows = Array.from({ length: 300 }, (_, i) => ({
    question: HOSTILE,
    score: i / 2,
    label: i % 3 === 0 ? "cat" : "dog",
  }));
  const table = { key: "predictions", kind: "table", step: 15, rows };
  await post(api, `/api/runs/${runId}/objects`, table);
  await post(api, `/api/runs/${runId}/artifacts/upload`, {
    name: "conf.json",
    mime_type: "application/json",
    content_base64: Buffer.from(JSON.stringify({ html: HOSTILE })).toString("base64"),
  });
  await post(api, `/api/runs/${runId}/artifacts`, { name: "elsewhere", uri: "javascript:alert(1)" });
}

/** The spans of the trace. */
const SPANS = 400;

async function logTrace(api: Api, runId: string): Promise<void> {
  const id = (i: number): string => (i + 1).toString(16).padStart(16, "0");
  const started = Date.parse("2026-11-20T10:00:00Z");
  const events = Array.from({ length: SPANS }, (_, i) => ({
    trace_id: "1".repeat(32),
    span_id: id(i),
    ...(i === 0 ? {} : { parent_span_id: id(Math.floor((i - 1) / 20)) }),
    event_id: `00000000-0000-4000-8000-${i.toString().padStart(12, "0")}`,
    sequence: 0,
    event_kind: "finished",
    name: i === 0 ? `rollout ${HOSTILE}` : `span ${i}`,
    kind: i === 0 ? "rollout" : "model",
    status: i === 399 ? "error" : "ok",
    started_at: new Date(started + i).toISOString(),
    ended_at: new Date(started + 1000).toISOString(),
    attributes: { "gen_ai.model": HOSTILE },
  }));
  const orphan = {
    ...events[1]!,
    span_id: "f".repeat(16),
    parent_span_id: "e".repeat(16),
    event_id: "00000000-0000-4000-8000-ffffffffffff",
    name: "lost call",
    content_policy: "preview",
    input_preview: JSON.stringify([{ role: "user", content: HOSTILE }]),
    redaction_state: "captured",
  };
  const path = `/api/runs/${runId}/traces/events`;
  await post(api, path, { events: [...events, orphan] }, { "idempotency-key": `trace-${runId}` });
}
