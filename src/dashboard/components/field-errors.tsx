import type { Schema } from '../api/client.ts'

interface FieldErrorsProps {
  errors: Schema<'FieldError'>[] | null
  /** Says how many more there are. */
  max?: number
}

/** What is invalid in an input, with its path. */
export function FieldErrors({ errors, max = Number.POSITIVE_INFINITY }: FieldErrorsProps) {
  if (!errors || errors.length === 0) return null
  return (
    <ul className="small breakable" style={{ flexBasis: '100%', margin: 0, color: 'var(--red)' }}>
      {errors.slice(0, max).map(({ path, message }) => (
        <li key={path + message}>
          <code>{path}</code> {message}
        </li>
      ))}
      {errors.length > max && <li>{(errors.length - max).toLocaleString()} more</li>}
    </ul>
  )
}
