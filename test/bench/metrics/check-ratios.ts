/** A ratio that must hold on any machine, because both sides were measured on it. */
export type RatioRule = {
  readonly what: string;
  /** Undefined where the other side is not available: then there is nothing to judge, and the line says so. */
  readonly ratio: number | undefined;
} & ({ readonly atLeast: number } | { readonly atMost: number });

/** A rule's verdict as a line for a person. */
export type Verdict = { readonly ok: boolean; readonly line: string };

/** Judges a ratio; NaN fails. */
export function judgeRatio(rule: RatioRule): Verdict {
  const { what, ratio } = rule;
  if (ratio === undefined) return { ok: true, line: `NOT CHECKED  ${what}: the other side could not be had` };
  const ok = "atLeast" in rule ? ratio >= rule.atLeast : ratio <= rule.atMost;
  const bound = "atLeast" in rule ? `at least ${rule.atLeast}` : `at most ${rule.atMost}`;
  return { ok, line: `${ok ? "ok  " : "FAIL"}  ${what}: ${ratio.toFixed(2)}, must be ${bound}` };
}
