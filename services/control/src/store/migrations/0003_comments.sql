-- What every function and view promises, so that schema.sql can be read alone.

COMMENT ON FUNCTION control.find_credential IS
  'Returns what gateways know of one credential, and of the organization that it opens.';

COMMENT ON FUNCTION control.find_invitation IS
  'Returns the organization and the invitation that a token''s id names.';

COMMENT ON FUNCTION control.list_organizations IS
  'Returns organizations of all tenants, for operators.';

COMMENT ON FUNCTION control.memberships_of IS
  'Returns the organizations of a user, the one that the user was last in first.';

COMMENT ON FUNCTION control.projection_page IS
  'Returns a page of rows that transaction from_xid or a later one changed, in the order (changed_xid, kind, id), '
  'behind the given position. floor is the oldest transaction that was open in this snapshot: a row that is not '
  'visible yet will carry floor or more. One row always comes and tells floor and ceiling even when there is '
  'nothing else.';

COMMENT ON FUNCTION control.record_use IS
  'Records when credentials were last used; an older report never overwrites a newer one.';

COMMENT ON FUNCTION control.slug_taken IS
  'Tells whether any organization has the short name.';
