#!/bin/sh
# Lists the projects of an organization with grpcurl, which learns the messages from the server's reflection.
#
#   RUNS_ADDRESS=127.0.0.1:8082 TIDEMARK_INTERNAL_TOKEN=... ORG_ID=... sh list-projects.sh
set -eu

# An Identity of proto/tidemark/common/v1/common.proto: field 1 is org_id, 36 characters long, field 2 is kind, API_KEY.
identity=$(printf '\012\044%s\020\001' "$ORG_ID" | base64 | tr -d '\n')

grpcurl -plaintext -max-time 10 \
  -H "tidemark-internal-token: $TIDEMARK_INTERNAL_TOKEN" \
  -H "tidemark-identity-bin: $identity" \
  -d '{"limit": 10}' \
  "$RUNS_ADDRESS" tidemark.runs.v1.RunsService/ListProjects
