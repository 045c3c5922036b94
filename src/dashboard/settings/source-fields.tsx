import { CloseButton, Select, TagsInput } from '@mantine/core'
import { useState } from 'react'
import { ErrorText } from '../components/error-text.tsx'
import { pathText, valuesAt } from './payload-path.ts'
import styles from './payload-tree.module.css'
import { partText, withEach } from './source-choices.ts'
import type { SourceDraft } from './source-draft.ts'
import {
  type Mapping,
  MEMBERS,
  type Member,
  mappingOf,
  RESULTS,
  templateOf,
  type Words,
} from './template-mapping.ts'
import { enteredWord, suggestedWords } from './value-words.ts'

interface SourceFieldsProps {
  draft: SourceDraft
  /** Undefined without an example. */
  payload: unknown
  /** By JSON Pointer. */
  errors: Record<string, string>
  onEdit(change: Partial<SourceDraft>): void
}

/** What each field of the task is made of. */
export function SourceFields({ draft, payload, errors, onEdit }: SourceFieldsProps) {
  const { each, filter, template } = draft
  const setTemplate = (member: Member, text: string) => onEdit({ template: { ...template, [member]: text } })
  return (
    <ul className={styles.fields} aria-label="Fields">
      {each.trim() !== '' && (
        <Field label="A task for each" error={errors['/each']}>
          <Chip text={each} field="A task for each" onRemove={() => onEdit(withEach(draft, ''))} />
        </Field>
      )}
      {filter.trim() !== '' && (
        <Field label="Only if" error={errors['/filter']}>
          <Chip text={filter} field="Only if" onRemove={() => onEdit({ filter: '' })} />
        </Field>
      )}
      {MEMBERS.filter(({ member }) => member === 'title' || template[member].trim() !== '').map(
        ({ member, label }) => (
          <Field key={member} label={label} error={errors[`/template/${member}`]}>
            <MemberChips
              member={member}
              label={label}
              mapping={mappingOf(member, template[member])}
              valuesOf={(path) => valuesAt(payload, { path, each })}
              onTemplate={(text) => setTemplate(member, text)}
            />
          </Field>
        ),
      )}
    </ul>
  )
}

interface FieldProps {
  label: string
  error: string | undefined
  children: React.ReactNode
}

function Field({ label, error, children }: FieldProps) {
  return (
    <li className={styles.field}>
      <span className={styles.label}>{label}</span>
      {children}
      {error && <ErrorText>{error}</ErrorText>}
    </li>
  )
}

interface ChipProps {
  text: string
  /** The label of its field. */
  field: string
  onRemove(): void
}

function Chip({ text, field, onRemove }: ChipProps) {
  return (
    <span className={styles.chip}>
      <bdi>{text}</bdi>
      <CloseButton
        size="var(--target)"
        iconSize={16}
        aria-label={`Remove ${text} (${field})`}
        onClick={onRemove}
      />
    </span>
  )
}

interface MemberChipsProps {
  member: Member
  label: string
  mapping: Mapping
  valuesOf(path: Words['path']): unknown[]
  onTemplate(text: string): void
}

function MemberChips({ member, label, mapping, valuesOf, onTemplate }: MemberChipsProps) {
  const chip = (text: string, rest = '') => (
    <Chip key={text} text={text} field={label} onRemove={() => onTemplate(rest)} />
  )
  // Without any word, the template doesn't name the value, which may get another one.
  const [emptied, setEmptied] = useState<Words>()
  if (mapping.kind === 'custom') return chip('Custom template')
  const words = mapping.kind === 'words' ? mapping : emptied
  if (words) {
    return (
      <>
        <Chip
          text={pathText(words.path)}
          field={label}
          onRemove={() => {
            setEmptied(undefined)
            onTemplate('')
          }}
        />
        <WordFields
          member={member}
          label={label}
          words={words}
          values={valuesOf(words.path)}
          onWords={(words) => {
            const text = templateOf(member, { kind: 'words', ...words })
            setEmptied(mappingOf(member, text).kind === 'words' ? undefined : words)
            onTemplate(text)
          }}
        />
      </>
    )
  }
  if (mapping.kind !== 'parts') return null
  const { parts } = mapping
  if (parts.length === 0) return <span className="quiet">Choose a value of the example.</span>
  return parts.map((part) => {
    const others = parts.filter((other) => other !== part)
    return chip(partText(part), templateOf(member, { kind: 'parts', parts: others }))
  })
}

interface WordFieldsProps {
  member: Member
  label: string
  words: Words
  /** What the value is in the example. */
  values: unknown[]
  onWords(words: Words): void
}

/** Which words of a value stand for which result. */
function WordFields({ member, label, words, values, onWords }: WordFieldsProps) {
  const results = RESULTS[member] ?? []
  const used = new Set(words.cases.flatMap((one) => one.words.map(String)))
  const wordsFor = (result: string) => words.cases.find((one) => one.result === result)?.words ?? []
  const suggested = suggestedWords(member, values)

  function setWords(result: string, texts: string[]) {
    const known = new Map(words.cases.flatMap((one) => one.words.map((word) => [String(word), word])))
    const entered = texts.map((text) => known.get(text) ?? enteredWord(text, values))
    const cases = results.map((other) => ({
      result: other,
      words: other === result ? entered : wordsFor(other).filter((word) => !entered.includes(word)),
    }))
    onWords({ ...words, cases })
  }

  return (
    <div className={styles.words}>
      {results.map((result) => (
        <TagsInput
          key={result}
          label={`${label} “${result}” if it is`}
          value={wordsFor(result).map(String)}
          data={suggested.filter((word) => !used.has(word))}
          onChange={(texts) => setWords(result, texts)}
        />
      ))}
      <Select
        label="Otherwise"
        data={[
          ...results.map((result) => ({ value: result, label: result })),
          { value: '', label: 'nothing' },
        ]}
        value={words.otherwise}
        allowDeselect={false}
        onChange={(otherwise) => onWords({ ...words, otherwise: otherwise ?? '' })}
      />
    </div>
  )
}
