import { readFileSync, readdirSync, writeFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { z } from 'zod'
import { worldPlanSchema } from '../support/world/world-plan.ts'

/** Where worlds that failed once are kept, one a file. */
const KEPT_DIRECTORY = join(import.meta.dirname, '../regress')

const keptWorldSchema = z.strictObject({
  /** One sentence: what was wrong. */
  what: z.string().min(1),
  /** What it violated, and must not again. */
  invariant: z.string().min(1),
  /** The mutant with which it still fails, where there is one: it shows that the world tests what it says. */
  mutant: z.string().optional(),
  plan: worldPlanSchema,
})

export type KeptWorld = z.infer<typeof keptWorldSchema>

/** @throws ZodError for a file that is no kept world. */
export function loadKeptWorld(path: string): KeptWorld {
  return keptWorldSchema.parse(JSON.parse(readFileSync(path, 'utf8')))
}

/** Every kept world, by the name of its file. */
export function loadKeptWorlds(): ReadonlyMap<string, KeptWorld> {
  const files = readdirSync(KEPT_DIRECTORY).filter((name) => name.endsWith('.json'))
  return new Map(
    files
      .sort()
      .map((name) => [basename(name, '.json'), loadKeptWorld(join(KEPT_DIRECTORY, name))]),
  )
}

/** Writes a world down and returns the path of its file. */
export function keepWorld(name: string, world: KeptWorld): string {
  const path = join(KEPT_DIRECTORY, `${name}.json`)
  writeFileSync(path, renderKeptWorld(world))
  return path
}

/** As JSON that a person can read: one line a field, a fault and a strategy. */
function renderKeptWorld(world: KeptWorld): string {
  const text = JSON.stringify(world, undefined, 2)
  // Objects without objects in them, and lists of plain values, stand on one line.
  return `${text.replaceAll(/[[{][^[\]{}]*[\]}]/g, (flat) => flat.replaceAll(/\s*\n\s*/g, ' '))}\n`
}
