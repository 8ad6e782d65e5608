import { render } from "preact";
import "./styles/tokens.css";
import "./styles/base.css";
import "./pages/shared-chunk.ts";
import { loadSession } from "./api/session.ts";
import { startKeys } from "./app/keys.ts";
import { currentLocation } from "./app/location.tsx";
import { matchRoute } from "./app/addresses.ts";
import { startOwnAddresses } from "./app/own-addresses.ts";
import { preloadPage } from "./app/routes.tsx";
import { Shell } from "./app/shell.tsx";
import { ErrorNote } from "./ui/page-states.tsx";

const root = document.querySelector("#app")!;

async function start(): Promise<void> {
  startOwnAddresses();
  startKeys();
  const { path, query } = currentLocation.peek();
  void preloadPage(matchRoute(path), query);
  render(<Shell />, root);
  try {
    await loadSession();
  } catch (error) {
    render(<StartFault error={error} />, root);
  }
}

/** Shown if the server does not even say who is signed in. */
function StartFault({ error }: { readonly error: unknown }) {
  return (
    <main class="tm-page">
      <h1>Tidemark</h1>
      <ErrorNote error={error} onRetry={() => location.reload()} />
    </main>
  );
}

void start();
