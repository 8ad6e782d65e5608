// Trains a classifier by gradient descent and records the run in Tidemark.
//
//   export TIDEMARK_URL=http://127.0.0.1:8080 TIDEMARK_API_KEY=tm_...
//   node train.ts [--report FILE]

import { writeFile } from "node:fs/promises";
import { parseArgs } from "node:util";
import { startRun, type Run } from "./tidemark.ts";

type Example = { features: number[]; label: 0 | 1 };

const config = {
  data: { name: "two moons", points: 600, noise: 0.15, test_fraction: 0.25 },
  model: { kind: "logistic regression", degree: 3 },
  learning_rate: 0.5,
  batch_size: 30,
  epochs: 12,
  seed: 7,
};

/** Numbers from 0 to 1, the same for the same seed (mulberry32). */
function randomNumbers(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** All products of powers of x and y up to the degree, the constant included. */
function powers(x: number, y: number): number[] {
  const found: number[] = [];
  for (let i = 0; i <= config.model.degree; i += 1) {
    for (let j = 0; i + j <= config.model.degree; j += 1) found.push(x ** i * y ** j);
  }
  return found;
}

/** Two half circles that reach into each other, blurred: no straight line separates them. */
function makeMoons(random: () => number): Example[] {
  return Array.from({ length: config.data.points }, (_, index) => {
    const label = index % 2 === 0 ? 0 : 1;
    const angle = Math.PI * random();
    // The sum of three is close enough to a normal distribution.
    const blur = () => config.data.noise * 2 * (random() + random() + random() - 1.5);
    const x = (label === 0 ? Math.cos(angle) : 1 - Math.cos(angle)) + blur();
    const y = (label === 0 ? Math.sin(angle) : 0.5 - Math.sin(angle)) + blur();
    return { features: powers(x, y), label };
  });
}

/** The probability of label 1. */
function predict(weights: readonly number[], { features }: Example): number {
  return 1 / (1 + Math.exp(-features.reduce((sum, feature, i) => sum + feature * (weights[i] ?? 0), 0)));
}

/** Mean cross-entropy and its gradient. */
function lossOf(weights: readonly number[], batch: readonly Example[]): { loss: number; gradient: number[] } {
  const gradient = weights.map(() => 0);
  let loss = 0;
  for (const example of batch) {
    const probability = predict(weights, example);
    loss -= Math.log(example.label === 1 ? probability : 1 - probability) / batch.length;
    example.features.forEach((feature, i) => {
      gradient[i] = (gradient[i] ?? 0) + ((probability - example.label) * feature) / batch.length;
    });
  }
  return { loss, gradient };
}

/** Trains for all epochs. Throws the signal's reason as soon as it is given. */
async function train(run: Run, signal: AbortSignal): Promise<void> {
  const random = randomNumbers(config.seed);
  const examples = makeMoons(random);
  const testSize = Math.round(examples.length * config.data.test_fraction);
  const [test, training] = [examples.slice(0, testSize), examples.slice(testSize)];
  let weights = powers(0, 0).map(() => 0);
  await run.describe({ "config/model/parameters": weights.length, "config/data/training_examples": training.length });

  let step = 0;
  for (let epoch = 1; epoch <= config.epochs; epoch += 1) {
    for (let start = 0; start < training.length; start += config.batch_size) {
      signal.throwIfAborted();
      const { loss, gradient } = lossOf(weights, training.slice(start, start + config.batch_size));
      weights = weights.map((weight, i) => weight - config.learning_rate * (gradient[i] ?? 0));
      step += 1;
      run.log({ "train/loss": loss, "train/gradient_norm": Math.hypot(...gradient) }, step);
    }
    const right = test.filter((example) => Math.round(predict(weights, example)) === example.label).length;
    const results = { "test/loss": lossOf(weights, test).loss, "test/accuracy": right / test.length };
    run.log({ epoch, ...results }, step);
    run.print(
      `epoch ${epoch}  loss ${results["test/loss"].toFixed(4)}  accuracy ${results["test/accuracy"].toFixed(4)}`,
    );
    await run.flush();
  }
}

/** The run, and all that its methods were called with, for --report. */
function noteCalls(run: Run): { noted: Run; calls: { method: string; args: unknown[] }[] } {
  const calls: { method: string; args: unknown[] }[] = [];
  const noted = new Proxy(run, {
    get(target, method: keyof Run) {
      const member = target[method];
      if (typeof member !== "function") return member;
      return (...args: unknown[]): unknown => {
        calls.push({ method, args });
        return Reflect.apply(member, target, args);
      };
    },
  });
  return { noted, calls };
}

const { TIDEMARK_URL: url = "http://127.0.0.1:8080", TIDEMARK_API_KEY: apiKey } = process.env;
if (apiKey === undefined) throw new Error("TIDEMARK_API_KEY is not set; npm start prints a key");
const { values: options } = parseArgs({ options: { report: { type: "string" } } });

const interrupted = new AbortController();
process.once("SIGINT", () => interrupted.abort(new Error("interrupted")));

const init = { project: "moons", config, tags: ["example", "typescript"], metadata: { node: process.version } };
const run = await startRun({ url, apiKey }, init);
const { noted, calls } = noteCalls(run);
console.error(`run ${run.id}`);
try {
  await train(noted, interrupted.signal);
  await noted.finish("finished");
} catch (error) {
  await run.finish("failed").catch((fault: unknown) => console.error(fault));
  throw error;
}
if (options.report !== undefined)
  await writeFile(options.report, `${JSON.stringify({ run_id: run.id, init, calls })}\n`);
