import { commentDelivery } from '../../support/code-host-comments.ts'
import { type HostDelivery, itemDelivery } from '../../support/code-host-deliveries.ts'
import type { HostItem } from '../../support/code-host-items.ts'
import type { ChangeThere } from './steps.ts'
import type { Repository, World } from './world.ts'

/** The people at the code host. */
export function peopleThere({ host }: Pick<World, 'host'>, repository: Repository) {
  const about = { api: host.url, repository: repository.about }
  let texts = 0

  return {
    /** Comments that they have edited or deleted, whoever wrote them. */
    touched: new Set<bigint>(),

    /** Returns the delivery of the change; undefined if there is nothing to change. */
    change(change: ChangeThere): HostDelivery | undefined {
      const there = [...repository.items.values()].filter(({ gone }) => !gone)
      const item = there[change.item % Math.max(1, there.length)]
      if (change.what === 'open') return report('opened', repository.issue({}, change.seconds))
      if (change.what === 'open pull')
        return report('opened', repository.issue({ mergedAt: null }, change.seconds))
      if (!item) return undefined
      if (change.what === 'comment') return comment(item, change)
      if (change.what === 'edit comment' || change.what === 'delete comment') {
        return this.changeComment(item, change)
      }
      return changeItem(item, change)
    },

    changeComment(item: HostItem, change: ChangeThere): HostDelivery {
      const { number } = item
      const { what, comment: nth, seconds } = change
      const comments = [...repository.comments.values()].filter((comment) => comment.number === number)
      const chosen = comments[nth % Math.max(1, comments.length)]
      if (!chosen) return comment(item, change)
      this.touched.add(chosen.id)
      if (what === 'delete comment') {
        return commentDelivery(repository.removeComment(chosen.id, seconds), { ...about, action: 'deleted' })
      }
      // What identifies a comment that was written from here is at its beginning.
      const body = `${chosen.body} (edit ${++texts})`
      return commentDelivery(repository.edit(chosen.id, { body }, seconds), { ...about, action: 'edited' })
    },
  }

  function comment({ number }: HostItem, { seconds }: ChangeThere): HostDelivery {
    const comment = repository.comment(number, { body: `Comment ${++texts}` }, seconds)
    return commentDelivery(comment, { ...about, action: 'created' })
  }

  function changeItem(
    { number, state, mergedAt, isDraft }: HostItem,
    { what, seconds }: ChangeThere,
  ): HostDelivery | undefined {
    const isPull = mergedAt !== undefined
    const closedAt = host.now() + seconds * 1_000
    const change = (action: string, values: Partial<HostItem>) =>
      report(action, repository.change(number, values, seconds))
    switch (what) {
      case 'edit':
        texts++
        return change('edited', { title: `Title ${texts}`, body: `Body ${texts}` })
      case 'label':
        texts++
        return change('labeled', { labels: [`label ${texts}`], assignees: texts % 2 === 0 ? ['bob'] : [] })
      case 'close or reopen': {
        if (mergedAt) return undefined
        if (state === 'closed') {
          return change('reopened', {
            state: 'open',
            stateReason: isPull ? null : 'reopened',
            closedAt: null,
          })
        }
        const stateReason = isPull ? null : (['completed', 'not_planned', 'duplicate'][texts % 3] ?? null)
        return change('closed', { state: 'closed', stateReason, closedAt })
      }
      case 'merge': {
        const merged = { state: 'closed' as const, mergedAt: new Date(closedAt).toISOString(), closedAt }
        return isPull && state === 'open' ? change('closed', merged) : undefined
      }
      case 'draft':
        return isPull && state === 'open'
          ? change(isDraft ? 'ready_for_review' : 'converted_to_draft', { isDraft: !isDraft })
          : undefined
      case 'delete':
      case 'transfer': {
        if (isPull) return undefined
        const delivery = change(what === 'delete' ? 'deleted' : 'transferred', {})
        repository.remove(number, what === 'delete' ? 'deleted' : 'transferred')
        return delivery
      }
      default:
        return undefined
    }
  }

  function report(action: string, item: HostItem): HostDelivery {
    return itemDelivery(item, { ...about, action })
  }
}
