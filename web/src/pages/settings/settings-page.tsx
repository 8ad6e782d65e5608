/** SettingsPage: not built yet. */
export function SettingsPage() {
  return (
    <div class="tm-page">
      <h1>SettingsPage</h1>
      <p>This page is not built yet.</p>
    </div>
  );
}
