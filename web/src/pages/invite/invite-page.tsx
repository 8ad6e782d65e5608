/** InvitePage: not built yet. */
export function InvitePage() {
  return (
    <div class="tm-page">
      <h1>InvitePage</h1>
      <p>This page is not built yet.</p>
    </div>
  );
}
