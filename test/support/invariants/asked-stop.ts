import { type EngineEvent, type StopPolicy } from '../../../src/engine/event.ts'
import { type World } from '../world/world.ts'

/** The effective stop: the first one, or a later one while it is still closing positions. */
export class AskedStop {
  readonly #world: World
  #phase: string | undefined
  policy: StopPolicy | undefined

  constructor(world: World) {
    this.#world = world
  }

  /** A process begins. */
  forget(): void {
    this.#phase = undefined
    this.policy = undefined
  }

  /** After every step. */
  note(event: EngineEvent): void {
    if (event.kind === 'commanded' && event.command.kind === 'stop') {
      const isReplaced = this.policy === 'flatten' && this.#phase !== 'stopping'
      this.policy = isReplaced ? event.command.policy : (this.policy ?? event.command.policy)
    }
    this.#phase = this.#world.process.engine?.phase
  }
}
