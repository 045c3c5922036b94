import { Button, Textarea } from '@mantine/core'
import { useRef, useState } from 'react'
import type { ShownValue } from './payload-nodes.ts'
import styles from './payload-tree.module.css'
import { PayloadTree } from './payload-tree.tsx'
import { RecentDeliveries } from './recent-deliveries.tsx'
import { parsedPayload, type SourceDraft } from './source-draft.ts'
import type { Source } from './source-queries.ts'
import type { useSourceExample } from './use-source-example.ts'
import { type Chosen, ValueMenu } from './value-menu.tsx'

interface SourceExampleProps {
  source: Source | undefined
  example: ReturnType<typeof useSourceExample>
  draft: SourceDraft
  onEdit(change: Partial<SourceDraft>): void
}

/** A payload, whose values can be chosen for the fields of the task. */
export function SourceExample({ source, example: given, draft, onEdit }: SourceExampleProps) {
  const { text, example } = given
  const hasFields = draft.mapping === 'template'
  const [isEditing, setEditing] = useState(false)
  const [isPasted, setPasted] = useState(false)
  const isText = isEditing || !example || !hasFields

  function edit(text: string) {
    given.setText(text)
    // What is pasted as a whole is there to choose from; what is typed isn't complete yet.
    setEditing(!isPasted || parsedPayload(text) === undefined)
  }

  return (
    <>
      <RecentDeliveries
        source={source}
        onPick={(id) => {
          setPasted(false)
          setEditing(false)
          void given.pick(id)
        }}
      />
      {given.isMissing && (
        <p className="quiet small">
          This delivery's payload is not stored, or not all of it. Pick another delivery, or paste a payload.
        </p>
      )}
      {isText && (
        <Textarea
          label="Payload"
          description={
            given.isLatest ? 'The latest delivery of this source.' : 'A request body from the sender.'
          }
          placeholder='{"title": "Export fails"}'
          rows={8}
          resize="vertical"
          spellCheck={false}
          value={text}
          error={text.trim() !== '' && parsedPayload(text) === undefined && 'Enter valid JSON.'}
          onPaste={() => setPasted(true)}
          onKeyDown={() => setPasted(false)}
          onChange={(event) => edit(event.currentTarget.value)}
        />
      )}
      {example && hasFields && (
        <>
          <div className="row">
            <span className="quiet small">
              {given.isLatest && 'The latest delivery of this source. '}Click a value to use it.
            </span>
            {!isText && (
              <Button variant="subtle" className="push" onClick={() => setEditing(true)}>
                Edit JSON
              </Button>
            )}
          </div>
          <Values
            key={example.version}
            payload={example.payload}
            isFocused={isPasted}
            draft={draft}
            onEdit={onEdit}
          />
        </>
      )}
    </>
  )
}

interface ValuesProps {
  payload: unknown
  /** Whether what had the focus is gone. */
  isFocused: boolean
  draft: SourceDraft
  onEdit(change: Partial<SourceDraft>): void
}

function Values({ payload, isFocused, draft, onEdit }: ValuesProps) {
  const box = useRef<HTMLDivElement>(null)
  const chosenRow = useRef<HTMLElement>(null)
  const [chosen, setChosen] = useState<Chosen>()

  function choose(value: ShownValue, row: HTMLElement) {
    const within = box.current?.getBoundingClientRect()
    const label = row.firstElementChild?.getBoundingClientRect()
    if (!within || !label) return
    chosenRow.current = row
    setChosen({ value, top: label.top - within.top, left: label.left - within.left + 24 })
  }

  function close() {
    setChosen(undefined)
    chosenRow.current?.focus({ preventScroll: true })
  }

  return (
    <div className={styles.box} ref={box}>
      <div className={styles.scroll}>
        <PayloadTree payload={payload} isFocused={isFocused} onChoose={choose} />
      </div>
      {chosen && (
        <ValueMenu chosen={chosen} payload={payload} draft={draft} onEdit={onEdit} onClose={close} />
      )}
    </div>
  )
}
