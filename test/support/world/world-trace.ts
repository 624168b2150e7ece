import { createHash } from 'node:crypto'
import { type Effect } from '../../../src/engine/effect.ts'
import { type EngineEvent } from '../../../src/engine/event.ts'
import { type ProcessWatcher } from './process-watcher.ts'
import { type World } from './world.ts'

type Entry = string | Effect | EngineEvent

/**
 * Everything that happened: as text its hash tells two runs apart, and its last lines what went wrong. Kept as
 * it came and turned into text only for who asks: of a thousand worlds nobody looks at one.
 */
export class WorldTrace implements ProcessWatcher {
  events = 0
  processes = 0
  readonly #world: World
  readonly #startAt: number
  readonly #entries: Entry[] = []
  readonly #times: number[] = []

  constructor(world: World) {
    this.#world = world
    this.#startAt = world.time.now
  }

  afterStep: NonNullable<ProcessWatcher['afterStep']> = (event, effects) => {
    this.events += 1
    for (const effect of effects) if (effect.kind !== 'decide') this.#note(effect)
    if (event.kind === 'batchAnswered' || event.kind === 'cancelAnswered') this.#note(event)
    if (event.kind === 'positionRead') this.#note(event)
  }

  onBirth = (): void => {
    this.processes += 1
    this.#note('process begins')
  }

  onDeath = (): void => this.#note('process dies')

  onRetreat = (): void => this.#note('process retreats')

  onRetreated = (end: string): void => this.#note(`retreat ends: ${end}`)

  /** A line each: ms since the world began, and what happened. */
  lines(): readonly string[] {
    return this.#entries.map(
      (entry, index) => `${(this.#times[index] ?? 0) - this.#startAt} ${toLine(entry)}`,
    )
  }

  hash(): string {
    const hash = createHash('sha256')
    for (const line of this.lines()) hash.update(line)
    return hash.digest('hex').slice(0, 16)
  }

  #note(entry: Entry): void {
    this.#entries.push(entry)
    this.#times.push(this.#world.time.now)
  }
}

function toLine(entry: Entry): string {
  if (typeof entry === 'string') return entry
  if (entry.kind === 'announce') return `${entry.event} ${JSON.stringify(entry.fields)}`
  if (entry.kind === 'record') return `record ${JSON.stringify(entry.record)}`
  return JSON.stringify(entry)
}
