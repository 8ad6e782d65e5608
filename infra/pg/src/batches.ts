/** Repeats a step that changes at most `rowsMax` rows until it finds fewer, so that each transaction is small. Returns the rows of all steps. */
export async function inBatches(rowsMax: number, step: (rowsMax: number) => Promise<number>): Promise<number> {
  for (let total = 0; ;) {
    const changed = await step(rowsMax);
    total += changed;
    if (changed < rowsMax) return total;
  }
}
