/** Maximum bytes of the panels of a page, unless one report alone has more (their size is the client's choice). */
export const PANELS_PAGE_BYTES = 16 * 1024 * 1024;

/** Where a page of panels begins: after `skip` panels of this report, or of the first one after it. */
export type PanelStart = { readonly createdAt: string; readonly id: string; readonly skip: number };

/** A report with panels. */
export type PanelSource = {
  readonly id: string;
  readonly createdAt: string;
  readonly panelCount: number;
  readonly panelBytes: number;
};

/** The reports of a page of panels, how many panels of the last one belong to it, and where the next page begins. */
export type PanelPage = {
  readonly reports: readonly { readonly id: string; readonly from: number; readonly to: number }[];
  readonly next: PanelStart | undefined;
};

/** Chooses at most `limit` panels of these reports, which follow each other, from `skip` panels of the first one on. */
export function choosePanels(sources: readonly PanelSource[], skip: number, limit: number): PanelPage {
  const reports: { id: string; from: number; to: number }[] = [];
  let [left, bytes, from] = [limit, 0, skip];
  for (const { id, createdAt, panelCount, panelBytes } of sources) {
    const tooMany = reports.length > 0 && bytes + panelBytes > PANELS_PAGE_BYTES;
    if (left === 0 || tooMany) return { reports, next: { createdAt, id, skip: 0 } };
    const to = Math.min(panelCount, from + left);
    reports.push({ id, from, to });
    if (to < panelCount) return { reports, next: { createdAt, id, skip: to } };
    left -= Math.max(0, to - from);
    bytes += panelBytes;
    from = 0;
  }
  return { reports, next: undefined };
}
