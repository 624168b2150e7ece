import { execFile } from 'node:child_process'
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join, relative, resolve } from 'node:path'
import type { DaemonConfig } from '../../config/load-config.ts'
import type { Problem } from '../../config/yaml/problem.ts'
import { isShipped } from '../../assembly/strategies/strategies.ts'

/** `strategies/dip.ts(12,7): error TS2322: Type 'string' …`; further lines explain the first. */
const PLACED = /^(?<file>.+)\((?<line>\d+),(?<column>\d+)\): error (?<message>TS\d+: .*)$/
const OUTPUT_MAX = 16 * 1024 * 1024

/**
 * Type errors of own strategies and of what they import, as the `tsconfig.json` of the working
 * directory wants it. Nothing is checked where no TypeScript is installed.
 */
export async function findTypeErrors(
  { strategies }: DaemonConfig,
  directory: string,
): Promise<readonly Problem[]> {
  const settings = join(directory, 'tsconfig.json')
  const compiler = findCompiler(directory)
  const files = strategies
    .filter((entry) => !isShipped(entry))
    .map(({ moduleFile }) => resolve(directory, moduleFile))
    .filter((file) => /\.[mc]?ts$/.test(file))
  if (compiler === undefined || files.length === 0 || !existsSync(settings)) return []
  const own = mkdtempSync(join(tmpdir(), 'intentd-types-'))
  try {
    const project = join(own, 'tsconfig.json')
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

function findCompiler(directory: string): string | undefined {
  return ancestorsOf(directory)
    .map((folder) => join(folder, 'node_modules', 'typescript', 'bin', 'tsc'))
    .find((file) => existsSync(file))
}

/** The compiler would look beside its own settings, which are elsewhere. */
function listTypeRoots(directory: string): readonly string[] {
  return ancestorsOf(directory)
    .map((folder) => join(folder, 'node_modules', '@types'))
    .filter((folder) => existsSync(folder))
}

function ancestorsOf(folder: string): readonly string[] {
  const above = dirname(folder)
  return above === folder ? [folder] : [folder, ...ancestorsOf(above)]
}

/** It gets no keys: its environment is empty. Its exit code says no more than its lines. */
function runCompiler(
  compiler: string,
  { project, directory }: { readonly project: string; readonly directory: string },
): Promise<string> {
  return new Promise((resolveOutput) => {
    execFile(
      process.execPath,
      ['--disable-sigusr1', compiler, '--project', project, '--pretty', 'false'],
      { cwd: directory, env: {}, maxBuffer: OUTPUT_MAX },
      (_error, stdout) => resolveOutput(stdout),
    )
  })
}

/** Errors elsewhere, such as in the types of an installation, are not for this user to mend. */
function readErrors(output: string, directory: string): readonly Problem[] {
  return output.split('\n').flatMap((text): readonly Problem[] => {
    const { file = '', line, column, message = '' } = PLACED.exec(text)?.groups ?? {}
    const source = relative(directory, resolve(directory, file))
    if (message === '' || source.startsWith('..') || source.includes('node_modules')) return []
    return [{ source, line: Number(line), column: Number(column), path: '', message }]
  })
}
