import {
  cloneElement,
  type MouseEvent as ReactMouseEvent,
  type ReactNode,
  useState,
  useTransition,
} from 'react'
import { preload } from './lazy.tsx'
import type { ButtonElement } from './use-open-state.ts'

const OpenMenu = preload(() => import('./open-menu.tsx'))

interface Option {
  value: string
  words: string
  aside?: ReactNode
}

/** Some lines of a menu: one or several to be chosen, or things to do. */
export type MenuGroup = { label?: string } & (
  | { pickOne: Option[]; chosen: string; onPick(value: string): void }
  | { pickAny: Option[]; chosen: string[]; onPick(value: string): void }
  | { actions: { words: string; icon: ReactNode; act(): void }[] }
)

export interface MenuButtonProps {
  button: ButtonElement
  groups: MenuGroup[]
  position: 'bottom-start' | 'bottom-end' | 'top-start'
  width?: number
}

/** A button with a menu, for pages that are opened often: no part of the menu is drawn, or fetched, for the first page. */
export function MenuButton(props: MenuButtonProps) {
  return (
    <OnDemand button={props.button} kind="menu">
      <OpenMenu {...props} />
    </OnDemand>
  )
}

interface OnDemandProps {
  button: ButtonElement
  kind: 'menu' | 'dialog'
  /** The same button with what floats from it, open. */
  children: ReactNode
}

/** A button that is no more than that until it is pressed; then what floats from it takes its place. */
export function OnDemand({ button, kind, children }: OnDemandProps) {
  const [isWanted, setWanted] = useState(false)
  const [isFetching, startTransition] = useTransition()
  if (isWanted) return children
  const press = ({ currentTarget }: ReactMouseEvent<HTMLButtonElement>) => {
    // Not every browser does so itself.
    currentTarget.focus()
    startTransition(() => setWanted(true))
  }
  return cloneElement(button, {
    'aria-haspopup': kind,
    'aria-expanded': false,
    'aria-busy': isFetching,
    onClick: press,
  })
}
