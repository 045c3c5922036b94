import { Button, Select, Textarea } from '@mantine/core'
import { useInfiniteQuery, useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { api, dataOf, type Schema } from '../api/client.ts'
import { problemOf } from '../api/problem.ts'
import { eventsQuery, itemsOf, projectsQuery } from '../api/queries.ts'
import { summaryOf } from './event-summary.ts'
import styles from './settings.module.css'

type Trial = Schema<'RoutingTest'>

const SAMPLE = {
  event: 'feedback_submitted',
  distinct_id: 'user-1',
  timestamp: '2026-01-31T12:00:00.000Z',
  properties: {
    sentiment: 'frustrated',
    trigger: 'manual',
    app_version: '2.3.1',
    bundle_id: 'com.example.app',
    note: 'The export button does nothing.',
  },
}

interface RoutingTrialProps {
  trial: Trial | undefined
  /** Whether the rules are there that it will be about. */
  isReady: boolean
  onTrial(trial: Trial | undefined): void
}

/** What would become of a payload: pasted, or picked from what came in. Nothing is changed. */
export function RoutingTrial({ trial, isReady, onTrial }: RoutingTrialProps) {
  const { data: projects } = useQuery(projectsQuery)
  const { data: inbox } = useInfiniteQuery(eventsQuery())
  const [text, setText] = useState(() => JSON.stringify(SAMPLE, null, 2))
  const [mistake, setMistake] = useState<string>()
  const [isBusy, setBusy] = useState(false)
  const received = itemsOf(inbox).filter(({ payload }) => payload !== null)

  async function tryIt() {
    let body: Schema<'FeedbackDelivery'>
    try {
      body = JSON.parse(text)
    } catch (error) {
      onTrial(undefined)
      return setMistake(`This is not JSON: ${(error as Error).message}`)
    }
    setBusy(true)
    try {
      onTrial(await dataOf(api.POST('/api/webhook-routing/test', { body })))
      setMistake(undefined)
    } catch (error) {
      onTrial(undefined)
      setMistake(problemOf(error).message)
    } finally {
      setBusy(false)
    }
  }

  return (
    <section className={styles.section} aria-label="Try it">
      <h2>Try it</h2>
      {received.length > 0 && (
        <Select
          label="From the inbox"
          placeholder="Pick an event"
          data={received.slice(0, 50).map((event) => ({
            value: event.id,
            label: `${summaryOf(event)}, ${new Date(event.receivedAt).toLocaleString()}`,
          }))}
          onChange={(id) => {
            const payload = received.find((event) => event.id === id)?.payload
            if (payload !== undefined) setText(JSON.stringify(payload, null, 2))
          }}
        />
      )}
      <Textarea
        label="Payload"
        autosize
        minRows={8}
        maxRows={18}
        spellCheck={false}
        styles={{ input: { fontFamily: 'var(--mantine-font-family-monospace)', fontSize: 12.5 } }}
        value={text}
        error={mistake}
        onChange={(event) => setText(event.currentTarget.value)}
      />
      <div>
        <Button variant="default" onClick={() => void tryIt()} loading={isBusy} disabled={!isReady}>
          Try it
        </Button>
      </div>
      {trial && (
        <div role="status" className="stack" style={{ gap: 4 }}>
          <strong>
            {trial.wouldCreate
              ? `“${trial.title}” would land in ${projects?.find(({ id }) => id === trial.projectId)?.name ?? 'a project'} / ${trial.listName}.`
              : 'No task would be made.'}
          </strong>
          <span className="quiet">{trial.explanation}</span>
        </div>
      )}
    </section>
  )
}
