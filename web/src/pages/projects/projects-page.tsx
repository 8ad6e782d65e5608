/** ProjectsPage: not built yet. */
export function ProjectsPage() {
  return (
    <div class="tm-page">
      <h1>ProjectsPage</h1>
      <p>This page is not built yet.</p>
    </div>
  );
}
