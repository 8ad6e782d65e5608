import type { ComponentChildren } from "preact";
import { classes } from "./class-names.ts";
import "./badge.css";

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
