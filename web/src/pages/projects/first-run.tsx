import { Link } from "../../app/link.tsx";
import { EmptyState } from "../../ui/empty-state.tsx";
import { Snippet } from "../../ui/snippet.tsx";
import { curlSnippet, pythonSnippet } from "./snippets.ts";

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
