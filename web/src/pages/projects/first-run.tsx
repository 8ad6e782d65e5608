import { Link } from "../../app/link.tsx";
import { EmptyState } from "../../ui/empty-state.tsx";
import { Snippet } from "../../ui/snippet.tsx";

/** First steps, shown where there is no project yet. */
export function FirstRun({ mayMakeKeys }: { readonly mayMakeKeys: boolean }) {
  return (
    <EmptyState
      icon="chart"
      title="Log a first run"
      actions={
        mayMakeKeys && (
          <Link class="tm-button" href="/settings/keys">
            Create an API key
          </Link>
        )
      }
    >
      <p>A project appears with its first run. Set your API key, then paste one of these.</p>
      <Snippet label="Log a first run from Python" text={pythonSnippet(location.origin)} />
      <Snippet label="Log a first run from a shell" text={curlSnippet(location.origin)} />
    </EmptyState>
  );
}

/** A first run from Python, with the published SDK. */
const pythonSnippet = (origin: string): string => `export INSTANTML_API_BASE_URL=${origin} INSTANTML_API_KEY=tm_...
pip install instantml
python - <<'EOF'
import instantml

with instantml.init(project="demo", config={"lr": 0.001}) as run:
    for step in range(100):
        run.log({"loss": 1 / (step + 1)}, step=step)
EOF`;

/** The same by the REST API. */
const curlSnippet = (origin: string): string => `export TIDEMARK_API_KEY=tm_...
curl -s -X POST ${origin}/runs \\
  -H "Authorization: Bearer $TIDEMARK_API_KEY" -H "Content-Type: application/json" \\
  -d '{"project": "demo", "config": {"lr": 0.001}}'`;
