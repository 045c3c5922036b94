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
  label: string
  aside?: ReactNode
}

/** A group of menu items: radio items, checkbox items or actions. */
export type MenuGroup = { label?: string } & (
  | { radioItems: Option[]; selected: string; onSelect(value: string): void }
  | { checkboxItems: Option[]; selected: string[]; onSelect(value: string): void }
  | { actions: { label: string; icon: ReactNode; onClick(): void }[] }
)

export interface MenuButtonProps {
  button: ButtonElement
  groups: MenuGroup[]
  position: 'bottom-start' | 'bottom-end' | 'top-start'
  width?: number
}

/** A menu button whose menu is fetched and rendered on the first press, to keep the first page small. */
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
  /** The same button with its popover, open. */
  children: ReactNode
}

/** A plain button that is replaced by its children when pressed. */
export function OnDemand({ button, kind, children }: OnDemandProps) {
  const [isRequested, setRequested] = useState(false)
  const [isLoading, startTransition] = useTransition()
  if (isRequested) return children
  const onPress = ({ currentTarget }: ReactMouseEvent<HTMLButtonElement>) => {
    // Safari does not focus a clicked button.
    currentTarget.focus()
    startTransition(() => setRequested(true))
  }
  return cloneElement(button, {
    'aria-haspopup': kind,
    'aria-expanded': false,
    'aria-busy': isLoading,
    onClick: onPress,
  })
}
