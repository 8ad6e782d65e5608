/** Where the files of a version are, as its source says. Ids are as MLflow writes them; the folder has no slash at its ends. */
export type VersionSource =
  | { readonly kind: "model"; readonly modelId: string; readonly folder: string }
  | { readonly kind: "run"; readonly runId: string; readonly folder: string }
  | { readonly kind: "version"; readonly name: string; readonly number: number }
  | { readonly kind: "elsewhere" };

const model = /^models:\/(m-[0-9a-f]{32})(?:\/(.*))?$/;
const modelArtifacts = /^mlflow-artifacts:\/[^/]+\/models\/(m-[0-9a-f]{32})\/artifacts(?:\/(.*))?$/;
const run = /^runs:\/([^/]+)(?:\/(.*))?$/;
const runArtifacts = /^mlflow-artifacts:\/[^/]+\/([0-9a-f]{32})\/artifacts(?:\/(.*))?$/;
const version = /^models:\/([^/]+)\/(\d{1,9})$/;

/** Reads the source of a version. */
export function readSource(source: string): VersionSource {
  const ofModel = model.exec(source) ?? modelArtifacts.exec(source);
  if (ofModel !== null) return { kind: "model", modelId: ofModel[1]!, folder: folderOf(ofModel[2]) };
  const ofRun = run.exec(source) ?? runArtifacts.exec(source);
  if (ofRun !== null) return { kind: "run", runId: ofRun[1]!, folder: folderOf(ofRun[2]) };
  const ofVersion = version.exec(source);
  if (ofVersion !== null) return { kind: "version", name: ofVersion[1]!, number: Number(ofVersion[2]) };
  return { kind: "elsewhere" };
}

function folderOf(path = ""): string {
  return path
    .split("/")
    .filter((part) => part !== "")
    .join("/");
}
