import type { Clock } from '../../lib/clock.ts'
import { showDuration } from '../../lib/text/show-duration.ts'

export interface ProgressTarget {
  readonly isTTY?: boolean
  write(text: string): unknown
}

const BAR_WIDTH = 30
const DRAWN_EVERY_MS = 200
const ERASE_LINE = '\r\u001B[2K'

export class ProgressBar {
  readonly #target: ProgressTarget
  readonly #clock: Clock
  readonly #startedAt: number
  #drawnAt = Number.NEGATIVE_INFINITY

  constructor(target: ProgressTarget, clock: Clock) {
    this.#target = target
    this.#clock = clock
    this.#startedAt = clock.monotonic()
  }

  /** @param share from 0 to 1 */
  show(share: number, label: string): void {
    const now = this.#clock.monotonic()
    if (this.#target.isTTY !== true || now - this.#drawnAt < DRAWN_EVERY_MS) return
    this.#drawnAt = now
    const filled = Math.round(share * BAR_WIDTH)
    const bar = `${'█'.repeat(filled)}${'░'.repeat(BAR_WIDTH - filled)}`
    const passedMs = now - this.#startedAt
    const left = share > 0 ? `, ${showDuration((passedMs * (1 - share)) / share)} left` : ''
    this.#target.write(`${ERASE_LINE}${bar} ${Math.floor(share * 100)} % ${label}${left}`)
  }

  clear(): void {
    if (this.#target.isTTY === true) this.#target.write(ERASE_LINE)
  }
}
