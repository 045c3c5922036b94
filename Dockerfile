# Nothing is emulated: every stage that runs something does so on the platform of the builder. The packages and the
# dashboard are the same on all platforms.
# hadolint ignore=DL3029
FROM --platform=$BUILDPLATFORM node:24-trixie-slim AS build
WORKDIR /app
COPY package.json package-lock.json .npmrc ./
# Without the embedded database, another Node.js, and what runs tests. The lock file decides the other versions.
RUN npm pkg delete optionalDependencies devDependencies.testcontainers devDependencies.@testcontainers/postgresql \
  devDependencies.vitest devDependencies.fast-check \
  && npm install --ignore-scripts
# Only what the build reads, so that a change of anything else does not repeat it.
COPY tsconfig.json ./
COPY src src
RUN npm run build && rm -r src/dashboard

# hadolint ignore=DL3029
FROM --platform=$BUILDPLATFORM node:24-trixie-slim AS packages
WORKDIR /app
COPY package.json package-lock.json .npmrc ./
RUN npm ci --omit=dev --omit=optional --ignore-scripts \
  && find node_modules -type f \( -name '*.map' -o -name '*.ts' -o -name '*.mts' -o -name '*.cts' \) -delete \
  && find node_modules -type f -name '*.md' ! -iname 'licen[cs]e*' -delete \
  && rm -r node_modules/*/test node_modules/@*/*/test

FROM node:24-trixie-slim AS node

# hadolint ignore=DL3029
FROM --platform=$BUILDPLATFORM debian:trixie-slim AS program
# hadolint ignore=DL3008
RUN apt-get update \
  && apt-get install --yes --no-install-recommends binutils-multiarch \
  && rm -rf /var/lib/apt/lists/*
COPY --from=node /usr/local/bin/node /node
# 18 MB of names that only a debugger reads.
RUN strip /node

# Of Node.js only the program, without npm.
FROM debian:trixie-slim
LABEL org.opencontainers.image.title="Inlet" \
  org.opencontainers.image.description="A self-hosted task service" \
  org.opencontainers.image.licenses="MIT"
ENV NODE_ENV=production HOST=0.0.0.0
WORKDIR /app
COPY --from=program /node /usr/local/bin/node
COPY package.json LICENSE ./
COPY --from=packages /app/node_modules node_modules
COPY migrations migrations
COPY --from=build /app/src src
COPY --from=build /app/dist dist
# Numbers, because Kubernetes cannot tell from a name that it is not root.
USER 1000:1000
EXPOSE 3000
HEALTHCHECK --interval=10s --timeout=3s --start-period=30s \
  CMD ["node", "-e", "fetch(`http://127.0.0.1:${process.env.PORT || 3000}/readyz`).then((r) => process.exit(r.ok ? 0 : 1), () => process.exit(1))"]
# As in `npm start`, a heap that grows slowly and one arena of malloc keep memory low. The heap uses at most half of the
# container's memory, so that Node.js collects more garbage before the kernel kills the process.
ENV MALLOC_ARENA_MAX=1
ENTRYPOINT ["node", "--max-semi-space-size=8", "--heap-growing-percent=50", "--max-old-space-size-percentage=50", "src/cli.ts"]
CMD ["start"]
