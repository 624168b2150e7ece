import { type ControlAnswer, type ControlRequest } from './commands.ts'
import { type EventHistory } from './event-history.ts'
import { type FillView, type OrderView, type PositionView, type StatusView } from './views.ts'

/** Whether the daemon does what it is for. */
export interface Readiness {
  readonly isReady: boolean
  /** Each check, and what it found. */
  readonly checks: Readonly<Record<string, { readonly ok: boolean; readonly found: string }>>
}

/** A running daemon, as whoever looks at it and commands it sees it. All of it answers at once, from memory. */
export interface Controlled {
  readonly events: EventHistory
  status(): StatusView
  positions(): readonly PositionView[]
  orders(): readonly OrderView[]
  /** The last ones, the newest first. */
  fills(limit: number): readonly FillView[]
  readiness(): Readiness
  /** In the text format of Prometheus. */
  metrics(): string
  /** @param via By which way it came: `socket` or `port`. */
  command(request: ControlRequest, via: string): ControlAnswer
}
