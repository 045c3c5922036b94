# This stage has everything that is only needed for the build.
FROM node:24-bookworm-slim AS build
WORKDIR /app
# Copied first, so that packages are not installed again when only the source changes.
COPY package.json package-lock.json .npmrc ./
RUN npm ci --ignore-scripts
COPY . .
RUN npm run build

FROM node:24-bookworm-slim
ENV NODE_ENV=production HOST=0.0.0.0
WORKDIR /app
COPY package.json package-lock.json .npmrc ./
# Without the embedded database and the Node.js package, which are optional dependencies.
RUN npm ci --omit=dev --omit=optional --ignore-scripts && npm cache clean --force
COPY migrations migrations
COPY src src
COPY --from=build /app/dist dist
USER node
EXPOSE 3000
HEALTHCHECK --interval=10s --timeout=3s --start-period=30s \
  CMD ["node", "-e", "fetch(`http://127.0.0.1:${process.env.PORT || 3000}/readyz`).then((r) => process.exit(r.ok ? 0 : 1), () => process.exit(1))"]
# As in `npm start`, a heap that grows slowly and one arena of malloc keep memory low. The heap uses at most half of the
# container's memory, so that Node.js collects more garbage before the kernel kills the process.
ENV MALLOC_ARENA_MAX=1
CMD ["node", "--max-semi-space-size=8", "--heap-growing-percent=50", "--max-old-space-size-percentage=50", "src/server.ts"]
