import "./spinner.css";

/** A spinner next to a text that says what is happening; alone it needs a `label`. */
export function Spinner({ label }: { readonly label?: string }) {
  return label === undefined ? (
    <span class="tm-spinner" aria-hidden="true" />
  ) : (
    <span class="tm-spinner" role="status" aria-label={label} />
  );
}

/** The place of something that loads, in its size, so that nothing jumps. */
export function Skeleton({
  width = "100%",
  height = "1em",
  lines = 1,
}: {
  readonly width?: string;
  readonly height?: string;
  readonly lines?: number;
}) {
  return (
    <span class="tm-skeletons" aria-hidden="true">
      {Array.from({ length: lines }, (_, i) => (
        <span key={i} class="tm-skeleton" style={{ width: i > 0 && i === lines - 1 ? "60%" : width, height }} />
      ))}
    </span>
  );
}
