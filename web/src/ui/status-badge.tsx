import { classes } from "./class-names.ts";
import { statusLook } from "./status-look.ts";
import "./badge.css";

/** How a run is, by a shape, a color and a word. A run that gave no sign of life for long says so, whatever it claims. */
export function StatusBadge({ status, stale = false }: { readonly status: string; readonly stale?: boolean }) {
  const { kind, label, shape, title } = statusLook(status, stale);
  return (
    <span class={classes("tm-badge", `tm-badge-${kind}`)} title={title}>
      <span class={classes("tm-dot", `tm-dot-${shape}`)} aria-hidden="true" />
      {label}
    </span>
  );
}
