import type { Problem } from './problem.ts'
import type { YamlSource } from './yaml-source.ts'

type FileKind = 'main' | 'strategy' | 'simulator'

const KINDS: Readonly<
  Record<
    FileKind,
    {
      /** A file with all of these keys, and not all of another kind's, is of this kind. */
      readonly marks: readonly string[]
      readonly what: string
      readonly use: (file: string) => string
    }
  >
> = {
  main: {
    marks: ['environment', 'strategies'],
    what: 'the main file of a daemon',
    use: (file) => `check it with \`intentd check -c ${file}\``,
  },
  strategy: {
    marks: ['id', 'module'],
    what: 'the file of a strategy',
    use: () => 'name the main file that lists it under `strategies`; the two are read together',
  },
  simulator: {
    marks: ['seed', 'market'],
    what: 'the file of the exchange simulator as a server',
    use: (file) => `\`intentd simulate -c ${file}\` reads it`,
  },
}

export function isOfKind(source: YamlSource, kind: FileKind): boolean {
  return KINDS[kind].marks.every((key) => source.has([key]))
}

/** @param file as on the command line */
export function objectToKind(
  source: YamlSource,
  file: string,
  wanted: FileKind,
): Problem | undefined {
  if (KINDS[wanted].marks.some((key) => source.has([key]))) return undefined
  const other = Object.values(KINDS).find(({ marks }) => marks.every((key) => source.has([key])))
  if (other === undefined) return undefined
  const message = `this is ${other.what}, not ${KINDS[wanted].what}: ${other.use(source.shown)}`
  return { source: source.shown, path: '', message, refusedWords: [file] }
}
