import { classes } from "./class-names.ts";
import { statusLook } from "./status-look.ts";
import "./badge.css";

/** The status of a run, as a shape, a color and a word. A run without a sign of life for long is marked as such, whatever its status. */
export function StatusBadge({ status, stale = false }: { readonly status: string; readonly stale?: boolean }) {
  const { kind, label, shape, title } = statusLook(status, stale);
  return (
    <span class={classes("tm-badge", `tm-badge-${kind}`)} title={title}>
      <span class={classes("tm-dot", `tm-dot-${shape}`)} aria-hidden="true" />
      {label}
    </span>
  );
}
