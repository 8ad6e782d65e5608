# The image carries the workspace itself: Node runs the sources, but not below a node_modules folder.
# docker build --build-arg NODE_IMAGE=node:24-slim@sha256:... : a tag may name other bytes tomorrow, so there is no default.
ARG NODE_IMAGE
FROM ${NODE_IMAGE} AS install
ARG NODE_IMAGE
RUN case "$NODE_IMAGE" in *@sha256:*) ;; *) echo "NODE_IMAGE needs a digest" >&2; exit 1 ;; esac
WORKDIR /app
COPY . .
# The pnpm of the launcher, whose checksum stands there.
RUN ln -s "$(node scripts/launch/print-pnpm.mjs /tmp/tidemark)" /usr/local/bin/pnpm
RUN pnpm install --prod --frozen-lockfile --ignore-scripts
# The file system of a container is read-only, and nobody waits for the bundler at a start.
RUN node web/build/main.ts /app/dashboard

FROM ${NODE_IMAGE}
WORKDIR /app
COPY --from=install /app /app
USER 10001
ENV NODE_ENV=production NODE_NO_WARNINGS=1 TIDEMARK_DASHBOARD_DIRECTORY=/app/dashboard
EXPOSE 8080 8081 8082 8083
ENTRYPOINT ["node", "services/all/src/main.ts"]
CMD ["--target=all"]
