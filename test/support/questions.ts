import type { TestApp } from './app.ts'
import { claiming } from './claims.ts'
import { callTool, type McpClient } from './mcp-clients.ts'

type Connect = (options: { key: string }) => Promise<McpClient>

/** What tests of questions do: a project, an assistant with the key that claims its tasks, and what others do there. */
export const asking = (service: TestApp, connect: Connect) => ({
  async project() {
    const project = await claiming(service).project()
    const comment = (id: string, more: object = {}, options: object = {}) =>
      service.post(`/api/tasks/${id}/comments`, { body: 'Which?', ...more }, options)
    const ask = (id: string, options: object = {}) => comment(id, { needsAnswer: true }, options)
    const client = await connect({ key: project.key })
    /** A comment of the assistant. */
    const add = (id: string, more: object = {}) =>
      callTool(client, 'add_comment', { id, body: 'From an assistant', ...more })
    /** A task with a question. */
    const asked = async () => {
      const { id } = await project.task()
      await ask(id)
      return id
    }
    return { ...project, client, comment, ask, add, asked }
  },
})
