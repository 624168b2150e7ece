import {
  type SourceFile,
  type SourceTree,
  type TreeRule,
  type Violation,
  importedBy,
  targetOf,
} from './source-tree.ts'

const CLI = 'src/cli/'
const MAIN = 'src/cli/main.ts'
/** Folders with parts that several commands need. */
const SHARED: readonly string[] = ['process', 'operator', 'call']
/** A file that main.ts imports is a command if it has such a function; no other file imports it. */
const VERB = /\bexport function add\w+Commands?\(/
/** Import statements of src/daemon in src/cli. The number may only fall. */
const DAEMON_IMPORTS_MAX = 14

export const VERB_RULES: readonly TreeRule[] = [checkVerbImports, checkDaemonImports]

interface CliImport {
  readonly from: SourceFile
  readonly target: string
  readonly line: number
}

function listCliImports(tree: SourceTree): readonly CliImport[] {
  return [...tree.values()]
    .filter(({ path }) => path.startsWith(CLI) && path !== MAIN)
    .flatMap((from) =>
      from.imports.flatMap((reference) => {
        const target = targetOf(from.path, reference)
        return target === undefined ? [] : [{ from, target, line: reference.line }]
      }),
    )
}

/** `src/cli/parity/run-parity.ts` and `src/cli/parity.ts` belong to the verb `parity`. */
function verbOf(path: string): string {
  return path.slice(CLI.length).replace(/(?:\/.*|\.ts)$/, '')
}

function checkVerbImports(tree: SourceTree): Violation[] {
  const verbs = importedBy(tree, MAIN).filter((path) => VERB.test(tree.get(path)?.code ?? ''))
  return listCliImports(tree)
    .filter(({ target }) => target.startsWith(CLI))
    .filter(({ from, target }) => {
      if (verbs.includes(target)) return true
      const verb = verbOf(target)
      return verb !== verbOf(from.path) && !SHARED.includes(verb)
    })
    .map(({ from, target, line }) => ({
      rule: 'verb-import',
      file: from.path,
      line,
      message: `a command imports ${target}, which belongs to another command`,
    }))
}

function checkDaemonImports(tree: SourceTree): Violation[] {
  const found = listCliImports(tree).filter(({ target }) => target.startsWith('src/daemon/'))
  const [last] = found.slice(-1)
  if (last === undefined || found.length <= DAEMON_IMPORTS_MAX) return []
  const message = `${found.length} imports of src/daemon in src/cli; at most ${DAEMON_IMPORTS_MAX}`
  return [{ rule: 'daemon-imports', file: last.from.path, line: last.line, message }]
}
