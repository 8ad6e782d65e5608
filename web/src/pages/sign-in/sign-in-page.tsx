/** SignInPage: not built yet. */
export function SignInPage() {
  return (
    <div class="tm-page">
      <h1>SignInPage</h1>
      <p>This page is not built yet.</p>
    </div>
  );
}
