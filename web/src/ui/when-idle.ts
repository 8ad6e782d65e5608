/** Calls a function when the browser has nothing else to do, at the latest after some milliseconds. Returns how to prevent that. */
export function whenIdle(act: () => void, latestMs: number): () => void {
  // Safari has no idle callbacks.
  if (typeof requestIdleCallback === "undefined") {
    const timer = setTimeout(act, latestMs / 4);
    return () => clearTimeout(timer);
  }
  const asked = requestIdleCallback(act, { timeout: latestMs });
  return () => cancelIdleCallback(asked);
}
