import { readFileSync } from 'node:fs'
import { registerHooks } from 'node:module'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { Failure } from '../../src/lib/failure.ts'

/** A realistic error in the product's code, that the worlds must notice. */
export interface Mutant {
  readonly name: string
  /** What the error is, in words. */
  readonly what: string
  /** Relative to the repository. */
  readonly file: string
  /** Stands in the file exactly once. */
  readonly find: string
  readonly replace: string
}

const ROOT = join(import.meta.dirname, '../..')

/** The file with the error in it. @throws Failure when the place is not there any more, or not the only one. */
function mutate(mutant: Mutant, source: string): string {
  const places = source.split(mutant.find).length - 1
  if (places === 1) return source.replace(mutant.find, () => mutant.replace)
  throw new Failure({
    code: 'MUTANT_STALE',
    sentence: 'a mutant does not fit the code any more: its text must stand in the file exactly once',
    facts: { mutant: mutant.name, file: mutant.file, places },
    hint: 'the code has changed: say in test/worlds/mutants.ts how the same error is made now',
  })
}

export function readMutated(mutant: Mutant): string {
  return mutate(mutant, readFileSync(join(ROOT, mutant.file), 'utf8'))
}

export interface PlantedMutant {
  /** @throws Failure when the file was not loaded since: the mutant would be said to survive, and never lived. */
  assertLoaded(): void
}

/** From now on this thread loads the file with the error in it; it must not have been loaded before. */
export function plantMutant(mutant: Mutant): PlantedMutant {
  const path = join(ROOT, mutant.file)
  const source = readMutated(mutant)
  let isLoaded = false
  registerHooks({
    load(url, context, next) {
      if (!url.startsWith('file:') || fileURLToPath(url) !== path) return next(url, context)
      isLoaded = true
      return { format: 'module-typescript', shortCircuit: true, source }
    },
  })
  return {
    assertLoaded() {
      if (isLoaded) return
      throw new Failure({
        code: 'MUTANT_NOT_LOADED',
        sentence: 'the file of a mutant is not part of the worlds, or was loaded before it was planted',
        facts: { mutant: mutant.name, file: mutant.file },
      })
    },
  }
}
