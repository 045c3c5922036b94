import { Menu } from '@mantine/core'
import type { MenuButtonProps, MenuGroup } from './menu-button.tsx'
import { useOpening } from './use-open-state.ts'

/** The menu of a button that was pressed. */
export default function OpenMenu({ button, groups, position, width }: MenuButtonProps) {
  const { isOpen, setOpen, target } = useOpening(button)
  return (
    <Menu
      opened={isOpen}
      onChange={setOpen}
      position={position}
      width={width}
      closeOnItemClick={groups.every((group) => !('pickAny' in group))}
    >
      <Menu.Target>{target}</Menu.Target>
      <Menu.Dropdown mah="60vh" style={{ overflowY: 'auto' }}>
        {groups.map((group, index) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: the groups of a menu keep their order.
          <Lines key={index} group={group} isFirst={index === 0} />
        ))}
      </Menu.Dropdown>
    </Menu>
  )
}

function Lines({ group, isFirst }: { group: MenuGroup; isFirst: boolean }) {
  return (
    <>
      {!isFirst && <Menu.Divider />}
      {group.label && <Menu.Label>{group.label}</Menu.Label>}
      {'pickOne' in group && (
        <Menu.RadioGroup value={group.chosen} onChange={group.onPick}>
          {group.pickOne.map(({ value, words, aside }) => (
            <Menu.RadioItem key={value} value={value} rightSection={aside}>
              {words}
            </Menu.RadioItem>
          ))}
        </Menu.RadioGroup>
      )}
      {'pickAny' in group &&
        group.pickAny.map(({ value, words, aside }) => (
          <Menu.CheckboxItem
            key={value}
            checked={group.chosen.includes(value)}
            rightSection={aside}
            onChange={() => group.onPick(value)}
          >
            {words}
          </Menu.CheckboxItem>
        ))}
      {'actions' in group &&
        group.actions.map(({ words, icon, act }) => (
          <Menu.Item key={words} leftSection={icon} onClick={act}>
            {words}
          </Menu.Item>
        ))}
    </>
  )
}
