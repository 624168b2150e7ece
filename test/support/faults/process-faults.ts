import { type VirtualTime } from '../../../src/backtest/virtual-time.ts'
import { type EngineEvent } from '../../../src/engine/event.ts'
import { type Interruptions } from '../../../src/interpreter/ports.ts'
import { type FaultKind, type VirtualFaults } from './virtual-faults.ts'

/** Thrown by what a process cannot go on after. */
export class ProcessDied extends Error {
  override readonly name = 'ProcessDied'
}

const TWICE: { readonly [Kind in EngineEvent['kind']]?: FaultKind } = {
  granted: 'grantTwice',
  snapshotTaken: 'snapshotTwice',
  fillsRead: 'readingTwice',
  positionRead: 'readingTwice',
  commanded: 'commandTwice',
}

export interface ProcessFaultsOptions {
  readonly time: VirtualTime
  readonly faults: VirtualFaults
  readonly goOn: () => void
  readonly isOver: () => boolean
}

/** Input waits while it stands still. */
export class ProcessFaults implements Interruptions {
  readonly #options: ProcessFaultsOptions
  readonly #inbox: (() => void)[] = []
  #stillUntil = 0
  #effectsLeft = Number.POSITIVE_INFINITY
  #stall: { effects: number; readonly forMs: number; readonly begun: () => void } | undefined
  #repeated: EngineEvent | undefined

  constructor(options: ProcessFaultsOptions) {
    this.#options = options
  }

  get isStill(): boolean {
    return this.#options.time.now < this.#stillUntil
  }

  dieAfter(effects: number): void {
    this.#effectsLeft = Math.min(this.#effectsLeft, effects)
  }

  /** Stands still for this long after so many further effects, and calls `begun`. */
  stallAfter(effects: number, forMs: number, begun: () => void = () => undefined): void {
    if (effects >= 0) {
      this.#stall = { effects, forMs, begun }
      return
    }
    this.standStill(forMs)
    begun()
  }

  spare(): void {
    this.#effectsLeft = Number.POSITIVE_INFINITY
    this.#stall = undefined
  }

  beforeEffect(): void {
    this.#effectsLeft -= 1
    if (this.#effectsLeft < 0) throw new ProcessDied()
  }

  afterEffect(): void {
    if (!this.#stall) return
    this.#stall.effects -= 1
    if (this.#stall.effects >= 0) return
    const { forMs, begun } = this.#stall
    this.#stall = undefined
    this.standStill(forMs)
    begun()
  }

  /** The core gets the event once more right after it was handled (REPEAT). */
  isHeardAgain(event: EngineEvent): boolean {
    const fault = TWICE[event.kind]
    if (fault === undefined || event === this.#repeated) return false
    const isAgain = this.#options.faults.strikes(fault, 'input')
    if (isAgain) this.#repeated = event
    return isAgain
  }

  standStill(forMs: number): void {
    const { time } = this.#options
    this.#stillUntil = time.now + forMs
    time.after(forMs, () => this.#wake())
  }

  wakeAfter(delayMs: number): void {
    const { time } = this.#options
    this.#stillUntil = Math.min(this.#stillUntil, time.now + delayMs)
    time.after(delayMs, () => this.#wake())
  }

  /** Runs now, or after a standstill; never once the process is dead. */
  enter(happens: () => void): void {
    if (this.#options.isOver()) return
    if (this.isStill || this.#inbox.length > 0) this.#inbox.push(happens)
    else happens()
  }

  empty(): void {
    for (const happens of this.#inbox.splice(0)) happens()
  }

  /** First what was begun, then what arrived meanwhile. */
  #wake(): void {
    const { goOn, isOver } = this.#options
    if (isOver() || this.isStill) return
    goOn()
    while (this.#inbox.length > 0 && !isOver() && !this.isStill) this.#inbox.shift()?.()
  }
}
