import { Menu } from '@mantine/core'
import { useAllLists } from '../api/use-all-lists.ts'

export function ListMenuItems({ onPick }: { onPick(listId: string): void }) {
  return useAllLists().map(({ project, lists }) => (
    // biome-ignore lint/a11y/useSemanticElements: a fieldset is no group of a menu.
    <div key={project.id} role="group" aria-label={project.name}>
      <Menu.Label>{project.name}</Menu.Label>
      {lists.map((list) => (
        <Menu.Item key={list.id} onClick={() => onPick(list.id)}>
          {list.name}
        </Menu.Item>
      ))}
    </div>
  ))
}
