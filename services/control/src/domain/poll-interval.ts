/** After how many seconds a training process should ask again whether it should stop (API specification, Limits). */
export function pollAfterSeconds(planTier: string): number {
  if (planTier === "premium") return 10;
  return planTier === "pro" ? 15 : 30;
}
