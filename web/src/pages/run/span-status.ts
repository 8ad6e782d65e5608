/** The kind of badge that a status gets. */
export function statusKind(status: string): "good" | "bad" | "info" | "warn" {
  return ({ ok: "good", error: "bad", running: "info" } as const)[status] ?? "warn";
}
