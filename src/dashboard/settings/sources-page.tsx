import { Button, Skeleton } from '@mantine/core'
import { useInfiniteQuery, useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { api, dataOf } from '../api/client.ts'
import { itemsOf, projectsQuery } from '../api/queries.ts'
import { ConfirmDialog } from '../components/confirm-dialog.tsx'
import { CopyBlock } from '../components/copy-block.tsx'
import { EmptyState } from '../components/empty-state.tsx'
import { LoadError } from '../components/load-error.tsx'
import { SecretDialog } from '../components/secret-dialog.tsx'
import { useMutation } from '../components/use-mutation.ts'
import { ItemControls } from './item-controls.tsx'
import { PageHeader } from './page-header.tsx'
import styles from './settings.module.css'
import { sourceCurl } from './source-curl.ts'
import { SourceDeliveries } from './source-deliveries.tsx'
import { SourceEditor } from './source-editor.tsx'
import { type Source, type SourceWithSecret, sourcesQuery } from './source-queries.ts'
import { SourceRotation } from './source-rotation.tsx'

/** What is shown instead of the list. */
type Open = { view: 'editor'; source?: Source } | { view: 'deliveries'; source: Source }

/** Sources: other systems whose JSON becomes tasks. */
export default function SourcesPage() {
  const query = useInfiniteQuery(sourcesQuery)
  const [open, setOpen] = useState<Open>()
  const [created, setCreated] = useState<{ source: SourceWithSecret; example?: string | undefined }>()
  const sources = itemsOf(query.data)
  const add = <Button onClick={() => setOpen({ view: 'editor' })}>Add a source</Button>
  return (
    <div className={`${styles.content} ${open ? styles.wide : ''}`}>
      {!open && (
        <PageHeader title="Sources" action={add}>
          A source is a URL that another system, such as an error tracker or a survey tool, sends JSON to.
          Templates turn it into tasks.
        </PageHeader>
      )}
      {open?.view === 'editor' && (
        <SourceEditor
          source={open.source}
          onClose={() => setOpen(undefined)}
          onCreated={(source, tested) => {
            setOpen(undefined)
            setCreated({ source, example: tested && sourceCurl(source, tested.payload) })
          }}
        />
      )}
      {open?.view === 'deliveries' && (
        <SourceDeliveries source={open.source} onClose={() => setOpen(undefined)} />
      )}
      {!open && query.isPending && <Skeleton height={160} />}
      {!open && query.isError && <LoadError what="the sources" query={query} />}
      {!open && query.isSuccess && sources.length === 0 && (
        <EmptyState
          title="No sources yet"
          description="Start from a preset, or paste what your system sends."
          action={add}
        />
      )}
      {!open && sources.length > 0 && (
        <ul className={styles.rows}>
          {sources.map((source) => (
            <SourceItem
              key={source.id}
              source={source}
              onOpen={setOpen}
              onSecret={(source) => setCreated({ source })}
            />
          ))}
        </ul>
      )}
      {!open && query.hasNextPage && (
        <Button variant="default" loading={query.isFetchingNextPage} onClick={() => query.fetchNextPage()}>
          Show more sources
        </Button>
      )}
      {created && (
        <SecretDialog
          title={`Secret of “${created.source.name}”`}
          secret={created.source.secret}
          {...(created.example && { example: created.example })}
          onStored={() => setCreated(undefined)}
        >
          <CopyBlock caption="URL for the sender:" text={created.source.url} />
        </SecretDialog>
      )}
    </div>
  )
}

interface SourceItemProps {
  source: Source
  onOpen(open: Open): void
  onSecret(source: SourceWithSecret): void
}

function SourceItem({ source, onOpen, onSecret }: SourceItemProps) {
  const { data: projects } = useQuery(projectsQuery)
  const { mutate, refresh, isBusy } = useMutation('sources')
  const [dialog, setDialog] = useState<'rotate' | 'delete'>()
  const close = () => setDialog(undefined)
  const { id, name, isActive } = source
  const params = { path: { id } }
  const project = projects?.find((project) => project.id === source.projectId)

  const toggle = () =>
    mutate("Couldn't change the source", () =>
      dataOf(api.PATCH('/api/sources/{id}', { params, body: { isActive: !isActive } })),
    )

  return (
    <li className={`${styles.item} ${isActive ? '' : styles.off}`}>
      <div className={styles.main} style={{ flexBasis: 260 }}>
        <div className={styles.name}>{name}</div>
        {project && <div className="quiet small">{project.name}</div>}
        <code className="quiet">{source.url}</code>
        {source.disabledReason === 'slow' && (
          <div className="small">
            Turned off because ten deliveries in a row took too long to render. Simplify its templates, then
            turn it on.
          </div>
        )}
      </div>
      <ItemControls
        name={name}
        isActive={isActive}
        isBusy={isBusy}
        onToggle={() => void toggle()}
        onDeliveries={() => onOpen({ view: 'deliveries', source })}
        onEdit={() => onOpen({ view: 'editor', source })}
        onRotate={() => setDialog('rotate')}
        onDelete={() => setDialog('delete')}
      />
      {dialog === 'rotate' && <SourceRotation source={source} onClose={close} onRotated={onSecret} />}
      {dialog === 'delete' && (
        <ConfirmDialog
          title={`Delete “${name}”?`}
          verb="Delete source"
          onClose={close}
          onConfirm={async () => {
            await dataOf(api.DELETE('/api/sources/{id}', { params }))
            await refresh()
          }}
        >
          Deliveries are rejected immediately.{' '}
          {source.mapping === 'feedback'
            ? 'Tasks are kept, and so are deliveries of feedback.'
            : 'Its deliveries are deleted, and tasks are kept.'}{' '}
          This can't be undone.
        </ConfirmDialog>
      )}
    </li>
  )
}
