/** Adds a value to a statement and returns its parameter, `$n`. */
export type Bind = (value: unknown) => string;

/** Starts the values of a statement whose `$1` is the organization; `bind` adds to them. */
export function parameters(orgId: string): { readonly values: unknown[]; readonly bind: Bind } {
  const values: unknown[] = [orgId];
  return { values, bind: (value) => `$${values.push(value)}` };
}
