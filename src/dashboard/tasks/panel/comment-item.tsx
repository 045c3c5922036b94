import { ActionIcon, Button, Textarea } from '@mantine/core'
import { KebabHorizontalIcon, PencilIcon, TrashIcon } from '@primer/octicons-react'
import { useQueryClient } from '@tanstack/react-query'
import { useRef, useState } from 'react'
import { api, dataOf } from '../../api/client.ts'
import { invalidate } from '../../api/invalidate.ts'
import { isUnreachable, problemOf } from '../../api/problem.ts'
import type { Comment } from '../../api/queries.ts'
import { ConfirmDialog } from '../../components/confirm-dialog.tsx'
import { ExternalLink } from '../../components/external-link.tsx'
import { isEnterWithCommand } from '../../components/is-enter.ts'
import { MenuButton } from '../../components/menu-button.tsx'
import { offerRetry } from '../../components/offer-retry.tsx'
import { RelativeTime } from '../../components/relative-time.tsx'
import { toast } from '../../components/toast.ts'
import { useDraft } from '../../components/use-draft.ts'
import { Markdown } from '../../markdown/markdown.tsx'
import { useOpened } from '../../navigation/use-opened.ts'
import { principalOf, useMe } from '../../session/session.ts'
import { openTaskId } from '../open-task.ts'
import styles from './task-panel.module.css'

/** A comment; its author and administrators can edit and delete it, unless the code host manages it. */
export function CommentItem({ comment, isManaged }: { comment: Comment; isManaged: boolean }) {
  const { me, can } = useMe()
  const [draft, setDraft] = useDraft(`comment-edit:${comment.id}`)
  const editor = useOpened('edit')
  const [isDeleting, setDeleting] = useState(false)
  const { author } = comment
  const isOwn = me !== null && author.id === principalOf(me).id
  const mayChange =
    can('tasks:write') && !(author.type === 'codehost' && isManaged) && (isOwn || can('admin'))
  const isEditing = mayChange && editor.opened === comment.id
  return (
    <li className={styles.comment} data-comment={comment.id}>
      <div className={styles.commentHead}>
        <AuthorName author={author} />
        {author.type === 'assistant' && <span>(assistant)</span>}·
        <CommentTime comment={comment} />
        {comment.updatedAt !== comment.createdAt && <span>· edited</span>}
        {draft !== undefined && !isEditing && <span>· draft of an edit</span>}
        {mayChange && !isEditing && (
          <span className="push">
            <MenuButton
              button={
                <ActionIcon aria-label="Comment actions">
                  <KebabHorizontalIcon size={16} />
                </ActionIcon>
              }
              position="bottom-end"
              groups={[
                {
                  actions: [
                    { label: 'Edit', icon: <PencilIcon size={16} />, onClick: () => editor.open(comment.id) },
                    { label: 'Delete', icon: <TrashIcon size={16} />, onClick: () => setDeleting(true) },
                  ],
                },
              ]}
            />
          </span>
        )}
      </div>
      {isEditing ? (
        <CommentEditor comment={comment} draft={draft} onWrite={setDraft} onClose={editor.close} />
      ) : (
        <Markdown text={comment.body} />
      )}
      {isDeleting && <DeleteDialog comment={comment} onClose={() => setDeleting(false)} />}
    </li>
  )
}

const AuthorName = ({ author: { name, url } }: Pick<Comment, 'author'>) => (
  <ExternalLink url={url}>
    <strong>{name}</strong>
  </ExternalLink>
)

const CommentTime = ({ comment: { externalUrl, createdAt } }: { comment: Comment }) => (
  <ExternalLink url={externalUrl}>
    <RelativeTime dateTime={createdAt} />
  </ExternalLink>
)

interface CommentEditorProps {
  comment: Comment
  draft: string | undefined
  onWrite(text: string | undefined): void
  onClose(): void
}

function CommentEditor({ comment: { id, taskId, body }, draft, onWrite, onClose }: CommentEditorProps) {
  const queryClient = useQueryClient()
  const [errorMessage, setErrorMessage] = useState<string>()
  const [isBusy, setBusy] = useState(false)
  const toastId = `unsent-comment-edit-${id}`

  async function save() {
    if (draft === undefined) return onClose()
    if (draft.trim() === '' || isBusy) return
    toast.hide(toastId)
    setBusy(true)
    setErrorMessage(undefined)
    try {
      await dataOf(api.PATCH('/api/comments/{id}', { params: { path: { id } }, body: { body: draft } }))
      await invalidate(queryClient, { queryKey: ['comments', taskId] })
      onWrite(undefined)
      // Another task may be open by then.
      if (openTaskId() === taskId) onClose()
    } catch (error) {
      const problem = problemOf(error)
      if (isUnreachable(problem)) void retry()
      else setErrorMessage(problem.message)
      setBusy(false)
    }
  }
  const latestSave = useRef(save)
  latestSave.current = save
  const retry = async () =>
    (await offerRetry({ id: toastId, title: 'Not saved', text: 'Your edited comment.' })) &&
    latestSave.current()

  return (
    <div className={styles.commentBox}>
      <Textarea
        aria-label="Edit comment"
        autosize
        autoFocus
        minRows={2}
        maxRows={24}
        maxLength={65_536}
        value={draft ?? body}
        error={errorMessage}
        disabled={isBusy}
        onChange={({ currentTarget: { value } }) => onWrite(value === body ? undefined : value)}
        onKeyDown={(event) => {
          if (isEnterWithCommand(event)) void save()
        }}
      />
      <div className="row">
        <Button onClick={() => void save()} loading={isBusy} disabled={draft?.trim() === ''}>
          Save comment
        </Button>
        <Button
          variant="default"
          onClick={() => {
            onWrite(undefined)
            onClose()
          }}
        >
          {draft === undefined ? 'Cancel' : 'Discard'}
        </Button>
      </div>
    </div>
  )
}

function DeleteDialog({ comment: { id, taskId }, onClose }: { comment: Comment; onClose(): void }) {
  const queryClient = useQueryClient()
  async function remove() {
    await dataOf(api.DELETE('/api/comments/{id}', { params: { path: { id } } })).catch((error: unknown) => {
      // Somebody else has deleted it.
      if (problemOf(error).status !== 404) throw error
    })
    await invalidate(queryClient, { queryKey: ['comments', taskId] })
  }
  return (
    <ConfirmDialog title="Delete comment?" verb="Delete comment" onConfirm={remove} onClose={onClose}>
      You can’t undo this.
    </ConfirmDialog>
  )
}
