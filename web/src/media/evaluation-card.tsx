type Evaluation = {
  readonly class_names?: unknown;
  readonly confusion_matrix?: unknown;
  readonly accuracy?: unknown;
  readonly macro_f1?: unknown;
  readonly sample_count?: unknown;
};

const isMatrix = (value: unknown): value is number[][] =>
  Array.isArray(value) && value.every((row) => Array.isArray(row) && row.every((cell) => typeof cell === "number"));

/** The outcome of a classification: its figures, and what was taken for what. */
export function EvaluationCard({ value }: { readonly value: unknown }) {
  const {
    class_names: names,
    confusion_matrix: matrix,
    accuracy,
    macro_f1: f1,
    sample_count: samples,
  } = (value ?? {}) as Evaluation;
  const classes = Array.isArray(names) ? names.map(String) : [];
  const figures = [
    ["Samples", samples],
    ["Accuracy", accuracy],
    ["Macro F1", f1],
  ] as const;
  return (
    <div class="tm-evaluation">
      <dl class="tm-pairs">
        {figures.map(
          ([name, figure]) =>
            typeof figure === "number" && (
              <div key={name}>
                <dt>{name}</dt>
                <dd>{Number(figure.toPrecision(5)).toLocaleString("en-US", { maximumFractionDigits: 4 })}</dd>
              </div>
            ),
        )}
      </dl>
      {isMatrix(matrix) && (
        <table class="tm-list-table">
          <caption>Confusion matrix: rows are true labels, columns predicted ones</caption>
          <thead>
            <tr>
              <td />
              {classes.map((name) => (
                <th key={name} scope="col" class="tm-number">
                  {name}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {matrix.map((row, i) => (
              <tr key={i}>
                <th scope="row">{classes[i] ?? i}</th>
                {row.map((cell, j) => (
                  <td key={j} class="tm-number">
                    {cell.toLocaleString("en-US")}
                  </td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      )}
    </div>
  );
}
