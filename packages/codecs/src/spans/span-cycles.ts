/** Hexadecimal digits of a trace id. */
const TRACE_ID_DIGITS = 32;

/**
 * Returns the spans that are among their own ancestors. Keys are a trace id with the span id behind it, values the parent's span id in the same trace. A span
 * whose ancestors are such, and that is none itself, does not belong to them. Takes time in proportion to the spans. Pure.
 */
export function spansInCycles(parents: ReadonlyMap<string, string>): ReadonlySet<string> {
  const found = new Set<string>();
  const passed = new Set<string>();
  for (const first of parents.keys()) {
    const walk = new Set<string>();
    const trace = first.slice(0, TRACE_ID_DIGITS);
    let span: string | undefined = first;
    while (span !== undefined && !passed.has(span) && !walk.has(span)) {
      walk.add(span);
      const parent: string | undefined = parents.get(span);
      span = parent === undefined ? undefined : trace + parent;
    }
    if (span !== undefined && walk.has(span)) {
      const cycle = [...walk];
      for (const one of cycle.slice(cycle.indexOf(span))) found.add(one);
    }
    for (const one of walk) passed.add(one);
  }
  return found;
}
