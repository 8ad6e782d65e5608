/** Returns a function that makes a value when it is first needed, and gives the same again. */
export function once<T extends object>(make: () => T): () => T {
  let made: T | undefined;
  return () => (made ??= make());
}
