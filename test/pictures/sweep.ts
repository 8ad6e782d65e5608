import type { Api } from "../stack/client.ts";
import { beginTraining, drawDecision, evaluate, makeMoons, type Hyperparameters } from "./moons.ts";

/** The project of the sweep. */
export const PROJECT = "two-moons";

const STEPS = 600;
const EVALUATE_EVERY = 20;
const DRAW_EVERY = 120;
const [TRAINING, VALIDATION] = [makeMoons(400, 0.22, 1), makeMoons(200, 0.22, 2)];

/** The logged runs: their ids, in order. The last run has not ended. */
export type Sweep = { readonly runIds: readonly string[] };

/** Trains a small network for each choice of hyperparameters, and logs everything as a user would. */
export async function logSweep(api: Api): Promise<Sweep> {
  const choices: Hyperparameters[] = [0.003, 0.01, 0.03, 0.1].flatMap((learningRate) =>
    [3, 12].flatMap((units) => [1, 2, 3].map((seed) => ({ learningRate, units, batchSize: 64, seed }))),
  );
  const runIds: string[] = [];
  for (const [i, choice] of choices.entries()) runIds.push(await logTraining(api, choice, i === choices.length - 1));
  return { runIds };
}

async function send(api: Api, path: string, body: unknown, method: "POST" | "PATCH" = "POST") {
  const answer = await api.call(method, path, { body });
  if (answer.status !== 200) throw new Error(`${method} ${path}: ${answer.status} ${answer.text}`);
  return answer.json;
}

async function logTraining(api: Api, choice: Hyperparameters, goesOn: boolean): Promise<string> {
  const { learningRate, units, batchSize, seed } = choice;
  const config = {
    data: { name: "two moons", noise: 0.22, training: TRAINING.length },
    model: { kind: "mlp", units, activation: "tanh" },
    optimizer: { name: "sgd", learning_rate: learningRate, momentum: 0.9 },
    batch_size: batchSize,
    seed,
  };
  const tags = [units === 3 ? "narrow" : "wide", ...(learningRate === 0.03 ? ["baseline"] : [])];
  const name = `lr ${learningRate}, ${units} units, seed ${seed}`;
  const { run } = await send(api, "/runs", { project: PROJECT, name, config, tags });
  const id = run.id as string;
  const training = beginTraining(TRAINING, choice);
  // As if each step had taken half a second, and the last had just ended.
  const began = Date.now() - STEPS * 500;
  const points: object[] = [];
  const lines: object[] = [];
  const steps = goesOn ? STEPS * 0.6 : STEPS;
  for (let step = 1; step <= steps; step += 1) {
    const { loss, gradientNorm } = training.step();
    const metrics: Record<string, number> = { "train/loss": loss, "train/gradient_norm": gradientNorm };
    const timestamp = new Date(began + step * 500).toISOString();
    if (step % EVALUATE_EVERY === 0) {
      const result = evaluate(training.network, VALIDATION);
      Object.assign(metrics, { "val/loss": result.loss, "val/accuracy": result.accuracy });
      const message = `step ${step}  loss ${loss.toFixed(4)}  validation ${result.loss.toFixed(4)}  accuracy ${(result.accuracy * 100).toFixed(1)} %`;
      lines.push({ line_number: lines.length + 1, message, timestamp });
    }
    points.push({ step, metrics, timestamp });
    if (step % DRAW_EVERY === 0) await logState(api, id, step, training.network);
  }
  for (let at = 0; at < points.length; at += 500)
    await send(api, `/runs/${id}/metrics/batch`, { points: points.slice(at, at + 500) });
  await send(api, `/api/runs/${id}/logs`, { stream: "stdout", lines });
  if (!goesOn) await send(api, `/runs/${id}`, { status: "finished" }, "PATCH");
  return id;
}

/** Logs what the network has learned so far: where it draws the line, its weights, and what it gets wrong. */
async function logState(
  api: Api,
  id: string,
  step: number,
  network: ReturnType<typeof beginTraining>["network"],
): Promise<void> {
  const picture = drawDecision(network, VALIDATION);
  const { artifact } = await send(api, `/api/runs/${id}/artifacts/upload`, {
    name: `decision-${step}.svg`,
    mime_type: "image/svg+xml",
    content_base64: Buffer.from(picture).toString("base64"),
    step,
  });
  const objects = `/api/runs/${id}/objects`;
  await send(api, objects, { key: "val/decision", kind: "image", artifact_id: artifact.id, step });
  const weights = [...network.hidden.flat(), ...network.output];
  const bins = Array.from({ length: 17 }, (_, i) => (i - 8) / 2);
  const counts = bins.slice(1).map((end, i) => weights.filter((weight) => weight >= bins[i]! && weight < end).length);
  await send(api, objects, { key: "weights", kind: "histogram", step, value: { bins, counts } });
}
