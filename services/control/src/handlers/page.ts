import type { Page } from "@tidemark/proto/control/v1/control";

/** A page of a list counted from its start: `limit` 1..max, 100 by default. */
export function pageOf(page: Page | undefined, max = 1000): { limit: number; offset: number } {
  return { limit: Math.min(page?.limit || 100, max), offset: Number(page?.offset ?? 0) };
}
