import { SearchIcon } from '@primer/octicons-react'
import type { ComponentProps } from 'react'
import styles from './search-input.module.css'

export function SearchInput({ className, ...input }: ComponentProps<'input'>) {
  return (
    <div className={`${styles.box} ${className ?? ''}`}>
      <SearchIcon size={15} />
      <input type="search" {...input} />
    </div>
  )
}
