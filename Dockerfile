# Everything that is only needed to build stays behind in this stage.
FROM node:24-bookworm-slim AS build
WORKDIR /app
# Before the rest, so that a change of the source installs nothing anew.
COPY package.json package-lock.json .npmrc ./
RUN npm ci --ignore-scripts
COPY . .
RUN npm run build

FROM node:24-bookworm-slim
ENV NODE_ENV=production HOST=0.0.0.0
WORKDIR /app
COPY package.json package-lock.json .npmrc ./
# Without the embedded database and the pinned runtime: a container brings both.
RUN npm ci --omit=dev --omit=optional --ignore-scripts && npm cache clean --force
COPY migrations migrations
COPY src src
COPY --from=build /app/dist dist
USER node
EXPOSE 3000
HEALTHCHECK --interval=10s --timeout=3s --start-period=30s \
  CMD ["node", "-e", "fetch(`http://127.0.0.1:${process.env.PORT || 3000}/readyz`).then((r) => process.exit(r.ok ? 0 : 1), () => process.exit(1))"]
# As `npm start` does: garbage of requests is collected early, and the process stays small. Of the container's memory
# the heap takes half at most: it is collected harder before the kernel kills the process.
CMD ["node", "--max-semi-space-size=2", "--max-old-space-size-percentage=50", "src/server.ts"]
