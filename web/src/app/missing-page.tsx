import { EmptyState } from "../ui/page-states.tsx";
import { Link, useTitle } from "./location.tsx";

/** The page for an address that leads nowhere. */
export function MissingPage() {
  useTitle("Not found");
  return (
    <div class="tm-page">
      <h1 class="tm-hidden">Not found</h1>
      <EmptyState
        icon="help"
        title="Page not found"
        actions={
          <Link class="tm-button tm-button-primary" href="/">
            Go to projects
          </Link>
        }
      >
        <p>The address may be wrong, it may have been deleted, or you may not have access.</p>
      </EmptyState>
    </div>
  );
}
