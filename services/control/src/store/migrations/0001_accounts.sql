-- Accounts: who exists, who belongs where, and by what credential they come in. These tables are
-- small and asked for across organizations, so they stay together on one server where tenant data is spread.
CREATE SCHEMA control;
GRANT USAGE ON SCHEMA control TO tidemark_control, tidemark_control_worker, tidemark_definer;

-- People are global: one address, one user, any number of organizations.
CREATE TABLE control.users (
  id uuid PRIMARY KEY,
  email text NOT NULL UNIQUE,
  display_name text,
  avatar_url text,
  created_at timestamptz NOT NULL DEFAULT now(),
  last_seen_at timestamptz
);
CREATE INDEX users_by_age ON control.users (created_at, id);

-- changed_xid, here and below: the transaction that last changed what gateways know of the row. Every
-- statement that changes such a column sets it; readers go on from the oldest transaction that was still open.
CREATE TABLE control.organizations (
  org_id uuid PRIMARY KEY,
  slug text NOT NULL UNIQUE CHECK (slug ~ '^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$'),
  name text NOT NULL,
  plan_tier text NOT NULL CHECK (plan_tier IN ('free', 'pro', 'premium')),
  billing_state text NOT NULL CHECK (billing_state IN
    ('free_active', 'checkout_pending', 'paid_active', 'past_due_grace', 'read_only_payment_required', 'canceled')),
  account_type text NOT NULL CHECK (account_type IN ('personal', 'business', 'customer')),
  seat_limit integer NOT NULL CHECK (seat_limit >= 1),
  created_by_user_id uuid REFERENCES control.users,
  created_at timestamptz NOT NULL DEFAULT now(),
  deleted_at timestamptz,
  changed_xid xid8 NOT NULL DEFAULT pg_current_xact_id()
);
CREATE INDEX organizations_by_age ON control.organizations (created_at, org_id);
CREATE INDEX organizations_changed ON control.organizations (changed_xid, org_id);

CREATE TABLE control.memberships (
  org_id uuid NOT NULL REFERENCES control.organizations,
  id uuid NOT NULL,
  user_id uuid NOT NULL REFERENCES control.users,
  role text NOT NULL CHECK (role IN ('owner', 'admin', 'member', 'viewer')),
  status text NOT NULL CHECK (status IN ('active', 'invited')),
  created_at timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (org_id, id),
  UNIQUE (org_id, user_id)
);
CREATE INDEX memberships_of_user ON control.memberships (user_id);

CREATE TABLE control.service_accounts (
  org_id uuid NOT NULL REFERENCES control.organizations,
  id uuid NOT NULL,
  name text NOT NULL,
  created_by_user_id uuid REFERENCES control.users,
  created_at timestamptz NOT NULL DEFAULT now(),
  disabled_at timestamptz,
  PRIMARY KEY (org_id, id)
);

-- credential_id, here and below: the public part of the credential's text, by which it is looked up.
CREATE TABLE control.api_keys (
  org_id uuid NOT NULL,
  id uuid NOT NULL,
  service_account_id uuid NOT NULL,
  credential_id text COLLATE "C" NOT NULL UNIQUE,
  hash bytea NOT NULL CHECK (octet_length(hash) = 32),
  key_prefix text NOT NULL,
  name text NOT NULL,
  scopes text[] NOT NULL CHECK (cardinality(scopes) > 0),
  project_id uuid,
  created_at timestamptz NOT NULL DEFAULT now(),
  expires_at timestamptz,
  last_used_at timestamptz,
  revoked_at timestamptz,
  changed_xid xid8 NOT NULL DEFAULT pg_current_xact_id(),
  PRIMARY KEY (org_id, id),
  FOREIGN KEY (org_id, service_account_id) REFERENCES control.service_accounts
);
CREATE INDEX api_keys_by_account ON control.api_keys (org_id, service_account_id);
CREATE INDEX api_keys_by_age ON control.api_keys (org_id, created_at, id);
CREATE INDEX api_keys_changed ON control.api_keys (changed_xid, credential_id);

