import { type VirtualTime } from '../virtual/virtual-time.ts'

export interface StandstillOptions {
  readonly time: VirtualTime
  /** Goes on with what was begun. */
  readonly goOn: () => void
  readonly isOver: () => boolean
}

/** A process that stands still now and then: what reaches it meanwhile waits until it moves again. */
export class Standstill {
  readonly #options: StandstillOptions
  readonly #inbox: (() => void)[] = []
  #until = 0

  constructor(options: StandstillOptions) {
    this.#options = options
  }

  get isStill(): boolean {
    return this.#options.time.now < this.#until
  }

  begin(forMs: number): void {
    const { time } = this.#options
    this.#until = time.now + forMs
    time.after(forMs, () => this.#wake())
  }

  /** Something reaches the process: at once, or when it moves again; never once it is dead. */
  enter(happens: () => void): void {
    if (this.#options.isOver()) return
    if (this.isStill || this.#inbox.length > 0) this.#inbox.push(happens)
    else happens()
  }

  /** All that came meanwhile, at once. */
  empty(): void {
    for (const happens of this.#inbox.splice(0)) happens()
  }

  /** First what was begun, then what came meanwhile. */
  #wake(): void {
    const { goOn, isOver } = this.#options
    if (isOver() || this.isStill) return
    goOn()
    while (this.#inbox.length > 0 && !isOver() && !this.isStill) this.#inbox.shift()?.()
  }
}
