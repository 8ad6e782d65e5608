/** Works on the items, at most `together` of them at a time. The first failure is thrown after all started items have ended. */
export async function eachOf<T>(
  items: readonly T[],
  together: number,
  work: (item: T) => Promise<void>,
): Promise<void> {
  let next = 0;
  let failure: { readonly error: unknown } | undefined;
  const worker = async (): Promise<void> => {
    while (next < items.length && failure === undefined) {
      const item = items[next++]!;
      try {
        await work(item);
      } catch (error) {
        failure ??= { error };
      }
    }
  };
  await Promise.all(Array.from({ length: Math.min(together, items.length) }, worker));
  if (failure !== undefined) throw failure.error;
}
