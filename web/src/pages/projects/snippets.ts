/** A first run from Python, with the published SDK. */
export const pythonSnippet = (
  origin: string,
): string => `export INSTANTML_API_BASE_URL=${origin} INSTANTML_API_KEY=tm_...
pip install instantml
python - <<'EOF'
import instantml

with instantml.init(project="demo", config={"lr": 0.001}) as run:
    for step in range(100):
        run.log({"loss": 1 / (step + 1)}, step=step)
EOF`;

/** The same by the REST API. */
export const curlSnippet = (origin: string): string => `export TIDEMARK_API_KEY=tm_...
curl -s -X POST ${origin}/runs \\
  -H "Authorization: Bearer $TIDEMARK_API_KEY" -H "Content-Type: application/json" \\
  -d '{"project": "demo", "config": {"lr": 0.001}}'`;
