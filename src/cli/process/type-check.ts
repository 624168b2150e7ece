import { listAncestors } from '../../lib/ancestor-folders.ts'
import { execFile } from 'node:child_process'
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, relative, resolve } from 'node:path'
import type { DaemonConfig } from '../../config/load-config.ts'
import type { Problem } from '../../config/yaml/problem.ts'
import { isShipped } from '../../assembly/strategies/strategies.ts'

/** Matches `strategies/dip.ts(12,7): error TS2322: Type 'string' …`. */
const PLACED = /^(?<file>.+)\((?<line>\d+),(?<column>\d+)\): error (?<message>TS\d+: .*)$/
const UNPLACED = /^error (?<message>TS\d+: .*)$/
const OUTPUT_MAX = 16 * 1024 * 1024
const CHECK_MS_MAX = 120_000
const SETTINGS = 'tsconfig.json'

export async function findTypeErrors(
  { strategies }: DaemonConfig,
  directory: string,
): Promise<readonly Problem[]> {
  const settings = join(directory, SETTINGS)
  const compiler = findCompiler(directory)
  const files = listTyped(strategies, directory)
  if (compiler === undefined || files.length === 0 || !existsSync(settings)) return []
  const own = mkdtempSync(join(tmpdir(), 'intentd-types-'))
  try {
    const project = join(own, SETTINGS)
    const compilerOptions = { noEmit: true, typeRoots: listTypeRoots(directory) }
    writeFileSync(
      project,
      JSON.stringify({ extends: settings, compilerOptions, files, include: [] }),
    )
    return readErrors(await runCompiler(compiler, { project, directory }), directory)
  } finally {
    rmSync(own, { recursive: true })
  }
}

/** Why {@link findTypeErrors} looked at nothing; undefined where nothing has types. */
export function explainUnchecked(
  configs: readonly Pick<DaemonConfig, 'strategies'>[],
  directory: string,
): string | undefined {
  if (!configs.some(({ strategies }) => listTyped(strategies, directory).length > 0))
    return undefined
  if (findCompiler(directory) === undefined)
    return 'TypeScript is not installed here (npm install --save-dev typescript)'
  return existsSync(join(directory, SETTINGS)) ? undefined : `there is no ${SETTINGS} here`
}

function listTyped(strategies: DaemonConfig['strategies'], directory: string): readonly string[] {
  return strategies
    .filter((entry) => !isShipped(entry))
    .map(({ moduleFile }) => resolve(directory, moduleFile))
    .filter((file) => /\.[mc]?ts$/.test(file))
}

function findCompiler(directory: string): string | undefined {
  return listAncestors(directory)
    .map((folder) => join(folder, 'node_modules', 'typescript', 'bin', 'tsc'))
    .find((file) => existsSync(file))
}

/** The compiler looks for types beside its settings, which are elsewhere. */
function listTypeRoots(directory: string): readonly string[] {
  return listAncestors(directory)
    .map((folder) => join(folder, 'node_modules', '@types'))
    .filter((folder) => existsSync(folder))
}

interface CompilerEnd {
  readonly output: string
  readonly failure: string | undefined
}

function runCompiler(
  compiler: string,
  { project, directory }: { readonly project: string; readonly directory: string },
): Promise<CompilerEnd> {
  return new Promise((resolveEnd) => {
    execFile(
      process.execPath,
      ['--disable-sigusr1', compiler, '--project', project, '--pretty', 'false'],
      { cwd: directory, env: {}, maxBuffer: OUTPUT_MAX, timeout: CHECK_MS_MAX },
      (error, stdout, stderr) => {
        const isVerdict = error === null || stdout.includes('error TS')
        const why =
          error?.killed === true ? 'it took too long' : /^\w*Error: .*$/m.exec(stderr)?.[0]
        resolveEnd({
          output: stdout,
          failure: isVerdict ? undefined : why || `it ended with ${String(error.code)}`,
        })
      },
    )
  })
}

/** Leaves out errors in the installation, which the user cannot mend. */
function readErrors({ output, failure }: CompilerEnd, directory: string): readonly Problem[] {
  const about = (message: string): Problem => ({ source: SETTINGS, path: '', message })
  if (failure !== undefined)
    return [about(`types were not checked (--no-types leaves that out): ${failure}`)]
  return output.split('\n').flatMap((text): readonly Problem[] => {
    const unplaced = UNPLACED.exec(text)?.groups?.['message']
    if (unplaced !== undefined) return [about(unplaced)]
    const { file = '', line, column, message = '' } = PLACED.exec(text)?.groups ?? {}
    const source = relative(directory, resolve(directory, file))
    if (message === '' || source.startsWith('..') || source.includes('node_modules')) return []
    return [{ source, line: Number(line), column: Number(column), path: '', message }]
  })
}
