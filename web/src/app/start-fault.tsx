import { ErrorNote } from "../ui/error-note.tsx";

/** Shown if the server does not even say who is signed in. */
export function StartFault({ error }: { readonly error: unknown }) {
  return (
    <main class="tm-page">
      <h1>Tidemark</h1>
      <ErrorNote error={error} onRetry={() => location.reload()} />
    </main>
  );
}
