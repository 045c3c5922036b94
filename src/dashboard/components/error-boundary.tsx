import { Component, type ReactNode } from 'react'

interface ErrorBoundaryProps {
  /** The children are rendered again when it changes. */
  resetKey: unknown
  /** Shown in place of children that failed to render. */
  fallback(error: unknown): ReactNode
  children: ReactNode
}

interface ErrorBoundaryState {
  failure?: { error: unknown } | undefined
}

/** A class, because React has no hook for it. */
export class ErrorBoundary extends Component<ErrorBoundaryProps, ErrorBoundaryState> {
  override state: ErrorBoundaryState = {}

  static getDerivedStateFromError(error: unknown): ErrorBoundaryState {
    return { failure: { error } }
  }

  override componentDidUpdate({ resetKey }: ErrorBoundaryProps) {
    if (this.state.failure && resetKey !== this.props.resetKey) this.setState({ failure: undefined })
  }

  override render() {
    const { fallback, children } = this.props
    return this.state.failure ? fallback(this.state.failure.error) : children
  }
}
