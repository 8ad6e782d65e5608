import { seededRandom } from "../bench/metrics/values.ts";

/** A point of one of two half circles that reach into each other. */
export type Example = { readonly x: number; readonly y: number; readonly label: 0 | 1 };

/** The parameters that a training may choose. */
export type Hyperparameters = {
  readonly learningRate: number;
  readonly units: number;
  readonly batchSize: number;
  readonly seed: number;
};

/** A network with one hidden layer (tanh) and one output (logistic). */
export type Network = {
  /** For each unit its weights for x, y and the constant. */
  readonly hidden: readonly [number, number, number][];
  /** A weight for each unit, then the constant. */
  readonly output: number[];
};

/** The result of one training step. */
export type TrainingStep = { readonly loss: number; readonly gradientNorm: number };

/** Makes examples, half of each label; the same for the same seed. */
export function makeMoons(count: number, noise: number, seed: number): Example[] {
  const random = seededRandom(seed);
  // The sum of three is close enough to a normal distribution.
  const blur = (): number => noise * 2 * (random() + random() + random() - 1.5);
  return Array.from({ length: count }, (_, i) => {
    const label = i % 2 === 0 ? 0 : 1;
    const angle = Math.PI * random();
    const x = label === 0 ? Math.cos(angle) : 1 - Math.cos(angle);
    const y = label === 0 ? Math.sin(angle) : 0.5 - Math.sin(angle);
    return { x: x + blur(), y: y + blur(), label };
  });
}

/** Returns the probability of label 1. */
function predict({ hidden, output }: Network, x: number, y: number): number {
  const sum = hidden.reduce(
    (total, [a, b, c], i) => total + output[i]! * Math.tanh(a * x + b * y + c),
    output[hidden.length]!,
  );
  return 1 / (1 + Math.exp(-sum));
}

/** Returns the mean cross-entropy over examples, and the share that is classified as it should be. */
export function evaluate(network: Network, examples: readonly Example[]): { loss: number; accuracy: number } {
  let [loss, right] = [0, 0];
  for (const { x, y, label } of examples) {
    const probability = predict(network, x, y);
    loss += crossEntropy(probability, label);
    if (probability > 0.5 === (label === 1)) right += 1;
  }
  return { loss: loss / examples.length, accuracy: right / examples.length };
}

const crossEntropy = (probability: number, label: 0 | 1): number =>
  -Math.log(Math.max(1e-12, label === 1 ? probability : 1 - probability));

/** Begins a training: a new network, and what does one step of gradient descent with momentum on it. */
export function beginTraining(
  examples: readonly Example[],
  { learningRate, units, batchSize, seed }: Hyperparameters,
): { readonly network: Network; readonly step: () => TrainingStep } {
  const random = seededRandom(seed);
  const weight = (): number => (random() - 0.5) * 2;
  const network: Network = {
    hidden: Array.from({ length: units }, () => [weight(), weight(), weight()]),
    output: Array.from({ length: units + 1 }, () => weight() / Math.sqrt(units)),
  };
  const speed = { hidden: network.hidden.map(() => [0, 0, 0]), output: network.output.map(() => 0) };
  const step = (): TrainingStep => {
    const gradient = { hidden: network.hidden.map(() => [0, 0, 0]), output: network.output.map(() => 0) };
    let loss = 0;
    for (let n = 0; n < batchSize; n += 1) {
      const { x, y, label } = examples[Math.floor(random() * examples.length)]!;
      const probability = predict(network, x, y);
      loss += crossEntropy(probability, label) / batchSize;
      const error = (probability - label) / batchSize;
      network.hidden.forEach(([a, b, c], i) => {
        const active = Math.tanh(a * x + b * y + c);
        gradient.output[i]! += error * active;
        const back = error * network.output[i]! * (1 - active * active);
        [x, y, 1].forEach((input, j) => (gradient.hidden[i]![j]! += back * input));
      });
      gradient.output[units]! += error;
    }
    const descend = (weights: number[], speeds: number[], slopes: readonly number[]): void =>
      slopes.forEach((slope, i) => {
        speeds[i] = 0.9 * speeds[i]! + slope;
        weights[i]! -= learningRate * speeds[i];
      });
    network.hidden.forEach((weights, i) => descend(weights, speed.hidden[i]!, gradient.hidden[i]!));
    descend(network.output, speed.output, gradient.output);
    return { loss, gradientNorm: Math.hypot(...gradient.output, ...gradient.hidden.flat()) };
  };
  return { network, step };
}

const [WIDE, HIGH, SCALE] = [3.4, 2.2, 60];

/** Draws where the network expects which label, and the examples on it, as SVG. */
export function drawDecision(network: Network, examples: readonly Example[]): string {
  const cell = 0.1;
  const cells: string[] = [];
  for (let y = 0; y < HIGH; y += cell) {
    for (let x = 0; x < WIDE; x += cell) {
      const share = predict(network, x - 1.2 + cell / 2, 1.3 - y - cell / 2);
      const mixed = [0, 1, 2].map((i) => Math.round([222, 235, 247][i]! * (1 - share) + [254, 224, 200][i]! * share));
      const at = [x, y, cell * 1.05, cell * 1.05].map((value) => (value * SCALE).toFixed(1));
      cells.push(`<rect x="${at[0]}" y="${at[1]}" width="${at[2]}" height="${at[3]}" fill="rgb(${mixed.join()})"/>`);
    }
  }
  const dots = examples.map(({ x, y, label }) => {
    const at = [x + 1.2, 1.3 - y].map((value) => (value * SCALE).toFixed(1));
    return `<circle cx="${at[0]}" cy="${at[1]}" r="2.5" fill="${label === 0 ? "#0072b2" : "#d55e00"}"/>`;
  });
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${WIDE * SCALE}" height="${HIGH * SCALE}">${cells.join("")}${dots.join("")}</svg>`;
}
