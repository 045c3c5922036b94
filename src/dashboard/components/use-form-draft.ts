import { useMemo } from 'react'
import { useDraft } from './use-draft.ts'

/** The changed fields, each with the saved value that it was changed from. */
type Changes<Values> = { [Name in keyof Values]?: { from: Values[Name]; to: Values[Name] } }

export type FormDraft<Values> = ReturnType<typeof useFormDraft<Values>>

/**
 * The unsaved changes of a form, as one draft. Fields without a change show what is saved, which others may change
 * meanwhile. No field may be a secret: secrets do not belong into the storage of the browser.
 */
export function useFormDraft<Values>(name: string, saved: Values) {
  const [text, setText] = useDraft(name)
  const changes = useMemo(() => changesIn<Values>(text), [text])
  const names = Object.keys(changes) as (keyof Values)[]
  const changed = Object.fromEntries(names.map((name) => [name, changes[name]?.to])) as Partial<Values>

  function change(fields: Partial<Values>) {
    setText((current) => {
      const next = changesIn<Values>(current)
      for (const name of Object.keys(fields) as (keyof Values)[]) {
        const to = fields[name] as Values[keyof Values]
        if (isEqual(to, saved[name])) delete next[name]
        else next[name] = { from: next[name]?.from ?? saved[name], to }
      }
      return Object.keys(next).length > 0 ? JSON.stringify(next) : undefined
    })
  }

  return {
    values: { ...saved, ...changed },
    change,
    isDraft: names.length > 0,
    /** Whether somebody else has changed one of the same fields since. */
    isOutdated: names.some((name) => {
      const { from, to } = changes[name] ?? {}
      return !isEqual(from, saved[name]) && !isEqual(to, saved[name])
    }),
    discard: () => setText(undefined),
    /** After a save: what was changed since it was sent stays, as a change of what is stored now. */
    complete(sent: Values, stored: Values) {
      setText((current) => {
        const changes = changesIn<Values>(current)
        const later = (Object.keys(changes) as (keyof Values)[]).filter(
          (name) => !isEqual(changes[name]?.to, sent[name]),
        )
        const next = later.map((name) => [name, { from: stored[name], to: changes[name]?.to }] as const)
        return next.length > 0 ? JSON.stringify(Object.fromEntries(next)) : undefined
      })
    },
    /** The members of a body that are named like changed fields, so that what others have changed stays. */
    onlyChanged: <Body extends object>(body: Body) =>
      Object.fromEntries(Object.entries(body).filter(([name]) => name in changes)) as Partial<Body>,
  }
}

const changesIn = <Values>(text: string | undefined): Changes<Values> => (text ? JSON.parse(text) : {})

const isEqual = (a: unknown, b: unknown) => JSON.stringify(a) === JSON.stringify(b)
