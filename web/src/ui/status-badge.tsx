import type { ComponentChildren } from "preact";
import "./badge.css";
import { classes } from "./class-names.ts";

/** How the status of a run is shown. */
type StatusLook = {
  readonly kind: "plain" | "good" | "warn" | "bad" | "info";
  readonly label: string;
  readonly shape: "pulse" | "round" | "ring" | "square" | "cross";
  readonly title?: string;
};

const LOOKS: Readonly<Record<string, StatusLook>> = {
  running: { kind: "info", label: "Running", shape: "pulse" },
  stopping: { kind: "warn", label: "Stopping", shape: "pulse", title: "It was asked to stop and has not ended yet." },
  stopped: { kind: "warn", label: "Stopped", shape: "square" },
  finished: { kind: "good", label: "Finished", shape: "round" },
  failed: { kind: "bad", label: "Failed", shape: "cross" },
};

/** Returns how a status is shown. Only a run that has not ended can be stale. */
function statusLook(status: string, stale: boolean): StatusLook {
  const look = LOOKS[status] ?? { kind: "plain", label: status, shape: "ring" };
  if (!stale || look.shape !== "pulse") return look;
  return {
    kind: "warn",
    label: "No signal",
    shape: "ring",
    title: `${look.label}, but it has not reported for a long time.`,
  };
}

/** The status of a run, as a shape, a color and a word. A run without a sign of life for long is marked as such in any status. */
export function StatusBadge({ status, stale = false }: { readonly status: string; readonly stale?: boolean }) {
  const { kind, label, shape, title } = statusLook(status, stale);
  return (
    <span class={classes("tm-badge", `tm-badge-${kind}`)} title={title}>
      <span class={classes("tm-dot", `tm-dot-${shape}`)} aria-hidden="true" />
      {label}
    </span>
  );
}

/** The status of a run as a dot alone; its word, and what `more` adds to it, are its tooltip and what screen readers say. */
export function StatusDot({
  status,
  stale = false,
  more = "",
}: {
  readonly status: string;
  readonly stale?: boolean;
  readonly more?: string;
}) {
  const { kind, label, shape, title } = statusLook(status, stale);
  const words = `${label}${more === "" ? "" : `, ${more}`}`;
  return (
    <span class={classes("tm-status-dot", `tm-badge-${kind}`)} title={more === "" ? (title ?? words) : words}>
      <span class={classes("tm-dot", `tm-dot-${shape}`)} aria-hidden="true" />
      <span class="tm-hidden">{words}</span>
    </span>
  );
}

/** A short word or number about the element next to it. */
export function Badge({
  kind = "plain",
  title,
  children,
}: {
  readonly kind?: "plain" | "good" | "warn" | "bad" | "info" | "accent";
  readonly title?: string;
  readonly children?: ComponentChildren;
}) {
  return (
    <span class={classes("tm-badge", kind !== "plain" && `tm-badge-${kind}`)} title={title}>
      {children}
    </span>
  );
}
