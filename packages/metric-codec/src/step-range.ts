/** The lowest and the highest of at least one step. */
export function stepRange(steps: Float64Array): { firstStep: number; lastStep: number } {
  let firstStep = steps[0]!;
  let lastStep = firstStep;
  for (const step of steps) {
    if (step < firstStep) firstStep = step;
    if (step > lastStep) lastStep = step;
  }
  return { firstStep, lastStep };
}
