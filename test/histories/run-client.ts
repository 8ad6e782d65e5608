import type { Answer as HttpAnswer, Api } from "../stack/client.ts";
import type { Answer, Operation, SeenControl, SeenRun } from "./run-model.ts";

/** Does an operation on a run, and says what was answered. */
export async function perform(api: Api, runId: string, operation: Operation): Promise<Answer> {
  const { status, json } = await send(api, runId, operation);
  if (status !== 200) return { kind: "refused", status };
  switch (operation.kind) {
    case "stop": {
      const { already_requested, already_terminal, run_control } = json;
      const flags = { alreadyRequested: already_requested, alreadyTerminal: already_terminal };
      return { kind: "stopped", ...flags, control: seenControl(run_control) };
    }
    case "ack":
      return { kind: "acknowledged", control: seenControl(json.run_control) };
    case "patch":
    case "resume":
      return { kind: "run", run: seenRun(json.run), control: undefined };
    case "read":
      return { kind: "run", run: seenRun(json.run), control: seenControl(json.run.run_control) };
    case "signal": {
      const request = json.stop_request;
      return {
        kind: "signal",
        status: json.run_status,
        pending: request?.stop_request_id ?? null,
        acknowledged: request !== null && request.acknowledged_at !== null,
      };
    }
  }
}

function send(api: Api, runId: string, operation: Operation): Promise<HttpAnswer> {
  switch (operation.kind) {
    case "stop":
      return api.post(`/api/runs/${runId}/stop`, { reason: operation.reason });
    case "ack": {
      const { id, state, message } = operation;
      return api.post(`/api/runs/${runId}/stop-ack`, { stop_request_id: id, state, message });
    }
    case "patch":
      return api.patch(`/runs/${runId}`, { status: operation.status });
    case "resume":
      return api.post("/runs", { id: runId, mode: "resume" });
    case "read":
      return api.get(`/runs/${runId}`);
    case "signal":
      return api.get(`/api/runs/${runId}/stop-signal`);
  }
}

type Json = HttpAnswer["json"];

function seenRun({ status, finished_at, resume_count }: Json): SeenRun {
  return { status, ended: finished_at !== null, resumes: resume_count };
}

function seenControl(control: Json): SeenControl {
  return {
    stopState: control.stop_state,
    displayStatus: control.display_status,
    id: control.stop_request_id,
    reason: control.reason,
    message: control.completion_message,
    acknowledged: control.stop_acknowledged_at !== null,
    completed: control.stop_completed_at !== null,
  };
}
