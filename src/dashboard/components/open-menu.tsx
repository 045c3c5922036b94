import { Menu } from '@mantine/core'
import type { MenuButtonProps, MenuGroup } from './menu-button.tsx'
import { useOpenOnMount } from './use-open-state.ts'

export default function OpenMenu({ button, groups, position, width }: MenuButtonProps) {
  const { isOpen, setOpen, target } = useOpenOnMount(button)
  return (
    <Menu
      opened={isOpen}
      onChange={setOpen}
      position={position}
      width={width}
      closeOnItemClick={groups.every((group) => !('checkboxItems' in group))}
    >
      <Menu.Target>{target}</Menu.Target>
      <Menu.Dropdown mah="60vh" maw="min(320px, calc(100vw - 16px))" style={{ overflowY: 'auto' }}>
        {groups.map((group, index) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: the groups keep their order.
          <MenuItems key={index} group={group} isFirst={index === 0} />
        ))}
      </Menu.Dropdown>
    </Menu>
  )
}

function MenuItems({ group, isFirst }: { group: MenuGroup; isFirst: boolean }) {
  return (
    <>
      {!isFirst && <Menu.Divider />}
      {group.label && <Menu.Label>{group.label}</Menu.Label>}
      {'radioItems' in group && (
        <Menu.RadioGroup value={group.selected} onChange={group.onSelect}>
          {group.radioItems.map(({ value, label, aside }) => (
            <Menu.RadioItem key={value} value={value} rightSection={aside}>
              {label}
            </Menu.RadioItem>
          ))}
        </Menu.RadioGroup>
      )}
      {'checkboxItems' in group &&
        group.checkboxItems.map(({ value, label, aside }) => (
          <Menu.CheckboxItem
            key={value}
            checked={group.selected.includes(value)}
            rightSection={aside}
            onChange={() => group.onSelect(value)}
          >
            {label}
          </Menu.CheckboxItem>
        ))}
      {'actions' in group &&
        group.actions.map(({ label, icon, onClick }) => (
          <Menu.Item key={label} leftSection={icon} onClick={onClick}>
            {label}
          </Menu.Item>
        ))}
    </>
  )
}
