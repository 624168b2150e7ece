import { bookToJson } from '../../src/engine/book-json.ts'
import { type Effect } from '../../src/engine/effect.ts'
import { createEngine } from '../../src/engine/engine.ts'
import { rebuildBook } from '../../src/engine/rebuild-book.ts'
import { type World, type WorldWatcher, violate } from './world.ts'

/** A second core that hears the same events says the same, to the byte. */
export function watchTwin(world: World): WorldWatcher {
  if (!world.plan.hasTwin) return {}
  const { shell, settings } = world
  const birth = () => createEngine(settings, rebuildBook(shell.journal.load(), settings.positionMode))
  let twin = birth()
  return {
    onBirth: () => {
      twin = birth()
    },
    afterStep(event, effects, now) {
      const said = toText(effects)
      if (toText(twin.step(event, now)) !== said)
        violate(world, 'DET1', `another answer to ${event.kind}: ${said}`)
    },
  }
}

/** Prices are left out: both look at the same table. */
function toText(effects: readonly Effect[]): string {
  return JSON.stringify(effects, (name, value: unknown) => (name === 'tickers' ? undefined : value))
}

/** What is rebuilt from the journal is what wrote it. */
export function watchFold(world: World): WorldWatcher {
  let steps = 0
  const compare = () => {
    const { engine, journal } = world.shell
    if (!engine) return
    const rebuilt = JSON.stringify(bookToJson(rebuildBook(journal.load(), world.plan.positionMode)))
    if (rebuilt !== JSON.stringify(bookToJson(engine.book)))
      violate(world, 'DET2', 'the rebuilt book differs')
  }
  return {
    onBirth: compare,
    afterStep(_, effects) {
      steps += 1
      // Before its effects are performed the journal lacks their records.
      if (steps % 2000 === 0 && !effects.some((effect) => effect.kind === 'record')) compare()
    },
    onStopped: compare,
  }
}
