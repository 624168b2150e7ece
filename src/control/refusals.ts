import { renderMetrics } from './metrics-text.ts'

/** `connection`: closed for lack of a place. `follower`: one too many. */
export type RefusedKind = 'request' | 'connection' | 'follower'

export class Refusals {
  readonly #counts: Record<RefusedKind, number> = { request: 0, connection: 0, follower: 0 }
  readonly #onRefused: (why: string, count: number) => void

  constructor(onRefused: (why: string, count: number) => void) {
    this.#onRefused = onRefused
  }

  add(kind: RefusedKind, why: string, count = 1): void {
    this.#counts[kind] += count
    this.#onRefused(why, count)
  }

  render(): string {
    const rows = Object.entries(this.#counts).map(([what, value]) => ({ labels: { what }, value }))
    return renderMetrics(new Map([['intentd_control_refused_total', rows]]))
  }
}