CREATE TABLE control.sessions (
  org_id uuid NOT NULL,
  id uuid NOT NULL,
  user_id uuid NOT NULL,
  credential_id text COLLATE "C" NOT NULL UNIQUE,
  hash bytea NOT NULL CHECK (octet_length(hash) = 32),
  created_at timestamptz NOT NULL DEFAULT now(),
  last_seen_at timestamptz,
  expires_at timestamptz NOT NULL,
  revoked_at timestamptz,
  changed_xid xid8 NOT NULL DEFAULT pg_current_xact_id(),
  PRIMARY KEY (org_id, id),
  FOREIGN KEY (org_id, user_id) REFERENCES control.memberships (org_id, user_id)
);
CREATE INDEX sessions_of_member ON control.sessions (org_id, user_id, created_at);
CREATE INDEX sessions_by_end ON control.sessions (least(expires_at, revoked_at));
CREATE INDEX sessions_changed ON control.sessions (changed_xid, credential_id);

CREATE TABLE control.invitations (
  org_id uuid NOT NULL REFERENCES control.organizations,
  id uuid NOT NULL,
  email text NOT NULL,
  role text NOT NULL CHECK (role IN ('admin', 'member', 'viewer')),
  status text NOT NULL DEFAULT 'pending' CHECK (status IN ('pending', 'accepted', 'revoked', 'expired')),
  credential_id text COLLATE "C" NOT NULL UNIQUE,
  hash bytea NOT NULL CHECK (octet_length(hash) = 32),
  invited_by_user_id uuid REFERENCES control.users,
  created_at timestamptz NOT NULL DEFAULT now(),
  expires_at timestamptz NOT NULL,
  last_sent_at timestamptz NOT NULL,
  delivery_status text NOT NULL DEFAULT 'queued' CHECK (delivery_status IN ('queued', 'sent', 'failed')),
  accepted_at timestamptz,
  accepted_by_user_id uuid REFERENCES control.users,
  revoked_at timestamptz,
  PRIMARY KEY (org_id, id)
);
CREATE UNIQUE INDEX invitations_pending ON control.invitations (org_id, email) WHERE status = 'pending';
CREATE INDEX invitations_by_age ON control.invitations (org_id, created_at, id);
CREATE INDEX invitations_by_end ON control.invitations (expires_at) WHERE status = 'pending';

-- A login begins before anybody knows for which organization, so these rows belong to none.
CREATE TABLE control.device_logins (
  credential_id text COLLATE "C" PRIMARY KEY,
  hash bytea NOT NULL CHECK (octet_length(hash) = 32),
  user_code_hash bytea NOT NULL UNIQUE,
  status text NOT NULL DEFAULT 'pending' CHECK (status IN ('pending', 'approved', 'finished')),
  client_name text,
  client_version text,
  org_id uuid,
  user_id uuid,
  created_at timestamptz NOT NULL DEFAULT now(),
  expires_at timestamptz NOT NULL,
  last_polled_at timestamptz
);
CREATE INDEX device_logins_by_end ON control.device_logins (expires_at);

SELECT platform.fence('control.organizations');
SELECT platform.fence('control.memberships');
SELECT platform.fence('control.service_accounts');
SELECT platform.fence('control.api_keys');
SELECT platform.fence('control.sessions');
SELECT platform.fence('control.invitations');

GRANT SELECT, INSERT, UPDATE ON control.users, control.organizations, control.memberships, control.service_accounts,
  control.api_keys, control.sessions, control.invitations, control.device_logins TO tidemark_control;

-- The worker ends what has run out, whosever it is.
GRANT SELECT, DELETE ON control.sessions, control.device_logins TO tidemark_control_worker;
GRANT SELECT, UPDATE (status) ON control.invitations TO tidemark_control_worker;
GRANT SELECT, UPDATE (changed_xid) ON control.organizations, control.api_keys, control.sessions TO tidemark_control_worker;
SELECT platform.unfence_for(t, 'tidemark_control_worker')
FROM unnest(ARRAY['control.organizations', 'control.api_keys', 'control.sessions', 'control.invitations']::regclass[]) t;
