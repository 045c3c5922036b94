import type { CallOptions } from './app.ts'
import type { Syncing } from './syncing.ts'

export type App = ReturnType<Syncing['host']['app']>

export const pathOf = (projectId: string) => `/api/projects/${projectId}/codehost`

/** What a connection takes of a GitHub App. */
export const sent = ({ appId, installationId, privateKey }: Omit<App, 'installation'>) => ({
  appId,
  installationId,
  privateKey,
})

/** Connects projects with GitHub Apps. */
export const withApps = (service: () => Syncing) => ({
  /** The requests for tokens since, one line each. */
  tokenRequests: (since: number) =>
    service()
      .asked(since)
      .filter((line) => line.includes('/access_tokens')),

  /** A project, and a function that connects it to `acme/private`. */
  async project() {
    const project = await service().given.project()
    const put = (body: object, options?: CallOptions) =>
      service().put(pathOf(project.id), { repository: 'acme/private', schedule: 'off', ...body }, options)
    return { project, put }
  },
})
