-- What an organization has of its plan.

-- Keys that are revoked are not looked at: there may be many more of them.
CREATE INDEX api_keys_not_revoked ON control.api_keys (org_id) INCLUDE (expires_at) WHERE revoked_at IS NULL;

-- Others learn the number and no addresses. The rule is that of inviting: somebody who has a seat takes no second one.
CREATE FUNCTION control.promised_seats(org uuid) RETURNS bigint
  LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog SET enable_seqscan = off AS $$
  SELECT count(*) FROM control.invitations i
  WHERE i.org_id = org AND org = platform.org_id() AND i.status = 'pending' AND i.expires_at > now()
    AND NOT EXISTS (SELECT FROM control.users u
                    CROSS JOIN LATERAL (SELECT FROM control.memberships f
                                        WHERE f.org_id = org AND f.user_id = u.id OFFSET 0) m
                    WHERE u.email = i.email OFFSET 0)
$$;
COMMENT ON FUNCTION control.promised_seats IS
  'How many seats of the organization of this transaction are promised to people who are invited and are no members.';
REVOKE ALL ON FUNCTION control.promised_seats FROM PUBLIC;
GRANT EXECUTE ON FUNCTION control.promised_seats TO tidemark_usage;
GRANT CREATE ON SCHEMA control TO tidemark_definer;
ALTER FUNCTION control.promised_seats OWNER TO tidemark_definer;
REVOKE CREATE ON SCHEMA control FROM tidemark_definer;

CREATE VIEW control.usage_v1 WITH (security_invoker = true) AS
  SELECT o.org_id, o.slug,
         coalesce((SELECT c.members FROM control.member_counts c WHERE c.org_id = o.org_id OFFSET 0), 0)
           + control.promised_seats(o.org_id) AS seats,
         (SELECT count(*) FROM control.api_keys k
          WHERE k.org_id = o.org_id AND k.revoked_at IS NULL AND (k.expires_at IS NULL OR k.expires_at > now())) AS keys
  FROM control.organizations o;
COMMENT ON VIEW control.usage_v1 IS
  'The name of an organization, its seats (members and people whose invitations are open) and the keys that work.';
GRANT USAGE ON SCHEMA control TO tidemark_usage;
GRANT SELECT (org_id, slug) ON control.organizations TO tidemark_usage;
GRANT SELECT (org_id, members) ON control.member_counts TO tidemark_usage;
GRANT SELECT (org_id, revoked_at, expires_at) ON control.api_keys TO tidemark_usage;
GRANT SELECT ON control.usage_v1 TO tidemark_usage;
