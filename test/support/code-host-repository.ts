import type { HostComment } from './code-host-comments.ts'
import { type HostItem, type HostRepository, time } from './code-host-items.ts'

/** The clock of the host, in milliseconds of whole seconds. */
export interface HostClock {
  now(): number
  /** Returns the new time. */
  advance(seconds: number): number
}

export type NewComment = Pick<HostComment, 'number' | 'body' | 'author'> & { seconds: number }

interface HandleOptions {
  clock: HostClock
  addComment(repository: HostRepository, values: NewComment): HostComment
  rename(repository: HostRepository, name: string): void
}

/** What tests do in a repository of the fake code host, as its users would. */
export function repositoryHandle(repository: HostRepository, { clock, addComment, rename }: HandleOptions) {
  const { items, comments } = repository
  const itemAt = (number: number) => {
    const item = items.get(number)
    if (!item) throw new Error(`There is no ${number}.`)
    return item
  }
  const commentAt = (id: bigint) => {
    const comment = comments.get(id)
    if (!comment) throw new Error(`There is no comment ${id}.`)
    return comment
  }
  return {
    id: repository.id,
    items,
    comments,
    /** For deliveries. */
    about: repository,
    get name() {
      return repository.name
    },
    /** A new issue; the clock advances by a second by default. */
    issue(values: Partial<HostItem> = {}, seconds = 1) {
      clock.advance(seconds)
      const number = values.number ?? items.size + 1
      const item: HostItem = {
        number,
        title: `Item ${number}`,
        body: `Body of ${number}`,
        state: 'open',
        stateReason: null,
        labels: [],
        assignees: [],
        author: 'ada',
        isDraft: false,
        createdAt: clock.now(),
        updatedAt: clock.now(),
        closedAt: values.state === 'closed' ? clock.now() : null,
        ...values,
      }
      items.set(number, item)
      return item
    },
    pull(values: Partial<HostItem> = {}) {
      return this.issue({ mergedAt: null, ...values })
    },
    /** So many issues at once, every fifth a pull request. */
    fill(count: number, seconds = 60) {
      for (let i = 0; i < count; i++)
        this.issue((items.size + 1) % 5 === 0 ? { mergedAt: null } : {}, seconds)
    },
    change(number: number, values: Partial<HostItem> = {}, seconds = 1) {
      clock.advance(seconds)
      return Object.assign(itemAt(number), { updatedAt: clock.now(), ...values })
    },
    close(number: number, stateReason: string | null = 'completed') {
      return this.change(number, { state: 'closed', stateReason, closedAt: clock.now() + 1_000 })
    },
    merge(number: number) {
      return this.change(number, {
        state: 'closed',
        mergedAt: time(clock.now() + 1_000),
        closedAt: clock.now() + 1_000,
      })
    },
    reopen(number: number) {
      return this.change(number, { state: 'open', stateReason: 'reopened', closedAt: null })
    },
    /** Gone without a trace in the list, as on the real one. */
    remove(number: number, gone: HostItem['gone'] = 'deleted') {
      if (gone) itemAt(number).gone = gone
    },
    comment(number: number, values: Partial<HostComment> = {}, seconds = 1) {
      const comment = addComment(repository, { number, body: 'A comment', author: 'bob', seconds })
      return Object.assign(comment, values)
    },
    edit(id: bigint, values: Partial<HostComment>, seconds = 1) {
      clock.advance(seconds)
      return Object.assign(commentAt(id), { updatedAt: clock.now(), ...values })
    },
    /** Returns the comment as it was. */
    removeComment(id: bigint, seconds = 1) {
      clock.advance(seconds)
      const comment = commentAt(id)
      comments.delete(id)
      return comment
    },
    archive() {
      repository.isArchived = true
    },
    rename: (name: string) => rename(repository, name),
  }
}
