import { useState } from "preact/hooks";
import { serverUrl } from "../../api/base-path.ts";
import { call } from "../../api/client.ts";
import { projectAddress } from "../../app/addresses.ts";
import { Link, navigate } from "../../app/location.tsx";
import { Button } from "../../ui/button.tsx";
import { Dialog } from "../../ui/dialog.tsx";
import { EmptyState, ErrorNote } from "../../ui/page-states.tsx";
import { TextField } from "../../ui/field.tsx";
import { Snippet } from "../../ui/copy-button.tsx";
import type { Project } from "./project-card.tsx";

/** Creates a project and goes to it. */
export function NewProject({ onClose }: { readonly onClose: () => void }) {
  const [name, setName] = useState("");
  const [description, setDescription] = useState("");
  const [isBusy, setBusy] = useState(false);
  const [fault, setFault] = useState<unknown>();
  const create = async (): Promise<void> => {
    setBusy(true);
    setFault(undefined);
    try {
      const body = { name: name.trim(), ...(description.trim() === "" ? {} : { description: description.trim() }) };
      const { project } = await call<{ readonly project: Project }>("/projects", { body });
      onClose();
      navigate(projectAddress(project.name));
    } catch (error) {
      setFault(error);
      setBusy(false);
    }
  };
  return (
    <Dialog
      title="New project"
      onClose={onClose}
      onSubmit={() => void create()}
      actions={
        <>
          <Button onClick={onClose}>Cancel</Button>
          <Button type="submit" kind="primary" busy={isBusy} disabled={name.trim() === ""}>
            Create project
          </Button>
        </>
      }
    >
      <TextField label="Name" autofocus value={name} onInput={setName} />
      <TextField label="Description" value={description} onInput={setDescription} hint="Optional." />
      <ErrorNote error={fault} />
    </Dialog>
  );
}

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
      <Snippet label="Log a first run from Python" text={pythonSnippet(serverUrl())} />
      <Snippet label="Log a first run from a shell" text={curlSnippet(serverUrl())} />
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
