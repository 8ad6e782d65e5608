-- Whom a provider of OpenID Connect vouches for. The pair of issuer and subject is the identity (OpenID Connect Core 1.0, section 5.7); addresses may change
-- hands at a provider. Like users, identities belong to no organization.
CREATE TABLE control.identities (
  issuer text NOT NULL CHECK (octet_length(issuer) BETWEEN 1 AND 1024),
  subject text NOT NULL CHECK (octet_length(subject) BETWEEN 1 AND 255),
  user_id uuid NOT NULL REFERENCES control.users (id),
  created_at timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (issuer, subject),
  UNIQUE (user_id, issuer)
);
COMMENT ON TABLE control.identities IS 'Whom a provider of OpenID Connect vouches for, and the user that they are here.';
GRANT SELECT, INSERT ON control.identities TO tidemark_control;
