import { createHash } from 'node:crypto'
import { type Effect } from '../../../src/engine/effect.ts'
import { type EngineEvent } from '../../../src/engine/event.ts'
import { type ProcessWatcher } from './process-watcher.ts'
import { type World } from './world.ts'

type Told = string | Effect | EngineEvent

/**
 * Everything that happened: as text its hash tells two runs apart, and its last lines what went wrong. Kept as
 * it came and turned into text only for who asks: of a thousand worlds nobody looks at one.
 */
export class WorldTrace implements ProcessWatcher {
  events = 0
  processes = 0
  readonly #world: World
  readonly #startAt: number
  readonly #told: Told[] = []
  readonly #times: number[] = []

  constructor(world: World) {
    this.#world = world
    this.#startAt = world.time.now
  }

  afterStep: NonNullable<ProcessWatcher['afterStep']> = (event, effects) => {
    this.events += 1
    for (const effect of effects) if (effect.kind !== 'decide') this.#tell(effect)
    if (event.kind === 'batchAnswered' || event.kind === 'cancelAnswered') this.#tell(event)
    if (event.kind === 'positionRead') this.#tell(event)
  }

  onBirth = (): void => {
    this.processes += 1
    this.#tell('process begins')
  }

  onDeath = (): void => this.#tell('process dies')

  onRetreat = (): void => this.#tell('process retreats')

  onRetreated = (end: string): void => this.#tell(`retreat ends: ${end}`)

  /** A line each: ms since the world began, and what happened. */
  lines(): readonly string[] {
    return this.#told.map((told, index) => `${(this.#times[index] ?? 0) - this.#startAt} ${toLine(told)}`)
  }

  hash(): string {
    const hash = createHash('sha256')
    for (const line of this.lines()) hash.update(line)
    return hash.digest('hex').slice(0, 16)
  }

  #tell(told: Told): void {
    this.#told.push(told)
    this.#times.push(this.#world.time.now)
  }
}

function toLine(told: Told): string {
  if (typeof told === 'string') return told
  if (told.kind === 'announce') return `${told.event} ${JSON.stringify(told.fields)}`
  if (told.kind === 'record') return `record ${JSON.stringify(told.record)}`
  return JSON.stringify(told)
}
