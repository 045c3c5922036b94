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

/** Contrast of at least 4.5:1 on the page, in both themes. */
export const colours: CSSVariablesResolver = () => ({
  variables: {},
  light: {
    '--mantine-color-dimmed': '#5c6066',
    '--mantine-color-placeholder': '#686c72',
    '--mantine-color-error': '#c0272d',
    '--page': '#ffffff',
    '--side': '#f6f7f8',
    '--raised': '#ffffff',
    '--line': '#e6e8eb',
    '--hover': '#f2f4f6',
    '--selected': '#e9eeff',
    '--text': '#1b1d20',
    '--quiet': '#5c6066',
    '--accent-text': '#3451c6',
    '--green': '#1f7a3d',
    '--purple': '#7b3fd1',
    '--red': '#c0272d',
    '--amber': '#8a5a00',
    '--part-0': '#2f44ad',
    '--part-1': '#5c7cfa',
    '--part-2': '#748ffc',
    '--part-3': '#1f7a3d',
    '--part-4': '#8a9099',
    '--part-5': '#5c6066',
  },
  dark: {
    '--mantine-color-body': '#17181a',
    '--mantine-color-text': '#e7e8ea',
    '--mantine-color-dimmed': '#a3a7ae',
    '--mantine-color-placeholder': '#989ca3',
    '--mantine-color-error': '#ff8787',
    '--page': '#17181a',
    '--side': '#1d1e21',
    '--raised': '#222427',
    '--line': '#303237',
    '--hover': '#232529',
    '--selected': '#262d49',
    '--text': '#e7e8ea',
    '--quiet': '#a3a7ae',
    '--accent-text': '#9db2ff',
    '--green': '#5fce84',
    '--purple': '#c19bff',
    '--red': '#ff9b9b',
    '--amber': '#f0b955',
    '--part-0': '#dbe4ff',
    '--part-1': '#91a7ff',
    '--part-2': '#5c7cfa',
    '--part-3': '#5fce84',
    '--part-4': '#8a9099',
    '--part-5': '#c9ccd1',
  },
})
