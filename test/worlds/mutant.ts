import { globSync, readFileSync } from 'node:fs'
import { registerHooks } from 'node:module'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { Failure } from '../../src/lib/failure.ts'

/**
 * A realistic error in the product's code, that the worlds must notice. Its place is a piece of code, wherever
 * that stands in `src/` and however it is broken into lines: files may move and be reformatted.
 */
export interface Mutant {
  readonly name: string
  /** What the error is, in words. */
  readonly what: string
  /** Stands in the product's code exactly once. */
  readonly find: string
  readonly replace: string
  /** Whether worlds that last for months must notice, and no other can. */
  readonly lastsMonths?: true
  /** Whether worlds that lie about money must notice: they do so sooner than others. */
  readonly isOfMoney?: true
  /** Whether worlds whose calls go through the daemon's own client must notice, and no other can. */
  readonly isWired?: true
  /** Whether worlds in which an older copy of the journal is put back must notice, and no other can. */
  readonly isOfCopies?: true
  /** Whether worlds in which liquidations are looked for must notice: they do so sooner than others. */
  readonly liquidates?: true
  /** Whether worlds in which rules choose what is traded must notice, and no other can. */
  readonly isOfUniverses?: true
  /** Whether worlds in which the exchange keeps stops must notice, and no other can. */
  readonly isOfStops?: true
  /** Whether worlds in which a person commands and trades too must notice, and no other can. */
  readonly isOfHands?: true
  /** Whether worlds in which machines take an account over must notice, and no other can. */
  readonly takesOver?: true
}

/** Where a mutant is planted, and the whole file with the error in it. */
export interface MutatedFile {
  readonly path: string
  readonly source: string
}

const SOURCES = join(import.meta.dirname, '../../src')

/** The product's own files; the simulator is the other side. By path, and read once. */
let files: ReadonlyMap<string, string> | undefined

function productFiles(): ReadonlyMap<string, string> {
  files ??= new Map(
    globSync('**/*.ts', { cwd: SOURCES, exclude: ['simulator/**'] }).map((name) => {
      const path = join(SOURCES, name)
      return [path, readFileSync(path, 'utf8')]
    }),
  )
  return files
}

/**
 * The file with the error in it.
 * @param planted By path, files that have other errors in them already.
 * @throws Failure when the place is not there any more, or not the only one.
 */
export function mutate(
  mutant: Mutant,
  planted: ReadonlyMap<string, string> = new Map(),
): MutatedFile {
  const pattern = toPattern(mutant.find)
  const places = [...productFiles()].flatMap(([path, original]) => {
    const source = planted.get(path) ?? original
    return [...source.matchAll(pattern)].map((match) => ({ path, source, match }))
  })
  const [place] = places
  if (place && places.length === 1) {
    const { path, source, match } = place
    const rest = source.slice(match.index + match[0].length)
    return { path, source: source.slice(0, match.index) + mutant.replace + rest }
  }
  throw new Failure({
    code: 'MUTANT_STALE',
    sentence: 'a mutant does not fit the code any more: its text must stand in src/ exactly once',
    facts: { mutant: mutant.name, places: places.map(({ path }) => path).join(', ') || 'none' },
    hint: 'the code has changed: say in test/worlds/mutants.ts how the same error is made now',
  })
}

/** The same tokens in the same order, whatever space and trailing commas stand between them. */
function toPattern(text: string): RegExp {
  const tokens = text.replaceAll(/,\s*(?=[)\]}])/g, '').match(/\w+|[^\s\w]/g) ?? []
  const parts = tokens.map((token) => {
    const literal = token.replace(/[.*+?^${}()|[\]\\]/, String.raw`\$&`)
    return /[)\]}]/.test(token) ? `,?\\s*${literal}` : literal
  })
  return new RegExp(parts.join(String.raw`\s*`), 'g')
}

export interface PlantedMutant {
  /** @throws Failure when the file was not loaded since: the mutant would be said to survive, and never lived. */
  assertLoaded(): void
}

/** From now on this thread loads the file with the error in it; it must not have been loaded before. */
export function plantMutant(mutant: Mutant): PlantedMutant {
  const { path, source } = mutate(mutant)
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
        sentence:
          'the file of a mutant is not part of the worlds, or was loaded before it was planted',
        facts: { mutant: mutant.name, file: path },
      })
    },
  }
}
