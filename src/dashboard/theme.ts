import { type CSSVariablesResolver, createTheme, type MantineColorsTuple } from '@mantine/core'

/** White text on the seventh shade has a contrast of 5.9:1. */
const accent: MantineColorsTuple = [
  '#eef2ff',
  '#dde5ff',
  '#bac8ff',
  '#91a7ff',
  '#748ffc',
  '#5c7cfa',
  '#3b5bdb',
  '#364fc7',
  '#2f44ad',
  '#283a94',
]

const FLOATING_PORTAL = { target: '#floating' }

export const theme = createTheme({
  colors: { accent },
  primaryColor: 'accent',
  primaryShade: { light: 6, dark: 6 },
  fontFamily: 'system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", sans-serif',
  fontFamilyMonospace: 'ui-monospace, SFMono-Regular, Menlo, Consolas, monospace',
  fontSizes: { xs: '12px', sm: '13px', md: '14px', lg: '16px', xl: '19px' },
  lineHeights: { md: '1.5' },
  headings: { fontWeight: '600', sizes: { h1: { fontSize: '19px', lineHeight: '1.3' } } },
  defaultRadius: 6,
  cursorType: 'pointer',
  focusRing: 'auto',
  respectReducedMotion: true,
  components: {
    Button: { defaultProps: { size: 'sm', fw: 500 } },
    Badge: { defaultProps: { variant: 'default', tt: 'none' } },
    ActionIcon: { defaultProps: { variant: 'subtle', color: 'gray', size: 32 } },
    // The page itself never scrolls, and a scroll lock would inject a style element.
    Drawer: {
      defaultProps: {
        lockScroll: false,
        closeButtonProps: { 'aria-label': 'Close' },
        attributes: { header: { role: 'presentation' } },
      },
    },
    Modal: {
      defaultProps: {
        lockScroll: false,
        transitionProps: { duration: 120 },
        centered: true,
        radius: 10,
        closeButtonProps: { 'aria-label': 'Close' },
        // On a phone, it would be a second banner beside the header of the page.
        attributes: { header: { role: 'presentation' } },
      },
    },
    // Floating elements must be inside a landmark.
    Popover: { defaultProps: { portalProps: FLOATING_PORTAL } },
    Menu: {
      defaultProps: {
        transitionProps: { duration: 80 },
        shadow: 'md',
        // Only menu items are allowed inside role="menu"; the first item takes the focus.
        withInitialFocusPlaceholder: false,
      },
    },
    Select: { defaultProps: { comboboxProps: { transitionProps: { duration: 80 }, shadow: 'md' } } },
    Notification: { defaultProps: { closeButtonProps: { 'aria-label': 'Dismiss' } } },
    Switch: { defaultProps: { withThumbIndicator: false } },
  },
})

/**
 * Contrast of at least 4.5:1 on the page, in both themes. Paper has the light ones, by the `color-scheme` of `base.css`;
 * those of the library follow, where they have to be named for each theme.
 */
export const colours: CSSVariablesResolver = () => ({
  variables: {
    '--page': 'light-dark(#ffffff, #17181a)',
    '--side': 'light-dark(#f6f7f8, #1d1e21)',
    '--raised': 'light-dark(#ffffff, #222427)',
    '--line': 'light-dark(#e6e8eb, #303237)',
    '--hover': 'light-dark(#f2f4f6, #232529)',
    '--selected': 'light-dark(#e9eeff, #262d49)',
    '--text': 'light-dark(#1b1d20, #e7e8ea)',
    '--quiet': 'light-dark(#5c6066, #a3a7ae)',
    '--accent-text': 'light-dark(#3451c6, #9db2ff)',
    '--green': 'light-dark(#1f7a3d, #5fce84)',
    '--purple': 'light-dark(#7b3fd1, #c19bff)',
    '--red': 'light-dark(#c0272d, #ff9b9b)',
    '--amber': 'light-dark(#8a5a00, #f0b955)',
    '--part-0': 'light-dark(#2f44ad, #dbe4ff)',
    '--part-1': 'light-dark(#5c7cfa, #91a7ff)',
    '--part-2': 'light-dark(#748ffc, #5c7cfa)',
    '--part-3': 'light-dark(#1f7a3d, #5fce84)',
    '--part-4': '#8a9099',
    '--part-5': 'light-dark(#5c6066, #c9ccd1)',
  },
  light: {
    '--mantine-color-dimmed': 'var(--quiet)',
    '--mantine-color-placeholder': '#686c72',
    '--mantine-color-error': 'var(--red)',
  },
  dark: {
    '--mantine-color-body': 'var(--page)',
    '--mantine-color-text': 'var(--text)',
    '--mantine-color-dimmed': 'var(--quiet)',
    '--mantine-color-placeholder': '#989ca3',
    '--mantine-color-error': 'var(--red)',
    '--mantine-color-accent-light-color': 'var(--accent-text)',
    '--mantine-color-red-light-color': 'var(--red)',
  },
})
