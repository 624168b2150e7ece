import {
  type FileRule,
  type SourceFile,
  type Violation,
  findAll,
  moduleOf,
  targetOf,
} from './source-tree.ts'

/** Layer of each module (folder in src/). Imports point only to lower layers. */
const LAYERS: Readonly<Record<string, number>> = {
  cli: 10,
  'sweep-run': 9,
  daemon: 8,
  backtest: 8,
  views: 7,
  assembly: 6,
  interpreter: 5,
  engine: 4,
  sweep: 4,
  market: 3,
  strategy: 3,
  risk: 3,
  execution: 3,
  exchange: 3,
  simulator: 3,
  journal: 3,
  recording: 3,
  report: 3,
  control: 3,
  alerts: 3,
  logging: 3,
  prices: 2,
  protocol: 2,
  config: 2,
  dashboard: 2,
  domain: 1,
  lib: 0,
}

/** Modules with fewer imports than their layer allows. */
const ONLY: Readonly<Record<string, readonly string[]>> = {
  protocol: ['lib'],
  config: ['lib', 'domain'],
  prices: ['lib'],
  simulator: ['lib', 'protocol', 'prices'], // It is the other company.
  report: ['lib', 'domain'], // It shows what it is given.
  control: ['lib', 'domain', 'dashboard'], // It shows what it is given, and hands on what is ordered.
  alerts: ['lib', 'config', 'domain'], // It hears log lines, and knows nobody who writes them.
  sweep: ['lib', 'config', 'report'], // It knows what trials came to, not how they are run.
  dashboard: ['lib'], // It serves files, and knows nothing of what they show.
  logging: ['lib', 'domain'], // It writes lines, whatever they say.
  recording: ['lib', 'domain'], // It keeps lines of text and tables of tickers, whatever they say.
}

/** The core is pure: it knows modules with I/O only by their types. */
const NEVER: Readonly<Record<string, readonly string[]>> = {
  engine: ['simulator'],
  interpreter: ['simulator'],
}
const TYPES_ONLY: Readonly<Record<string, readonly string[]>> = {
  engine: ['exchange', 'journal', 'recording'],
  interpreter: ['exchange', 'journal', 'recording'],
}

/** Modules without I/O. */
const PURE_MODULES = ['domain', 'protocol', 'engine', 'interpreter', 'execution', 'risk', 'sweep']
const IMPURE_PACKAGES =
  /^(?:node:(?:fs|http|https|http2|net|tls|dgram|timers|worker_threads|child_process|sqlite)(?:\/.*)?|undici|pino)$/
const SYNCHRONOUS_MODULES = ['engine', 'interpreter', 'execution', 'risk']

export const LAYER_RULES: readonly FileRule[] = [
  checkLayers,
  checkStrategyImports,
  checkPureImports,
  checkSynchronous,
]

/** Whether files of one module may import files of another; `types`: only by `import type`. */
function judgeImport(from: string, to: string): 'yes' | 'types' | 'no' {
  if (from === to) return 'yes'
  const [layer, target] = [LAYERS[from], LAYERS[to]]
  if (layer === undefined || target === undefined || target >= layer) return 'no'
  if (ONLY[from]?.includes(to) === false || NEVER[from]?.includes(to) === true) return 'no'
  return TYPES_ONLY[from]?.includes(to) === true ? 'types' : 'yes'
}

function checkLayers({ path, module, imports }: SourceFile): Violation[] {
  if (!path.startsWith('src/')) return []
  if (module === undefined || LAYERS[module] === undefined) {
    return [{ rule: 'layer', file: path, line: 1, message: 'is in no module that has a layer' }]
  }
  return imports.flatMap((reference) => {
    const target = targetOf(path, reference)
    if (target === undefined) return []
    const other = moduleOf(target)
    const verdict = other === undefined ? 'no' : judgeImport(module, other)
    if (verdict === 'yes' || (verdict === 'types' && reference.typeOnly)) return []
    const how = verdict === 'types' ? 'imports more than types of' : 'may not import'
    return [
      { rule: 'layer', file: path, line: reference.line, message: `${module} ${how} ${target}` },
    ]
  })
}

function checkStrategyImports({ path, imports }: SourceFile): Violation[] {
  const inStrategies = path.startsWith('strategies/')
  return imports
    .filter(({ specifier }) => (specifier === 'intentd/strategy') !== inStrategies)
    .map(({ specifier, line }) => ({
      rule: 'strategy-import',
      file: path,
      line,
      message: inStrategies
        ? `a strategy imports only 'intentd/strategy', not '${specifier}'`
        : "only files in strategies/ import 'intentd/strategy'",
    }))
}

function checkPureImports({ path, module, imports }: SourceFile): Violation[] {
  if (module === undefined || !PURE_MODULES.includes(module)) return []
  return imports
    .filter(({ specifier }) => IMPURE_PACKAGES.test(specifier))
    .map(({ specifier, line }) => ({
      rule: 'pure-import',
      file: path,
      line,
      message: `${module} opens nothing, and this imports '${specifier}'`,
    }))
}

function checkSynchronous({ path, module, code }: SourceFile): Violation[] {
  if (module === undefined || !SYNCHRONOUS_MODULES.includes(module)) return []
  return findAll(code, /(?<![\w.$])(?:async|await|Promise)\b/g).map((line) => ({
    rule: 'synchronous',
    file: path,
    line,
    message: `${module} never awaits`,
  }))
}
