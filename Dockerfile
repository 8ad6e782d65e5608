# The image carries the workspace itself: Node runs the sources, but not below a node_modules folder.
FROM node:24-slim AS install
WORKDIR /app
RUN npm install --global pnpm@12.21.0
COPY . .
RUN pnpm install --prod --frozen-lockfile --ignore-scripts

FROM node:24-slim
WORKDIR /app
COPY --from=install /app /app
USER 10001
ENV NODE_ENV=production NODE_NO_WARNINGS=1
EXPOSE 8080 8081 8082 8083
ENTRYPOINT ["node", "services/all/src/main.ts"]
CMD ["--target=all"]
