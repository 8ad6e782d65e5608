import { EmptyState } from "../../ui/empty-state.tsx";
import { Snippet } from "../../ui/snippet.tsx";

/** The code to paste so that a project without runs gets its first one. */
export function EmptyProject({ project }: { readonly project: string }) {
  const server = location.origin;
  const body = JSON.stringify({ project, name: "first-run", config: { lr: 0.001 } }).replaceAll("'", String.raw`'\''`);
  const create = `curl -s ${server}/runs -H "Authorization: Bearer $API_KEY" -H 'Content-Type: application/json' \\\n  -d '${body}'`;
  const install = `pip install instantml\nexport INSTANTML_API_BASE_URL=${server} INSTANTML_API_KEY=$API_KEY`;
  const python = [
    "import instantml",
    "",
    `with instantml.init(project=${JSON.stringify(project)}, config={"lr": 0.001}) as run:`,
    "    for step in range(100):",
    '        run.log({"loss": 1 / (step + 1)}, step=step)',
  ].join("\n");
  return (
    <EmptyState title="No runs yet" icon="play">
      <p>Make an API key under Settings and set it as API_KEY. A run appears here by itself.</p>
      <Snippet label="Install the Python package" text={install} />
      <Snippet label="Python: log a run with a loss" text={python} />
      <Snippet label="Shell: create a run" text={create} />
    </EmptyState>
  );
}
