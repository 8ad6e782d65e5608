/** DevicePage: not built yet. */
export function DevicePage() {
  return (
    <div class="tm-page">
      <h1>DevicePage</h1>
      <p>This page is not built yet.</p>
    </div>
  );
}
