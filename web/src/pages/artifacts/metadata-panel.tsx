import { valueText, type ExactValue } from "../../api/exact-value.ts";

/** The metadata of a collection, which hold for all of its versions; nothing where there is none. */
export function MetadataPanel({ metadata }: { readonly metadata: { readonly [key: string]: ExactValue } }) {
  const rows = Object.entries(metadata);
  if (rows.length === 0) return null;
  return (
    <section class="tm-panel" aria-labelledby="artifact-metadata">
      <h3 id="artifact-metadata">Metadata</h3>
      <dl class="tm-pairs">
        {rows.map(([name, value]) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd class="tm-mono">{valueText(value)}</dd>
          </div>
        ))}
      </dl>
    </section>
  );
}
